# SPDX-License-Identifier: Apache-2.0
"""Tables as TSV, and which of their columns: the same for all verbs that print one."""

import json
import subprocess
import unittest

import command
import pages_command

EDGES = (b"http://a.test/\thttp://b.test/\nhttp://a.test/\thttp://c.test/\n"
         b"http://b.test/\thttp://c.test/\n")


class Tables(pages_command.PagesTest):
    def setUp(self):
        super().setUp()
        self.load(EDGES, "edges")

    def tsv(self, *words):
        lines = self.succeed(*words, "--tsv").out.decode().split("\n")
        self.assertEqual(lines.pop(), "")
        names, *rows = (line.split("\t") for line in lines)
        self.assertEqual({len(row) for row in rows} | {len(names)}, {len(names)})
        return [dict(zip(names, row)) for row in rows]

    def assert_equals_json(self, key, *words):
        """Each cell of the TSV is what JSON has under that name."""
        rows = json.loads(self.succeed(*words, "--json").out)[key]
        found = self.tsv(*words)
        self.assertEqual(len(found), len(rows))
        self.assertTrue(rows)
        for cells, row in zip(found, rows):
            for name, text in cells.items():
                value = row[name]
                if isinstance(value, float):
                    self.assertEqual(float(text), value, (words, name))
                    continue
                expected = "" if value is None else value
                self.assertEqual(text, expected if isinstance(expected, str)
                                 else json.dumps(expected), (words, name))

    def test_hold_as_tsv_what_json_holds(self):
        self.succeed("rank", "x.crawl", "pagerank", "--quiet")
        self.succeed("queue", "x.crawl", "--fill-from", "pagerank", "--quiet")
        self.assert_equals_json("segments", "segments", "x.crawl")
        self.assert_equals_json("pages", "top", "x.crawl")
        self.assert_equals_json("pages", "queue", "x.crawl")
        self.assert_equals_json("hosts", "pages", "x.crawl", "--by", "host")
        self.assert_equals_json("links", "links", "x.crawl", "#0")
        self.assert_equals_json("runs", "segments", "x.crawl", "--runs")

    def test_of_pages_hold_as_tsv_what_csv_holds(self):
        self.succeed("import", "x.crawl", "--format", "jsonl", "-", data=pages_command.json_line(
            {"kind": "page", "url": b"http://a.test/", "time": 1_700_000_000_500_000,
             "score": 0.1}))
        names, *rows = (line.split(",") for line in self.export("csv").decode().split("\n")[:-1])
        for cells, row in zip(self.tsv("pages", "x.crawl"), rows):
            expected = dict(zip(names, row))
            self.assertEqual(cells, {name: expected[name] for name in cells})

    def test_fit_into_pipes(self):
        line = f"{command.BINARY} pages x.crawl --tsv --columns index,url | cut -f2 | head -n 3"
        answer = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=self.folder, check=True,
                                stdout=subprocess.PIPE)
        self.assertEqual(answer.stdout, b"url\nhttp://a.test/\nhttp://b.test/\n")

    def test_have_the_columns_that_are_chosen(self):
        self.assertEqual(self.succeed("pages", "x.crawl", "--columns", "depth,url").out,
                         b"depth  url\n    0  http://a.test/\n"
                         b"    1  http://b.test/\n    1  http://c.test/\n")
        self.assertEqual(self.tsv("links", "x.crawl", "#0", "--columns", "url")[0],
                         {"url": "http://b.test/"})
        self.assertEqual(self.succeed("segments", "x.crawl", "--columns", "id,id").out[:7],
                         b"id  id\n")

    def test_refuse_columns_that_are_not_there_and_list_those_that_are(self):
        for words, names in ((["pages", "x.crawl"], "index, state, .*depth, content_hash, url"),
                             (["links", "x.crawl", "#0"], "index, url"),
                             (["segments", "x.crawl"], "id, kind, .*")):
            self.refuse(2, f"no column `ur`; the columns are {names}\n$",
                        *words, "--columns", "index,ur" if words[0] != "segments" else "ur")

    def test_are_one_document_as_json(self):
        for words in (["--tsv"], ["--columns", "url"]):
            self.refuse(2, "--json", "pages", "x.crawl", "--json", *words)

    def test_are_not_what_a_change_of_a_queue_prints(self):
        self.refuse(2, "not with a change", "queue", "x.crawl", "--clear", "--tsv")

    def test_of_urls_with_tabs_come_back(self):
        self.load(b'{"kind":"known","url":"http://a.test/\\t\\\\x\\n"}\n', "jsonl",
                  "--database", "raw", "--raw")
        rows = self.tsv("pages", "x.crawl", "--database", "raw")
        self.assertEqual([row["url"] for row in rows], ["http://a.test/\\t\\\\x\\n"])

    def test_of_links_end_at_the_limit(self):
        self.assertEqual(self.succeed("links", "x.crawl", "#0", "--limit", "1").out,
                         b"#1\thttp://b.test/\n")
        self.assertEqual(len(self.tsv("links", "x.crawl", "#0", "--limit", "5")), 2)
        found = json.loads(self.succeed("links", "x.crawl", "#2", "--in", "--other-hosts",
                                        "--limit", "1", "--json").out)
        self.assertEqual([link["index"] for link in found["links"]], [0])


if __name__ == "__main__":
    unittest.main()
