# SPDX-License-Identifier: Apache-2.0
"""spec/queue_runs.py, written from spec/queue.md, agrees with the library on queue runs.

The library wrote the seeds of their fuzz target (tests/format/queue_samples.h);
tests/format/queue_run_test.cpp holds it to the same names.
"""

import math
import os
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(os.environ.get("CRAWLSTORE_SOURCE_DIR", "."))
sys.path[:0] = str(SOURCE / "spec"), str(SOURCE / "fuzz")
import queue_runs  # noqa: E402  pylint: disable=wrong-import-position
import seeds  # noqa: E402  pylint: disable=wrong-import-position
from container import CrawlError  # noqa: E402  pylint: disable=wrong-import-position

CORPUS = seeds.read(SOURCE / "fuzz" / "corpus" / "fuzz_queue_run.txt")
RULES = range(1, 10)


def broken_rule(payload):
    """The number of the rule of Queue runs that the payload breaks; None: it keeps all."""
    try:
        queue_runs.parse_queue_run(payload)
    except CrawlError as error:
        return int(re.search(r"Queue runs rule (\d+)", str(error)).group(1))
    return None


def entries_of(name):
    found = queue_runs.parse_queue_run(CORPUS[name])
    return [[(queue_runs.priority_of(order), page) for order, page in entries]
            for entries in found]


class QueueRunsTest(unittest.TestCase):
    """The reader of queue runs, and the bytes that the library wrote."""

    def test_says_of_every_seed_what_its_name_says(self):
        seen = set()
        for name, content in CORPUS.items():
            if not name.startswith("rule_"):
                continue
            rule = int(name.split("_")[1])
            seen.add(rule)
            self.assertEqual(broken_rule(content), rule, name)
        self.assertEqual(seen, set(RULES))

    def test_reads_what_was_written(self):
        self.assertEqual(entries_of("sample"), [[(1, 7), (.75, 5), (1, 9)],
                                                [(.5, 300), (-.25, 301), (0, 310)]])
        self.assertEqual(entries_of("one"), [[(0, 0)]])
        self.assertEqual(entries_of("equal"), [[(1, 4), (1, 4)], [(1, 4)]])
        self.assertEqual(entries_of("wide"), [[(-math.inf, 0), (math.inf, 2**40 - 1), (5e-324, 1)]])

    def test_gives_priorities_back(self):
        for priority in (math.inf, 1.5, 0, -2, -math.inf):
            self.assertEqual(queue_runs.priority_of(queue_runs.order_of(priority)), priority)
        self.assertEqual(queue_runs.order_of(-0.0), queue_runs.order_of(0))

    def test_finds_another_count(self):
        with self.assertRaisesRegex(CrawlError, "Segments rule 1"):
            queue_runs.parse_queue_run(CORPUS["one"], 2)


if __name__ == "__main__":
    unittest.main()
