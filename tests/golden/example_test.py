# SPDX-License-Identifier: Apache-2.0
"""spec/example.md says of each byte of spec/example.crawl what it is, in the words of
spec/format.md and the pages that it lists."""

import os
import pathlib
import re
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("CRAWLSTORE_SOURCE_DIR", "."))
SPEC = SOURCE / "spec"
GOLDEN = SOURCE / "tests" / "golden" / "valid"
sys.path.insert(0, str(SPEC))
import annotate  # noqa: E402  pylint: disable=wrong-import-position
import annotations  # noqa: E402  pylint: disable=wrong-import-position
from container import CrawlError  # noqa: E402  pylint: disable=wrong-import-position

FILE, PAGE = SPEC / "example.crawl", SPEC / "example.md"
REMAKE = "python3 spec/annotate.py writes it anew"
LINE = re.compile(r"\| `([0-9a-f]{6})` \| (.*?) \| (.+?) \| (.+?) \| \[(.+?)\]\((.+?)\) \|")


def listed():
    """(offset, bytes, field, meaning, section, link) of each row, read without annotate.py."""
    return [(int(row[0], 16), *row[1:]) for row in LINE.findall(PAGE.read_text("utf-8"))]


def decoded(shown):
    """The bytes that a cell shows."""
    zeros = re.fullmatch(r"`00 \* ([\d,]+)`", shown)
    if zeros:
        return bytes(int(zeros[1].replace(",", "")))
    return bytes.fromhex(shown.strip("`"))


def section(title):
    """The fields and meanings of the rows under one heading."""
    text = PAGE.read_text("utf-8").split(f": {title}\n", 1)[1].split("\n## ")[0]
    return {row[2]: row[3] for row in LINE.findall(text)}


class ExampleTest(unittest.TestCase):
    """The page, the file, and the script between them."""

    def test_is_what_the_script_writes(self):
        self.assertEqual(PAGE.read_text("utf-8"), annotate.Annotator(FILE).page(), REMAKE)

    def test_shows_every_byte_once_and_as_it_is(self):
        content = b""
        for offset, shown, *_ in listed():
            self.assertEqual(offset, len(content))
            content += decoded(shown)
        self.assertEqual(content, FILE.read_bytes())

    def test_has_what_it_promises(self):
        log = section("run 8 of segment 5: `drum_key_log`, log")
        self.assertRegex(log["keys"], r"update of 0x\w{16} \(http://a.test/z\)")
        keys = section("run 6 of segment 4: `drum_partition`, blob")
        self.assertRegex(keys["lower bits"], r"\(http://a.test/y\).*\(http://a.test/x\)")
        urls = section("run 13 of segment 10: `page_origins`, log")
        self.assertEqual((urls["URL 0"], urls["URL 1"]), ("http://a.test/", "http://a.test/b"))
        links = section("run 14 of segment 11: `out_links`, log")
        self.assertIn("page 0 links to page 1", links["data of links: 0"])
        queue = section("run 19 of segment 16: `queue_entries`, log")
        self.assertIn("priority 1.0", queue["fragment 0.lowest_order"])

    def test_knows_the_pages_of_the_format(self):
        text = (SPEC / "format.md").read_text("utf-8")
        listed_there = re.findall(r"^\| \[(\w+\.md)\]\(\1\) \|", text, re.MULTILINE)
        self.assertEqual(annotations.FORMAT, ("format.md", *listed_there))


class AnnotatorTest(unittest.TestCase):
    """Other files, and those that it does not annotate."""

    def test_has_a_row_for_each_byte_of_other_files(self):
        for name in "keys_and_pending", "values_variable", "queues", "pages_contents":
            path = GOLDEN / f"{name}.crawl"
            annotator, end = annotate.Annotator(path), 0
            for row in annotator.rows.in_order():
                self.assertEqual(row.offset, end, name)
                end += row.length
            self.assertEqual(end, path.stat().st_size, name)

    def refuses(self, content, error, message):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x.crawl")
            path.write_bytes(content)
            with self.assertRaisesRegex(error, message):
                annotate.Annotator(path)

    def test_refuses_a_file_with_a_flipped_bit(self):
        content = bytearray(FILE.read_bytes())
        content[0x15010] ^= 1
        self.refuses(content, CrawlError, "wrong checksum")

    def test_refuses_kinds_for_which_it_has_no_rows(self):
        self.refuses((GOLDEN / "frontiers.crawl").read_bytes(), ValueError, "no rows")


if __name__ == "__main__":
    unittest.main()
