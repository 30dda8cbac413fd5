# SPDX-License-Identifier: Apache-2.0
"""rank and top: PageRank of a crawl, compared with a power iteration of our own."""

import json
import random
import unittest

import pages_command
from command import SEED

DAMPING = 0.85


def random_links(count, rng):
    """{page: set of pages}; some pages have no links."""
    return {page: {rng.randrange(count) for _ in range(rng.randrange(7))} for page in range(count)}


def power_iteration(links, damping=DAMPING, teleport=None):
    count = len(links)
    teleport = teleport or [1 / count] * count
    scores = list(teleport)
    for _ in range(300):
        brought = [0.0] * count
        dangling = 0.0
        for page, targets in links.items():
            if not targets:
                dangling += scores[page]
            for target in targets:
                brought[target] += scores[page] / len(targets)
        scores = [(1 - damping + damping * dangling) * teleport[page] + damping * brought[page]
                  for page in range(count)]
    return scores


class Rank(pages_command.PagesTest):
    # covers: A45, A46, A48
    def load_links(self, links):
        self.load(b"".join(b"#%d\t#%d\n" % (page, target) for page, targets in links.items()
                           for target in targets), "edges")

    def rank(self, *words):
        return json.loads(self.succeed("rank", "x.crawl", "--json", *words).out)

    def top(self, *words):
        return json.loads(self.succeed("top", "x.crawl", "--json", *words).out)["top"]

    def scores(self):
        return json.loads(self.succeed("info", "x.crawl", "--json").out)["scores"]

    def assert_ranked(self, expected, tolerance):
        top = self.top("--limit", len(expected))
        self.assertEqual(sorted(row["index"] for row in top), list(range(len(expected))))
        error = sum(abs(row["score"] - expected[row["index"]]) for row in top)
        self.assertLess(error, tolerance)
        order = [(-row["score"], row["index"]) for row in top]
        self.assertEqual(order, sorted(order))

    def test_equals_the_power_iteration(self):
        rng = random.Random(SEED)
        links = random_links(200, rng)
        links[199].add(0)  # so that all pages are named
        self.load_links(links)
        report = self.rank()
        self.assertTrue(report["converged"])
        self.assertEqual((report["pages"], report["links"]),
                         (200, sum(map(len, links.values()))))
        self.assertEqual(len(report["iterations"]), report["iteration_count"])
        self.assert_ranked(power_iteration(links), 1e-5)
        self.rank("--precision", "1e-12", "--threads", "2")
        self.assert_ranked(power_iteration(links), 1e-7)
        self.rank("--damping", "0.5")
        self.assert_ranked(power_iteration(links, 0.5), 1e-5)
        degrees = {page: len(targets) for page, targets in links.items()}
        for row in self.top():
            self.assertEqual(row["out_degree"], degrees[row["index"]])
            self.assertEqual(row["in_degree"], sum(row["index"] in t for t in links.values()))
        self.succeed("verify", "--deep", "--strict", "x.crawl")

    def test_goes_to_the_pages_of_a_list(self):
        links = {page: {(page + 1) % 5} for page in range(5)}
        self.load_links(links)
        (self.folder / "seeds.txt").write_bytes(b"#1\n\n#3\n#9\n")
        answer = self.succeed("rank", "x.crawl", "--personalize", "seeds.txt")
        self.assertIn(b"seeds.txt: 1 page not in the database", answer.err)
        self.assert_ranked(power_iteration(links, DAMPING, [0, 0.5, 0, 0.5, 0]), 1e-5)
        self.assertTrue(self.scores()[0]["is_personalised"])
        self.refuse(1, "-: none of its pages", "rank", "x.crawl", "--personalize", "-",
                    data=b"#9\n")
        self.refuse(1, "none.txt: the list of pages: No such file", "rank", "x.crawl",
                    "--personalize", "none.txt")

    def test_shows_urls_and_says_when_scores_are_stale(self):
        self.load(b"http://a.test/\thttp://c.test/\nhttp://b.test/\thttp://c.test/\n", "edges")
        self.refuse(1, "crawlstore rank x.crawl", "top", "x.crawl")
        self.succeed("rank", "x.crawl")
        self.assertEqual(self.top()[0]["url"], "http://c.test/")
        self.assertEqual(self.succeed("top", "x.crawl", "-n", "1").err, b"")
        self.assertFalse(self.scores()[0]["is_stale"])
        self.load(b"http://d.test/\thttp://a.test/\n", "edges")
        self.assertIn(b"have changed since", self.succeed("top", "x.crawl").err)
        self.assertTrue(self.scores()[0]["is_stale"])
        self.load(b"http://e.test/\thttp://a.test/\n", "edges", "--no-merge")
        self.assertRegex(self.succeed("rank", "x.crawl").err, rb"1 edit that waited: not seen")
        self.assertEqual(len(self.top()), 4)
        self.refuse(1, "there are `pagerank`", "top", "x.crawl", "--by", "hits")
        self.assertEqual(json.loads(self.succeed("forget", "x.crawl", "--host", "d.test",
                                                 "--json").out)["score_arrays"], 1)
        self.refuse(1, "no scores", "top", "x.crawl")

    def test_keeps_the_scores_before_where_it_does_not_converge(self):
        self.load_links({0: {1}, 1: {2}, 2: {0, 1}})
        self.rank()
        before = self.scores()
        answer = self.run_command("rank", "x.crawl", "--cold", "--damping", "1",
                                  "--max-iterations", "2", "--residuals")
        self.assertEqual(answer.code, 1)
        self.assertIn(b"after 2 iterations the residual is", answer.err)
        self.assertRegex(answer.out, rb"(?m)^ +2  ")
        self.assertEqual(self.scores(), before)

    def test_begins_with_the_scores_before(self):
        links = random_links(300, random.Random(SEED + 1))
        self.load_links(links)
        cold = self.rank()["iteration_count"]
        self.assertLess(self.rank()["iteration_count"], cold)
        self.assertEqual(self.rank("--cold")["iteration_count"], cold)

    def test_refuses_what_makes_no_sense(self):
        self.load_links({0: {1}})
        self.refuse(1, "no page database", "rank", "x.crawl", "--database", "none")
        self.refuse(1, "none of its pages", "rank", "x.crawl", "--personalize", "-", data=b"")
        for words in (["--damping", "1.5"], ["--max-iterations", "0"], ["--threads", "0"],
                      ["--precision", "-1"], ["--content-scores", "--personalize", "x"]):
            self.refuse(2, "--", "rank", "x.crawl", *words)

    def test_ranks_real_graphs(self):
        lines = pages_command.lines_of("graphs/docs-public.adj.zst")
        if not lines:
            self.skipTest("no ../shared/data, or no zstd")
        links = {page: set(map(int, line.split()))
                 for page, line in enumerate(lines[1:int(lines[0]) + 1])}
        self.load_links(links)
        self.rank()
        top = self.top("--limit", "20")
        self.assertEqual(len(top), 20)
        for row in top[:3]:  # they have the most pages that link to them, but for few
            self.assertGreater(row["in_degree"], 100)
        self.succeed("verify", "--deep", "--strict", "x.crawl")


if __name__ == "__main__":
    unittest.main()
