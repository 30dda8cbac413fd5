# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C in the middle of long work on pages: it stops soon, nothing is lost, nothing lies about.

The signal comes from inside the process, before a certain write (support/signal_at_write.cpp): so
it comes at the same place each time, however fast the machine is."""

import json
import os
import shutil
import unittest

from command import BUILD
from pages_command import PagesTest

SIGNALLER = BUILD / "bin/signal_at_write.so"
PAGES = 6000


HOSTS = 97  # so that all ranges of keys are written, whatever the seed of the file


def edges(first, end):
    """Each page links to some before it."""
    return b"".join(b"http://h%d.test/%d\thttp://h%d.test/%d\n" % (i % HOSTS, i, j % HOSTS, j)
                    for i in range(first, end) for j in {i // 2, i // 3, i - 1} if j >= 0)


class InterruptTest(PagesTest):
    def signalled(self, *words, data=b"", **variables):
        """Runs with the signaller; its variables are numbers or paths."""
        sanitizer = ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"),
                                           "verify_asan_link_order=0")))
        return self.run_command(*words, data=data, env={
            "LD_PRELOAD": str(SIGNALLER), "ASAN_OPTIONS": sanitizer,
            **{name: str(value) for name, value in variables.items()}})

    def calls(self, *words, data=b""):
        """How often a run that nobody interrupts calls pwrite() and write()."""
        counted = self.folder / "counted"
        answer = self.signalled(*words, data=data, WRITES_COUNTED=counted)
        self.assertEqual(answer.code, 0, answer.err)
        return tuple(map(int, counted.read_text().split()))

    def copy(self, source, target="x.crawl"):
        shutil.copyfile(self.folder / source, self.folder / target)

    def waiting(self, name="x.crawl"):
        return self.info(name)["edit_count"]

    def assert_same_pages(self, name, other):
        self.assertEqual(self.export("jsonl", name=name), self.export("jsonl", name=other))


class Supersteps(InterruptTest):
    """Edits that wait, over runs that are to be joined."""

    def setUp(self):
        super().setUp()
        for step in range(3):
            self.load(edges(step * 1000, (step + 1) * 1000), "edges", name="base.crawl")
        self.load(edges(3000, PAGES), "edges", "--no-merge", name="base.crawl")
        self.copy("base.crawl", "whole.crawl")

    def interrupt(self, *words, said=b""):
        """At some writes of keys, the first ones of the superstep. Each time all edits wait, and
        another run ends it."""
        before = self.waiting("base.crawl")
        self.assertGreater(before, 1000)
        self.copy("base.crawl", "merged.crawl")
        count, _ = self.calls("merge", "merged.crawl")
        self.succeed(words[0], "whole.crawl", *words[1:])
        self.assertGreater(count, 20)
        for at in (1, 2, 5, 10):
            self.copy("base.crawl")
            answer = self.signalled(words[0], "x.crawl", *words[1:], SIGNAL_AT_PWRITE=at)
            self.assertEqual((answer.code, answer.out, answer.err), (130, b"", said), at)
            self.assert_whole()
            self.assertEqual(self.waiting(), before, at)
            self.assertEqual(self.info()["page_count"], 3000)
        self.succeed(words[0], "x.crawl", *words[1:])
        self.assertEqual(self.waiting(), 0)
        self.assert_same_pages("x.crawl", "whole.crawl")

    def test_of_merge_stop(self):
        self.interrupt("merge")

    def test_of_compact_stop(self):
        self.interrupt("compact")

    def test_of_forget_stop(self):
        self.interrupt("forget", "--host", "h3.test",
                       said=b"crawlstore: stopped; the same command finishes what is left\n")


class Joins(InterruptTest):
    def setUp(self):
        super().setUp()
        for step in range(4):
            self.load(edges(step * 1500, (step + 1) * 1500), "edges", name="base.crawl")
        self.copy("base.crawl", "whole.crawl")

    def interrupt(self, *words):
        generation = self.info("base.crawl")["generation"]
        count, _ = self.calls(words[0], "whole.crawl", *words[1:])
        for at in (1, 2):
            self.assertLess(at, count)
            self.copy("base.crawl")
            answer = self.signalled(words[0], "x.crawl", *words[1:], SIGNAL_AT_PWRITE=at)
            self.assertEqual(answer.code, 130, answer.err)
            self.assertEqual(self.info()["generation"], generation)
            self.assert_whole()
        self.succeed(words[0], "x.crawl", *words[1:])
        self.assert_same_pages("x.crawl", "whole.crawl")

    def test_of_runs_stop(self):
        self.interrupt("compact")

    def test_of_forgetting_stop(self):
        self.interrupt("forget", "--prefix", "http://h1")


class Imports(InterruptTest):
    def interrupt(self, *words):
        """From the making of the store to the last commit. Input that was read waits, or is pages.

        How many writes there are depends a little on the seed of the keys: the last ones are left
        out.
        """
        data = edges(0, PAGES)
        count, _ = self.calls("import", "whole.crawl", "--format", "edges", "-", *words, data=data)
        waiting = set()
        for at in range(1, count - count // 8, max(1, count // 10)):
            (self.folder / "x.crawl").unlink(missing_ok=True)
            answer = self.signalled("import", "x.crawl", "--format", "edges", "-", *words,
                                    data=data, SIGNAL_AT_PWRITE=at)
            self.assertEqual(answer.code, 130, answer.err)
            self.assert_whole()
            waits = self.waiting() != 0
            self.assertEqual(b"edits wait in the file" in answer.err, waits)
            waiting.add(waits)
        self.assertIn(True, waiting)
        self.load(data, "edges")
        self.assertEqual(self.edges(), self.edges("whole.crawl"))

    def test_stop_in_the_last_superstep(self):
        self.interrupt()

    def test_stop_in_a_superstep_that_memory_calls_for(self):
        self.interrupt("--memory", "1MiB")

    def test_keep_every_edge_that_was_read(self):
        data = edges(0, PAGES)
        (self.folder / "e.tsv").write_bytes(data)
        answer = self.signalled("import", "x.crawl", "--format", "edges", "e.tsv", "--json",
                                SIGNAL_AT_PWRITE=12)
        self.assertEqual(answer.code, 130, answer.err)
        lines = json.loads(answer.out)["line_count"]
        self.succeed("merge", "x.crawl")
        read = {tuple(line.split(b"\t")) for line in data.split(b"\n")[:lines]}
        self.assertEqual(self.edges(), read)


class Exports(InterruptTest):
    """The file is there as a whole or not at all; what was there before stays until then."""

    FORMATS = ("events", "jsonl", "csv", "edges", "dot", "graphml")

    def setUp(self):
        super().setUp()
        self.load(edges(0, 2 * PAGES), "edges")
        self.files = set(os.listdir(self.folder))

    def interrupt(self, form, output="out"):
        """At the first write, and at one in the middle."""
        _, count = self.calls("export", "x.crawl", "--format", form, "-o", "whole")
        self.assertGreaterEqual(count, 3, form)
        for name in ("whole", "counted"):
            (self.folder / name).unlink()
        for at in (1, count // 2):
            answer = self.signalled("export", "x.crawl", "--format", form, "-o", output,
                                    SIGNAL_AT_WRITE=at)
            self.assertEqual((answer.code, answer.out, answer.err), (130, b"", b""), form)

    def test_leave_no_file_behind(self):
        for form in self.FORMATS:
            self.interrupt(form)
            self.assertEqual(set(os.listdir(self.folder)), self.files, form)

    def test_leave_the_file_that_was_there(self):
        (self.folder / "out").write_bytes(b"of yesterday")
        before = (self.folder / "out").stat()
        for form in self.FORMATS:
            self.interrupt(form)
            self.assertEqual((self.folder / "out").read_bytes(), b"of yesterday")
            self.assertEqual((self.folder / "out").stat().st_mtime_ns, before.st_mtime_ns)
            self.assertEqual(set(os.listdir(self.folder)), self.files | {"out"}, form)

    def test_leave_a_link_and_its_file(self):
        (self.folder / "elsewhere").mkdir()
        (self.folder / "elsewhere/out").write_bytes(b"of yesterday")
        os.symlink("elsewhere/out", self.folder / "out")
        self.interrupt("jsonl")
        self.assertTrue((self.folder / "out").is_symlink())
        self.assertEqual(os.listdir(self.folder / "elsewhere"), ["out"])
        self.assertEqual((self.folder / "out").read_bytes(), b"of yesterday")

    def test_leave_the_parts_of_others(self):
        (self.folder / "out.part").write_bytes(b"of another process")
        self.interrupt("csv")
        self.assertEqual((self.folder / "out.part").read_bytes(), b"of another process")
        self.assertEqual(set(os.listdir(self.folder)), self.files | {"out.part"})

    def test_are_whole_when_the_signal_comes_too_late(self):
        """All was told already: the last write, and the file gets its name."""
        _, count = self.calls("export", "x.crawl", "--format", "edges", "-o", "whole")
        answer = self.signalled("export", "x.crawl", "--format", "edges", "-o", "out",
                                SIGNAL_AT_WRITE=count)
        self.assertEqual(answer.code, 0, answer.err)
        self.assertEqual((self.folder / "out").read_bytes(), (self.folder / "whole").read_bytes())


if __name__ == "__main__":
    unittest.main()
