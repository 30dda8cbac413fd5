# SPDX-License-Identifier: Apache-2.0
"""spec/scores.py, written from spec/scores.md, agrees with the library on score arrays.

The library wrote the seeds of their fuzz target (tests/format/score_samples.h);
tests/format/score_array_test.cpp holds it to the same names.
"""

import os
import pathlib
import re
import struct
import sys
import unittest

SOURCE = pathlib.Path(os.environ.get("CRAWLSTORE_SOURCE_DIR", "."))
sys.path[:0] = str(SOURCE / "spec"), str(SOURCE / "fuzz")
import scores  # noqa: E402  pylint: disable=wrong-import-position
import seeds  # noqa: E402  pylint: disable=wrong-import-position
from container import CrawlError  # noqa: E402  pylint: disable=wrong-import-position

CORPUS = seeds.read(SOURCE / "fuzz" / "corpus" / "fuzz_score_array.txt")
RULES = range(1, 13)


def broken_rule(payload):
    """The number of the rule of Score arrays that the payload breaks; None: it keeps all."""
    try:
        scores.parse_score_array(payload)
    except CrawlError as error:
        return int(re.search(r"Score arrays rule (\d+)", str(error)).group(1))
    return None


def seed(name):
    return CORPUS[name]


class ScoresTest(unittest.TestCase):
    """The reader of score arrays, and the bytes that the library wrote."""

    def test_says_of_every_seed_what_its_name_says(self):
        seen = set()
        for name, content in CORPUS.items():
            if not name.startswith("rule_"):
                continue
            rule = int(name.split("_")[1])
            seen.add(rule)
            self.assertEqual(broken_rule(content), rule, name)
        self.assertEqual(seen, set(RULES))
        for name in ("pages", "hosts", "none"):
            self.assertIsNone(broken_rule(seed(name)), name)

    def test_reads_scores_by_page(self):
        array = scores.parse_score_array(seed("pages"), 5)
        self.assertEqual(array[1:3], ("page_rank", "page"))
        self.assertEqual(array.values, struct.unpack("<5f", struct.pack("<5f", .1, .2, .3, .4, 0)))
        self.assertEqual((array.first_pages, array.residuals), ((), (0.5, 0.0625)))
        self.assertEqual(array.footer[:9], (5, 5, 8, 3, 7, 1700000000000000, 0.85, 1e-6, 0.0625))

    def test_reads_scores_by_host(self):
        array = scores.parse_score_array(seed("hosts"))
        self.assertEqual(array[1:], ("hits_authority", "host", (.1, .2, .7), (0, 4, 9), (0.25,)))
        self.assertEqual(array.footer.flags, 1)

    def test_reads_scores_of_nothing_by_a_scorer_of_others(self):
        array = scores.parse_score_array(seed("none"))
        self.assertEqual(array[1:], (32768, "page", (), (), ()))

    def test_finds_another_count(self):
        with self.assertRaisesRegex(CrawlError, "Segments rule 1"):
            scores.parse_score_array(seed("pages"), 6)


if __name__ == "__main__":
    unittest.main()
