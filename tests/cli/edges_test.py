# SPDX-License-Identifier: Apache-2.0
"""Edges on the command line: `import --format edges`, what it refuses, and what it warns of."""

import json
import re
import unittest

import pages_command


class Edges(pages_command.PagesTest):
    # covers: A23
    def test_of_urls_become_pages_and_links(self):
        answer = self.load(b"http://a.test/\thttp://b.test/\nHTTP://a.test\thttp://c.test/\r\n\n"
                           b"http://b.test/\thttp://a.test/\nhttp://a.test/\thttp://b.test/",
                           "edges")
        counts = self.counts(answer)
        self.assertEqual((counts["line_count"], counts["skipped_count"],
                          counts["page_count"], counts["link_count"], counts["crawled_count"]),
                         (5, 1, 3, 3, 0))
        self.assertEqual(self.edges(), {(b"http://a.test/", b"http://b.test/"),
                                        (b"http://a.test/", b"http://c.test/"),
                                        (b"http://b.test/", b"http://a.test/")})
        self.assertEqual([row["url"] for row in self.rows()],
                         ["http://a.test/", "http://b.test/", "http://c.test/"])
        self.assertEqual({row["state"] for row in self.rows()}, {"known"})
        self.assert_whole()

    def test_of_indexes_make_all_pages_below_the_largest(self):
        self.load(b"#5\t#2\n#5\t#0\n#0\t#5\n", "edges")
        self.assertEqual(self.edges(), {(b"#5", b"#2"), (b"#5", b"#0"), (b"#0", b"#5")})
        self.assertEqual([row["index"] for row in self.rows()], list(range(6)))
        self.assertEqual({row["url"] for row in self.rows()}, {""})
        self.assertEqual(self.succeed("links", "x.crawl", "#5").out, b"#0\t\n#2\t\n")
        self.assert_whole()

    def test_that_are_garbage_are_refused_with_file_and_line(self):
        (self.folder / "e.txt").write_bytes(
            b"http://a.test/\thttp://b.test/\nno tab\n\n\thttp://b.test/\nhttp://a.test/\t\n"
            b"a\tb\tc\n#1\thttp://a.test/\nhttp://a.test/\t#1\nhttp://b.test/\thttp://c.test/\n")
        answer = self.run_command("import", "x.crawl", "--format", "edges", "e.txt", "--json")
        self.assertEqual(answer.code, 1)
        refused = re.findall(r"(?m)^crawlstore: e.txt:(\d+): refused: (.*)$", answer.err.decode())
        self.assertEqual([number for number, _ in refused], ["2", "4", "5", "6", "7"])
        self.assertIn("no TAB", refused[0][1])
        self.assertIn("before the TAB", refused[1][1])
        self.assertIn("after the TAB", refused[2][1])
        self.assertIn("more than one TAB", refused[3][1])
        self.assertIn("one end is an index", refused[4][1])
        counts = json.loads(answer.out)
        self.assertEqual((counts["refused_count"], counts["skipped_count"], counts["link_count"]),
                         (6, 1, 2))

    def test_of_other_collections_are_read(self):
        """The edges are written like those of SNAP, KONECT and WebGraph."""
        for text in (b"# Directed graph: Tiny\r\n# FromNodeId\tToNodeId\r\n0\t2\r\n2\t1\r\n",
                     b"% asym unweighted\n% 2 3 3\n0 2\n2 1\n", b"  0   2\n\t2 \t 1 \n   \n",
                     b"#0 #2\n#2\t1\n", b"#\n0\t2\n\n#!\n2 1"):
            self.load(text, "edges", name="g.crawl")
            self.assertEqual(self.edges("g.crawl"), {(b"#0", b"#2"), (b"#2", b"#1")}, text)
            (self.folder / "g.crawl").unlink()

    def test_that_would_be_read_as_others_are_refused(self):
        """Weights, successors of a node, an index and a URL: each line with its number and why."""
        data = (b"3\n1 2 3\n1\t2\t0.5\n0 1\n1 http://a.test/\n1 -2\n1 99999999999999\n"
                b"x 1\n1 2 x\n")
        answer = self.run_command("import", "x.crawl", "--format", "edges", "-", "--quiet",
                                  data=data)
        self.assertEqual(answer.code, 1)
        self.assertEqual(answer.err.decode().splitlines(), [
            "crawlstore: -:1: refused: there is one column only",
            "crawlstore: -:2: refused: there are more than two columns",
            "crawlstore: -:3: refused: it has more than one TAB",
            "crawlstore: -:5: refused: one end is an index, the other one a URL",
            "crawlstore: -:6: refused: an index has no sign",
            "crawlstore: 3 more lines were refused",
            "crawlstore: lines with more than two columns: 2; where they list the successors of a "
            "page, `awk '{for (i = 2; i <= NF; ++i) print $1 \"\\t\" $i}'` makes edges of them"])
        self.assertEqual(self.edges(), {(b"#0", b"#1")})

    def test_may_begin_with_a_byte_order_mark(self):
        mark = b"\xef\xbb\xbf"
        self.load(mark + b"# a comment\n0 1\n", "edges")
        self.load(mark + b"1\t0\n", "edges")
        self.assertEqual(self.edges(), {(b"#0", b"#1"), (b"#1", b"#0")})
        self.load(mark + b'{"kind": "page", "url": "http://a.test/"}\n', "jsonl", name="y.crawl")
        self.assertEqual([row["url"] for row in self.rows(name="y.crawl")], ["http://a.test/"])
        self.load(mark + b"http://a.test/\n", "urls", name="u.crawl")
        self.assertEqual(self.succeed("seen", "u.crawl", data=b"http://a.test/\n").out[:9],
                         b"duplicate")

    def test_of_urls_with_blanks_are_parted_by_the_tab(self):
        self.load(b"http://a.test/x y\thttp://b.test/1 2\r\n"
                  b"http://a.test/x y\thttp://c.test/ \n% a comment\n# 7\n \t \n", "edges")
        self.assertEqual(self.edges(), {(b"http://a.test/x%20y", b"http://b.test/1%202"),
                                        (b"http://a.test/x%20y", b"http://c.test/")})
        answer = self.run_command("import", "x.crawl", "--format", "edges", "-",
                                  data=b"http://a.test/ http://b.test/\n")
        self.assertEqual(answer.code, 1)
        self.assertIn(b"-:1: refused: there is no TAB between FROM and TO", answer.err)
        self.load(b" a b \t c d \n", "edges", "--raw", name="raw.crawl")
        self.assertEqual(self.edges("raw.crawl"), {(b" a b ", b" c d ")})

    def test_count_lines_in_each_file(self):
        for name in ("a.txt", "b.txt"):
            (self.folder / name).write_bytes(b"http://a.test/\thttp://b.test/\ngarbage\n")
        answer = self.run_command("import", "x.crawl", "--format", "edges", "a.txt", "b.txt")
        self.assertEqual(answer.code, 1)
        self.assertRegex(answer.err, rb"a.txt:2: refused[^\n]*\ncrawlstore: b.txt:2: refused")

    def refuse_line(self, number, why, data):
        """That line of edges alone is refused, and counted."""
        answer = self.run_command("import", "x.crawl", "--format", "edges", "-", "--json",
                                  data=data)
        self.assertEqual((answer.code, json.loads(answer.out)["refused_count"]), (1, 1))
        self.assertRegex(answer.err.decode(), f"^crawlstore: -:{number}: refused: {why}")

    def test_of_indexes_are_refused_where_pages_have_urls(self):
        self.load(b"http://a.test/\thttp://b.test/\n", "edges")
        self.refuse_line(2, "it names pages by index, but the pages of this database have URLs",
                         b"http://a.test/\thttp://c.test/\n#1\t#2\n"
                         b"http://a.test/\thttp://d.test/\n")
        self.assertEqual(len(self.edges()), 3)
        self.load(b"#1\t#2\n", "edges", "--database", "graph")
        self.assertEqual(self.export("edges", "--database", "graph"), b"#1\t#2\n")

    def test_of_urls_are_refused_where_pages_have_indexes(self):
        self.refuse_line(2, "it names pages by URL, but the pages .* have indexes only",
                         b"#1\t#2\nhttp://a.test/\thttp://c.test/\n#2\t#0\n")
        self.assertEqual(self.edges(), {(b"#1", b"#2"), (b"#2", b"#0")})

    def test_with_a_sign_before_an_index_are_refused(self):
        self.refuse_line(2, "an index has no sign", b"# a comment\n#-1\t#2\n#1\t#2\n")

    def test_warn_of_lists_of_successors(self):
        (self.folder / "e.txt").write_bytes(b"0 1 2\n1 2\n2 0 1\n")
        answer = self.run_command("import", "x.crawl", "--format", "edges", "e.txt")
        self.assertEqual(answer.code, 1)
        self.assertIn(b"lines with more than two columns: 2; ", answer.err)
        self.assertEqual(self.edges(), {(b"#1", b"#2")})

    def test_are_all_of_the_format_or_not_taken_with_strict(self):
        (self.folder / "bad.txt").write_bytes(b"1 2\n0 1 2\n")
        (self.folder / "good.txt").write_bytes(b"1 2\n")
        words = ["import", "x.crawl", "--format", "edges", "--strict"]
        answer = self.refuse(1, "--strict: nothing was imported", *words, "good.txt", "bad.txt")
        self.assertIn(b"bad.txt:2: refused", answer.err)
        self.assertFalse((self.folder / "x.crawl").exists())
        self.succeed(*words, "good.txt")
        self.assertEqual(self.edges(), {(b"#1", b"#2")})
        self.refuse(2, "reads each INPUT twice", *words, "-")

    def test_of_too_large_an_index_are_refused(self):
        answer = self.run_command("import", "x.crawl", "--format", "edges", "-",
                                  data=b"#0\t#1099511627776\n#0\t#99999999999999999999999\n")
        self.assertEqual(answer.code, 1)
        self.assertRegex(answer.err, rb"-:1: refused: an index is below 2\^40\n"
                                     rb"crawlstore: -:2: refused: an index is below 2\^40\n")

    def test_of_many_links_of_one_page_are_one_row(self):
        targets = sorted(b"http://t.test/%d" % i for i in range(150_000))
        self.load(b"".join(b"http://a.test/\t" + url + b"\n" for url in targets), "edges")
        links = self.succeed("links", "x.crawl", "http://a.test/").out.splitlines()
        self.assertEqual(links, [b"#%d\t%s" % (i + 1, url) for i, url in enumerate(targets)])

    def test_larger_than_memory_are_the_same(self):
        lines = b"".join(b"http://h%d.test/%d\thttp://h%d.test/%d\n"
                         % (i % 13, i % 9973, i % 7, i * 7919 % 30011) for i in range(120_000))
        self.load(lines, "edges")
        answer = self.load(lines, "edges", "--memory", "1MiB", name="small.crawl")
        self.assertGreater(self.counts(answer)["superstep_count"], 3)
        self.assertEqual(self.edges(), self.edges("small.crawl"))
        self.assertEqual(self.export("csv"), self.export("csv", name="small.crawl"))
        self.assert_whole("small.crawl")


if __name__ == "__main__":
    unittest.main()
