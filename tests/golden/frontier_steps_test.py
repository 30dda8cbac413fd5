# SPDX-License-Identifier: Apache-2.0
"""spec/frontier_steps.py, written from spec/frontier.md, agrees with the library on both runs.

The library wrote the seeds of their fuzz targets (tests/format/group_samples.h, step_samples.h);
tests/format/group_run_test.cpp and step_run_test.cpp hold it to the same names.
"""

import os
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(os.environ.get("CRAWLSTORE_SOURCE_DIR", "."))
sys.path[:0] = str(SOURCE / "spec"), str(SOURCE / "fuzz")
import frontier_steps  # noqa: E402  pylint: disable=wrong-import-position
import seeds  # noqa: E402  pylint: disable=wrong-import-position
from container import CrawlError  # noqa: E402  pylint: disable=wrong-import-position

CORPUS = SOURCE / "fuzz" / "corpus"
GROUP_RUNS = seeds.read(CORPUS / "fuzz_group_run.txt")
STEP_RUNS = seeds.read(CORPUS / "fuzz_step_run.txt")


def broken_rule(parse, payload, section):
    """The number of the rule of a section that the payload breaks; None: it keeps all."""
    try:
        parse(payload)
    except CrawlError as error:
        return int(re.search(section + r" rule (\d+)", str(error)).group(1))
    return None


def steps_of(name):
    run = frontier_steps.parse_step_run(STEP_RUNS[name])
    return [(step.kind, *step.values.values()) for step in run.steps]


class FrontierStepsTest(unittest.TestCase):
    """The readers of group runs and step runs, and the bytes that the library wrote."""

    def check_seeds(self, inputs, parse, section, rules):
        seen = set()
        for name, content in inputs.items():
            number = re.match(r"rule_(\d+)_", name)
            rule = int(number.group(1)) if number else None
            seen.add(rule)
            self.assertEqual(broken_rule(parse, content, section), rule, name)
        self.assertEqual(seen, {None, *rules})

    def test_says_of_every_seed_what_its_name_says(self):
        self.check_seeds(GROUP_RUNS, frontier_steps.parse_group_run, "Group runs", range(1, 5))
        self.check_seeds(STEP_RUNS, frontier_steps.parse_step_run, "Step runs", range(1, 12))

    def test_reads_keys(self):
        self.assertEqual(frontier_steps.parse_group_run(GROUP_RUNS["sample"]),
                         (9, [b"a.b", b"", b"cd"]))
        self.assertEqual(frontier_steps.parse_group_run(GROUP_RUNS["lz4_block"]),
                         (0, [b"a" * 20 + b"bcdef"]))
        hosts = frontier_steps.parse_group_run(GROUP_RUNS["hosts"]).keys
        self.assertEqual(hosts, [b"host%d.example.org" % (i * 7) for i in range(4000)])

    def test_reads_a_journal(self):
        top, late = 2**63 - 1, 2**48 - 1
        self.assertEqual(steps_of("journal"), [
            ("clock", 1_700_000_000_000), ("group", b"a.test"), ("group", b""),
            ("put", 0, 900, .5, 0, b"/page"), ("put", 2**32 - 2, 901, -float("inf"), late, b""),
            ("lease", 0), ("visit", 0, 2, 1801), ("finish", [900, 901, 3, top, 0]),
            ("back", 5, 77, 1), ("extend", 5, late), ("remove", 9, 70),
            ("update", 9, 71, 0, 5, b"/page"), ("update", 9, 72, 1e-300, 0, None),
            ("update", 9, 72, 3, 0, b""),
            ("rule", 3, {"soft_ms": late, "hard_ms": None, "burst": 2**32 - 1,
                         "in_flight_max": 4, "put_max": top, "finished_max": 0,
                         "blocked_until": 12, "is_active": 1, "parent": 2**32 - 2}),
            ("rule", 3, {"hard_ms": 0, "parent": None}), ("drop", 1), ("stored", 17),
            ("joined", 19, [2, 300, 2**64 - 1])])

    def test_reads_a_piece(self):
        top = 2**63 - 1
        run = frontier_steps.parse_step_run(STEP_RUNS["piece"])
        self.assertEqual(run[:4], (True, 7, 2, 6))
        self.assertEqual(steps_of("piece"), [
            ("rule", 2, {"soft_ms": None, "is_active": 0}), ("times", 2, 1, 2**48 - 1, 3),
            ("counts", 3, 0, top), ("leased", 4, 11, -1, 0, 1, b"/page"),
            ("again", 4, 10, 0, 9, 2**32 - 1, b""),
            ("left", 5, [(1, 1), (9, top), (2**64 - 1, 300)]),
            ("put", 5, 3, 2, 4, b"/page"), ("gone", 5, 7, 2)])


if __name__ == "__main__":
    unittest.main()
