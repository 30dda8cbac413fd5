# SPDX-License-Identifier: Apache-2.0
"""spec/reader.py, written from spec/format.md, agrees with the library on every golden file."""

import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

# The sections whose rules the bytes of a file can break, and which rules. Links, rules 1, 3 and 4
# bind writers: bytes show only what comes of them, by rule 2. Page keys, rule 1: a key of another
# host has another head, rule 2.
RULES = {
    "Feature bits": range(3, 4),
    "Directory": range(1, 17),
    "Segments": range(1, 2),
    "Drum": range(1, 15),
    "Partition": range(1, 9),
    "Key block": range(9, 14),
    "Request runs": range(1, 9),
    "Result runs": range(1, 6),
    "Event runs": range(1, 7),
    "Link runs": range(1, 8),
    "Short numbers": range(1, 3),
    "Link block": range(1, 9),
    "Links": range(2, 3),
    "Origin runs": range(1, 13),
    "Tiled segments": range(1, 8),
    "Record tiles": range(1, 10),
    "Page keys": range(2, 5),
    "Pages": range(1, 12),
}
SOURCE = pathlib.Path(os.environ.get("CRAWLSTORE_SOURCE_DIR", "."))
GOLDEN = SOURCE / "tests" / "golden"


@functools.cache
def run_reader(path):
    return subprocess.run([sys.executable, SOURCE / "spec" / "reader.py", path],
                          capture_output=True, text=True, check=False)


class ReaderTest(unittest.TestCase):
    """One subtest a file."""

    def test_valid_files_give_their_document(self):
        files = sorted((GOLDEN / "valid").glob("*.crawl"))
        self.assertGreaterEqual(len(files), 30)
        for path in files:
            with self.subTest(path.name):
                done = run_reader(path)
                self.assertEqual(done.returncode, 0, done.stderr)
                expected = json.loads(path.with_suffix(".json").read_text())
                found = json.loads(done.stdout)
                for finding in found["findings"]:
                    finding.pop("text", None)
                keep = [{key: finding[key] for key in ("kind", "error")}
                        for finding in found["findings"]]
                self.assertEqual({**found, "findings": keep}, expected)

    def test_rejected_files_give_their_class(self):
        files = sorted((GOLDEN / "rejected").glob("*.crawl"))
        self.assertGreaterEqual(len(files), 60)
        for path in files:
            with self.subTest(path.name):
                done = run_reader(path)
                self.assertIn(done.returncode, (1, 4))
                self.assertEqual(done.stderr.split(":")[0],
                                 path.with_suffix(".error").read_text().strip(), done.stderr)

    def test_each_rule_is_the_first_that_some_rejected_file_breaks(self):
        broken = set()
        for path in sorted((GOLDEN / "rejected").glob("*.crawl")):
            error = run_reader(path).stderr
            for section, rule in re.findall(r"([A-Z][a-z ]+)? ?\brule (\d+)", error):
                broken.add((section.strip() or "Directory", int(rule)))
        wanted = {(section, rule) for section, rules in RULES.items() for rule in rules}
        self.assertEqual(wanted - broken, set())


if __name__ == "__main__":
    unittest.main()
