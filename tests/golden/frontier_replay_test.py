# SPDX-License-Identifier: Apache-2.0
"""spec/frontier_replay.py makes of the steps of random frontiers what the library makes of them.

The library writes the files; CRAWLSTORE_TEST_SEED chooses the calls."""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("CRAWLSTORE_SOURCE_DIR", "."))
sys.path.insert(0, str(SOURCE / "spec"))
import reader  # noqa: E402  pylint: disable=wrong-import-position
from container import CrawlFile  # noqa: E402  pylint: disable=wrong-import-position
from frontier_replay import State  # noqa: E402  pylint: disable=wrong-import-position

PROGRAM = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/dev/bin", "random_frontiers")
SEED = int(os.environ.get("CRAWLSTORE_TEST_SEED", "1"))
COUNT = 20
# Kinds of steps that random calls make.
KINDS = ("clock", "group", "put", "lease", "visit", "finish", "back", "extend", "remove", "update",
         "rule", "drop", "times", "left", "leased", "again", "gone")


def document_of(path):
    with CrawlFile(path) as file:
        return reader.document_of(file)


class FrontierReplayTest(unittest.TestCase):
    """One subtest a file."""

    def setUp(self):
        self.seen = collections.Counter()
        apply = State.apply

        def count(state, step, is_in_piece=False):
            self.seen[step.kind] += 1
            apply(state, step, is_in_piece)
        State.apply = count
        self.addCleanup(setattr, State, "apply", apply)

    def test_makes_the_state_that_the_library_makes(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([PROGRAM, folder, str(1000 * SEED), str(COUNT)], check=True)
            paths = sorted(pathlib.Path(folder).glob("*.crawl"))
            self.assertEqual(len(paths), COUNT)
            for path in paths:
                with self.subTest(f"{path.stem} CRAWLSTORE_TEST_SEED={SEED}"):
                    found, = document_of(path)["frontiers"]
                    expected, = json.loads(path.with_suffix(".json").read_text())["frontiers"]
                    self.assertTrue(found == expected)  # a difference would be long
        self.assertEqual([kind for kind in KINDS if not self.seen[kind]], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
