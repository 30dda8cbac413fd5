# SPDX-License-Identifier: Apache-2.0
"""rank and top: PageRank, HITS and OPIC of a crawl, compared with power iterations of our own."""

import ast
import csv
import importlib
import importlib.util
import io
import json
import random
import re
import shutil
import signal
import struct
import unittest

import command
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


def hits_iteration(links):
    """Authorities and hubs."""
    hubs = [1 / len(links)] * len(links)
    for _ in range(300):
        authorities = [0.0] * len(links)
        for page, targets in links.items():
            for target in targets:
                authorities[target] += hubs[page]
        authorities = [score / sum(authorities) for score in authorities]
        hubs = [sum(authorities[target] for target in links[page]) for page in range(len(links))]
        hubs = [score / sum(hubs) for score in hubs]
    return authorities, hubs


class Rank(pages_command.PagesTest):
    # covers: A45, A46, A48
    def load_links(self, links):
        self.load(b"".join(b"#%d\t#%d\n" % (page, target) for page, targets in links.items()
                           for target in targets), "edges")

    def rank(self, *words):
        return json.loads(self.succeed("rank", "x.crawl", "--json", *words).out)

    def top(self, *words, rows="pages"):
        return json.loads(self.succeed("top", "x.crawl", "--json", *words).out)[rows]

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
        self.assertTrue(report["is_converged"])
        self.assertEqual((report["page_count"], report["link_count"]),
                         (200, sum(map(len, links.values()))))
        self.assertEqual(len(report["iterations"]), report["iteration_count"])
        self.assert_ranked(power_iteration(links), 1e-5)
        self.rank("--precision", "1e-12", "--threads", "2")
        self.assert_ranked(power_iteration(links), 1e-7)
        self.rank("--damping", "0.5")
        self.assert_ranked(power_iteration(links, 0.5), 1e-5)
        degrees = {page: len(targets) for page, targets in links.items()}
        for row in self.top():
            self.assertEqual(row["out_link_count"], degrees[row["index"]])
            self.assertEqual(row["in_link_count"], sum(row["index"] in t for t in links.values()))
        self.succeed("verify", "--deep", "--strict", "x.crawl")

    def assert_scores(self, name, expected):
        scores = dict.fromkeys(range(len(expected)), 0.0)
        for row in self.top("--limit", len(expected), "--name", name):
            scores[row["index"]] = row["score"]
        error = sum(abs(scores[page] - expected[page]) for page in scores)
        self.assertLess(error, 1e-5)

    # covers: A47, A49
    def test_finds_hubs_and_authorities(self):
        links = random_links(200, random.Random(SEED + 2))
        links[199].add(0)
        for page in range(10, 20):  # the strongest community by far
            links[page].update(range(10, 20))
        self.load_links(links)
        report = self.rank("hits")
        self.assertTrue(report["is_converged"])
        self.assertEqual((report["authorities"], report["hubs"]), ("authorities", "hubs"))
        authorities, hubs = hits_iteration(links)
        self.assert_scores("authorities", authorities)
        self.assert_scores("hubs", hubs)
        self.rank("hits", "--name", "good", "--hubs", "linking", "--threads", "2", "--cold")
        self.assert_scores("linking", hubs)
        self.assertEqual([row["scorer"] for row in self.scores()],
                         ["hits_authority", "hits_authority", "hits_hub", "hits_hub"])
        before = self.scores()
        answer = self.run_command("rank", "x.crawl", "hits", "--cold", "--max-iterations", "2")
        self.assertEqual(answer.code, 1)
        self.assertIn(b"after 2 iterations the residual is", answer.err)
        self.assertEqual(self.scores(), before)
        self.refuse(2, "--personalize and --by are of pagerank", "rank", "x.crawl", "hits",
                    "--damping", "0.5")
        self.refuse(2, "--hubs is of hits", "rank", "x.crawl", "pagerank", "--hubs", "x")
        self.refuse(2, "pagerank", "rank", "x.crawl", "salsa")
        self.succeed("verify", "--deep", "--strict", "x.crawl")

    def crawl_pages(self, links):
        """Imports a crawl of each of these pages; returns what import says."""
        lines = [json.dumps({"kind": "page", "url": f"http://a.test/{page}", "time": 1,
                             "links": [f"http://a.test/{target}" for target in targets]})
                 for page, targets in links.items()]
        answer = self.load("\n".join(lines).encode(), "jsonl", "--json")
        return json.loads(answer.out)

    def cash(self, name="opic_cash"):
        return {row["url"][-1]: row["score"] for row in self.top("--name", name)}

    # covers: P26
    def test_passes_cash_on_with_each_crawl(self):
        self.assertNotIn("opic_giver_count", self.crawl_pages({0: [1, 2], 1: [0]}))
        report = self.rank("opic")
        self.assertEqual((report["opic_home_count"], report["opic_giver_count"],
                          report["page_count"]), (1, 2, 3))
        self.assertEqual(self.cash(), {"0": 0.5, "2": 0.5})
        self.assertEqual(self.cash("opic_history"), {"0": 1, "1": 0.5})
        self.assertEqual(self.crawl_pages({0: [2], 3: []})["opic_giver_count"], 2)
        # 3 is a home, and gives its cash to both; 0 has passed its half on to 2.
        self.assertEqual(self.cash(), {"0": 0.5, "2": 1, "3": 0.5})
        self.assertEqual({row["name"]: row["is_stale"] for row in self.scores()},
                         dict.fromkeys(["opic_cash", "opic_crawls", "opic_history"], False))
        self.load(b"http://a.test/4\thttp://a.test/0\n", "edges", "--no-merge")
        self.succeed("merge", "x.crawl")
        self.assertTrue(all(row["is_stale"] for row in self.scores()))
        self.assertEqual(self.rank("opic")["opic_giver_count"], 0)
        self.assertEqual(self.cash(), {"0": 0.5, "2": 1, "3": 0.5, "4": 1})
        self.assertEqual(self.rank("opic", "--cold")["opic_giver_count"], 3)
        for words in (["--damping", "0.5"], ["--name", "x"], ["--threads", "1"], ["--residuals"],
                      ["--by", "host"], ["--precision", "0.1"], ["--content-scores"]):
            self.refuse(2, "opic takes no options", "rank", "x.crawl", "opic", *words)
        self.succeed("verify", "--deep", "--strict", "x.crawl")

    def test_takes_pages_and_cash_back_together(self):
        def told():
            info = self.info()
            tables = [info[name] for name in ("drums", "page_databases", "scores")]
            return tables, self.cash(), self.cash("opic_history")

        self.crawl_pages({0: [1, 2], 1: [0]})
        self.rank("opic")
        before = told()
        shutil.copy(self.folder / "x.crawl", self.folder / "before.crawl")
        generation = self.info()["generation"]
        self.assertEqual(self.crawl_pages({0: [2], 3: []})["opic_giver_count"], 2)
        self.assertEqual(self.info()["generation"], generation + 1)
        self.assertNotEqual(told(), before)
        self.assert_whole()
        self.succeed("rollback", "x.crawl")
        self.assertEqual(told(), before)
        self.succeed("diff", "before.crawl", "x.crawl")
        self.assertEqual(self.crawl_pages({0: [2], 3: []})["opic_giver_count"], 2)
        self.assertEqual(self.cash(), {"0": 0.5, "2": 1, "3": 0.5})
        self.assert_whole()

    def test_ranks_hosts_and_domains(self):
        self.load(b"http://www.a.test/\thttp://b.co.uk/1\nhttp://www.a.test/\thttp://c.b.co.uk/\n"
                  b"http://b.co.uk/1\thttp://c.b.co.uk/\nhttp://c.b.co.uk/\thttp://b.co.uk/2\n",
                  "edges")
        self.rank("--by", "host")
        rows = self.top("--by", "host", rows="hosts")
        self.assertEqual({row["host"] for row in rows}, {"www.a.test", "b.co.uk", "c.b.co.uk"})
        self.assertEqual(rows, self.top("--name", "pagerank_by_host", rows="hosts"))
        self.assertEqual(list(rows[0]), ["first_page", "rank", "score", "host"])
        self.assertAlmostEqual(sum(row["score"] for row in rows), 1, 5)
        self.rank("--by", "domain", "--name", "owners")
        self.assertEqual([row["domain"] for row in self.top("--name", "owners", rows="domains")],
                         ["b.co.uk", "a.test"])
        self.refuse(1, "`crawlstore rank x.crawl --by domain` computes them; there are `owners`",
                    "top", "x.crawl", "--by", "domain")
        self.refuse(2, "excludes", "top", "x.crawl", "--by", "host", "--name", "owners")
        self.refuse(2, "owners", "top", "x.crawl", "--by", "owners")
        self.assertEqual([(row["name"], row["subject"]) for row in self.scores()],
                         [("owners", "domain"), ("pagerank_by_host", "host")])
        self.refuse(2, "are of pagerank", "rank", "x.crawl", "hits", "--by", "host")
        self.refuse(1, "of hosts or domains", "pages", "x.crawl", "--sort", "score:owners")

    def test_has_the_same_scores_where_memory_is_short(self):
        self.load_links(random_links(3000, random.Random(SEED)))
        self.rank()
        in_memory = self.top("--limit", 3000)
        self.assertIn(b"they lay in a file",
                      self.succeed("rank", "x.crawl", "--memory", "1MiB", "--cold").err)
        self.assertEqual(self.top("--limit", 3000), in_memory)

    def test_finds_the_same_hubs_where_memory_is_short(self):
        self.load_links(random_links(3000, random.Random(SEED)))
        self.rank("hits")
        short = ("hits", "--memory", "1MiB", "--cold", "--name", "short", "--hubs", "short_hubs")
        self.assertIn(b"they lay in a file", self.succeed("rank", "x.crawl", *short).err)
        for name, other in (("authorities", "short"), ("hubs", "short_hubs")):
            self.assertEqual(self.top("--limit", 3000, "--name", name),
                             self.top("--limit", 3000, "--name", other))

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

    def test_tells_lines_that_are_no_pages_from_pages_that_are_not_there(self):
        self.load(b"http://a.test/\tno url\n", "edges")
        lines = b"HTTP://A.test\n\na.test\nno url\n#7\nhttp://b.test/\n1\n#x\n"
        answer = self.succeed("rank", "x.crawl", "--personalize", "-", "-q", data=lines)
        self.assertEqual(answer.err.decode().splitlines(), [
            "crawlstore: -: line 3 is no URL and no #INDEX, nor are 1 other line",
            "crawlstore: -: 2 pages not in the database, left out; the first: #7"])
        self.assert_ranked(power_iteration({0: {1}, 1: set()}, DAMPING, [0.5, 0.5]), 1e-5)
        answer = self.refuse(1, "none of its pages", "rank", "x.crawl", "--personalize", "-",
                             data=b"x\n")
        self.assertIn(b"line 1 is no URL and no #INDEX\n", answer.err)

    def test_shows_what_was_chosen_to_the_last_digit(self):
        self.load_links({0: {1}, 1: {0, 2}, 2: {0}})
        self.rank("--damping", "0.999999", "--precision", "1.23456789e-9")
        text = self.succeed("info", "x.crawl").out
        self.assertRegex(text, rb"(?m) 0\.999999 +1\.23456789e-09 ")

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
        best, new = (json.loads(self.succeed("page", "x.crawl", url, "--json").out)
                     for url in ("http://c.test/", "http://d.test/"))
        self.assertEqual((best["score:pagerank"], best["rank:pagerank"]),
                         (self.top()[0]["score"], 1))
        self.assertEqual((new["score:pagerank"], new["rank:pagerank"]), (None, None))
        self.assertRegex(self.succeed("page", "x.crawl", "http://d.test/").out,
                         rb"(?m)^score:pagerank +-\nrank:pagerank +-$")
        self.load(b"http://e.test/\thttp://a.test/\n", "edges", "--no-merge")
        self.assertRegex(self.succeed("rank", "x.crawl").err, rb"1 edit that waited: not seen")
        self.assertEqual(len(self.top()), 4)
        self.refuse(1, "there are `pagerank`", "top", "x.crawl", "--name", "hits")
        self.assertEqual(json.loads(self.succeed("forget", "x.crawl", "--host", "d.test",
                                                 "--json").out)["score_array_count"], 1)
        self.refuse(1, "no scores", "top", "x.crawl")

    def order(self, *words):
        return [row["index"] for row in self.rows("--sort", "score:pagerank", *words)]

    def assert_order(self, scores, indexes, *words):
        """`pages` sorts the pages with these indexes by these scores, whatever the limit."""
        best = sorted(indexes, key=lambda page: (scores[page] is None, -(scores[page] or 0), page))
        worst = sorted(indexes, key=lambda page: (scores[page] is None, scores[page] or 0, page))
        for limit in (1, 10, 5000):
            self.assertEqual(self.order("--limit", limit, *words), best[:limit])
        self.assertEqual(self.order(*words), best)
        self.assertEqual(self.order("--limit", 40, "--reverse", *words), worst[:40])

    def test_sorts_pages_by_scores(self):
        rng = random.Random(SEED + 2)
        urls = [b"http://h%d.%s.test/%d" % (page % 7, b"ab"[page % 2:][:1], page)
                for page in range(1000)]
        targets = urls + 10 * urls[:30]
        self.load(b"".join(b"%s\t%s\n" % (url, rng.choice(targets)) for url in urls
                           for _ in range(3)), "edges")
        self.succeed("rank", "x.crawl")
        self.load(b"http://h0.a.test/new\thttp://h1.b.test/new\n", "edges")
        answer = self.succeed("pages", "x.crawl", "--sort", "score:pagerank", "--json")
        self.assertIn(b"have changed since", answer.err)
        pages = json.loads(answer.out)["pages"]
        self.assertEqual([row["score:pagerank"] for row in pages[-2:]], [None, None])
        scores = {row["index"]: row["score:pagerank"] for row in pages}
        self.assertEqual({row["index"]: row["score"] for row in self.top("--limit", 2000)},
                         {page: score for page, score in scores.items() if score})
        self.assertEqual(sorted(scores), list(range(1002)))
        for words, holds in (([], ""), (["--host", "h3.a.test"], "//h3.a."),
                             (["--domain", "b.test"], ".b."), (["--match", "7$"], "7"),
                             (["--match", "/99.$"], "/99"), (["--match", "[02468]$"], "")):
            found = [row["index"] for row in pages if row["url"].startswith("http:") and (
                re.search(words[1], row["url"]) if "--match" in words else holds in row["url"])]
            with self.subTest(words):
                self.assert_order(scores, found, *words)
        text = self.succeed("pages", "x.crawl", "--sort", "score:pagerank").out.split(b"\n")
        self.assertRegex(text[0], b" depth  content_hash  score:pagerank  url$")
        self.assertRegex(text[1], b" %d +-  +0\\.\\d+  http:" % pages[0]["depth"])
        self.assertRegex(text[-2], b" -  http://h[01].[ab].test/new$")

    def npy(self, *words):
        """The numbers of an array in NumPy's format, read as that is documented."""
        data = self.export("scores-npy", *words)
        self.assertEqual(data[:8], b"\x93NUMPY\x01\x00")
        length, = struct.unpack_from("<H", data, 8)
        self.assertEqual((10 + length) % 64, 0)
        head = ast.literal_eval(data[10:10 + length].decode("ascii"))
        self.assertEqual(data[9 + length:10 + length], b"\n")
        self.assertEqual(sorted(head), ["descr", "fortran_order", "shape"])
        self.assertIs(head["fortran_order"], False)
        letter = {"<f4": "f", "<f8": "d"}[head["descr"]]
        numbers = struct.unpack(f"<{head['shape'][0]}{letter}", data[10 + length:])
        if importlib.util.find_spec("numpy"):
            (self.folder / "x.npy").write_bytes(data)
            array = importlib.import_module("numpy").load(self.folder / "x.npy", allow_pickle=False)
            self.assertEqual((array.dtype.str, tuple(array.tolist())), (head["descr"], numbers))
        return letter, numbers

    def test_exports_scores(self):
        self.load(b'http://a.test/"\thttp://b.test/,\nhttp://c.test/\thttp://b.test/,\n', "edges")
        self.rank()
        self.rank("--name", "fine", "--precision", "1e-12")
        self.load(b"http://d.test/\thttp://a.test/\n", "edges")
        scores = {row["index"]: row["score"] for row in self.top()}
        self.assertEqual(self.npy(), ("f", tuple(scores[page] for page in range(3))))
        letter, fine = self.npy("--name", "fine")
        self.assertEqual(letter, "d")
        for words, read in (([], lambda text: struct.unpack("f", struct.pack("f", float(text)))[0]),
                            (["--name", "fine"], float)):
            rows = list(csv.reader(io.StringIO(self.export("scores-csv", *words).decode())))
            self.assertEqual(rows[0], ["index", "url", "score"])
            self.assertEqual([row[1] for row in rows[1:]],
                             ['http://a.test/%22', "http://b.test/,", "http://c.test/",
                              "http://d.test/", "http://a.test/"])
            self.assertEqual([int(row[0]) for row in rows[1:]], list(range(5)))
            self.assertEqual([row[2] for row in rows[4:]], ["", ""])
            self.assertEqual(tuple(read(row[2]) for row in rows[1:4]),
                             fine if words else self.npy()[1])
        answer = self.succeed("export", "x.crawl", "--format", "scores-npy", "-o", "out.npy")
        self.assertIn(b"have changed since", answer.err)
        self.assertEqual((self.folder / "out.npy").read_bytes(), self.export("scores-npy"))
        self.assertEqual(self.succeed("export", "x.crawl", "--format", "scores-csv", "-q").err, b"")
        self.refuse(1, "no scores `own`; there are `fine`, `pagerank`: --name NAME chooses",
                    "export", "x.crawl", "--format", "scores-csv", "--name", "own")
        self.refuse(2, "--name goes with scores-csv", "export", "x.crawl", "--format", "csv",
                    "--name", "pagerank")

    def test_exports_scores_of_many_pages(self):
        self.load(b"#0\t#299999\n", "edges", "--index-gap", 300000)
        self.rank()
        top = self.top()[0]
        numbers = self.npy()[1]
        self.assertEqual((len(numbers), numbers.index(max(numbers))), (300000, top["index"]))
        self.assertAlmostEqual(sum(numbers), 1, 5)

    def test_says_which_scores_can_be_sorted_by(self):
        self.load_links({0: {1}})
        self.refuse(1, "no scores `own`; `crawlstore rank x.crawl` computes", "pages", "x.crawl",
                    "--sort", "score:own")
        self.rank("--name", "mine")
        self.refuse(1, "no scores `own`; there are `mine`: --sort score:NAME chooses", "pages",
                    "x.crawl", "--sort", "score:own")
        self.refuse(2, "score:NAME has a name", "pages", "x.crawl", "--sort", "score:")
        self.refuse(2, "failure_count, score:NAME", "pages", "x.crawl", "--sort", "scores")

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

    def test_computes_while_another_writes(self):
        self.load_links({0: {1}, 1: {2}, 2: {0, 1}})
        writer = self.start("seen", "x.crawl", "--quiet")
        writer.stdin.write(b"http://a.test/\n")
        writer.stdin.flush()
        command.wait_until_read(writer.stdin.fileno())
        words = ("--cold", "--damping", "1", "--max-iterations", "2")
        self.assertIn(b"after 2 iterations", self.run_command("rank", "x.crawl", *words).err)
        self.refuse(3, "another writer has the store open", "rank", "x.crawl", "--lock-wait", "0")
        second = self.start("rank", "x.crawl", "--json")
        writer.communicate(timeout=60)
        report = json.loads(second.communicate(timeout=60)[0])
        self.assertTrue(report["is_converged"])
        self.assertEqual(self.scores()[0]["iteration_count"], report["iteration_count"])
        self.assert_whole()

    def load_host(self, host):
        self.load(f"http://{host}/\thttp://{host}/2\n".encode(), "edges")

    def test_stores_nothing_after_a_rollback(self):
        """While it waits for the lock, others take pages back and bring as many."""
        self.load_host("a.test")
        self.load_host("b.test")
        holder = self.start("import", "x.crawl", "--format", "edges", "-")
        holder.stdin.write(b"http://lost.test/\n")
        holder.stdin.flush()
        command.wait_until_read(holder.stdin.fileno())  # it has the lock
        waiting = [self.start("rank", "x.crawl", scorer) for scorer in ("pagerank", "hits", "opic")]
        for rank in waiting:
            command.wait_until_writer(rank, self.folder / "x.crawl")
            rank.send_signal(signal.SIGSTOP)
        holder.kill()
        holder.communicate(timeout=60)
        self.succeed("rollback", "x.crawl")
        self.assertEqual(len(self.rows()), 2)
        self.load_host("c.test")
        self.assertEqual(len(self.rows()), 4)
        for rank in waiting:
            rank.send_signal(signal.SIGCONT)
            out, err = rank.communicate(timeout=60)
            self.assertEqual((rank.returncode, out), (1, b""), err)
            self.assertIn(b"the file was rolled back since", err)
        self.assertEqual(self.scores(), [])
        self.rank()  # of what is there now
        self.assertEqual(self.scores()[0]["page_count"], 4)
        self.assert_whole()

    def damage(self, name):
        """The last byte of an array, which is of its footer."""
        found = json.loads(self.succeed("segments", "x.crawl", "--json").out)
        (segment,) = [one["id"] for one in found["segments"]
                      if (one["kind"], one["name"]) == ("score_array", name)]
        (run,) = [one for one in found["runs"] if one["segment"] == segment]
        with open(self.folder / "x.crawl", "r+b") as file:
            file.seek(run["offset_bytes"] + run["payload_bytes"] - 1)
            byte = file.read(1)[0]
            file.seek(-1, 1)
            file.write(bytes([byte ^ 1]))

    def test_shows_a_page_beside_damaged_scores(self):
        self.crawl_pages({0: [1, 2], 1: [0]})
        for name in ("good", "other"):
            self.rank("--name", name)
        whole = json.loads(self.succeed("page", "x.crawl", "#1", "--json").out)
        self.damage("other")
        answer = self.run_command("page", "x.crawl", "#1", "--json")
        self.assertEqual(answer.code, 1)
        self.assertRegex(answer.err, rb"^crawlstore: x.crawl: chunk damaged: ")
        self.assertIsNotNone(whole["score:other"])
        self.assertEqual(json.loads(answer.out),
                         {**whole, "score:other": None, "rank:other": None})
        answer = self.run_command("page", "x.crawl", "#1")
        self.assertEqual(answer.code, 1)
        self.assertRegex(answer.out, rb"(?m)^score:other +-$")

    def test_refuses_what_makes_no_sense(self):
        self.load_links({0: {1}})
        self.refuse(1, "no page database", "rank", "x.crawl", "--database", "none")
        self.refuse(1, "none of its pages", "rank", "x.crawl", "--personalize", "-", data=b"")
        for words in (["--damping", "1.5"], ["--max-iterations", "0"], ["--threads", "0"],
                      ["--precision", "-1"], ["--content-scores", "--personalize", "x"]):
            self.refuse(2, "--", "rank", "x.crawl", *words)
        for option, high in (("--damping", 1), ("--precision", 1), ("--lock-wait", 4_000_000)):
            for number in ("nan", "inf", "-1", str(high + 1), ""):
                self.refuse(2, f"{option}: a number from 0 to {high} is expected, not {number};",
                            "rank", "x.crawl", option, number)

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
            self.assertGreater(row["in_link_count"], 100)
        self.succeed("verify", "--deep", "--strict", "x.crawl")


if __name__ == "__main__":
    unittest.main()
