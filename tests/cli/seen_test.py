# SPDX-License-Identifier: Apache-2.0
"""`crawlstore seen` and `import`: verdicts equal those of a set of normalised keys, whatever the
memory, the order, the spelling and the bytes."""

import json
import unittest

import command
import url_inputs
from url_model import Seen, by_key


def lines(urls, end=b"\n"):
    return b"".join(url + end for url in urls)


def expected(urls, model):
    return [(model.check_update(url), url) for url in urls]


def plain(urls):
    """Those that plain output takes."""
    return [url for url in urls if url and not any(c in url for c in (b"\t", b"\r", b"\n"))]


class Verdicts(command.CommandTest):
    def assert_verdicts(self, urls, *options, raw=False):
        """In the order of the input with --ordered; else each key's lines in that order."""
        wanted = expected(urls, Seen(raw))
        words = (*options, *(["--raw"] if raw else []))
        ordered = self.succeed("seen", "ordered.crawl", "--ordered", *words, data=lines(urls))
        self.assertEqual(ordered.verdicts, wanted)
        merged = self.succeed("seen", "merged.crawl", *words, data=lines(urls))
        self.assertEqual(by_key(merged.verdicts, Seen(raw)), by_key(wanted, Seen(raw)))
        for name in ("ordered.crawl", "merged.crawl"):
            self.assert_whole(name)

    def test_of_the_vectors_of_the_spec(self):
        self.assert_verdicts(plain([url for url, _, _ in url_inputs.vectors()] * 2))

    def test_of_the_vectors_without_normalising(self):
        self.assert_verdicts(plain([url for url, _, _ in url_inputs.vectors()] * 2), raw=True)

    def test_of_many_spellings_merged_once(self):
        self.assert_verdicts(url_inputs.made_up(60_000, 20_000))

    def test_of_many_spellings_merged_often(self):
        self.assert_verdicts(url_inputs.made_up(60_000, 20_000), "--memory", "64KiB")

    def test_of_real_pages(self):
        urls = plain(url_inputs.real())
        if not urls:
            self.skipTest("../shared/data or zstd is not there")
        self.assert_verdicts(urls, "--memory", "1MiB")

    def test_of_every_kind_of_key(self):
        urls = plain(url_inputs.made_up(20_000, 6_000))
        wanted = expected(urls, Seen())
        for kind, key_bytes, scheme in (("xxh3-64", 8, "url"), ("xxh3-128", 16, "url"),
                                        ("rabin", 8, "url_rabin")):
            with self.subTest(kind):
                self.succeed("create", kind, "--url-key", kind)
                first = self.succeed("seen", kind, "--ordered", "--memory", "64KiB",
                                     data=lines(urls[:15_000]))
                self.succeed("import", kind, "--format", "urls", "-", data=lines(urls[:100]))
                second = self.succeed("seen", kind, "--ordered", data=lines(urls[15_000:]))
                self.assertEqual(first.verdicts + second.verdicts, wanted)
                self.succeed("merge", kind)
                self.assert_whole(kind)
                drum = json.loads(self.succeed("info", kind, "--json").out)["drums"][0]
                self.assertEqual((drum["key_bytes"], drum["key_scheme"]), (key_bytes, scheme))
        self.refuse(2, "xxh3-64, xxh3-128 or rabin", "create", "x", "--url-key", "md5")

    def test_of_repeats_that_are_dropped(self):
        urls = url_inputs.made_up(60_000, 20_000)
        wanted = expected(urls, Seen())
        said = self.run_command("seen", "drop.crawl", "--repeats", "drop", data=lines(urls))
        self.assertEqual(said.code, 0, said.err)
        unique = [url for verdict, url in wanted if verdict == b"unique"]
        self.assertEqual(sorted(url for verdict, url in said.verdicts if verdict == b"unique"),
                         sorted(unique))
        self.assertTrue(set(said.verdicts) <= set(wanted))
        dropped = len(urls) - len(said.verdicts)
        self.assertGreater(dropped, 10_000)
        self.assertIn(f", {dropped:,} dropped", said.err.decode())
        self.assertEqual(self.succeed("seen", "drop.crawl", "--check", data=lines(urls))
                         .verdicts.count((b"duplicate", urls[0])), urls.count(urls[0]))
        self.refuse(2, "--ordered", "seen", "drop.crawl", "--ordered", "--repeats", "drop")
        self.refuse(2, "--repeats", "seen", "drop.crawl", "--repeats", "forget")

    def test_stay_over_several_runs(self):
        urls = url_inputs.made_up(20_000, 6_000)
        wanted = expected(urls, Seen())
        found = []
        for first in range(0, len(urls), 7_000):
            found += self.succeed("seen", "x.crawl", "--ordered",
                                  data=lines(urls[first:first + 7_000])).verdicts
        self.assertEqual(found, wanted)

    def test_of_check_leave_the_store_as_it_is(self):
        self.succeed("seen", "x.crawl", data=b"http://a.test/\n")
        for _ in range(2):
            answer = self.succeed("seen", "x.crawl", "--check", "--ordered",
                                  data=b"HTTP://a.test\nhttp://b.test/\nhttp://b.test/\n")
            self.assertEqual(answer.verdicts, [(b"duplicate", b"HTTP://a.test"),
                                               (b"unique", b"http://b.test/"),
                                               (b"unique", b"http://b.test/")])

    def test_of_update_say_updated_and_remember(self):
        answer = self.succeed("seen", "x.crawl", "--update", data=b"http://a.test/\n" * 2)
        self.assertEqual(answer.verdicts, [(b"updated", b"http://a.test/")] * 2)
        answer = self.succeed("seen", "x.crawl", "--check", data=b"http://a.test/\n")
        self.assertEqual(answer.verdicts, [(b"duplicate", b"http://a.test/")])

    def test_are_apart_in_each_drum(self):
        for _ in range(2):
            first = self.succeed("seen", "x.crawl", data=b"http://a.test/\n")
            other = self.succeed("seen", "x.crawl", "--drum", "other", data=b"http://a.test/\n")
        self.assertEqual(first.verdicts, [(b"duplicate", b"http://a.test/")])
        self.assertEqual(other.verdicts, [(b"duplicate", b"http://a.test/")])
        held = json.loads(self.succeed("info", "--json", "x.crawl").out)
        self.assertEqual([drum["name"] for drum in held["drums"]], ["urls", "other"])
        self.assertEqual([drum["keys"] for drum in held["drums"]], [1, 1])


class Lines(command.CommandTest):
    def seen(self, data, *options, code=0):
        answer = self.run_command("seen", "x.crawl", "--ordered", *options, data=data)
        self.assertEqual(answer.code, code, answer.err)
        return answer

    def test_lose_a_carriage_return_at_their_end(self):
        answer = self.seen(b"http://a.test/\r\nhttp://a.test/\nhttp://b.test/\r")
        self.assertEqual(answer.verdicts, [(b"unique", b"http://a.test/"),
                                           (b"duplicate", b"http://a.test/"),
                                           (b"unique", b"http://b.test/")])

    def test_that_are_empty_are_skipped_and_counted(self):
        answer = self.seen(b"\nhttp://a.test/\n\r\n\n")
        self.assertEqual(answer.verdicts, [(b"unique", b"http://a.test/")])
        self.assertRegex(answer.err, rb"4 lines: 1 unique, 0 duplicate, 3 empty")

    def test_of_no_input_give_no_output(self):
        answer = self.seen(b"")
        self.assertEqual(answer.out, b"")
        self.assert_whole()

    def test_without_a_final_newline_count(self):
        self.assertEqual(self.seen(b"http://a.test/").verdicts, [(b"unique", b"http://a.test/")])

    def test_with_a_tab_or_an_inner_return_are_refused(self):
        data = b"http://a.test/\nhttp://a.test/\t\nhttp://\ra.test/\nhttp://b.test/\n"
        answer = self.seen(data, code=1)
        self.assertEqual(answer.verdicts,
                         [(b"unique", b"http://a.test/"), (b"unique", b"http://b.test/")])
        self.assertRegex(answer.err, rb"line 2 refused: it holds a TAB")
        self.assertRegex(answer.err, rb"line 3 refused: it holds a carriage return")
        self.assertRegex(answer.err, rb"2 refused")

    def test_with_a_tab_are_escaped_in_json(self):
        data = b'http://a.test/\t"\\\x01\nhttp://\ra.test/\n'
        answer = self.seen(data, "--json")
        rows = [json.loads(line) for line in answer.out.splitlines()]
        self.assertEqual(rows, [{"verdict": "unique", "url": 'http://a.test/\t"\\\x01'},
                                {"verdict": "unique", "url": "http://\ra.test/"}])

    def test_of_any_bytes_are_echoed(self):
        urls = [b"http://h/\xff\xfe", b"\x00", b"http://h/\xc3\xa9", b"\xed\xa0\x80", b" ", b"%zz"]
        self.assertEqual([url for _, url in self.seen(lines(urls)).verdicts], urls)

    def test_that_are_no_utf8_are_hexadecimal_in_json(self):
        answer = self.seen(b"http://h/\xff\xfe\nhttp://h/\xc3\xa9\n", "--json")
        rows = [json.loads(line) for line in answer.out.decode("utf-8").splitlines()]
        self.assertEqual(rows, [{"verdict": "unique", "url_hex": b"http://h/\xff\xfe".hex()},
                                {"verdict": "unique", "url": "http://h/\u00e9"}])

    def test_of_two_mebibytes_work(self):
        long_url = b"http://a.test/" + b"x" * (2 << 20)
        other = long_url[:-1] + b"y"
        urls = [long_url, other, long_url, b"http://b.test/" + b"\xff" * (2 << 20)]
        for options in ([], ["--memory", "64KiB"]):
            answer = self.run_command("seen", f"{len(options)}.crawl", "--ordered", *options,
                                      data=lines(urls))
            self.assertEqual(answer.code, 0, answer.err)
            self.assertEqual(answer.verdicts, expected(urls, Seen()))

    def test_over_64_mebibytes_are_refused(self):
        data = b"http://a.test/\n" + b"x" * ((64 << 20) + 1) + b"\nhttp://b.test/\n"
        answer = self.seen(data, code=1)
        self.assertEqual([url for _, url in answer.verdicts],
                         [b"http://a.test/", b"http://b.test/"])
        self.assertRegex(answer.err, rb"line 2 refused: it is longer than 64 MiB")
        (self.folder / "long.txt").write_bytes(data)
        answer = self.run_command("import", "y.crawl", "--format", "urls", "long.txt", "--quiet")
        self.assertEqual((answer.code, answer.err),
                         (1, b"crawlstore: long.txt:2: refused: it is longer than 64 MiB\n"))


class Import(command.CommandTest):
    def test_counts_what_seen_would_answer(self):
        urls = url_inputs.made_up(30_000, 10_000)
        (self.folder / "a.txt").write_bytes(lines(urls[:20_000], b"\r\n") + b"\n")
        (self.folder / "b.txt").write_bytes(lines(urls[20_000:]))
        answer = self.succeed("import", "x.crawl", "--format", "urls", "a.txt", "b.txt", "--json")
        verdicts = [verdict for verdict, _ in expected(urls, Seen())]
        counts = json.loads(answer.out)
        found = [counts[name] for name in ("lines", "unique", "duplicate", "skipped")]
        self.assertEqual(found,
                         [30_001, verdicts.count(b"unique"), verdicts.count(b"duplicate"), 1])
        again = self.succeed("seen", "x.crawl", "--check", data=lines(urls))
        self.assertEqual({verdict for verdict, _ in again.verdicts}, {b"duplicate"})
        self.assert_whole()

    def test_counts_urls_that_no_parser_takes(self):
        answer = self.succeed("import", "x.crawl", "--format", "urls", "-", "--json",
                              data=b"http://a.test/\nhttp://a test/\xff\n\tx\n")
        self.assertEqual(json.loads(answer.out)["unparsed"], 2)
        held = json.loads(self.succeed("info", "--json", "x.crawl").out)
        self.assertEqual((held["keys"], held["drums"][0]["unparsed_count"]), (3, 2))

    def test_reports_an_input_that_is_not_there_and_keeps_the_rest(self):
        (self.folder / "a.txt").write_bytes(b"http://a.test/\n")
        self.refuse(1, "b.txt: no such file", "import", "x.crawl", "--format", "urls", "a.txt",
                    "b.txt")
        answer = self.succeed("seen", "x.crawl", "--check", data=b"http://a.test/\n")
        self.assertEqual(answer.verdicts, [(b"duplicate", b"http://a.test/")])

    def test_refuses_a_folder_as_input(self):
        self.refuse(3, r"\.: input or output failed: the input cannot be read \(Is a directory\)",
                    "import", "x.crawl", "--format", "urls", ".")

    def test_knows_no_other_format_yet(self):
        self.refuse(2, "--format", "import", "x.crawl", "--format", "warc", "-")


if __name__ == "__main__":
    unittest.main()
