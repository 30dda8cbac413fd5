# SPDX-License-Identifier: Apache-2.0
"""Where the directories lie in the bytes of a crawl file: those of all generations whose root is
still there, whatever leads to it."""

import struct
import sys

import command

sys.path.insert(0, str(command.SOURCE / "spec"))

# pylint: disable=wrong-import-position
from container import DATA_START, ROOT_END, TABLE_DOMAIN, UNIT, TableRef, seeded, up
from flatbuf import Buffer, Malformed


def is_table(data, uuid, ref):
    """Whether it is still there: its room may have other content by now."""
    piece = data[ref.offset_bytes:ref.offset_bytes + up(ref.payload_bytes, UNIT)]
    return seeded(uuid, piece, TABLE_DOMAIN, ref.born, ref.offset_bytes) == ref.checksum


def roots(data):
    """(offset, length, references to tables that are there) of each root, by what its end says."""
    found = []
    for end in range(DATA_START + UNIT, len(data) + 1, UNIT):
        fields = ROOT_END.unpack(data[end - ROOT_END.size:end])
        if fields[0] != b"CROOTEND":
            continue
        offset, payload = fields[12:14]
        if offset + up(payload + ROOT_END.size, UNIT) != end:
            continue
        try:
            refs = Buffer(data[offset:offset + payload]).root().structs(3, "QQQQII")
            tables = [ref for ref in (TableRef(*ref) for ref in refs)
                      if is_table(data, fields[3], ref)]
        except (Malformed, struct.error):
            continue
        found.append((offset, end - offset, tables))
    return found


def without(data, places):
    """The bytes with a byte turned in each of these places."""
    changed = bytearray(data)
    for offset in places:
        changed[offset + 16] ^= 0xFF
    return bytes(changed)


def without_roots(data):
    return without(data, [root[0] for root in roots(data)])


def without_tables(data, wanted=lambda ref: True):
    """Without the tables of all generations that `wanted` says."""
    return without(data, {ref.offset_bytes for _, _, tables in roots(data)
                          for ref in tables if wanted(ref)})


def run_ends(data):
    """Offsets of what looks like the end of a run."""
    return [end - 64 for end in range(DATA_START + UNIT, len(data) + 1, UNIT)
            if data[end - 64:end - 60] == b"CRUN"]
