# SPDX-License-Identifier: Apache-2.0
"""Inputs that are packed are read as if they were plain; what is no text is refused by its name."""

import bz2
import gzip
import json
import lzma
import os
import random
import subprocess
import threading
import unittest
import zlib

import command

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
LAST = 1


def zstd(data):
    return subprocess.run(["zstd", "-qc"], input=data, stdout=subprocess.PIPE, check=True).stdout


def zstd_by_hand(blocks, window_log):
    """A frame of blocks that repeat a byte: [(byte, count)]."""
    frame = ZSTD_MAGIC + bytes([0, (window_log - 10) << 3])
    for number, (byte, count) in enumerate(blocks):
        is_last = LAST if number + 1 == len(blocks) else 0
        frame += (is_last | 1 << 1 | count << 3).to_bytes(3, "little") + bytes([byte])
    return frame


PACKERS = {"gzip": gzip.compress, "zstd": zstd}
URLS = b"".join(b"http://a.test/%d\n" % (number * number % 5000) for number in range(9000))
SITEMAP = b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url></url></urlset>\n'
WARC = b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n"


class PackedTest(command.CommandTest):
    def write(self, name, data):
        (self.folder / name).write_bytes(data)
        return name

    def make_pages(self, count=100):
        edges = b"".join(b"http://from.test/\thttp://a.test/%d\n" % n for n in range(count))
        self.succeed("import", "-q", "--format", "edges", "x.crawl", "-", data=edges)


class Packed(PackedTest):
    def assert_like_plain(self, plain, *words):
        """`words` name the input INPUT and the crawl file FILE."""
        def run(name, data):
            crawl = self.write(f"{name}.crawl", self.crawl)
            self.write(f"{name}.input", data)
            given = [{"INPUT": f"{name}.input", "FILE": crawl}.get(word, word) for word in words]
            return self.succeed(*given).out
        crawl = self.folder / "x.crawl"
        self.crawl = crawl.read_bytes()
        wanted = run("plain", plain)
        for name, pack in PACKERS.items():
            with self.subTest(words=words, packed=name):
                self.assertEqual(run(name, pack(plain)), wanted)
        self.assertNotEqual(wanted, b"")

    def test_inputs_are_read_like_plain_ones_by_all_verbs(self):
        self.make_pages()
        events = self.succeed("export", "x.crawl", "--format", "events").out
        jsonl = self.succeed("export", "x.crawl", "--format", "jsonl").out
        pages = b"".join(b"%d\thttp://a.test/%d\n" % (n, n) for n in range(100))
        self.assert_like_plain(URLS, "seen", "FILE", "INPUT")
        self.assert_like_plain(URLS, "seen", "FILE", "--ordered", "INPUT")
        for words in ([], ["--strict"], ["--drum", "urls"], ["--drum", "urls", "--strict"]):
            self.assert_like_plain(URLS, "import", "FILE", "--format", "urls", *words, "INPUT")
        self.assert_like_plain(b"http://b.test/\thttp://c.test/\n", "import", "FILE", "--format",
                               "edges", "INPUT")
        self.assert_like_plain(jsonl, "import", "FILE", "--format", "jsonl", "--strict", "INPUT")
        self.assert_like_plain(events, "import", "FILE", "--format", "events", "INPUT")
        self.assert_like_plain(pages, "queue", "FILE", "--insert", "INPUT", "--json")

    def test_members_and_frames_are_joined_inside_a_line(self):
        for name, pack in PACKERS.items():
            with self.subTest(packed=name):
                parts = [URLS[:100_003], b"", URLS[100_003:100_010], URLS[100_010:]]
                data = b"".join(pack(part) for part in parts)
                answer = self.succeed("seen", f"{name}.crawl", "--ordered", data=data)
                self.assertEqual(b"".join(url + b"\n" for _, url in answer.verdicts), URLS)

    def test_bytes_may_come_one_by_one(self):
        for name, pack in PACKERS.items():
            with self.subTest(packed=name):
                process = self.start("seen", f"{name}.crawl", "--ordered", "-q", bufsize=0)
                for byte in pack(URLS[:500]) + pack(URLS[500:1000]):
                    process.stdin.write(bytes([byte]))
                out, err = process.communicate(timeout=60)
                self.assertEqual((process.returncode, err), (0, b""))
                self.assertEqual(b"".join(line.split(b"\t")[1] + b"\n"
                                          for line in out.splitlines()),
                                 URLS[:1000] + (b"" if URLS[999:1000] == b"\n" else b"\n"))

    def test_verdicts_come_in_a_pause(self):
        for flush in (zlib.Z_SYNC_FLUSH, zlib.Z_FULL_FLUSH):
            packer = zlib.compressobj(wbits=31)
            process = self.start("seen", "x.crawl", "-q", bufsize=0)
            process.stdin.write(packer.compress(b"http://a.test/\n") + packer.flush(flush))
            self.assertIn(b"\thttp://a.test/\n", process.stdout.readline())
            process.stdin.write(packer.flush())
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0)

    def test_bombs_are_never_held(self):
        gib = [(0x61, 1 << 17)] * (1 << 13)
        line = self.write("line.zst", zstd_by_hand(gib, 17))
        ends = self.write("ends.zst", zstd_by_hand([(0x0a, 1 << 17)] * (1 << 8), 17))
        self.assertLess((self.folder / line).stat().st_size, 40_000)
        for words in (["seen", "x.crawl", "-q", line], ["seen", "x.crawl", "-q", ends],
                      ["import", "x.crawl", "--format", "edges", line],
                      ["import", "x.crawl", "--format", "jsonl", ends],
                      ["import", "x.crawl", "--format", "urls", line, "--strict"],
                      ["import", "x.crawl", "--format", "urls", "--drum", "urls", line]):
            with self.subTest(words=words):
                process = self.start(*words, "--memory", "8MiB", stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                self.assertEqual(process.returncode, 0 if ends in words else 1)
                self.assertLess(usage.ru_maxrss, (1 << 20) if command.IS_SANITIZED else 200 << 10)


class Broken(PackedTest):
    def assert_fails(self, data, message, taken):
        """Says so, ends with 1, and keeps the URLs of whole lines before."""
        self.refuse(1, rb"crawlstore: bad: ".decode() + message, "import", "x.crawl", "--format",
                    "urls", "--drum", "urls", self.write("bad", data))
        held = json.loads(self.succeed("info", "--json", "x.crawl").out)["key_count"]
        self.assertEqual(held, taken)
        (self.folder / "x.crawl").unlink()

    def test_data_that_are_cut_off_are_an_error(self):
        for name, pack in PACKERS.items():
            data = pack(b"http://a.test/\n")
            for length in range(5, len(data)):
                with self.subTest(packed=name, length=length):
                    answer = self.run_command("seen", f"{name}.crawl", "-q", data=data[:length])
                    self.assertEqual(answer.code, 1)
                    self.assertEqual(answer.err.decode(), "crawlstore: standard input: it is cut "
                                     f"off: its {name} data end too early\n")
            self.assert_fails(pack(b"http://a.test/\n") + pack(b"http://b.test/\n")[:-3],
                              "it is cut off", 2)

    def test_a_line_that_is_cut_off_is_not_taken(self):
        packer = zlib.compressobj(wbits=31)
        data = packer.compress(b"http://a.test/\nhttp://b.te") + packer.flush(zlib.Z_SYNC_FLUSH)
        self.assert_fails(data, "it is cut off: its gzip data end too early\n$", 1)

    def test_damaged_data_are_an_error(self):
        generator = random.Random(command.SEED)
        for name, pack in PACKERS.items():
            good = pack(URLS)
            for _ in range(20):
                at = generator.randrange(10, len(good))
                bad = bytearray(good)
                bad[at] ^= 1 << generator.randrange(8)
                with self.subTest(packed=name, at=at):
                    answer = self.run_command("seen", "x.crawl", "-q", data=bytes(bad))
                    self.assertIn(answer.code, (0, 1))
                    if name == "gzip":  # has a checksum
                        self.assertEqual(answer.code, 1)
                    if answer.code == 1:
                        self.assertRegex(answer.err, rb"standard input: (its \w+ |it is cut off)")

    def test_other_data_after_packed_ones_are_an_error(self):
        for name, pack in PACKERS.items():
            with self.subTest(packed=name):
                self.assert_fails(pack(b"http://a.test/\n") + b"http://b.test/\n",
                                  f"its {name} data are damaged, or something else comes after "
                                  "them\n$", 1)

    def test_zeros_may_come_after_gzip(self):
        for zeros in (1, 511, 300_000):
            data = gzip.compress(b"http://a.test/\n") + bytes(zeros)
            self.succeed("seen", "x.crawl", data=data)

    def test_a_window_that_is_too_large_is_an_error(self):
        self.succeed("seen", "x.crawl", "-q", data=zstd_by_hand([(0x0a, 3)], 27))
        self.refuse(1, r"its zstd window is over 128 MiB; give what `zstd -dc --long=31` makes",
                    "seen", "x.crawl", "-q", data=zstd_by_hand([(0x0a, 3)], 28))


class Refused(PackedTest):
    def kinds(self):
        self.make_store("made.crawl")
        text = "http://a.test/\n"
        warc = "it is a WARC file, of records and not of lines"
        return {
            "bz2": (bz2.compress(URLS), "it is packed by bzip2; give what `bzip2 -dc` makes of it"),
            "xz": (lzma.compress(URLS), "it is packed by xz; give what `xz -dc` makes of it"),
            "utf16": (text.encode("utf-16"), "it is UTF-16"),
            "utf16be": (b"\xfe\xff" + text.encode("utf-16-be"), "it is UTF-16"),
            "bare": (text.encode("utf-16-le"), "it is UTF-16"),
            "barebe": (text.encode("utf-16-be"), "it is UTF-16"),
            "warc": (WARC, warc),
            "warc.gz": (gzip.compress(WARC) * 2, "once unpacked, " + warc),
            "warc.zst": (zstd(WARC), "once unpacked, " + warc),
            "arc": (b"filedesc://a.arc 0.0.0.0 20080430204825 text/plain 73\n", "it is an ARC"),
            "crawl": ((self.folder / "made.crawl").read_bytes(),
                      "it is a crawl file; give what `crawlstore export` makes of it"),
            "sitemap": (b'<?xml version="1.0"?>\n' + SITEMAP, "it is XML, such as a sitemap"),
            "bare sitemap": (b"\xef\xbb\xbf\r\n\n  " + SITEMAP, "it is XML"),
            "index": (b"<sitemapindex></sitemapindex>", "it is XML"),
            "twice": (gzip.compress(zstd(URLS)), "once unpacked, it is packed twice"),
        }

    def test_by_name_and_leaves_nothing_behind(self):
        for kind, (data, why) in self.kinds().items():
            name = self.write(kind, data)
            for words in (["seen", "x.crawl", name],
                          ["import", "x.crawl", "--format", "urls", name],
                          ["import", "x.crawl", "--format", "urls", "--drum", "urls", name],
                          ["import", "x.crawl", "--format", "edges", name],
                          ["import", "x.crawl", "--format", "jsonl", name],
                          ["import", "x.crawl", "--format", "events", name]):
                with self.subTest(kind=kind, words=words):
                    answer = self.run_command(*words)
                    self.assertEqual(answer.code, 1, answer.err)
                    self.assertIn(f"crawlstore: {name}: input refused: {why}".encode(), answer.err)
                    self.assertFalse((self.folder / "x.crawl").exists())
                    if words[0] == "import":
                        answer = self.run_command(*words, "--json")
                        counts = json.loads(answer.out)
                        self.assertEqual(counts.pop("refused_input_count"), 1)
                        self.assertEqual(set(counts.values()), {0})

    def test_through_a_pipe_too(self):
        for kind, (data, why) in self.kinds().items():
            for words in (["seen", "x.crawl"], ["import", "x.crawl", "--format", "urls", "-"],
                          ["import", "x.crawl", "--format", "urls", "--drum", "urls", "-"],
                          ["import", "x.crawl", "--format", "edges", "-"],
                          ["import", "x.crawl", "--format", "events", "-"]):
                with self.subTest(kind=kind, words=words):
                    answer = self.run_command(*words, data=data)
                    self.assertEqual(answer.code, 1, answer.err)
                    self.assertIn(f"-: input refused: {why}".encode(), answer.err)
                    self.assertFalse((self.folder / "x.crawl").exists())

    def test_through_pipes_up_to_the_first_that_is_read(self):
        folder, good = self.folder, self.write("good", b"http://a.test/\n")
        for words in (["seen", "x.crawl"], ["import", "x.crawl", "--format", "urls"],
                      ["import", "x.crawl", "--format", "urls", "--drum", "urls"]):
            for inputs, lines in ((["-", self.write("bad", lzma.compress(URLS))], 0),
                                  (["-", good], 1), ([good, "-"], 1)):
                with self.subTest(words=words, inputs=inputs):
                    answer = self.run_command(*words, *inputs, data=WARC)
                    self.assertEqual(answer.code, 1, answer.err)
                    self.assertIn(b"crawlstore: -: input refused: it is a WARC", answer.err)
                    self.assertEqual((folder / "x.crawl").exists(), lines != 0)
                    if lines == 0:
                        continue
                    answer = self.run_command("seen", "--check", "--quiet", "x.crawl", good)
                    self.assertEqual(answer.verdicts, [(b"duplicate", b"http://a.test/")])
                    (folder / "x.crawl").unlink()

    def test_not_what_was_read_to_know_the_kind(self):
        """All lines of a pipe are taken, also where FILE is not there yet."""
        for data in (URLS, gzip.compress(URLS), b"", b"\n", b"h"):
            self.run_command("import", "x.crawl", "--format", "urls", "-", data=data)
            self.run_command("import", "y.crawl", "--format", "urls", self.write("u", data))
            infos = [json.loads(self.succeed("info", "--json", name).out)["page_databases"]
                     for name in ("x.crawl", "y.crawl")]
            self.assertEqual(*[[row["page_count"] for row in rows] for rows in infos])
            for name in ("x.crawl", "y.crawl"):
                (self.folder / name).unlink()

    def test_a_named_pipe_is_opened_once(self):
        """Its writer may have ended when it is opened again, and no other comes."""
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)

        def write(data):
            with open(pipe, "wb", buffering=0) as output:  # waits for a reader
                output.write(data)
        for data, code in ((b"http://a.test/\n", 0), (WARC, 1)) * 3:
            writer = threading.Timer(0.2, write, [data])  # the reader waits already
            writer.start()
            answer = self.run_command("import", "x.crawl", "--format", "urls", "pipe")
            writer.join()
            self.assertEqual(answer.code, code, answer.err)
            self.assertEqual((self.folder / "x.crawl").exists(), code == 0)
            (self.folder / "x.crawl").unlink(missing_ok=True)

    def test_as_standard_input_from_a_file(self):
        name = self.write("x.xz", lzma.compress(URLS))
        with open(self.folder / name, "rb") as file:
            for words in (["import", "x.crawl", "--format", "urls", "-"], ["seen", "x.crawl"]):
                answer = self.run_command(*words, stdin=file)
                self.assertEqual(answer.code, 1)
                self.assertIn(b"crawlstore: -: input refused: it is packed by xz", answer.err)
                self.assertFalse((self.folder / "x.crawl").exists())
        with open(self.folder / self.write("urls", URLS), "rb") as file:
            file.seek(len(b"http://a.test/0\n"))
            answer = self.succeed("import", "x.crawl", "--format", "urls", "-", "--json",
                                  stdin=file)
        self.assertEqual(json.loads(answer.out)["line_count"], 8999)

    def test_while_the_other_inputs_are_read(self):
        bad = self.write("bad", lzma.compress(URLS))
        good = self.write("good", b"http://a.test/\n")
        for words in (["import", "x.crawl", "--format", "urls", bad, good],
                      ["import", "x.crawl", "--format", "urls", good, "-"],
                      ["import", "x.crawl", "--format", "urls", "--drum", "urls", good, "-"]):
            answer = self.run_command(*words, "--json", data=WARC)
            counts = json.loads(answer.out)
            self.assertEqual((answer.code, counts["refused_input_count"], counts["line_count"]),
                             (1, 1, 1))
        answer = self.run_command("seen", "x.crawl", bad, good)
        self.assertEqual((answer.code, answer.verdicts), (1, [(b"duplicate", b"http://a.test/")]))
        self.assertIn(b"1 lines: 0 unique, 1 duplicate, 1 input refused", answer.err)

    def test_nothing_is_imported_then_with_strict(self):
        bad = self.write("bad", gzip.compress(WARC))
        good = self.write("good", b"http://a.test/\thttp://b.test/\n")
        for form in ("urls", "edges"):
            self.refuse(1, "--strict: nothing was imported", "import", "x.crawl", "--format", form,
                        "--strict", good, bad)
        self.assertFalse((self.folder / "x.crawl").exists())

    def test_as_a_list_of_pages(self):
        self.make_pages()
        before = (self.folder / "x.crawl").read_bytes()
        for kind, (data, why) in self.kinds().items():
            name = self.write(kind, data)
            self.refuse(1, f"{name}: input refused: {why}", "queue", "x.crawl", "--insert", name)
            self.refuse(1, f"{name}: input refused: {why}", "rank", "x.crawl", "pagerank", "-q",
                        "--personalize", name)
        self.assertEqual((self.folder / "x.crawl").read_bytes(), before)

    def test_only_where_they_begin_so(self):
        """Text that shares a beginning with another kind is text."""
        for text in (b"B", b"BZ\n", b"WARC\n", b"file", b"filedesc:/\n", b"\xff\n", b"\xfd7\n",
                     b"\x1f\n", b"P\n", b"P*M\n", b"\xef\xbb\n", b"a\0\n", b"<\n", b"<url>\n",
                     b"\n\n <url\n", b" \n<?xml?>\n"):
            with self.subTest(text=text):
                answer = self.succeed("seen", "x.crawl", "--ordered", data=text)
                self.assertEqual([url for _, url in answer.verdicts],
                                 [line for line in text.split(b"\n") if line])


class RealData(PackedTest):
    FOLDER = command.SOURCE.parent / "shared/data"

    def test_lists_of_urls_are_read_as_they_are(self):
        path = self.FOLDER / "urls/mscpp.links.zst"
        if not path.exists():
            self.skipTest("../shared/data is not there")
        plain = subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=True).stdout
        found = [self.succeed("import", name, "--format", "urls", "-q", "--json", given,
                              data=plain).out for name, given in (("a.crawl", path),
                                                                  ("b.crawl", "-"))]
        self.assertEqual(found[0], found[1])
        self.assertGreater(json.loads(found[0])["new_page_count"], 1000)

    def test_archives_are_refused_by_name(self):
        paths = sorted(self.FOLDER.glob("warc/*.gz"))
        if not paths:
            self.skipTest("../shared/data is not there")
        for path in paths:
            kind = "a WARC" if ".warc" in path.name else "an ARC"
            self.refuse(1, f"input refused: once unpacked, it is {kind} file", "seen", "x.crawl",
                        path)


if __name__ == "__main__":
    unittest.main()
