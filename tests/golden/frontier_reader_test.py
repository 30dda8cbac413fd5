# SPDX-License-Identifier: Apache-2.0
"""spec/frontier.py, written from spec/frontier.md, agrees with the library on frontier tables, and
spec/reader.py reads the segments of a frontier.

The library wrote the tables and runs: they are seeds of its fuzz targets.
"""

import os
import pathlib
import re
import struct
import sys
import types
import unittest

SOURCE = pathlib.Path(os.environ.get("CRAWLSTORE_SOURCE_DIR", "."))
sys.path[:0] = str(SOURCE / "spec"), str(SOURCE / "fuzz")
import flatbuf  # noqa: E402  pylint: disable=wrong-import-position
import frontier  # noqa: E402  pylint: disable=wrong-import-position
import reader  # noqa: E402  pylint: disable=wrong-import-position
import seeds  # noqa: E402  pylint: disable=wrong-import-position
from container import CrawlError, Run, Segment  # noqa: E402  pylint: disable=wrong-import-position

CORPUS = SOURCE / "fuzz" / "corpus"
TABLES = seeds.read(CORPUS / "fuzz_frontier_table.txt")
FIELDS = {name: (n, form) for n, (name, form, _) in enumerate(frontier.SCALARS)}
JOURNAL, PIECE = struct.Struct("<8sQQIIII"), 1


def seed(name):
    return TABLES[name]


def place_of(payload, name):
    """Where a field of a table is stored."""
    # pylint: disable=protected-access
    return flatbuf.Buffer(payload).root()._field(FIELDS[name][0])


def with_field(payload, name, value):
    changed = bytearray(payload)
    at = place_of(payload, name)
    assert at, name
    struct.pack_into("<" + FIELDS[name][1], changed, at, value)
    return bytes(changed)


def with_default_field(payload, name, value):
    """A field that is not stored shares the place of `put_max`, which may be any number."""
    changed = bytearray(with_field(payload, "put_max", value))
    vtable = flatbuf.Buffer(payload).root().vtable + 4
    there, here = (vtable + 2 * FIELDS[each][0] for each in ("put_max", name))
    assert changed[here:here + 2] == bytes(2), name
    changed[here:here + 2] = changed[there:there + 2]
    return bytes(changed)


def broken_rule(payload):
    """The number of the rule of Frontier tables that the payload breaks; None: it keeps all."""
    try:
        frontier.parse_frontier(payload)
    except CrawlError as error:
        return int(re.search(r"Frontier tables rule (\d+)", str(error)).group(1))
    return None


class TablesTest(unittest.TestCase):
    """The reader of tables, and the bytes that the library wrote."""

    def test_reads_defaults(self):
        table = frontier.parse_frontier(seed("empty"))
        self.assertEqual((table.burst, table.in_flight_max), (1, 1))
        self.assertEqual((table.put_max, table.finished_max), (frontier.NO_LIMIT,) * 2)
        self.assertEqual((table.steps, table.runs, table.pieces), (0, [], []))

    def test_reads_every_seed(self):
        for name, content in TABLES.items():
            self.assertIsNone(broken_rule(content), name)

    def test_finds_rules_that_are_broken(self):
        full, table = seed("full"), frontier.parse_frontier(seed("full"))
        self.assertTrue(table.runs and table.pieces)
        high = 1 << 63
        for rule, name, value in (
                (1, "flags", 2), (2, "step_count", 0), (2, "steps", 0), (2, "items", 0),
                (2, "items", table.groups), (2, "groups", table.steps), (3, "waiting_count", high),
                (3, "group_count", 0), (4, "hard_ms", table.soft_ms + 1), (4, "soft_ms", 1 << 48),
                (4, "burst", 0), (4, "in_flight_max", 0)):
            self.assertEqual(broken_rule(with_field(full, name, value)), rule, (name, value))
        for name, value in (("leased_count", high), ("next_id", high + 1), ("clock_ms", 1 << 48)):
            self.assertEqual(broken_rule(with_default_field(full, name, value)), 3, name)
            self.assertIsNone(broken_rule(with_default_field(full, name, value - 1)), name)
        self.assertEqual(broken_rule(full[:-4]), 1)
        self.assertEqual(broken_rule(full + bytes(65536)), 1)
        self.assertEqual(broken_rule(b""), 1)

    def test_finds_runs_and_pieces_that_are_none(self):
        full, table = seed("full"), frontier.parse_frontier(seed("full"))
        run, piece = table.runs[0].run_id, table.pieces
        of_run = full.index(struct.pack("<Q", run) + struct.pack("<Q", table.runs[0].first_step))
        for at, value, rule in ((of_run, 0, 5), (of_run + 8, 0, 5),
                                (of_run + 8, table.step_count + 1, 5),
                                (of_run + 16, table.runs[0].first_step, 5),
                                (of_run + 16, table.step_count + 1, 5)):
            changed = bytearray(full)
            struct.pack_into("<Q", changed, at, value)
            self.assertEqual(broken_rule(bytes(changed)), rule, (at, value))
        of_pieces = full.index(struct.pack("<%dQ" % len(piece), *piece))
        changed = bytearray(full)
        struct.pack_into("<Q", changed, of_pieces, 0)
        self.assertEqual(broken_rule(bytes(changed)), 6)
        struct.pack_into("<Q", changed, of_pieces, piece[-1])
        self.assertEqual(broken_rule(bytes(changed)), 6)


def journal(first_step, times):
    """A journal of steps that tell the time, as one number of one byte each."""
    records = b"".join(bytes((1, 1, time)) for time in times)
    payload = JOURNAL.pack(b"CSTEPRN1", first_step, len(times), 0, 0, 0, 0) + records
    return payload + bytes(-len(payload) % 8)


def piece_of(last_step, first_group, end_group):
    return JOURNAL.pack(b"CSTEPRN1", last_step, 0, first_group, end_group, PIECE, 0)


class Files:
    """Segments of a frontier, as the reader of files has them."""

    identity = types.SimpleNamespace(key_seed=0)

    def __init__(self, payloads):
        """payloads: by kind and id of the segment, and id of the run."""
        self.payloads, segments = payloads, {}
        for kind, segment, run, count in payloads:
            runs = segments.setdefault((kind, segment), [])
            runs.append(Run(0, 1, run, len(payloads[kind, segment, run, count]), count, 0))
        self.segments = [Segment(i, kind, 1 if kind == 17 else 2, 0 if kind == 17 else 1,
                                 b"f" if kind == 17 else b"", runs, [], [])
                         for (kind, i), runs in segments.items()]

    def load_run(self, segment, run):
        return self.payloads[segment.kind, segment.id, run.run_id, run.record_count]

    def read(self):
        """Returns the JSON that reader.py prints of the frontier."""
        parsed, contents = reader.load_segments(self, self, {})
        by_id = {segment.id: segment for segment in self.segments}
        first = self.segments[0]
        return reader.frontier_json(first, by_id, parsed, contents[first.id])


class SegmentsTest(unittest.TestCase):
    """The rules of a frontier about its logs."""

    def payloads(self, changes=None):
        groups = seeds.read(CORPUS / "fuzz_group_run.txt")["sample"]
        groups = groups[:8] + struct.pack("<I", 0) + groups[12:]  # its first one is 0
        item_run = seeds.read(CORPUS / "fuzz_item_run.txt")["sample"]
        whole = frontier.parse_frontier(seed("full"))
        found = {(17, 1, 1, 1): seed("full")}
        found[18, whole.groups, 2, 3] = groups
        for span in whole.runs:
            found[19, whole.items, span.run_id, 5] = item_run
        steps = {piece: (0, piece_of(whole.step_count - 2, i, i + 1))
                 for i, piece in enumerate(whole.pieces)}
        last = max(steps) + 1
        steps[last] = (3, journal(whole.step_count - 2, [5, 6, 7]))
        for run in sorted(steps):
            count, payload = steps[run]
            found[20, whole.steps, run, count] = payload
        found.update(changes or {})
        return {key: payload for key, payload in found.items() if payload is not None}

    def steps(self):
        whole = frontier.parse_frontier(seed("full"))
        return whole, (20, whole.steps, max(whole.pieces) + 1, 3)

    def assert_refused(self, changes, text):
        with self.assertRaisesRegex(CrawlError, text):
            Files(self.payloads(changes)).read()

    def test_reads_a_frontier(self):
        document = Files(self.payloads()).read()
        self.assertEqual(document["groups"], [3])
        self.assertEqual(set(document["items"]), {5})
        self.assertEqual(document["steps"][-1][2], 3)
        self.assertEqual([is_piece for is_piece, _, _ in document["steps"]].count(False), 1)
        self.assertNotIn("state", document)  # it has a run that was joined

    def test_finds_logs_that_are_not_its_own(self):
        whole = frontier.parse_frontier(seed("full"))
        lost = {key: None for key in self.payloads() if key[0] == 18}
        self.assert_refused(lost, "the log of groups")
        self.assert_refused({(18, 99, 77, 3): self.payloads()[18, whole.groups, 2, 3]},
                            "no frontier names")

    def test_finds_runs_that_are_not_named(self):
        whole = frontier.parse_frontier(seed("full"))
        self.assert_refused({(19, whole.items, whole.runs[0].run_id, 5): None}, "item runs")
        self.assert_refused({(20, whole.steps, whole.pieces[0], 0): None}, "pieces are not those")

    def test_finds_gaps(self):
        whole, last = self.steps()
        self.assert_refused({last: None}, "another last step")
        self.assert_refused({last: journal(whole.step_count - 3, [5, 6, 7])}, "another last step")
        self.assert_refused({last: journal(whole.step_count, [5, 6, 7])}, "a gap between journals")
        groups = self.payloads()[18, whole.groups, 2, 3]
        self.assert_refused({(18, whole.groups, 4, 3): groups}, "Group runs rule 5")
        self.assert_refused({(18, whole.groups, 2, 3): None, (18, whole.groups, 2, 4): groups},
                            "Segments rule 1")


if __name__ == "__main__":
    unittest.main()
