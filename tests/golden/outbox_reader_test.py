# SPDX-License-Identifier: Apache-2.0
"""spec/outbox.py, written from spec/shards.md, agrees with the library on outbox blocks.

The library wrote the seeds of their fuzz target (tests/format/outbox_samples.h);
tests/format/outbox_block_test.cpp holds it to the same names.
"""

import os
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(os.environ.get("CRAWLSTORE_SOURCE_DIR", "."))
sys.path[:0] = str(SOURCE / "spec"), str(SOURCE / "fuzz")
import outbox  # noqa: E402  pylint: disable=wrong-import-position
import seeds  # noqa: E402  pylint: disable=wrong-import-position
from container import CrawlError  # noqa: E402  pylint: disable=wrong-import-position

CORPUS = seeds.read(SOURCE / "fuzz" / "corpus" / "fuzz_outbox_block.txt")


def broken_rule(block):
    """(the class of the error, the number of the rule of Outbox blocks that the block breaks);
    twice None: it keeps all."""
    try:
        outbox.parse_block(block)
    except CrawlError as error:
        return error.name, int(re.search(r"Outbox blocks rule (\d+)", str(error)).group(1))
    return None, None


class OutboxTest(unittest.TestCase):
    """The reader of outbox blocks, and the bytes that the library wrote."""

    def test_says_of_every_seed_what_its_name_says(self):
        seen = set()
        for name, content in CORPUS.items():
            word, _, rest = name.partition("_")
            rule = int(rest.split("_")[0]) if word == "rule" else None
            seen.add(rule)
            error = {None: None, 1: "chunk_damaged"}.get(rule, "segment_invalid")
            self.assertEqual(broken_rule(content), (error, rule), name)
        self.assertEqual(seen, {None, 1, 2, 3, 4, 5, 6, 7})

    def test_reads_blocks(self):
        three = CORPUS["three"]
        urls = [b"http://a/", b"b", b"\xff\0\n"]
        block = outbox.parse_block(three)
        self.assertEqual(block, (7, 0x0123456789abcdef, 3, 2, 1, 0, True, urls))
        frame = CORPUS["frame"]
        self.assertEqual(outbox.parse_block(frame).urls,
                         [b"http://host.test/page/%d" % (i * i) for i in range(40)])
        self.assertEqual(list(outbox.cut_blocks(three + frame + three)), [three, frame, three])
        with self.assertRaisesRegex(CrawlError, "rule 1"):
            list(map(outbox.parse_block, outbox.cut_blocks(three + frame[:-1])))
        with self.assertRaisesRegex(CrawlError, "rule 2"):
            list(outbox.cut_blocks(three + frame[:63]))

    def test_refuses_each_bit_that_flips(self):
        block = CORPUS["three"]
        for bit in range(8 * len(block)):
            flipped = bytearray(block)
            flipped[bit // 8] ^= 1 << bit % 8
            self.assertEqual(broken_rule(bytes(flipped)), ("chunk_damaged", 1))


if __name__ == "__main__":
    unittest.main()
