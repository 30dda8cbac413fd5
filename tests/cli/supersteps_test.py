# SPDX-License-Identifier: Apache-2.0
"""supersteps: how large a superstep of a parallel crawl may be, on the crawl worked out by hand."""

import json
import unittest
import xml.etree.ElementTree

import pages_command

ROWS = {0: [1, 3, 4], 1: [2, 6], 2: [3, 5], 3: [0, 4], 4: [5, 6], 5: [7], 6: [3, 7], 7: [0]}
LINKS = b"".join(b"#%d\t#%d\n" % (page, to) for page, row in ROWS.items() for to in row)
# Blocks of 3 and two processors: pages 0 to 2, 6 and 7 are of the first one.
BY_HAND = ("--processors", 2, "--site", "block:3", "--order", "index")


class Supersteps(pages_command.PagesTest):
    # covers: P23, P24, P25, P27
    def load_by_hand(self):
        self.load(LINKS, "edges")

    def supersteps(self, *words, code=0):
        answer = self.run_command("supersteps", "x.crawl", "--json", *words)
        self.assertEqual(answer.code, code, answer.err)
        return json.loads(answer.out)

    def test_are_those_worked_out_by_hand(self):
        self.load_by_hand()
        for tolerance, count, size, error, failures in (
                (0, 6, 5 / 6, 0, 3), (1, 3, 5 / 3, 1 / 12, 5), (2, 2, 2.5, 1 / 14, 7),
                (3, 1, 5, 1 / 8, 8)):
            found = self.supersteps(*BY_HAND, "--tolerance", tolerance)
            self.assertEqual([found[name] for name in ("tolerance_count", "superstep_count",
                                                       "failure_count", "message_count")],
                             [tolerance, count, failures, 6])
            self.assertAlmostEqual(found["pages_per_superstep"], size)
            self.assertAlmostEqual(found["error_mean"], error)
            self.assertEqual(found["is_unbounded"], count == 1)
            self.assertEqual(len(found["runs"]), 1)
        found = self.supersteps(*BY_HAND, "--tolerance", 1, "--as-printed")
        self.assertEqual((found["superstep_count"], found["message_count"]), (4, 12))
        self.assertAlmostEqual(found["error_mean"], 11 / 12)

    def test_are_as_large_as_the_error_allows(self):
        self.load_by_hand()
        for error, tolerance in ((.05, 0), (.08, 2), (.1, 2), (.2, 4)):
            found = self.supersteps(*BY_HAND, "--error", error)
            self.assertEqual(found["tolerance_count"], tolerance)
            self.assertEqual(found["is_unbounded"], tolerance == 4)
            self.assertEqual((found["processor_count"], found["site_count"], found["page_count"],
                              found["remote_link_count"], found["balance"]), (2, 3, 8, 8, 1.25))

    def test_may_be_impossible(self):
        self.load_by_hand()
        found = self.supersteps(*BY_HAND, "--as-printed", "--error", 0, code=1)
        self.assertIsNone(found["tolerance_count"])
        self.fail_with(1, "no tolerance keeps the mean error at or below 0",
                       "supersteps", "x.crawl", *BY_HAND, "--as-printed", "--error", 0)

    def fail_with(self, code, message, *words):
        answer = self.run_command(*words)
        self.assertEqual(answer.code, code, answer.err)
        self.assertIn(message, answer.err.decode())

    def test_are_told_as_text_with_a_curve(self):
        self.load_by_hand()
        text = self.succeed("supersteps", "x.crawl", *BY_HAND, "--error", 0.1).out.decode()
        self.assertRegex(text, r"(?m)^pages_per_superstep +2.50$")
        self.assertNotIn("runs", text)
        text = self.succeed("supersteps", "x.crawl", *BY_HAND, "--curve").out.decode()
        self.assertRegex(text, r"(?m)^ *4 +5.00 +5 +1 +0.125 ")

    def test_are_drawn(self):
        self.load_by_hand()
        for words in ((), ("--tolerance", 1)):
            self.succeed("supersteps", "x.crawl", *BY_HAND, *words, "--svg", "curve.svg")
            drawing = xml.etree.ElementTree.parse(self.folder / "curve.svg").getroot()
            lines = drawing.findall("{http://www.w3.org/2000/svg}polyline")
            self.assertEqual([len(line.get("points").split()) for line in lines], [4, 4])
        self.fail_with(1, "nowhere", "supersteps", "x.crawl", *BY_HAND, "--svg",
                       "nowhere/curve.svg")

    def test_go_by_scores(self):
        self.load_by_hand()
        words = ("--processors", 2, "--site", "block:3", "--tolerance", 1)
        computed = self.supersteps(*words)
        self.assertEqual(computed["order"], "pagerank")
        self.succeed("rank", "x.crawl")
        self.assertEqual(self.supersteps(*words), computed)
        by_name = self.supersteps(*words, "--order", "score:pagerank")
        self.assertEqual({**by_name, "order": "pagerank"}, computed)
        self.fail_with(1, "no scores `hubs`", "supersteps", "x.crawl", "--order", "score:hubs")

    def test_keep_hosts_together(self):
        self.load(b"http://a.test/\thttp://b.test/\nhttp://a.test/\thttp://www.b.test/x\n"
                  b"http://b.test/\thttp://www.b.test/x\n", "edges")
        self.assertEqual(self.supersteps()["site"], "host")
        self.assertEqual(self.supersteps()["site_count"], 3)
        self.assertEqual(self.supersteps("--site", "domain")["site_count"], 2)
        self.assertIn(b"2 sites for 4 processors",
                      self.succeed("supersteps", "x.crawl", "--site", "domain").err)
        self.assertIn(b"no link leads from one processor to another",
                      self.succeed("supersteps", "x.crawl", "--processors", 1).err)

    def test_of_pages_without_urls_are_of_blocks(self):
        self.load_by_hand()
        self.assertEqual(self.supersteps()["site"], "block:500")
        self.fail_with(2, "have no URLs", "supersteps", "x.crawl", "--site", "host")

    def test_refuse_wrong_values(self):
        self.load_by_hand()
        for words in (("--processors", 0), ("--processors", 4097), ("--error", 1.1),
                      ("--error", -1), ("--error", 0.1, "--tolerance", 1), ("--order", "size"),
                      ("--order", "score:"), ("--site", "block:0"), ("--site", "page")):
            self.assertEqual(self.run_command("supersteps", "x.crawl", *words).code, 2, words)
        self.assertEqual(self.run_command("supersteps", "none.crawl").code, 1)

    def test_of_a_crawl_without_links_are_one(self):
        self.load(b"http://a.test/\nhttp://b.test/\n", "urls", "--database", "pages")
        found = self.supersteps("--order", "index")
        self.assertEqual((found["superstep_count"], found["is_unbounded"]), (1, True))


if __name__ == "__main__":
    unittest.main()
