# SPDX-License-Identifier: Apache-2.0
"""Lists of URLs become pages or a bare set. Lines of URLs with more on them, comments, and lines of
JSON with half characters: what is good is taken, what is not is counted and said."""

import json
import unittest

import command
import url_inputs
from pages_command import NO_PAGES
from url_model import Seen

SEEDS = (b"# seeds of Nutch\n"
         b"http://a.test/\tnutch.score=10\tnutch.fetchInterval=2592000\n"
         b"% another comment\n"
         b"\n  \t \n"
         b"http://b.test/\n"
         b"http://c.test/\t\n"
         b"\t http://d.test/\tdepth=1\n"
         b"#7\n"
         b"http://a.test/\n")
NOTE = b"2 lines go on after a TAB, which ends the URL; the rest is left out; the first: "


class LinesTest(command.CommandTest):
    def write(self, name, data):
        (self.folder / name).write_bytes(data)
        return name


class UrlLines(LinesTest):
    def import_urls(self, *words, name="x.crawl"):
        answer = self.run_command("import", name, "--format", "urls", "--json", *words)
        return answer.code, json.loads(answer.out), answer.err

    def known(self, *urls, words=()):
        data = b"".join(url + b"\n" for url in urls)
        answer = self.succeed("seen", "x.crawl", "--check", "--ordered", "--json", *words,
                              data=data)
        return [json.loads(line)["verdict"] == "duplicate" for line in answer.out.splitlines()]

    def test_end_at_a_tab_in_import(self):
        words = ("--drum", "urls", self.write("seeds", SEEDS))
        code, counts, notes = self.import_urls(*words)
        self.assertEqual((code, counts["line_count"], counts["unique_count"],
                          counts["duplicate_count"], counts["skipped_count"], counts["cut_count"],
                          counts["refused_count"]), (0, 10, 5, 1, 4, 2, 0))
        self.assertIn(NOTE + b"seeds:2\n", notes)
        self.assertEqual(self.known(b"http://a.test/", b"http://d.test/", b"#7",
                                    b"# seeds of Nutch"), [True, True, True, False])
        code, counts, notes = self.import_urls(*words, "-q")
        self.assertEqual((code, counts["unique_count"], notes), (0, 0, b""))

    def test_end_at_a_tab_without_normalising_too(self):
        self.write("seeds", b"HTTP://a.test\tx=y\n")
        for words in (["--drum", "urls"], []):
            self.import_urls("--raw", *words, "seeds")
            self.assertEqual(self.known(b"HTTP://a.test", b"http://a.test/", words=["--raw"]),
                             [True, False])
            (self.folder / "x.crawl").unlink()

    def test_end_at_a_tab_in_lists_of_pages(self):
        self.succeed("import", "x.crawl", "--format", "edges", "-",
                     data=b"http://a.test/\thttp://b.test/\n")
        lines = (b"# priority, page\n%\n1\thttp://a.test/\tnutch.score=1\n2\t#1\tx\n"
                 b"3\thttp://b.test/\t\n")
        answer = self.succeed("queue", "x.crawl", "--insert", "-", "--json", data=lines)
        counts = json.loads(answer.out)
        self.assertEqual((counts["page_count"], counts["cut_count"], counts["malformed_count"]),
                         (2, 2, 0))
        self.assertEqual(answer.err, b"crawlstore: " + NOTE + b"-:3\n")
        answer = self.succeed("queue", "x.crawl", "--remove", "-", "--json",
                              data=b"# gone\nhttp://a.test/\tfor good\n#1\n")
        self.assertEqual(json.loads(answer.out)["removed_count"], 2)

    def test_are_echoed_by_seen_as_they_are(self):
        answer = self.succeed("seen", "x.crawl", "--ordered", data=b"# a\n% b\n \n")
        self.assertEqual([url for _, url in answer.verdicts], [b"# a", b"% b", b" "])
        self.assertEqual(self.run_command("seen", "x.crawl", data=b"http://a\tx\n").code, 1)

    def test_are_all_taken_or_none_with_strict(self):
        long = self.write("long", b"http://a.test/\n" + b"x" * ((64 << 20) + 1) + b"\n")
        good = self.write("good", b"http://a.test/\tx=y\n")
        words = ("import", "x.crawl", "--format", "urls", "--strict")
        for drum, unique in ((["--drum", "urls"], "unique_count"), ([], "new_page_count")):
            answer = self.refuse(1, "--strict: nothing was imported", *words, *drum, good, long)
            self.assertIn(b"long:2: refused: it is longer than 64 MiB", answer.err)
            self.assertFalse((self.folder / "x.crawl").exists())
            code, counts, notes = self.import_urls("--strict", *drum, good)
            self.assertEqual((code, counts[unique], counts["cut_count"]), (0, 1, 1))
            self.assertEqual(notes.count(b"after a TAB"), 1)
            (self.folder / "x.crawl").unlink()
        self.refuse(2, "reads each INPUT twice", *words, "-")
        self.refuse(2, "--strict goes with urls, edges, jsonl and urlfrontier", "import",
                    "x.crawl", "--format", "events", "--strict", good)


class Seeds(LinesTest):
    """Without --drum a list of URLs becomes pages."""

    def import_seeds(self, *words, data=SEEDS, code=0):
        answer = self.run_command("import", "x.crawl", "--format", "urls", "--json", "-", *words,
                                  data=data)
        self.assertEqual(answer.code, code, answer.err)
        return json.loads(answer.out), answer.err

    def pages(self, *words):
        answer = self.succeed("pages", "x.crawl", "--json", *words)
        return {page["url"]: page for page in json.loads(answer.out)["pages"]}

    def test_are_known_pages_of_depth_0_that_a_queue_takes(self):
        counts, notes = self.import_seeds()
        self.assertEqual([counts[name + "_count"] for name in (
            "line", "event", "skipped", "refused", "cut", "new_page", "page", "crawled", "link",
            "unparsed")], [10, 6, 4, 0, 2, 5, 5, 0, 0, 1])
        self.assertIn(NOTE + b"-:2\n", notes)
        self.assertIn(b"crawlstore: -:9: no URL, kept as it is: #7 (it has no scheme", notes)
        hosts = ["http://%s.test/" % name for name in "abcd"]
        pages = self.pages()
        self.assertEqual(list(pages), hosts + ["#7"])
        self.assertEqual({(page["state"], page["depth"]) for page in pages.values()},
                         {("known", 0)})
        self.succeed("rank", "x.crawl")
        self.succeed("queue", "x.crawl", "--fill-from", "pagerank", "--unfetched")
        taken = json.loads(self.succeed("next", "x.crawl", "--json", "--limit", 9).out)
        self.assertEqual({page["url"] for page in taken["pages"]}, set(pages))
        self.assertEqual(self.import_seeds("-q")[0]["new_page_count"], 0)
        self.assert_whole()

    def test_are_as_many_as_the_model_says(self):
        urls = url_inputs.made_up(20_000, 7_000)
        for raw in (False, True):
            model = Seen(raw)
            unique = sum(model.check_update(url) == b"unique" for url in urls)
            counts, _ = self.import_seeds("-q", *["--raw"] * raw, data=b"\n".join(urls))
            self.assertEqual((counts["line_count"], counts["new_page_count"]),
                             (len(urls), unique))
            known = self.succeed("seen", "x.crawl", "--check", "-q", *["--raw"] * raw,
                                 data=b"\n".join(urls)).verdicts
            self.assertEqual({verdict for verdict, _ in known}, {b"duplicate"})
            (self.folder / "x.crawl").unlink()

    def test_leave_a_page_that_is_there_as_it_is(self):
        self.succeed("import", "x.crawl", "--format", "jsonl", "-", data=json.dumps(
            {"kind": "page", "url": "http://z.test/", "score": 2, "time": "2026-01-01T00:00:00Z",
             "links": ["http://a.test/"]}).encode())
        before = self.pages()
        counts, _ = self.import_seeds(data=b"http://a.test/\nhttp://z.test/\nhttp://b.test/\n")
        self.assertEqual((counts["new_page_count"], counts["page_count"]), (1, 3))
        after = self.pages()
        self.assertEqual(after.pop("http://b.test/")["depth"], 0)
        self.assertEqual(after, before)

    def test_fill_the_database_that_is_named_and_may_wait(self):
        counts, _ = self.import_seeds("--database", "others", "--no-merge")
        self.assertEqual((counts["edit_count"], counts["page_count"]), (6, 0))
        self.refuse(1, "it has `others`", "pages", "x.crawl")
        self.succeed("merge", "x.crawl")
        self.assertEqual(len(self.pages("--database", "others")), 5)

    def test_are_refused_where_pages_have_no_urls(self):
        self.succeed("import", "x.crawl", "--format", "edges", "-", data=b"#0\t#1\n")
        counts, notes = self.import_seeds(data=b"http://a.test/\n# c\nhttp://b.test/\n", code=1)
        self.assertEqual((counts["refused_count"], counts["page_count"]), (2, 2))
        self.assertIn(b"-:3: refused: it names pages by URL", notes)

    def test_are_a_bare_set_with_drum(self):
        counts, _ = self.import_seeds("--drum", "urls", "--repeats", "drop")
        self.assertEqual(counts["unique_count"], 5)
        self.assertEqual(counts["duplicate_count"] + counts["dropped_count"], 1)
        self.assertEqual(self.refuse(1, NO_PAGES, "pages", "x.crawl").out, b"")

    def test_take_no_options_that_would_do_nothing(self):
        for message, form, words in (
                ("--repeats requires --drum", "urls", ["--repeats", "drop"]),
                ("--repeats requires --drum", "edges", ["--repeats", "answer"]),
                ("--drum goes with --format urls; --database NAME", "edges", ["--drum", "urls"]),
                ("--drum excludes --database", "urls", ["--drum", "a", "--database", "pages"]),
                ("--drum excludes --no-merge", "urls", ["--drum", "a", "--no-merge"]),
                ("--index-gap goes with edges", "urls", ["--index-gap", 9]),
                ("--index-gap goes with edges", "urls", ["--index-gap", 9, "--drum", "a"])):
            self.refuse(2, message, "import", "x.crawl", "--format", form, "-", *words)
        self.assertFalse((self.folder / "x.crawl").exists())


class BrokenStrings(LinesTest):
    """Bytes that are no UTF-8, raw, or as json.dumps() of Python writes them after surrogateescape.
    """

    def page(self, url, *links):
        event = {"kind": "page", "url": url, "links": list(links)}
        return json.dumps(event).encode() + b"\n"

    def import_lines(self, *lines, words=()):
        name = self.write("lines", b"".join(lines))
        answer = self.run_command("import", "x.crawl", "--format", "jsonl", "--json", name, *words)
        return answer.code, answer.out and json.loads(answer.out), answer.err

    def test_leave_the_good_links_of_a_page(self):
        bad = b"http://bad.test/\xff".decode(errors="surrogateescape")
        code, counts, notes = self.import_lines(
            self.page("http://a.test/", "http://b.test/", bad, "http://c.test/\U0001f600"),
            self.page("http://d.test/", {"url": bad, "score": 2}, {"url": "http://e.test/"}, bad))
        self.assertEqual((code, counts["event_count"], counts["refused_count"],
                          counts["refused_link_count"], counts["page_count"],
                          counts["link_count"]), (1, 2, 0, 3, 5, 3))
        why = b"the URL holds half of a surrogate pair, which is no character"
        self.assertIn(b"lines:1: 1 link refused: " + why, notes)
        self.assertIn(b"lines:2: 2 links refused: " + why, notes)
        links = self.succeed("links", "x.crawl", "http://a.test/").out
        self.assertEqual([line.split(b"\t")[1] for line in links.splitlines()],
                         [b"http://b.test/", b"http://c.test/%F0%9F%98%80"])

    def test_leave_the_good_links_also_where_they_are_raw_bytes(self):
        """0xff alone, a character that is cut off, a surrogate as CESU-8 writes it."""
        raw = [b"http://bad.test/" + bad for bad in (b"\xff", b"\xe2\x82", b"\xed\xb2\x80")]
        line = self.page("http://a.test/", "http://b.test/", "0", "1", {"url": "2", "score": 2},
                         "http://c.test/\u00e9")
        for i, bad in enumerate(raw):
            line = line.replace(b'"%d"' % i, b'"' + bad + b'"')
        code, counts, notes = self.import_lines(line, self.page("http://d.test/", "http://a.test/"))
        self.assertEqual((code, counts["event_count"], counts["refused_count"],
                          counts["refused_link_count"], counts["page_count"],
                          counts["link_count"]), (1, 2, 0, 3, 4, 3))
        self.assertIn(b"lines:1: 3 links refused: the URL holds bytes that are no UTF-8;", notes)
        links = self.succeed("links", "x.crawl", "http://a.test/").out
        self.assertEqual([line.split(b"\t")[1] for line in links.splitlines()],
                         [b"http://b.test/", b"http://c.test/%C3%A9"])

    def test_refuse_a_page_of_raw_bytes_and_lines_that_are_cut_off(self):
        page = self.page("http://a.test/x", "http://b.test/").replace(b"/x", b"/\xff")
        code, counts, notes = self.import_lines(
            page, b'{"kind": "page", "url": "\xff\n', b'{"kind": "page", "url": "\\\xff"}\n',
            b"\xff" + self.page("http://a.test/"), self.page("http://c.test/"))
        self.assertEqual((code, counts["refused_count"], counts["page_count"]), (1, 4, 1))
        self.assertIn(b"lines:1: refused: the URL holds bytes that are no UTF-8; `url_hex`", notes)
        for line in (b"2", b"3", b"4"):
            self.assertIn(b"lines:" + line + b": refused: it is no JSON", notes)

    def test_refuse_a_page_by_their_reason(self):
        code, counts, notes = self.import_lines(
            self.page("http://a.test/\udc80", "http://b.test/"), self.page("http://c.test/"))
        self.assertEqual((code, counts["refused_count"], counts["refused_link_count"],
                          counts["page_count"]), (1, 1, 0, 1))
        self.assertIn(b"lines:1: refused: the URL holds half of a surrogate pair", notes)

    def test_elsewhere_do_no_harm(self):
        event = {"kind": "page", "title\ud800": ["\udfff"], "url": "http://a.test/",
                 "x": {"url": "\ud800"}, "links": ["http://b.test/"]}
        code, counts, _ = self.import_lines(json.dumps(event).encode())
        self.assertEqual((code, counts["page_count"], counts["refused_link_count"]), (0, 2, 0))

    def test_in_what_is_no_json_are_no_json(self):
        code, counts, notes = self.import_lines(b'{"kind": "page", "url": "\\udc80"\n')
        self.assertEqual((code, counts["refused_count"]), (1, 1))
        self.assertIn(b"lines:1: refused: it is no JSON", notes)

    def test_import_nothing_with_strict(self):
        code, out, notes = self.import_lines(self.page("http://a.test/", "\udc80"),
                                             words=["--strict"])
        self.assertEqual((code, out), (1, b""))
        self.assertIn(b"lines:1: 1 link refused", notes)
        self.assertFalse((self.folder / "x.crawl").exists())


if __name__ == "__main__":
    unittest.main()
