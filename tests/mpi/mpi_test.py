# SPDX-License-Identifier: Apache-2.0
"""crawlstore-mpi and mpi_doc_crawl with two ranks, and more, on this machine."""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import command  # noqa: E402

PROGRAM = command.BUILD / "bin/crawlstore-mpi"
CRAWL = command.BUILD / "bin/mpi_doc_crawl"
SINGLE_CRAWL = command.BUILD / "bin/doc_crawl"
SIGNALLER = command.BUILD / "bin/signal_at_write.so"
SITES, PAGES = 6, 15
# Ranks that wait leave their core to others; two cores have four ranks, run by root.
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
ON_RANK_1 = 'test "$OMPI_COMM_WORLD_RANK" != 1 || export LD_PRELOAD=$RANK_1_LIBRARY; exec "$@"'


def rank_words(words):
    """The same, with a library that is loaded on rank 1 alone."""
    return ["sh", "-c", ON_RANK_1, "sh", *words]


class Mpi(command.CommandTest):
    def mpirun(self, ranks, *words, **environment):
        """Without what mpirun itself says."""
        done = subprocess.run(
            ["mpirun", "-np", str(ranks), *map(str, words)], cwd=self.folder, timeout=120,
            env={**os.environ, **MPI, **environment}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        done.said = [line for line in done.stderr.splitlines() if line.startswith("crawlstore")]
        return done

    def run_all(self, ranks, *words):
        done = self.mpirun(ranks, PROGRAM, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def pages(self, *names):
        """States and links by URL; of shards, where the pages are their own."""
        pages = {}
        for name in names:
            states = json.loads(self.succeed("pages", name, "--limit", "99999", "--json").out)
            own = {row["url"]: row["state"] for row in states["pages"]
                   if row["state"] != "elsewhere"}
            self.assertFalse(own.keys() & pages.keys())
            links = {}
            for line in self.succeed("export", name, "--format", "jsonl").out.splitlines():
                event = json.loads(line)
                if event["kind"] == "page":
                    links[event["url"]] = sorted(event["links"])
            pages |= {url: (state, links.get(url, [])) for url, state in own.items()}
        return pages

    def scores(self, array, *names):
        scores = {}
        for name in names:
            words = ["top", name, "--name", array, "-n", "99999", "--json"]
            for row in json.loads(self.succeed(*words).out)["pages"]:
                scores[row["url"]] = row["score"]
        return scores

    def make_sites(self):
        """Folders of HTML, whose pages link to each other and to other sites."""
        rng = random.Random(command.SEED)
        urls = [f"http://site{site}.test/{page}.html"
                for site in range(SITES) for page in range(PAGES)]
        words = []
        for site in range(SITES):
            folder = self.folder / f"site{site}"
            folder.mkdir()
            for page in range(PAGES):
                links = rng.sample(urls, 3) + [f"http://nowhere{rng.randrange(5)}.test/"]
                (folder / f"{page}.html").write_text(
                    "".join(f'<a href="{link}">x</a>' for link in links))
            words += [f"http://site{site}.test/", str(folder)]
        return words

    def crawl_single(self, sites):
        subprocess.run([SINGLE_CRAWL, "one.crawl", *sites], cwd=self.folder, check=True,
                       capture_output=True)
        return self.pages("one.crawl")

    def make_shards(self, count, **seeds):
        """Shards that have crawled pages of one input, and have told each other nothing yet."""
        rng = random.Random(command.SEED)
        urls = [f"http://host{rng.randrange(9)}.test/{page}" for page in range(200)]
        lines = "".join(json.dumps({"kind": "page", "url": url, "time": 1,
                                    "links": rng.sample(urls, 4)}) + "\n" for url in urls[:120])
        names = [f"{index}of{count}.crawl" for index in range(count)]
        for index, name in enumerate(names):
            self.succeed("create", name, "--shard", f"{index}/{count}", "--key-seed",
                         seeds.get(f"shard{index}", "7"))
            self.succeed("import", name, "-", "--format", "jsonl", data=lines.encode())
        self.succeed("import", "one.crawl", "-", "--format", "jsonl", data=lines.encode())
        return names


class Exchange(Mpi):
    def test_makes_pages_of_what_others_found(self):
        names = self.make_shards(2)
        report = json.loads(self.run_all(2, "exchange", "*of2.crawl", "--json").stdout)
        self.assertEqual(report["step"], 1)
        self.assertEqual([row["path"] for row in report["shards"]], names)
        self.assertEqual([row["step"] for row in report["shards"]], [2, 2])
        self.assertEqual(report["shards"][0]["sent_url_count"],
                         report["shards"][1]["received_url_count"])
        self.assertGreater(report["new_page_count"], 0)
        self.succeed("shards", "verify", *names)
        self.assertEqual(self.pages(*names), self.pages("one.crawl"))
        again = json.loads(self.run_all(2, "exchange", *names, "--json").stdout)
        self.assertEqual((again["step"], again["new_page_count"]), (2, 0))

    def test_moves_messages_in_rounds_of_any_size(self):
        names = self.make_shards(3)
        self.run_all(3, "exchange", *names, "--round", "40")
        self.assertEqual(self.pages(*names), self.pages("one.crawl"))

    def test_ends_on_all_ranks_when_one_is_stopped(self):
        names = self.make_shards(2)
        done = self.mpirun(2, *rank_words([PROGRAM, "exchange", *names]),
                           RANK_1_LIBRARY=str(SIGNALLER), SIGNAL_AT_PWRITE="1")
        self.assertEqual(done.returncode, 128 + signal.SIGINT, done.stderr)
        self.run_all(2, "exchange", *names)
        self.assertEqual(self.pages(*names), self.pages("one.crawl"))


class Rank(Mpi):
    def setUp(self):
        super().setUp()
        self.names = self.make_shards(2)
        self.run_all(2, "exchange", *self.names)

    def expect_scores(self, *arrays):
        for array in arrays:
            single = self.scores(array, "one.crawl")
            shards = self.scores(array, *self.names)
            self.assertLessEqual(shards.keys(), single.keys())
            self.assertLessEqual(
                sum(abs(single[url] - shards.get(url, 0)) for url in single), 1e-9)

    def test_is_that_of_one_file(self):
        report = json.loads(self.run_all(2, "rank", *self.names, "--precision", "1e-13",
                                         "--json").stdout)
        self.assertTrue(report["is_converged"])
        self.assertEqual(report["unknown_count"], 0)
        self.assertEqual(report["page_count"], len(self.pages("one.crawl")))
        self.succeed("rank", "one.crawl", "--precision", "1e-13")
        self.expect_scores("pagerank")
        best = json.loads(self.succeed("top", "one.crawl", "-n", "5", "--json").out)["pages"]
        words = ["shards", "top", *self.names, "-n", "5", "--json"]
        self.assertEqual([row["url"] for row in json.loads(self.succeed(*words).out)["pages"]],
                         [row["url"] for row in best])

    def test_of_hits_is_that_of_one_file(self):
        self.run_all(2, "hits", *self.names, "--precision", "1e-13", "--max-iterations", "9999")
        self.succeed("rank", "one.crawl", "hits", "--precision", "1e-13", "--max-iterations",
                     "9999")
        self.expect_scores("authorities", "hubs")

    def test_stores_nothing_where_it_does_not_converge(self):
        done = self.mpirun(2, PROGRAM, "rank", *self.names, "--max-iterations", "1")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.said), 1, done.stderr)
        self.assertIn("nothing was stored", done.said[0])
        self.refuse(1, "no", "top", self.names[0])


class Refused(Mpi):
    def expect(self, code, word, ranks, *words):
        done = self.mpirun(ranks, PROGRAM, *words)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(len(done.said), 1, done.stderr)
        self.assertIn(word, done.said[0])

    def test_are_other_numbers_of_ranks_and_lost_shards(self):
        names = self.make_shards(2)
        self.expect(2, "mpirun -np SHARDS", 3, "rank", *names)
        self.expect(2, "whose the files are", 2, "rank", names[0])
        self.expect(1, "no file of a shard", 2, "exchange", "nothing*.crawl")
        shutil.copy(self.folder / names[0], self.folder / "copy.crawl")
        self.expect(2, "twice", 2, "rank", names[0], "copy.crawl")

    def test_is_a_shard_of_another_crawl(self):
        names = self.make_shards(2, shard1="8")
        for verb in "exchange", "rank", "hits":
            done = self.mpirun(2, PROGRAM, verb, *names)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("1of2.crawl: another shard is of another crawl", done.stderr)

    def test_are_options_out_of_range(self):
        done = self.mpirun(2, PROGRAM, "rank", "x.crawl", "--damping", "2")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--damping", done.stderr)


class Crawl(Mpi):
    def test_is_that_of_one_file(self):
        sites = self.make_sites()
        whole = self.crawl_single(sites)
        for ranks in 2, 4:
            done = self.mpirun(ranks, CRAWL, f"c{ranks}", *sites)
            self.assertEqual(done.returncode, 0, done.stderr)
            names = [f"c{ranks}-{index}of{ranks}.crawl" for index in range(ranks)]
            self.assertEqual(self.pages(*names), whole)
            self.succeed("shards", "verify", *names)

    def test_goes_on_where_a_rank_was_killed(self):
        sites = self.make_sites()
        whole = self.crawl_single(sites)
        counted = self.folder / "counted"
        self.mpirun(2, *rank_words([CRAWL, "all", *sites]), RANK_1_LIBRARY=str(SIGNALLER),
                    WRITES_COUNTED=str(counted))
        # Key seeds are random, and the last writes are not the same number each time.
        count = int(counted.read_text().split()[0]) * 3 // 4
        rng = random.Random(command.SEED)
        for place in sorted(rng.sample(range(2, count), 12 if command.IS_LONG else 5)):
            with self.subTest(place=place):
                names = [f"k{place}-{index}of2.crawl" for index in range(2)]
                done = self.mpirun(2, *rank_words([CRAWL, f"k{place}", *sites]),
                                   RANK_1_LIBRARY=str(SIGNALLER), SIGNAL="9",
                                   SIGNAL_AT_PWRITE=str(place))
                self.assertNotEqual(done.returncode, 0)
                done = self.mpirun(2, CRAWL, f"k{place}", *sites)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(self.pages(*names), whole)
                self.succeed("shards", "verify", *names)


if __name__ == "__main__":
    unittest.main()
