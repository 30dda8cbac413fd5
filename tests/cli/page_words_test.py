# SPDX-License-Identifier: Apache-2.0
"""The verbs of pages and links: what they say when there is nothing to say, wrong options, where
their output goes, lines that are refused."""

import json
import os
import re
import signal
import unittest
import xml.etree.ElementTree

from pages_command import NO_PAGES, PagesTest


class Words(PagesTest):
    """The messages of the verbs when there is nothing to say."""

    READING = (["pages"], ["page", "#0"], ["links", "#0"], ["export", "--format", "csv"])

    def test_name_a_missing_database(self):
        self.make_store()
        for verb, *words in self.READING:
            self.refuse(1, NO_PAGES, verb, "x.crawl", *words)
        self.load(b"#0\t#1\n", "edges", "--database", "graph")
        for verb, *words in self.READING:
            self.refuse(1, "it has `graph`: --database NAME chooses", verb, "x.crawl", *words)
        info = self.info()
        self.assertEqual((info["page_count"], info["link_count"], info["bits_per_link"]), (0, 0, 0))
        self.assertEqual([row["name"] for row in info["page_databases"]], ["graph"])

    def test_miss_a_file_that_is_not_there(self):
        for verb, *words in self.READING:
            self.refuse(1, "no such file", verb, "missing.crawl", *words)
        for form in ("edges", "events", "jsonl"):
            self.refuse(1, "missing.in: no such file", "import", "x.crawl", "--format", form,
                        "missing.in")

    def test_miss_a_page_that_is_not_there(self):
        self.load(b"http://a.test/\thttp://b.test/\n", "edges")
        for verb in ("page", "links"):
            for name in ("http://c.test/", "#2", "#99999999999999999999999", "#x", ""):
                self.refuse(1, "x.crawl: no page ", verb, "x.crawl", name)
            self.succeed(verb, "x.crawl", "HTTP://A.test:80/#top")
        self.load(b"#0\t#1\n", "edges", "--database", "graph")
        self.refuse(1, "have no URLs: #INDEX", "page", "x.crawl", "http://a.test/", "--database",
                    "graph")
        for words in (["--match", "x"], ["--host", "x"]):
            self.refuse(2, "have no URLs", "pages", "x.crawl", "--database", "graph", *words)

    def test_refuse_an_index_far_above_all_others(self):
        wild = b"#1\t#2\n#1\t#1099511627775\n#1\t#3\n#268435460\t#4\n"
        answer = self.run_command("import", "x.crawl", "--format", "edges", "-", data=wild)
        self.assertEqual(answer.code, 1)
        refused = re.findall(rb"(?m)^crawlstore: -:(\d+): refused: (.*)$", answer.err)
        self.assertEqual([number for number, _ in refused], [b"2", b"4"])
        self.assertIn(b"number pages from 0 on without gaps, or give import --index-gap N",
                      refused[0][1])
        self.assertEqual(self.edges(), {(b"#1", b"#2"), (b"#1", b"#3")})
        json_lines = (b'{"kind":"known","index":1000}\n{"kind":"known","index":90}\n'
                      b'{"kind":"linkAdded","index":1,"links":[2,120,191]}\n')
        answer = self.run_command("import", "y.crawl", "--format", "jsonl", "-", "--index-gap", 100,
                                  data=json_lines)
        self.assertEqual(re.findall(rb"-:(\d+): refused: an index is far", answer.err),
                         [b"1", b"3"])
        self.assertEqual(self.info("y.crawl")["page_count"], 91)
        self.load(b"#500\t#1000\n#1000\t#1400\n", "edges", "--index-gap", 1001, name="y.crawl")
        self.assertEqual(self.info("y.crawl")["page_count"], 1401)
        stream = self.folder / "y.events"
        stream.write_bytes(self.export("events", name="y.crawl"))
        answer = self.run_command("import", "w.crawl", "--format", "events", stream,
                                  "--index-gap", 5)
        self.assertRegex(answer.err, rb"y.events: event 1: refused: an index is far above")
        # Edges of one page are one edit, but each raises the limit for the next.
        self.load(b"#0\t#9\n#0\t#18\n#0\t#27\n", "edges", "--index-gap", 10, name="z.crawl")
        self.assertEqual(self.info("z.crawl")["page_count"], 28)

    def test_count_unparsed_urls_once(self):
        line = (b'{"kind":"page","url":"http://a.test/","time":5,'
                b'"links":["http://b test/x", "http://b.test/z"]}\n')
        self.assertEqual(self.counts(self.load(line, "jsonl"))["unparsed_count"], 1)
        self.assertEqual(self.counts(self.load(line, "jsonl"))["unparsed_count"], 0)
        self.load(self.export("jsonl"), "jsonl", name="y.crawl")
        for name in ("x.crawl", "y.crawl"):
            self.assertEqual(self.info(name)["page_databases"][0]["unparsed_count"], 1)

    def test_refuse_wrong_options(self):
        self.load(b"http://a.test/\thttp://b.test/\n", "edges")
        for words in (["pages", "x.crawl", "--sort", "colour"],
                      ["pages", "x.crawl", "--match", "("],
                      ["pages", "x.crawl", "--host", "a.test:80"],
                      ["pages", "x.crawl", "--host", ""],
                      ["pages", "x.crawl", "--host", "a/b"], ["pages", "x.crawl", "--limit", "-1"],
                      ["links", "x.crawl", "#0", "--in", "--out"], ["links", "x.crawl"],
                      ["export", "x.crawl"], ["export", "x.crawl", "--format", "xls"],
                      ["export", "x.crawl", "--format", "csv", "--other-hosts"],
                      ["export", "x.crawl", "--format", "csv", "-o", "x.crawl"],
                      ["import", "x.crawl", "--format", "edges"]):
            with self.subTest(words):
                self.refuse(2, ".", *words)
        self.assert_whole()

    def test_say_which_folder_of_an_output_is_not_there(self):
        self.load(b"http://a.test/\thttp://b.test/\n", "edges")
        message = "no/where/x: there is no folder no/where\n"
        self.refuse(1, message, "export", "x.crawl", "--format", "edges", "-o", "no/where/x")
        self.refuse(1, message, "seen", "x.crawl", "--unparsed", "no/where/x")

    def test_take_urls_as_they_are_when_asked_to(self):
        self.load(b"HTTP://A.test/#x\thttp://a.test:80/\n", "edges", "--raw")
        self.assertEqual(self.edges(), {(b"HTTP://A.test/#x", b"http://a.test:80/")})
        self.succeed("page", "x.crawl", "HTTP://A.test/#x")
        self.refuse(1, "no page", "page", "x.crawl", "http://a.test/")
        self.assertEqual(self.info("x.crawl")["page_databases"][0]["normalizer"], "raw")
        self.load(b"http://a.test/\thttp://b.test/\n", "edges", name="usual.crawl")
        self.refuse(2, "normalised by other rules", "import", "usual.crawl", "--format", "edges",
                    "--raw", "-")

    def test_tell_which_lines_are_no_urls_and_why(self):
        lines = (b"http://a.test/\thttp://h h/\n" b"http://a.test/\thttp://h:x/\n"
                 b"b.test\thttp://a.test/\n")
        answer = self.run_command("import", "x.crawl", "--format", "edges", "--unparsed", "list",
                                  "-", data=lines)
        self.assertEqual(answer.code, 0)
        listed = (self.folder / "list").read_text().splitlines()
        self.assertEqual(listed, [
            "-:1-2\thas a host that no name and no address can be\thttp://h h/",
            "-:1-2\thas a port that is no number up to 65535\thttp://h:x/",
            "-:3\thas no scheme, such as http:\tb.test"])
        for line in listed:
            place, why, url = line.split("\t")
            self.assertIn(f"crawlstore: {place}: no URL, kept as it is: {url} (it {why})",
                          answer.err.decode())
        for output in ("x.crawl", "list", "-"):
            self.refuse(2, "--unparsed", "import", "x.crawl", "--format", "urls", "--unparsed",
                        output, "list")
        urls = b"".join(b"http://%d:x/\n" % i for i in range(7))
        answer = self.run_command("import", "y.crawl", "--format", "urls", "-", data=urls)
        self.assertIn(b"crawlstore: -:5: no URL", answer.err)
        self.assertIn(b"crawlstore: 2 more are no URLs; --unparsed FILE lists all", answer.err)
        self.refuse(1, "no-folder", "import", "y.crawl", "--format", "urls", "--unparsed",
                    "no-folder/x", "-")

    def test_leave_drums_of_pages_alone(self):
        self.load(b"http://a.test/\thttp://b.test/\n", "edges")
        self.succeed("seen", "x.crawl", data=b"http://a.test/\n")
        merged = json.loads(self.succeed("merge", "x.crawl", "--json").out)
        self.assertEqual([row["name"] for row in merged["merges"]], ["urls"])
        self.refuse(1, "no DRUM", "merge", "x.crawl", "--drum", "pages")
        only = json.loads(self.succeed("merge", "x.crawl", "--drum", "urls", "--json").out)
        self.assertEqual(only["supersteps"], [])

    def test_are_the_same_without_mapping_or_pin(self):
        self.load(b"http://a.test/\thttp://b.test/\n", "edges")
        for verb, *words in self.READING:
            self.assertEqual(self.succeed(verb, "x.crawl", *words, "--no-mmap", "--no-pin").out,
                             self.succeed(verb, "x.crawl", *words).out)

    def test_export_a_file_whole_or_not_at_all(self):
        self.load(b"http://a.test/\thttp://b.test/\n", "edges")
        out = self.folder / "out.csv"
        out.write_bytes(b"old")
        self.succeed("export", "x.crawl", "--format", "csv", "-o", "out.csv")
        self.assertEqual(out.read_bytes(), self.export("csv"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["out.csv", "x.crawl"])
        self.refuse(1, "none/out.csv: there is no folder none", "export", "x.crawl", "--format",
                    "csv", "-o", "none/out.csv")
        self.succeed("export", "x.crawl", "--format", "csv", "-o", "/dev/null")
        self.assertFalse(os.path.isfile("/dev/null"))

    def test_end_quietly_when_nobody_reads_on(self):
        self.load(b"".join(b"#%d\t#%d\n" % (i, i * 7 % 100_003) for i in range(100_003)), "edges")
        process = self.start("export", "x.crawl", "--format", "csv")
        process.stdout.read(10)
        process.stdout.close()
        process.stdin.close()
        self.assertEqual(process.wait(60), -signal.SIGPIPE)
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()

    def test_of_an_empty_database_are_empty(self):
        self.load(b"", "jsonl")
        self.load(b'{"kind":"linkAdded","url":"http://a.test/"}\n', "jsonl", "--no-merge")
        self.assertEqual(self.rows(), [])
        self.assertEqual(self.export("edges"), b"")
        self.assertEqual(self.export("csv").count(b"\n"), 1)
        self.assertEqual(self.export("dot"), b"digraph pages {\n}\n")
        xml.etree.ElementTree.fromstring(self.export("graphml"))
        self.assertEqual(self.export("jsonl").count(b"\n"), 1)
        self.refuse(1, "no page #0", "page", "x.crawl", "#0")


if __name__ == "__main__":
    unittest.main()
