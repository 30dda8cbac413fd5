# SPDX-License-Identifier: Apache-2.0
"""spec/small_values.py, written from spec/values.md, agrees with the library on small values.

The library wrote the seeds of their fuzz target (tests/format/value_samples.h);
tests/format/small_values_test.cpp holds it to the same names.
"""

import os
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(os.environ.get("CRAWLSTORE_SOURCE_DIR", "."))
sys.path[:0] = str(SOURCE / "spec"), str(SOURCE / "fuzz")
import small_values  # noqa: E402  pylint: disable=wrong-import-position
import seeds  # noqa: E402  pylint: disable=wrong-import-position
from container import CrawlError  # noqa: E402  pylint: disable=wrong-import-position

CORPUS = seeds.read(SOURCE / "fuzz" / "corpus" / "fuzz_small_values.txt")


def broken_rule(payload):
    """The number of the rule of Small values that the payload breaks; None: it keeps all."""
    try:
        small_values.parse_values(payload)
    except CrawlError as error:
        return int(re.search(r"Small values rule (\d+)", str(error)).group(1))
    return None


class SmallValuesTest(unittest.TestCase):
    """The reader of small values, and the bytes that the library wrote."""

    def test_says_of_every_seed_what_its_name_says(self):
        seen = set()
        for name, content in CORPUS.items():
            word, _, rest = name.partition("_")
            rule = int(rest.split("_")[0]) if word == "rule" else None
            seen.add(rule)
            self.assertEqual(broken_rule(content), rule, name)
        self.assertEqual(seen, {None, 1, 2, 3, 4, 5})

    def test_reads_values(self):
        payload = CORPUS["three"]
        self.assertEqual(small_values.parse_values(payload, 3),
                         {b".next": b"ab", b"pages": b"\1\0\0\0\0\0\0\0", b"x": b""})
        with self.assertRaisesRegex(CrawlError, "Segments rule 1"):
            small_values.parse_values(payload, 2)


if __name__ == "__main__":
    unittest.main()
