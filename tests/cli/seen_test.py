# SPDX-License-Identifier: Apache-2.0
"""`crawlstore seen` and `import`: verdicts equal those of a set of normalised keys, whatever the
memory, the order, the spelling and the bytes."""

import json
import os
import select
import shutil
import signal
import subprocess
import threading
import time
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
                self.succeed("import", kind, "--format", "urls", "--drum", "urls", "-",
                             data=lines(urls[:100]))
                second = self.succeed("seen", kind, "--ordered", data=lines(urls[15_000:]))
                self.assertEqual(first.verdicts + second.verdicts, wanted)
                self.succeed("merge", kind)
                self.assert_whole(kind)
                drum = json.loads(self.succeed("info", kind, "--json").out)["drums"][0]
                self.assertEqual((drum["key_bytes"], drum["key_scheme"]), (key_bytes, scheme))
        self.refuse(2, "xxh3-64,xxh3-128,rabin", "create", "x", "--url-key", "md5")

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
        self.assertEqual([drum["key_count"] for drum in held["drums"]], [1, 1])


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
        for name, words in (("y.crawl", []), ("z.crawl", ["--drum", "urls"])):
            answer = self.run_command("import", name, "--format", "urls", *words, "long.txt",
                                      "--quiet")
            self.assertEqual((answer.code, answer.err),
                             (1, b"crawlstore: long.txt:2: refused: it is longer than 64 MiB\n"))


class Stream(command.CommandTest):
    """Verdicts come while the input goes on."""

    def start_seen(self, *options):
        process = self.start("seen", "x.crawl", "--quiet", *options)
        self.addCleanup(lambda: [pipe.close() for pipe in (process.stdout, process.stderr)])
        return process

    def say(self, process, data):
        process.stdin.write(data)
        process.stdin.flush()

    def has_verdict(self, process, seconds):
        return bool(select.select([process.stdout], [], [], seconds)[0])

    def end(self, process, *rest):
        process.stdin.close()
        self.assertEqual(process.stdout.readlines(), list(rest))
        self.assertEqual(process.wait(timeout=60), 0)

    def test_in_the_first_pause_before_the_second_line(self):
        for options in ([], ["--ordered"], ["--check"], ["--flush-every", "1000"]):
            process = self.start_seen("--drum", f"d{len(options)}{options[:1]}", *options)
            self.say(process, b"http://a.test/\n")
            self.assertEqual(process.stdout.readline(), b"unique\thttp://a.test/\n", options)
            self.say(process, b"http://b.te")
            time.sleep(1.2)  # a pause in the middle of a line
            self.say(process, b"st/\nhttp://c.test/\n")
            process.stdin.close()
            self.assertEqual(sorted(process.stdout.readlines()),
                             [b"unique\thttp://b.test/\n", b"unique\thttp://c.test/\n"])
            self.assertEqual(process.wait(timeout=60), 0)

    def test_of_an_input_that_comes_in_drops(self):
        process = self.start_seen()
        end = time.monotonic() + 30
        while not self.has_verdict(process, 0.1) and time.monotonic() < end:
            self.say(process, b"http://a.test/\n")
        self.assertEqual(process.stdout.readline(), b"unique\thttp://a.test/\n")
        process.communicate()

    def test_within_the_time_that_is_asked_for(self):
        process = self.start_seen("--flush-every", "20ms")
        self.say(process, b"http://a.test/\n")
        start = time.monotonic()
        self.assertEqual(process.stdout.readline(), b"unique\thttp://a.test/\n")
        if not command.IS_SANITIZED:
            self.assertLess(time.monotonic() - start, 0.9)
        self.end(process)

    def test_not_before_the_time_that_is_asked_for(self):
        process = self.start_seen("--flush-every", "1h")
        self.say(process, b"http://a.test/\n")
        self.assertFalse(self.has_verdict(process, 1.5))
        self.end(process, b"unique\thttp://a.test/\n")

    def test_after_so_many_lines_as_are_asked_for(self):
        urls = url_inputs.made_up(40, 40)
        wanted = expected(urls, Seen())
        words = ("--quiet", "--memory", "64KiB")
        each = self.succeed("seen", "each.crawl", *words, "--flush-every", "1", data=lines(urls))
        self.assertEqual(each.verdicts, wanted)  # no merge had two to put in its own order
        other = self.succeed("seen", "all.crawl", *words, "--flush-every", "1,000",
                             data=lines(urls))
        self.assertNotEqual(other.verdicts, wanted)
        self.assertEqual(sorted(other.verdicts), sorted(wanted))

    def test_refuses_what_is_neither_lines_nor_a_time(self):
        for text in ("0", "-1", "", "2x", "s", "1.5", "0s", "10us", "169h", "1e3s"):
            self.refuse(2, "--flush-every", "seen", "x.crawl", f"--flush-every={text}")
        self.assertFalse((self.folder / "x.crawl").exists())

    def test_when_the_memory_is_full_and_the_file_does_not_grow(self):
        process = self.start_seen("--memory", "1MiB", "--flush-every", "1h", "--check")
        url = b"http://host.test/%032d\n"
        data = b"".join(url % (number * 0x9E3779B97F4A7C15 % 2**64) for number in range(20_000))
        sizes = []
        reader = threading.Thread(target=lambda: sizes.append(len(process.stdout.read())))
        reader.start()
        for _ in range(20):
            self.say(process, data)
        size = (self.folder / "x.crawl").stat().st_size
        process.stdin.close()
        reader.join()
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertEqual(sizes, [20 * (len(data) + 20_000 * len(b"unique\t"))])
        self.assertGreater(len(data) * 20, 19 << 20)
        self.assertLess(size, 6 << 20)


class AfterTheOutputFailed(command.CommandTest):
    """Lines that a run had read are answered by the next one, once, as this run would have answered
    them."""

    def setUp(self):
        super().setUp()
        self.pages = [b"http://u.test/%d" % number for number in range(50)]
        self.news = [b"http://new.test/%d" % number for number in range(50)]
        self.succeed("import", "-q", "--format", "edges", "x.crawl", "-",
                     data=lines([b"http://from.test/\t" + url for url in self.pages]))

    def fail_into_full(self, urls, *words):
        (self.folder / "in").write_bytes(lines(urls))
        with open("/dev/full", "wb") as full:
            answer = self.run_command("seen", "x.crawl", "-q", *words, "in", stdout=full)
        self.assertEqual(answer.code, 3, answer.err)

    def end_with_the_reader(self, urls, *words):
        """Does the same as `| head -n 1`, but no pipe holds what comes after its end."""
        out, into = os.pipe()
        os.close(out)
        with open(into, "wb") as broken:
            answer = self.run_command("seen", "x.crawl", "-q", *words, data=lines(urls),
                                      stdout=broken)
        self.assertEqual(answer.code, -signal.SIGPIPE, answer.err)

    def assert_answered_next(self, urls, known, *words):
        answer = self.succeed("seen", "x.crawl", "-q", *words)
        self.assertEqual(sorted(answer.verdicts),
                         sorted((b"duplicate" if url in known else b"unique", url)
                                for url in urls))
        self.assert_whole()

    def test_pages_are_known_to_the_next_run(self):
        urls = [url for pair in zip(self.pages, self.news) for url in pair]
        for fail in (self.fail_into_full, self.end_with_the_reader):
            for words in ([], ["--ordered"], ["--flush-every", "10"],
                          ["--flush-every", "10", "--ordered"]):
                with self.subTest(fail=fail.__name__, words=words):
                    shutil.copy(self.folder / "x.crawl", self.folder / "before.crawl")
                    fail(urls, *words)
                    self.assert_answered_next(urls, set(self.pages))
                    (self.folder / "before.crawl").replace(self.folder / "x.crawl")

    def test_pages_are_known_to_a_check(self):
        self.fail_into_full(self.pages, "--check", "--flush-every", "10")
        self.assert_answered_next(self.pages, set(self.pages), "--check")
        self.assert_answered_next([], set())

    def test_pages_are_known_after_a_reader_that_took_one_line(self):
        read = subprocess.run(
            f"'{command.BINARY}' seen x.crawl -q --flush-every 10 | head -n 1", shell=True,
            input=lines(self.pages), capture_output=True, cwd=self.folder, check=True)
        self.assertRegex(read.stdout, rb"\Aduplicate\thttp://u\.test/\d+\n\Z")
        again = self.succeed("seen", "x.crawl", "-q", data=lines(self.pages))
        self.assertEqual({verdict for verdict, _ in again.verdicts}, {b"duplicate"})

    def test_lines_are_kept_that_were_read_beside_those_that_were_asked_for(self):
        urls = [b"http://many.test/%d" % number for number in range(20_000)]
        self.fail_into_full(urls, "--flush-every", "10")
        self.assert_answered_next(urls, set())

    def test_what_is_no_url_is_counted_and_listed(self):
        urls = [b"no url %d" % number for number in range(20_000)]
        self.fail_into_full(urls, "--flush-every", "10", "--unparsed", "list")
        self.assertEqual((self.folder / "list").read_bytes().count(b"\n"), 20_000)
        self.assert_answered_next(urls, set())
        drums = json.loads(self.succeed("info", "--json", "x.crawl").out)["drums"]
        self.assertEqual(next(drum["unparsed_count"] for drum in drums if drum["name"] == "urls"),
                         20_000)


class Inputs(command.CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "a.txt").write_bytes(b"http://a.test/\nhttp://b.test/")
        (self.folder / "b.txt").write_bytes(b"http://c.test/\nx\ty\nhttp://a.test/\n")

    def test_are_read_one_after_another(self):
        answer = self.run_command("seen", "x.crawl", "a.txt", "-", "b.txt", "--ordered",
                                  data=b"http://d.test/\n\rx\n")
        self.assertEqual(answer.code, 1)
        self.assertEqual(answer.verdicts, [
            (b"unique", b"http://a.test/"), (b"unique", b"http://b.test/"),
            (b"unique", b"http://d.test/"), (b"unique", b"http://c.test/"),
            (b"duplicate", b"http://a.test/")])
        self.assertIn(b"crawlstore: -:2: refused: it holds a carriage return", answer.err)
        self.assertIn(b"crawlstore: b.txt:2: refused: it holds a TAB", answer.err)
        self.assertIn(b"7 lines: 4 unique, 1 duplicate, 2 refused", answer.err)

    def test_that_are_not_there_end_it_after_what_was_read(self):
        answer = self.run_command("seen", "x.crawl", "--ordered", "a.txt", "none.txt", "b.txt")
        self.assertEqual(answer.code, 1)
        self.assertRegex(answer.err, b"none.txt: no such file")
        self.assertEqual([url for _, url in answer.verdicts],
                         [b"http://a.test/", b"http://b.test/"])
        self.refuse(2, r"\.: a folder, where a file is wanted", "seen", "x.crawl",
                    ".")


class Import(command.CommandTest):
    def test_counts_what_seen_would_answer(self):
        urls = url_inputs.made_up(30_000, 10_000)
        (self.folder / "a.txt").write_bytes(lines(urls[:20_000], b"\r\n") + b"\n")
        (self.folder / "b.txt").write_bytes(lines(urls[20_000:]))
        answer = self.succeed("import", "x.crawl", "--format", "urls", "--drum", "urls", "--json",
                              "a.txt", "b.txt")
        verdicts = [verdict for verdict, _ in expected(urls, Seen())]
        counts = json.loads(answer.out)
        found = [counts[name] for name in ("line_count", "unique_count", "duplicate_count",
                                              "skipped_count")]
        self.assertEqual(found,
                         [30_001, verdicts.count(b"unique"), verdicts.count(b"duplicate"), 1])
        again = self.succeed("seen", "x.crawl", "--check", data=lines(urls))
        self.assertEqual({verdict for verdict, _ in again.verdicts}, {b"duplicate"})
        self.assert_whole()

    def test_knows_the_pages_of_the_file(self):
        self.succeed("import", "x.crawl", "--format", "edges", "-",
                     data=b"http://a.test/\thttp://b.test/\n")
        urls = b"http://a.test/\nHTTP://B.test\nhttp://c.test/\n"
        known = {(b"duplicate", b"http://a.test/"), (b"duplicate", b"HTTP://B.test"),
                 (b"unique", b"http://c.test/")}
        for words in (["--check"], ["--check", "--ordered"], []):
            answer = self.succeed("seen", "x.crawl", *words, data=urls)
            self.assertEqual(set(answer.verdicts), known)
        self.succeed("forget", "x.crawl", "--host", "b.test")
        self.assertEqual(set(self.succeed("seen", "x.crawl", data=urls).verdicts),
                         {(b"duplicate", b"http://a.test/"), (b"unique", b"HTTP://B.test"),
                          (b"duplicate", b"http://c.test/")})
        answer = self.succeed("import", "x.crawl", "--format", "urls", "--drum", "other", "--json",
                              "-", data=urls)
        self.assertEqual(json.loads(answer.out)["unique_count"], 2)

    def test_begins_a_line_where_the_last_one_was_torn(self):
        whole, torn = self.folder / "whole", self.folder / "torn"
        whole.write_bytes(b"unique\thttp://a/\n")
        torn.write_bytes(b"unique\thttp://to")
        for path, before in ((whole, b"unique\thttp://a/\n"), (torn, b"unique\thttp://to\n")):
            with open(path, "ab") as output:
                process = self.start("seen", "x.crawl", "--quiet", stdout=output)
                process.communicate(b"http://%s/\n" % path.name.encode(), timeout=60)
            self.assertEqual(path.read_bytes(),
                             before + b"unique\thttp://%s/\n" % path.name.encode())

    def test_tells_none_of_an_interrupted_check_to_who_remembers(self):
        with open("/dev/full", "wb") as full:
            process = self.start("seen", "x.crawl", "--check", stdout=full)
            process.communicate(b"http://a/\n", timeout=60)
        self.assertEqual(self.succeed("seen", "x.crawl", data=b"").verdicts, [])
        self.assertEqual(self.succeed("seen", "x.crawl", data=b"http://a/\n").verdicts,
                         [(b"unique", b"http://a/")])

    def test_tells_which_lines_are_no_urls(self):
        answer = self.succeed("seen", "x.crawl", "--unparsed", "list", data=b"http://a/\nno url\n")
        self.assertEqual((self.folder / "list").read_text(),
                         "line 2\thas no scheme, such as http:\tno url\n")
        self.assertIn(b"crawlstore: line 2: no URL, kept as it is: no url (it has no scheme",
                      answer.err)

    def test_counts_urls_that_no_parser_takes(self):
        answer = self.succeed("import", "x.crawl", "--format", "urls", "--drum", "urls", "--json",
                              "-", data=b"http://a.test/\nhttp://a test/\xff\n\tx\n")
        self.assertEqual(json.loads(answer.out)["unparsed_count"], 2)
        held = json.loads(self.succeed("info", "--json", "x.crawl").out)
        self.assertEqual((held["key_count"], held["drums"][0]["unparsed_count"]), (3, 2))

    def test_reports_an_input_that_is_not_there_and_keeps_the_rest(self):
        (self.folder / "a.txt").write_bytes(b"http://a.test/\n")
        self.refuse(1, "b.txt: no such file", "import", "x.crawl", "--format", "urls", "--drum",
                    "urls", "a.txt", "b.txt")
        answer = self.succeed("seen", "x.crawl", "--check", data=b"http://a.test/\n")
        self.assertEqual(answer.verdicts, [(b"duplicate", b"http://a.test/")])

    def test_refuses_a_folder_as_input(self):
        self.refuse(2, r"\.: a folder, where a file is wanted",
                    "import", "x.crawl", "--format", "urls", "--drum", "urls", ".")

    def test_knows_no_other_format_yet(self):
        self.refuse(2, "--format", "import", "x.crawl", "--format", "warc", "-")


if __name__ == "__main__":
    unittest.main()
