# SPDX-License-Identifier: Apache-2.0
"""spec/frontier_items.py, written from spec/frontier.md, agrees with the library on item runs.

The library wrote the seeds of their fuzz target (tests/format/item_samples.h);
tests/format/item_run_test.cpp holds it to the same names.
"""

import os
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(os.environ.get("CRAWLSTORE_SOURCE_DIR", "."))
sys.path[:0] = str(SOURCE / "spec"), str(SOURCE / "fuzz")
import frontier_items  # noqa: E402  pylint: disable=wrong-import-position
import queue_runs  # noqa: E402  pylint: disable=wrong-import-position
import seeds  # noqa: E402  pylint: disable=wrong-import-position
from container import CrawlError  # noqa: E402  pylint: disable=wrong-import-position

CORPUS = seeds.read(SOURCE / "fuzz" / "corpus" / "fuzz_item_run.txt")
RULES = range(1, 9)


def broken_rule(payload):
    """The number of the rule of Item runs that the payload breaks; None: it keeps all."""
    try:
        frontier_items.parse_item_run(payload)
    except CrawlError as error:
        return int(re.search(r"Item runs rule (\d+)", str(error)).group(1))
    return None


def items_of(name):
    """(group, priority, id, time, body) of each item."""
    return [[(item.group, queue_runs.priority_of(item.order), item.id, item.time, body)
             for item, body in block]
            for block in frontier_items.parse_item_run(CORPUS[name])]


class ItemRunsTest(unittest.TestCase):
    """The reader of item runs, and the bytes that the library wrote."""

    def test_says_of_every_seed_what_its_name_says(self):
        seen = set()
        for name, content in CORPUS.items():
            rule = int(name.split("_")[1]) if name.startswith("rule_") else None
            seen.add(rule)
            self.assertEqual(broken_rule(content), rule, name)
        self.assertEqual(seen, {None, *RULES})

    def test_reads_what_was_written(self):
        self.assertEqual(items_of("sample"),
                         [[(3, 1, 7, 0, b"ab"), (3, .75, 5, 0, b"c"), (3, .75, 9, 0, b"de")],
                          [(3, .5, 4, 0, b""), (10, 2, 12, 0, b"xyz")]])
        self.assertEqual(items_of("timed"), [[(4, 1, 3, 1000, b"a"), (4, 1, 8, 1000, b""),
                                              (2, .5, 1, 90000, b"bc")]])
        self.assertEqual(items_of("lz4"), [[(0, 1, 1, 0, b"a" * 60), (0, 1, 2, 0, b"a" * 36)]])
        self.assertEqual(items_of("one"), [[(0, 0, 0, 0, b"")]])

    def test_finds_another_count(self):
        with self.assertRaisesRegex(CrawlError, "Segments rule 1"):
            frontier_items.parse_item_run(CORPUS["one"], 2)


if __name__ == "__main__":
    unittest.main()
