# SPDX-License-Identifier: Apache-2.0
"""bench/compare and bench/plot: ratios compare the same requests, and medians count."""

import argparse
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from unittest import mock

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("CRAWLSTORE_BUILD_DIR", SOURCE / "build/release"))
BENCH = SOURCE / "bench"
sys.path.insert(0, str(BENCH))
import compare_paper  # noqa: E402 (needs the path above)
import compare_queue  # noqa: E402 (needs the path above)
import compare_rank  # noqa: E402 (needs the path above)
import compare_text  # noqa: E402 (needs the path above)
import plot_paper  # noqa: E402 (needs the path above)
import seen_table  # noqa: E402 (needs the path above)


def load(name):
    """A script without .py as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(BENCH / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


compare, plot = load("compare"), load("plot")


def line(store, operations, rate, **more):
    """A run at a steady rate, in four windows; the case has a million requests."""
    readings = [[operations * i // 4, operations * i // 4, operations * i / 4 / rate]
                for i in (1, 2, 3, 4)]
    return {"store": store, "version": "1", "case": "a case", "case_operations": 10**6,
            "operations": operations, "unique": operations // 4, "ops_per_s": rate,
            "first_window_ops_per_s": rate, "last_window_ops_per_s": rate,
            "readings_submitted_answered_seconds": readings, "file_bytes": 100,
            "file_bytes_per_key": 4.0, "read_bytes_per_op": 1.0, "written_bytes_per_op": 2.0,
            "peak_rss_bytes": 2**20, "cpu": "a CPU", "commit": "abc",
            "date": "2026-11-21T00:00:00Z", **more}


# LMDB was stopped: its best run is not to be compared with our million requests at 9 M a second.
CANNED = [
    line("crawlstore", 10**6, 9e6), line("SQLite", 10**6, 3e6), line("LMDB", 400_000, 4e6),
    line("absl::flat_hash_set", 10**6, 36e6), line("crawlstore", 400_000, 16e6),
    line("crawlstore", 10**6, 15e6), line("SQLite", 10**6, 2e6), line("crawlstore", 10**6, 12e6),
    line("SQLite", 10**6, 4e6), {"store": "rocksdb", "case": "a case", "error": "exit code 1: x"},
]


class Table(unittest.TestCase):
    def row(self, store, lines=None):
        return next(row for row in seen_table.peer_rows(lines or CANNED)
                    if row.line["store"] == store)

    def test_takes_medians(self):
        row = self.row("SQLite")
        self.assertEqual((row.rate, row.ours, row.ratio, row.runs), (3e6, 12e6, 4.0, 3))
        self.assertEqual(seen_table.ours_row(CANNED).rate, 12e6)

    def test_compares_a_stopped_peer_over_its_own_requests(self):
        row = self.row("LMDB")
        self.assertEqual((row.rate, row.ours, row.ratio), (4e6, 16e6, 4.0))

    def test_knows_no_ratio_without_our_run(self):
        lines = [found for found in CANNED if found.get("operations") != 400_000 or
                 found["store"] != "crawlstore"]
        self.assertIsNone(self.row("LMDB", lines).ratio)
        self.assertEqual(seen_table.cuts(lines), [400_000])
        self.assertEqual(seen_table.cuts(CANNED), [])

    def test_finds_the_best_peer_by_ratio_not_by_rate(self):
        lines = CANNED + [line("LevelDB", 200_000, 8e6), line("crawlstore", 200_000, 80e6)]
        self.assertEqual(seen_table.best_peer(seen_table.peer_rows(lines)).ratio, 4.0)
        self.assertEqual(self.row("LevelDB", lines).ratio, 10.0)

    def test_counts_no_bound_as_peer(self):
        rows = seen_table.peer_rows(CANNED)
        self.assertAlmostEqual(rows[0].ratio, 1 / 3)
        self.assertNotIn(seen_table.best_peer(rows).line["store"], seen_table.BOUNDS)

    def test_takes_the_slower_middle_of_an_even_number(self):
        runs = [line("LMDB", 100, rate) for rate in (4.0, 1.0, 3.0, 2.0)]
        self.assertEqual(seen_table.median_line(runs)["ops_per_s"], 2.0)

    def test_prints_everything(self):
        text = seen_table.table(CANNED)
        self.assertRegex(text, r"SQLite 1 +1 M +3\.00 +12\.00 +4\.00 ")
        self.assertRegex(text, r"LMDB 1 +0\.4 M cut +4\.00 +16\.00 +4\.00 ")
        self.assertIn("crawlstore does 4.00 x its rate over the same", text)
        self.assertIn("crawlstore does 0.33 x its rate", text)
        self.assertIn("rocksdb: exit code 1: x", text)
        self.assertIn("x", seen_table.table(CANNED[-1:]))


def rank_line(store, threads, total, each, **more):
    """A run of PageRank."""
    return {"bench": "rank", "store": store, "threads": threads, "read_seconds": 0.5,
            "solve_seconds": total - 0.5, "total_seconds": total, "iterations": 20,
            "iteration_seconds": each, "peak_rss_bytes": 2**20, "case": "a graph", "cpu": "a CPU",
            "commit": "abc", "date": "2026-11-21T00:00:00Z", "load_before": 0.25, **more}


class Rank(unittest.TestCase):
    LINES = [
        *(rank_line("igraph 0.10.2", 1, total, 1.0) for total in (30.0, 50.0, 40.0)),
        rank_line("igraph 0.10.2", 2, 30.0, 1.0),
        *(rank_line("crawlstore", 1, total, 0.2) for total in (4.0, 5.0, 4.0)),
        *(rank_line("crawlstore", 2, total, 0.1, l1_distance=2e-6) for total in (2.0, 9.0, 1.0)),
        rank_line("plain pull", 1, 9.0, 0.8), rank_line("plain pull", 2, 8.0, 0.4),
        {"bench": "rank", "store": "plain", "threads": 3, "case": "a graph", "error": "x"}]

    def test_tells_ratios_of_medians_by_threads(self):
        text = compare_rank.table(self.LINES)
        self.assertIn("1 thread(s): igraph takes 10.0 x our total", text)
        self.assertIn("2 thread(s): igraph takes 15.0 x our total", text)
        self.assertIn("1 thread(s): an iteration takes 0.25 x the plain one", text)
        self.assertIn("2 thread(s): an iteration takes 0.25 x the plain one", text)
        self.assertRegex(text, r"crawlstore +2 .* 2\.000 +1\.00 +20 +0\.1000 +2\.0e-06 +1 +3\n")
        self.assertTrue(text.endswith("plain: x"))

    def test_prints_runs_that_all_failed(self):
        self.assertEqual(compare_rank.table(self.LINES[-1:]), "PageRank, a graph\nplain: x")


def queue_line(store, seconds, total="ff", **more):
    """A run of a queue."""
    return {"bench": "queue", "store": store, "build_seconds": 1.0, "cycle_seconds": seconds,
            "total_seconds": seconds + 1, "worst_cycle_seconds": 0.125, "cpu_seconds": 1.5,
            "cycle_cpu_seconds": 0.75, "pairs_per_s": 3e6, "written_bytes": 10**7,
            "file_bytes": 10**6, "sum": total,
            "peak_rss_bytes": 2**20, "case": "a case", "cpu": "a CPU", "commit": "abc",
            "date": "2026-11-21T00:00:00Z", "load_before": 0.25, **more}


class Queue(unittest.TestCase):
    LINES = [
        *(queue_line("crawlstore 0.1.0", seconds) for seconds in (2.0, 1.0, 9.0)),
        *(queue_line("LMDB 1", seconds) for seconds in (8.0, 7.0, 3.0)),
        {"bench": "queue", "store": "std", "case": "a case", "load_before": 2.0, "error": "x"}]

    def test_tells_ratios_of_medians(self):
        text = compare_queue.table(self.LINES)
        self.assertRegex(text, r"crawlstore 0\.1\.0 +1\.00 +2\.00 +3\.00 +1\.00 +1\.00 +0\.125 ")
        self.assertRegex(text, r"LMDB 1 +1\.00 +7\.00 +8\.00 +3\.50 +2\.67 +0\.125 +1\.50 +0\.75 "
                               r"+1\.00 +3\.000 +10 +1 +1 +3\n")
        self.assertTrue(text.endswith("std: x"))
        self.assertEqual(compare_queue.table(self.LINES[-1:]), "Queue, a case\nstd: x")

    def test_fails_when_one_takes_other_pages(self):
        compare_queue.check_sums(self.LINES)
        with self.assertRaisesRegex(compare.Failure, "same pages: .*RocksDB fe"):
            compare_queue.check_sums([*self.LINES, queue_line("RocksDB", 1.0, "fe")])

    def test_leaves_out_what_has_no_room_in_ram(self):
        for cap, found in ((0, ["crawlstore", "std"]), (2**25, ["crawlstore", "std"]),
                           (2**24, ["crawlstore"])):
            options = mock.Mock(cap=cap, entries=10**6, peers=["std"])
            self.assertEqual(compare_queue.fitting(options), found)


def time_line(engine, threads, microseconds):
    """A run of a queue of the paper."""
    return {"bench": "paper", "engine": engine, "r": 8, "threads": threads, "cpu": "a CPU",
            "wall_us_a_cycle": microseconds, "cpu_us_a_cycle_of_the_slowest": microseconds / 4,
            "case": "time, a case", "commit": "abc", "date": "2026-11-21T00:00:00Z"}


class Paper(unittest.TestCase):
    LINES = [*(time_line("tournament", threads, microseconds)
               for threads, microseconds in ((1, 90.0), (2, 50.0), (1, 100.0), (1, 400.0))),
             {"bench": "paper", "engine": "ahead", "case": "time, a case", "error": "x"}]

    def test_tells_ratios_of_medians(self):
        text = compare_paper.table(self.LINES)
        self.assertRegex(text, r"tournament +1 +100 +25 +1\.00 +1\.00 +3\n")
        self.assertRegex(text, r"tournament +2 +50 +12 +2\.00 +2\.00 +1\n")
        self.assertTrue(text.endswith("ahead: x"))

    def test_counts_blocks_with_the_entries_of_the_first_table(self):
        options = mock.Mock(parts=("comparisons", "blocks", "time"), entries=[500, 2000],
                            queues_entries=9000, engines=["heap", "ahead"], runs=2)
        found = {title: runs for title, runs in compare_paper.cases(options)}
        self.assertEqual([len(runs) for runs in found.values()], [6, 8, 3, 3, 2])
        self.assertEqual(list(found.values())[3][0], ("cycles", "heap", 500, 1, 30))

    def test_draws_a_curve_for_each_engine(self):
        root = xml.etree.ElementTree.fromstring(plot_paper.draw(
            [*self.LINES, time_line("ahead", 1, 10.0), time_line("ahead", 2, 20.0)]))
        curves = [curve.get("points") for curve in root.findall("{*}polyline")]
        self.assertEqual(len(curves), 2)
        self.assertEqual(curves[0].split()[0], "64.0,58.1")  # the first run counts, as in tables
        texts = [text.text for text in root.findall("{*}text")]
        self.assertIn("tournament", texts)


def text_line(task, program, cpu_seconds):
    """A run of a program at a task."""
    return {"bench": "text", "case": "a case", "task": task, "program": program, "seconds": 9.0,
            "cpu_seconds": cpu_seconds, "user_seconds": cpu_seconds / 2, "bytes": 5 * 10**6,
            "load_before": 1.0, "cpu": "a CPU", "commit": "abc", "date": "2026-11-26"}


class Text(unittest.TestCase):
    def test_tells_ratios_of_medians_to_events_and_to_the_former(self):
        text = compare_text.table(
            [*(text_line("import events", "crawlstore", seconds) for seconds in (2.0, 1.0, 9.0)),
             text_line("import edges", "crawlstore", 3.0), text_line("import edges", "former", 6.0),
             text_line("export edges", "crawlstore", 7.0), text_line("sort -u", "peer", 4.0)])
        self.assertRegex(text, r"import edges +crawlstore +3\.00 +1\.50 +1\.50 +0\.50 +9\.00 "
                               r"+5 +1\n")
        self.assertRegex(text, r"import edges +former +6\.00 +3\.00 +9\.00 ")
        self.assertRegex(text, r"export edges +crawlstore +7\.00 +3\.50 +9\.00 ")


class Plot(unittest.TestCase):
    def test_draws_a_curve_for_each_store(self):
        root = xml.etree.ElementTree.fromstring(plot.draw(CANNED))
        self.assertEqual(len(root.findall("{*}polyline")), 4)
        texts = [text.text for text in root.findall("{*}text")]
        for store in ("crawlstore", "SQLite", "LMDB", "absl::flat_hash_set"):
            self.assertIn(store, texts)

    def test_steps_are_rates_of_answers(self):
        run = {"unique": 25, "operations": 100,
               "readings_submitted_answered_seconds": [[90, 40, 2.0], [100, 100, 5.0]]}
        self.assertEqual(plot.steps(run), [(0.0, 10.0, 20.0), (10.0, 25.0, 20.0)])


class FakeMachine:
    """Peers stop at 400,000 requests; SQLite is the best one."""

    RATES = {"crawlstore": 10e6, "sqlite": 5e6, "lmdb": 2e6}

    def __init__(self):
        self.runs = []

    def run(self, case, driver, operations, stop=0):
        self.runs.append((driver, operations, stop))
        done = 400_000 if stop and driver == "sqlite" else operations
        return line({"sqlite": "SQLite", "lmdb": "LMDB"}.get(driver, driver), done,
                    self.RATES[driver], case_operations=case.operations)


class Compare(unittest.TestCase):
    def test_runs_us_and_the_best_peer_again_over_the_same_requests(self):
        machine, kept = FakeMachine(), []
        with contextlib.redirect_stderr(io.StringIO()):
            series = compare.Series(machine, compare.Case(10**6, 0), kept.append)
            series.run_all(["sqlite", "lmdb"], 2, 150)
        self.assertEqual(machine.runs, [
            ("crawlstore", 10**6, 0), ("sqlite", 10**6, 150), ("lmdb", 10**6, 150),
            ("crawlstore", 400_000, 0), ("crawlstore", 10**6, 0), ("crawlstore", 400_000, 0),
            ("sqlite", 400_000, 0)])
        self.assertEqual(kept, series.lines)
        self.assertIn("SQLite; crawlstore does 2.00 x", seen_table.table(series.lines))

    def test_runs_variants_of_ours_once_and_takes_none_for_a_peer(self):
        machine, variant = FakeMachine(), "crawlstore repeats=drop"
        machine.RATES = {**FakeMachine.RATES, variant: 9e6}
        with contextlib.redirect_stderr(io.StringIO()):
            series = compare.Series(machine, compare.Case(10**6, 0), lambda line: None)
            series.run_all(["sqlite"], 1, 150, seen_table.VARIANTS)
        self.assertEqual([run for run in machine.runs if run[0] == variant],
                         [(variant, 10**6, 0)])
        self.assertIn("SQLite; crawlstore does 2.00 x", seen_table.table(series.lines))

    def test_reads_numbers(self):
        self.assertEqual(compare.parse_number("50M"), 50_000_000)
        self.assertEqual(compare.parse_number("256MiB"), 2**28)
        self.assertEqual(compare.parse_cap("none"), 0)
        for text in ("", "M", "5m", "-1", "1.5M"):
            self.assertRaises(argparse.ArgumentTypeError, compare.parse_number, text)
        self.assertRaises(argparse.ArgumentTypeError, compare.parse_peers, "sqlite,oracle")

    def test_says_what_is_missing_before_the_first_run(self):
        with tempfile.TemporaryDirectory() as folder:
            machine = compare.Machine(mock.Mock(build_dir=folder))
            with mock.patch("os.geteuid", return_value=1000):
                with self.assertRaisesRegex(compare.Failure, "needs root"):
                    machine.check([], [compare.Case(1, 2**28)])
            with self.assertRaisesRegex(compare.Failure, "apt-get install .* liblmdb-dev"):
                machine.check(["lmdb"], [compare.Case(1, 0)])

    def test_covers_the_cases_of_the_issue(self):
        titles = [case.title() for case in compare.PRESETS["all"]]
        self.assertEqual(len(titles), len(set(titles)))
        self.assertIn("1000 M requests, 8-byte keys, uniform, 1024 MiB", titles)
        self.assertIn("50 M requests, 8-byte keys and values, auxiliary 60, uniform, 256 MiB",
                      titles)


def count_fresh(operations):
    """Fresh keys of the stream, from its definition: a quarter of the random numbers."""
    mask, state, fresh = 2**64 - 1, 1, 0
    for _ in range(operations):
        state = (state + 0x9E3779B97F4A7C15) & mask
        x = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
        fresh += fresh == 0 or (x ^ (x >> 31)) % 4 == 0
    return fresh


@unittest.skipUnless((BUILD / "bin/seen_crawlstore").exists(), "the benchmarks are not built")
class Driver(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_driver(self, *words):
        return subprocess.run(
            [BUILD / "bin/seen_crawlstore", self.folder / "store", *words], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_answers_every_variant_and_stream(self):
        fresh = count_fresh(20000)
        for variant in ("key", "aux"):
            for stream in ("uniform", "skewed"):
                with self.subTest(variant=variant, stream=stream):
                    done = self.run_driver("20k", "--variant", variant, "--stream", stream,
                                           "--memory", "1", "--buckets", "4")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    found = json.loads(done.stdout)
                    self.assertEqual((found["operations"], found["unique"]), (20000, fresh))
                    self.assertEqual((found["variant"], found["stream"]), (variant, stream))
                    submitted, answered, seconds = found["readings_submitted_answered_seconds"][-1]
                    self.assertEqual((submitted, answered, seconds),
                                     (20000, 20000, found["seconds"]))

    def test_rejects_what_it_does_not_know(self):
        for words in (["1M", "--colour", "red"], ["1M", "--window"], ["many"], ["0"], []):
            done = self.run_driver(*words)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertNotEqual(done.stderr, "")

    def test_is_compared_and_leaves_nothing_behind(self):
        done = subprocess.run(
            [sys.executable, "-B", BENCH / "compare", "seen", "--ops", "20k", "--cap", "none",
             "--peers", "none", "--runs", "2", "--no-build", "--build-dir", BUILD, "--dir",
             self.folder, "--warm", "0", "--pause", "0"],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"crawlstore \S+ +0\.02 M +\d+\.\d\d .* 2\n")
        self.assertEqual(list(self.folder.iterdir()), [])


@unittest.skipUnless((BUILD / "bin/rank_plain").exists(), "the benchmarks are not built")
class RankDriver(unittest.TestCase):
    def test_ranks_a_made_graph_and_leaves_nothing_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, "-B", BENCH / "compare", "rank", "--pages", "2k", "--peers",
                 "none", "--runs", "1", "--no-build", "--build-dir", BUILD, "--dir", folder],
                text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(len(done.stdout.split("an iteration takes")), 5)
            self.assertEqual(os.listdir(folder), [])


@unittest.skipUnless((BUILD / "bin/links_codec").exists(), "the benchmarks are not built")
class LinksDriver(unittest.TestCase):
    def test_reads_a_graph_through_a_symbolic_link(self):
        rows = "".join(f"{page + 1} {page + 2}\n" for page in range(98))
        with tempfile.TemporaryDirectory() as kept, tempfile.TemporaryDirectory() as folder:
            graph = pathlib.Path(kept, "graph")
            subprocess.run(["zstd", "-q", "-o", graph], input=f"100\n{rows}\n\n".encode(),
                           check=True)
            pathlib.Path(folder, "small.adj.zst").symlink_to(graph)
            done = subprocess.run([BUILD / "bin/links_codec", folder], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.count("| small, "), 4)


@unittest.skipUnless((BUILD / "bin/queue_paper").exists(), "the benchmarks are not built")
class PaperDriver(unittest.TestCase):
    def test_counts_all_parts(self):
        done = subprocess.run(
            [sys.executable, "-B", BENCH / "compare", "paper", "--entries", "2k",
             "--queues-entries", "64k", "--runs", "1", "--no-build", "--build-dir", BUILD],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [row.split() for row in done.stdout.split("\n")]
        self.assertEqual(sum(row[:1] == ["ahead"] for row in rows), 4 + 7 + 2)
        exact = [row for row in rows if row[:1] == ["exact"]]
        self.assertEqual([row[9] for row in exact], ["0.00%"] * 7)
        self.assertNotIn("error", done.stdout)


@unittest.skipUnless((BUILD / "bin/queue_std").exists(), "the benchmarks are not built")
class QueueDriver(unittest.TestCase):
    PEERS = [peer for peer in compare_queue.PACKAGES if (BUILD / f"bin/queue_{peer}").exists()]

    def test_compares_those_that_are_built_and_leaves_nothing_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, "-B", BENCH / "compare", "queue", "--entries", "5k", "--take",
                 "9k", "--batch", "700", "--peers", ",".join(self.PEERS), "--runs", "1",
                 "--memory", "64MiB", "--no-build", "--build-dir", BUILD, "--dir", folder],
                text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(len(done.stdout.split("\n")), 7 + len(self.PEERS), done.stdout)
            self.assertEqual(os.listdir(folder), [])

    def test_takes_the_same_pages_as_each_peer(self):
        for order in compare_queue.INPUTS:
            # With fewer no page of a crawl that was changed would be taken.
            counts = ("50k", "20k") if order == "crawl" else ("5k", "9k")
            sums = {}
            for name in ("crawlstore", *self.PEERS):
                with tempfile.TemporaryDirectory() as folder:
                    done = subprocess.run(
                        [BUILD / f"bin/queue_{name}", f"{folder}/queue", *counts, "700", order,
                         "64MiB", "million"],
                        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    sums[name] = json.loads(done.stdout)["sum"]
            self.assertEqual(len(set(sums.values())), 1, (order, sums))

    def test_commits_each_cycle_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, "-B", BENCH / "compare", "queue", "--entries", "5k", "--take",
                 "2k", "--batch", "700", "--commit", "cycle", "--runs", "1", "--memory", "64MiB",
                 "--no-build", "--build-dir", BUILD, "--dir", folder],
                text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"a commit each cycle\n(.*\n)+.*KB written a cycle.*\n"
                                      r"crawlstore \S+ +3 ")

    def test_rejects_what_it_does_not_know(self):
        for words in (["9", "9", "9", "blue", "0", "million"],
                      ["9", "9", "10", "random", "0", "million"],
                      ["9", "0", "9", "random", "0", "million"],
                      ["9", "9", "9", "random", "0", "never"], ["9", "9", "9", "random", "0"]):
            done = subprocess.run([BUILD / "bin/queue_std", "/nowhere", *words], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertNotEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main()
