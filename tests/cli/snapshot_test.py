# SPDX-License-Identifier: Apache-2.0
"""snapshot: copies of a live file, and `--replace`, which never harms the copy that is there."""

import json
import os
import resource
import signal
import unittest

import command

SIGNALLER = command.BUILD / "bin/signal_at_write.so"


class SnapshotTest(command.CommandTest):
    """x.crawl, with a.test at first; copy.crawl of then; and b.test since."""

    def setUp(self):
        super().setUp()
        self.succeed("seen", "x.crawl", data=b"http://a.test/\n")
        self.succeed("snapshot", "x.crawl", "copy.crawl")
        self.succeed("seen", "x.crawl", data=b"http://b.test/\n")
        self.copy = self.folder / "copy.crawl"
        self.source = (self.folder / "x.crawl").read_bytes()
        self.old = self.copy.read_bytes()

    def verdicts(self, name="copy.crawl"):
        answer = self.succeed("seen", name, "--check", data=b"http://a.test/\nhttp://b.test/\n")
        return [verdict for verdict, _ in sorted(answer.verdicts, key=lambda line: line[1])]

    def assert_unharmed(self, *more):
        """Source and old copy are as they were, and nothing else is there but `more`."""
        self.assertEqual((self.folder / "x.crawl").read_bytes(), self.source)
        self.assertEqual(self.copy.read_bytes(), self.old)
        self.assertEqual(set(os.listdir(self.folder)), {"x.crawl", "copy.crawl", *more})

    def assert_replaced(self, *more):
        self.assertEqual(self.verdicts(), [b"duplicate", b"duplicate"])
        self.assert_whole("copy.crawl")
        self.assertEqual(set(os.listdir(self.folder)), {"x.crawl", "copy.crawl", *more})


class Replacing(SnapshotTest):
    def test_is_asked_for(self):
        self.refuse(1, "copy.crawl: the file exists already", "snapshot", "x.crawl", "copy.crawl")
        self.assert_unharmed()
        self.succeed("snapshot", "x.crawl", "copy.crawl", "--replace")
        self.assert_replaced()

    def test_makes_the_first_copy_too(self):
        self.succeed("snapshot", "x.crawl", "other.crawl", "--replace")
        self.assertEqual(self.verdicts("other.crawl"), [b"duplicate", b"duplicate"])

    def test_takes_the_name_alone(self):
        """A reader that has the old copy open, or by another name, keeps it."""
        os.link(self.copy, self.folder / "yesterday.crawl")
        with open(self.copy, "rb") as reader:
            self.succeed("snapshot", "x.crawl", "copy.crawl", "--replace")
            self.assertEqual(reader.read(), self.old)
        self.assertEqual(self.verdicts("yesterday.crawl"), [b"duplicate", b"unique"])
        self.assert_replaced("yesterday.crawl")

    def test_keeps_the_mode_and_the_link(self):
        self.copy.chmod(0o640)
        os.symlink("copy.crawl", self.folder / "link.crawl")
        self.succeed("snapshot", "x.crawl", "link.crawl", "--replace")
        self.assertTrue((self.folder / "link.crawl").is_symlink())
        self.assertEqual(self.copy.stat().st_mode & 0o7777, 0o640)
        self.assert_replaced("link.crawl")

    def test_leaves_the_parts_of_others(self):
        (self.folder / "copy.crawl.part").write_bytes(b"of another process")
        self.succeed("snapshot", "x.crawl", "copy.crawl", "--replace")
        self.assertEqual((self.folder / "copy.crawl.part").read_bytes(), b"of another process")
        self.assert_replaced("copy.crawl.part")


class Refusals(SnapshotTest):
    def test_of_the_source_by_whatever_name(self):
        os.link(self.folder / "x.crawl", self.folder / "hard.crawl")
        os.symlink("x.crawl", self.folder / "soft.crawl")
        for source in ("x.crawl", "soft.crawl"):
            for out in ("x.crawl", "./x.crawl", "hard.crawl", "soft.crawl"):
                self.refuse(2, "it is the source itself", "snapshot", source, out, "--replace")
        self.assert_unharmed("hard.crawl", "soft.crawl")

    def test_of_what_is_no_file(self):
        (self.folder / "folder").mkdir()
        os.mkfifo(self.folder / "pipe")
        os.symlink("nowhere", self.folder / "loose")
        self.refuse(2, "a folder", "snapshot", "x.crawl", "folder", "--replace")
        self.refuse(2, "no regular file", "snapshot", "x.crawl", "pipe", "--replace")
        self.refuse(1, "exists already", "snapshot", "x.crawl", "loose", "--replace")
        self.assert_unharmed("folder", "pipe", "loose")

    def test_of_a_file_that_somebody_writes(self):
        writer = self.start("seen", "copy.crawl")
        writer.stdin.write(b"http://a.test/\n")
        writer.stdin.flush()
        command.wait_until_read(writer.stdin.fileno())
        self.refuse(3, f"process {writer.pid} writes it", "snapshot", "x.crawl", "copy.crawl",
                    "--replace")
        writer.communicate(timeout=60)
        self.old = self.copy.read_bytes()
        self.assert_unharmed()


class Failures(SnapshotTest):
    def test_of_the_disk_keep_the_old_copy(self):
        """A file cannot become as long as it must."""
        for limit in (0, 4096, len(self.source) - 4096):
            self.refuse(3, "copy.crawl: ", "snapshot", "x.crawl", "copy.crawl", "--replace",
                        preexec_fn=lambda n=limit: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                                      (n, n)))
            self.assert_unharmed()

    def test_of_the_source_keep_the_old_copy(self):
        runs = json.loads(self.succeed("segments", "x.crawl", "--json").out)["runs"]
        damaged = bytearray(self.source)
        damaged[runs[-1]["offset_bytes"]] ^= 0xFF
        (self.folder / "x.crawl").write_bytes(damaged)
        self.source = bytes(damaged)
        answer = self.run_command("snapshot", "x.crawl", "copy.crawl", "--replace")
        self.assertEqual(answer.code, 1, answer.err)
        self.assertIn(b"x.crawl: ", answer.err)
        self.assert_unharmed()

    def test_of_the_process_keep_the_old_copy(self):
        counted = self.folder / "counted"
        environment = {"LD_PRELOAD": str(SIGNALLER), "ASAN_OPTIONS": "verify_asan_link_order=0"}
        self.succeed("snapshot", "x.crawl", "other.crawl",
                     env={**environment, "WRITES_COUNTED": str(counted)})
        count = int(counted.read_text().split()[0])
        self.assertGreater(count, 3)
        for name in ("counted", "other.crawl"):
            (self.folder / name).unlink()
        for at in range(1, count + 1):
            answer = self.run_command(
                "snapshot", "x.crawl", "copy.crawl", "--replace",
                env={**environment, "SIGNAL": str(int(signal.SIGKILL)),
                     "SIGNAL_AT_PWRITE": str(at)})
            self.assertEqual(answer.code, -signal.SIGKILL)
            # Where files have names from the start, what was begun stays beside it.
            begun = {name for name in os.listdir(self.folder) if name.endswith(".tmp")}
            self.assert_unharmed(*begun)


if __name__ == "__main__":
    unittest.main()
