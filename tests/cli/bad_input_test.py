# SPDX-License-Identifier: Apache-2.0
"""Files that are not what they should be: a defined exit code, a message that says what to do."""

import json
import os
import subprocess
import sys
import unittest

import command

sys.path.insert(0, str(command.SOURCE / "tests/golden"))
import golden  # noqa: E402  pylint: disable=wrong-import-position

READING = [["info"], ["segments"], ["verify"], ["pins"], ["dump"], ["snapshot", "{}", "out.crawl"],
           ["pages"], ["page", "{}", "#0"], ["links", "{}", "#0"],
           ["export", "{}", "--format", "events", "-o", "out.crawl"]]
WRITING = [["merge"], ["compact"], ["rollback"], ["seen"],
           ["import", "{}", "--format", "urls", "-"], ["import", "{}", "--format", "edges", "-"],
           ["import", "{}", "--format", "jsonl", "-"], ["import", "{}", "--format", "events", "-"]]

IDENTITY_VERSION = 12
SUPERBLOCKS = (16, 32, 48, 64)


def words_of(verb, path):
    if "{}" in verb:
        return [path if word == "{}" else word for word in verb]
    return [*verb, path]


class EveryVerb(command.CommandTest):
    """The messages of each verb about the same bad file."""

    def refuse_all(self, code, message, path, verbs):
        for verb in verbs:
            with self.subTest(verb[0]):
                self.refuse(code, message, *words_of(verb, path))
                self.assertFalse((self.folder / "out.crawl").exists())

    def test_refuses_another_file(self):
        other = self.folder / "other"
        other.write_bytes(b"%PDF-1.7\n" + os.urandom(200_000))
        before = other.read_bytes()
        self.refuse_all(4, "other: not a crawlstore file.*What to do", "other", READING + WRITING)
        self.assertEqual(other.read_bytes(), before)

    def test_refuses_an_empty_file(self):
        (self.folder / "empty").write_bytes(b"")
        self.refuse_all(4, "empty: not a crawlstore file", "empty", READING + WRITING)
        self.assertEqual((self.folder / "empty").stat().st_size, 0)

    def test_refuses_a_directory(self):
        self.refuse_all(4, "not a crawlstore file: a folder", ".", READING + WRITING)

    def test_refuses_a_directory_as_an_input_or_output(self):
        self.make_store()
        pages = command.SOURCE / "tests/golden/valid/pages.crawl"
        folder = os.open(self.folder, os.O_RDONLY)
        self.addCleanup(os.close, folder)
        for words in (["import", "x.crawl", "--format", "edges"],
                      ["import", "x.crawl", "--format", "events"],
                      ["queue", "x.crawl", "--insert"],
                      ["export", pages, "--format", "edges", "--output"]):
            with self.subTest(words):
                self.refuse(2, r"\.: a folder, where a file is wanted", *words, ".")
        answer = self.run_command("seen", "x.crawl", stdin=folder)
        self.assertEqual((answer.code, answer.out), (2, b""))
        self.assertIn(b"standard input: a folder, where a file is wanted", answer.err)

    def test_refuses_a_fifo_without_waiting(self):
        os.mkfifo(self.folder / "fifo")
        self.refuse_all(4, "fifo: not a crawlstore file", "fifo", READING + WRITING)

    def test_misses_a_file_that_is_not_there(self):
        missing = [verb for verb in READING + WRITING if verb[0] not in ("seen", "import")]
        self.refuse_all(1, "missing.crawl: no such file.*crawlstore create", "missing.crawl",
                        missing)

    def test_refuses_a_newer_version(self):
        self.patch_identity(self.make_store(), 4000)
        self.refuse_all(4, "newer format version.*newer release", "x.crawl", self.all_but_dump())

    def test_refuses_an_older_version(self):
        self.patch_identity(self.make_store(), 1)
        self.refuse_all(4, "format version that is no longer read", "x.crawl", self.all_but_dump())

    def all_but_dump(self):
        """dump shows the identity page, with what is wrong there."""
        text = self.succeed("dump", "x.crawl").out.decode()
        self.assertRegex(text, r"format_version u32 +\d+  ! ")
        return [verb for verb in READING + WRITING if verb[0] != "dump"]

    def patch_identity(self, path, version):
        """Readers look at the version before the checksum, which may change with it."""
        data = bytearray(path.read_bytes())
        data[IDENTITY_VERSION:IDENTITY_VERSION + 4] = version.to_bytes(4, "little")
        path.write_bytes(data)

    @unittest.skipUnless(command.IS_ROOT, "needs root, to become somebody else")
    def test_reports_a_file_it_may_not_read(self):
        path = self.make_store()
        path.chmod(0o600)
        for verb in READING + WRITING:
            with self.subTest(verb[0]):
                self.refuse(3, "x.crawl: permission denied.*owner and mode",
                            *words_of(verb, "x.crawl"), preexec_fn=command.as_nobody)

    @unittest.skipUnless(command.IS_ROOT, "needs root, to become somebody else")
    def test_reads_what_it_may_not_write(self):
        path = self.make_store()
        path.chmod(0o444)
        for verb in (["info"], ["segments"], ["verify"], ["pins"], ["dump"]):
            with self.subTest(verb[0]):
                self.succeed(*words_of(verb, "x.crawl"), preexec_fn=command.as_nobody)
        self.refuse_writing_as_nobody("x.crawl")

    def refuse_writing_as_nobody(self, path):
        for verb in WRITING:
            with self.subTest(verb[0]):
                self.refuse(3, "permission denied", *words_of(verb, path),
                            preexec_fn=command.as_nobody)

    @unittest.skipUnless(command.IS_ROOT, "needs root, to become somebody else")
    def test_creates_nothing_in_a_folder_it_may_not_write(self):
        for words in (["create", "x.crawl"], ["seen", "x.crawl"]):
            self.refuse(3, "permission denied", *words, preexec_fn=command.as_nobody)
        self.assertEqual(os.listdir(self.folder), [])


class Damage(command.CommandTest):
    def setUp(self):
        super().setUp()
        self.path = self.make_store()
        self.succeed("seen", "x.crawl", data=b"".join(b"http://h.test/%d\n" % i
                                                      for i in range(20_000)))
        self.whole = self.path.read_bytes()

    def test_of_a_truncated_file_is_found(self):
        for size in (1, 4095, 16 << 10, 40 << 10, 80 << 10, len(self.whole) // 2,
                     self.live_end() - 1):
            self.path.write_bytes(self.whole[:size])
            answer = self.run_command("verify", "x.crawl")
            with self.subTest(size):
                self.assertIn(answer.code, (1, 4))
                self.assertRegex((answer.out + answer.err).decode(), "What to do")
                self.assertEqual(answer.code, 4 if size < 8 else 1)

    def live_end(self):
        """Where the last run of the file ends."""
        runs = json.loads(self.succeed("segments", "--json", "x.crawl").out)["runs"]
        return max(run["offset_bytes"] + run["payload_bytes"] for run in runs)

    def flip(self, offset):
        data = bytearray(self.whole)
        data[offset] ^= 1
        self.path.write_bytes(data)

    def test_of_data_is_reported_with_segment_and_offset(self):
        runs = json.loads(self.succeed("segments", "--json", "x.crawl").out)["runs"]
        run = max(runs, key=lambda run: run["payload_bytes"])
        self.flip(run["offset_bytes"] + 100)
        answer = self.run_command("verify", "x.crawl")
        self.assertEqual(answer.code, 1)
        self.assertRegex(answer.out.decode(),
                         rf"damaged, generation \d+: chunk damaged.*segment {run['segment']}, "
                         rf"at offset 0x[0-9a-f]+.*What to do")
        found = json.loads(self.run_command("verify", "--json", "x.crawl").out)
        self.assertEqual(found["health"], "damaged")
        finding = found["findings"][0]
        self.assertEqual((finding["code"], finding["segment"]), ("chunk_damaged", run["segment"]))
        self.assertEqual(self.run_command("verify", "--quick", "x.crawl").code, 0)

    def test_of_one_superblock_copy_is_reduced_redundancy(self):
        for kib in SUPERBLOCKS:
            self.flip(kib * 1024 + 50)
            with self.subTest(kib):
                answer = self.run_command("verify", "x.crawl")
                self.assertEqual(answer.code, 0, answer.out)
                self.assertIn(b"reduced redundancy", answer.out)
                self.assertIn(b"What to do: nothing is lost", answer.out)
                self.assertNotIn(b"backup", answer.out)
                self.assertIn(b"with reduced redundancy", self.succeed("info", "x.crawl").out)
                self.assertEqual(self.run_command("verify", "--strict", "x.crawl").code, 1)
                self.succeed("seen", "x.crawl", data=b"http://next.test/\n")
                self.succeed("verify", "--strict", "x.crawl")

    def test_of_the_newest_superblock_shows_in_info(self):
        whole = json.loads(self.succeed("info", "x.crawl", "--json").out)
        self.assertIsNone(whole["error"])
        data = bytearray(self.whole)
        for copy in whole["superblocks"]:
            if copy["generation"] == whole["generation"]:
                data[copy["offset_bytes"] + 50] ^= 1
        self.path.write_bytes(data)
        answer = self.run_command("info", "x.crawl", "--json")
        found = json.loads(answer.out)
        self.assertEqual((answer.code, found["generation"]), (1, whole["generation"] - 1))
        self.assertRegex(found["error"], "damaged")
        self.assertRegex(answer.err, b"damaged")

    def test_of_the_identity_is_damage(self):
        self.flip(100)
        answer = self.run_command("verify", "x.crawl")
        self.assertEqual(answer.code, 1)
        self.refuse(1, "identity page damaged", "info", "x.crawl")

    def test_of_the_newest_directory_leaves_rollback(self):
        fields = json.loads(self.succeed("dump", "--json", "x.crawl").out)["fields"]
        generation = json.loads(self.succeed("info", "--json", "x.crawl").out)["generation"]
        slot = 16 if generation % 2 == 0 else 32
        root = next(field for field in fields if field["name"] == "root_offset_bytes"
                    and slot << 10 <= field["offset_bytes"] < (slot + 4) << 10)
        self.flip(int(root["value"], 0) + 8)
        self.refuse(1, "directory damaged.*crawlstore rollback", "info", "x.crawl")
        self.succeed("rollback", "x.crawl")
        after = json.loads(self.succeed("info", "--json", "x.crawl").out)
        self.assertGreater(after["generation"], generation - 1)
        self.assert_whole()

    def test_of_both_directories_leaves_a_backup(self):
        """`rollback` does not send back to itself, and says which one is broken."""
        fields = json.loads(self.succeed("dump", "--json", "x.crawl").out)["fields"]
        roots = {int(field["value"], 0) for field in fields if field["name"] == "root_offset_bytes"}
        data = bytearray(self.whole)
        for root in roots - {0}:
            data[root + 8] ^= 1
        self.path.write_bytes(data)
        self.refuse(1, "nothing to roll back or forward to.*directories of both generations"
                    "(.|\n)*restore a backup", "rollback", "x.crawl")

    def test_in_mid_stream_ends_the_document(self):
        lines = b"".join(b"http://h%d.test/%d\thttp://b.test/%d\n" % (i, i, i)
                         for i in range(20_000))
        self.succeed("import", "p.crawl", "--format", "edges", "-", data=lines)
        found = json.loads(self.succeed("segments", "p.crawl", "--json").out)
        (origins,) = [one["id"] for one in found["segments"] if one["kind"] == "page_origins"]
        (run,) = [one for one in found["runs"] if one["segment"] == origins]
        whole = json.loads(self.succeed("pages", "p.crawl", "--json").out)
        self.assertIsNone(whole["error"])
        with open(self.folder / "p.crawl", "r+b") as file:
            file.seek(run["offset_bytes"] + run["payload_bytes"] // 2)
            file.write(b"damage")
        answer = self.run_command("pages", "p.crawl", "--json")
        self.assertEqual(answer.code, 1)
        cut = json.loads(answer.out)
        self.assertIn(cut["error"].split(":")[0], answer.err.decode())
        self.assertEqual(cut["pages"], whole["pages"][:len(cut["pages"])])
        self.assertNotIn(len(cut["pages"]), (0, len(whole["pages"])))


class UnknownFeatures(command.CommandTest):
    """In a golden file, whose checksums are right."""

    def test_that_change_the_meaning_are_refused(self):
        golden.expand("feature_incompat_unknown", self.folder).rename(self.folder / "x.crawl")
        for verb in READING + WRITING:
            if verb[0] not in ("dump", "verify"):
                self.refuse(4, "feature that this version does not know.*newer release",
                            *words_of(verb, "x.crawl"))


class KeysOfPages(command.CommandTest):
    """Golden files with a key whose index no page has."""

    def test_without_a_page_are_damage(self):
        for name in ("page_key_index_of_no_page", "page_key_index_of_5_bytes"):
            file = golden.expand(name, self.folder)
            for words in (["pages", file, "--by", "host"], ["pages", file, "--by", "domain"],
                          ["pages", file, "--host", "b.test"],
                          ["pages", file, "--domain", "b.test"],
                          ["page", file, "http://b.test/"], ["links", file, "http://b.test/"]):
                self.refuse(1, "index that no page has", *words)


@unittest.skipIf(command.IS_SANITIZED, "a sanitizer takes memory of its own")
class LinesOfManyThings(command.CommandTest):
    """A line of 64 MiB takes memory for its bytes, not for what is opened in it."""

    KIBIBYTES_MAX = 512 * 1024

    def import_lines(self, *parts):
        """Imports a file of (text, times) between two good lines; returns what the command said."""
        good = b'{"kind":"page","url":"http://a.test/"}\n'
        with open(self.folder / "lines", "wb") as lines:
            lines.write(good)
            for text, times in parts:
                for _ in range(times >> 20):
                    lines.write(text * (1 << 20))
                lines.write(text * (times % (1 << 20)))
            lines.write(b"\n" + good)
        with open(self.folder / "said", "wb") as said:
            process = self.start("import", "x.crawl", "--format", "jsonl", "lines", "--memory",
                                 "64MiB", stdin=subprocess.DEVNULL, stdout=said, stderr=said)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 1)
        self.assertLess(usage.ru_maxrss, self.KIBIBYTES_MAX)
        text = (self.folder / "said").read_text()
        self.assertRegex(text, r"(?m)^event_count +2$")
        return text

    def test_refuses_lists_in_lists(self):
        text = self.import_lines((b"[", 60 << 20))
        self.assertIn("lines:2: refused: it is no JSON", text)

    def test_refuses_lists_in_a_list_of_links(self):
        text = self.import_lines((b'{"kind":"page","url":"http://b.test/","links":[', 1),
                                 (b"[", 30 << 20), (b"]", 30 << 20), (b"]}", 1))
        self.assertIn("lines:2: refused: a link is a string, a number or an object", text)

    def test_refuses_objects_without_a_name(self):
        text = self.import_lines((b'{"kind":"page","url":"http://b.test/","links":[', 1),
                                 (b"{},", 20_000_000), (b"{}]}", 1))
        self.assertIn("lines:2: refused: a page is named by one of", text)

    def test_refuses_more_links_than_a_message_holds(self):
        text = self.import_lines((b'{"kind":"page","url":"http://b.test/","links":[', 1),
                                 (b'"",', 20_000_000), (b'""]}', 1))
        self.assertIn("lines:2: refused: it has more than 2,097,152 links", text)

    def test_passes_over_what_it_does_not_know(self):
        self.assertIn("refused: `kind` is missing", self.import_lines(
            (b'{"x":[', 1), (b"{},", 20_000_000), (b"{}]}", 1)))


if __name__ == "__main__":
    unittest.main()
