# SPDX-License-Identifier: Apache-2.0
"""The frame of a crawl file by spec/format.md: identity, superblocks, directory, checksums of runs.

Every access is bounded; a broken rule raises Broken with a class of the section Errors. FlatBuffers
are read by field number, with the few lines that this takes, so that every offset is checked.
"""

import struct

from xxh3 import xxh3_64

UNIT, CHUNK, DATA_START = 4096, 65536, 81920
COPY_OFFSETS = ((16384, 32768), (49152, 65536))
KNOWN_INCOMPAT = 1
U64_MAX = 2**64 - 1
KINDS = {1: ("drum", 1), 2: ("drum_partition", 1), 3: ("drum_key_log", 2), 4: ("drum_aux_log", 2),
         5: ("drum_results", 2)}
CLASSES = {1: "blob", 2: "log"}
OPERATIONS = ("check", "update", "check_update")


class Broken(Exception):
    """A rule is broken: (class of the spec, text)."""


def need(condition, error, text):
    if not condition:
        raise Broken(error, text)


def up(value, unit):
    return -(-value // unit) * unit


def seed(store, domain, a, b, c):
    return xxh3_64(store + struct.pack("<QQQQ", domain, a, b, c))


class Buffer:
    """One FlatBuffers table, read by field number; every access is bounded."""

    def __init__(self, data, position, error):
        self.data, self.position, self.error = data, position, error
        vtable = position - self.unpack("<i", position)[0]
        self.vtable_length = self.unpack("<H", vtable)[0]
        self.vtable = vtable
        need(self.vtable_length >= 4 and self.vtable_length % 2 == 0, error, "vtable")

    @classmethod
    def root(cls, data, error):
        need(len(data) % 8 == 0 and len(data) >= 8, error, "length of a FlatBuffer")
        return cls(data, struct.unpack_from("<I", data)[0], error)

    def unpack(self, form, offset):
        need(0 <= offset and offset + struct.calcsize(form) <= len(self.data), self.error,
             "a FlatBuffer leads outside its bytes")
        return struct.unpack_from(form, self.data, offset)

    def place(self, field):
        slot = 4 + 2 * field
        relative = self.unpack("<H", self.vtable + slot)[0] if slot < self.vtable_length else 0
        return self.position + relative if relative else None

    def number(self, field, form):
        place = self.place(field)
        return 0 if place is None else self.unpack("<" + form, place)[0]

    def vector(self, field):
        """(first byte, count) of a vector."""
        place = self.place(field)
        if place is None:
            return 0, 0
        begin = place + self.unpack("<I", place)[0]
        return begin + 4, self.unpack("<I", begin)[0]

    def structs(self, field, form):
        begin, count = self.vector(field)
        size = struct.calcsize("<" + form)
        need(begin + count * size <= len(self.data), self.error, "a vector leaves its bytes")
        need(count == 0 or begin % 8 == 0, self.error, "a vector is not aligned")
        return [self.unpack("<" + form, begin + i * size) for i in range(count)]

    def tables(self, field):
        begin, count = self.vector(field)
        need(begin + count * 4 <= len(self.data), self.error, "a vector leaves its bytes")
        places = [begin + i * 4 for i in range(count)]
        return [Buffer(self.data, place + self.unpack("<I", place)[0], self.error)
                for place in places]

    def name(self, field):
        begin, count = self.vector(field)
        need(begin + count <= len(self.data) and count <= 255, self.error, "length of a name")
        try:
            text = bytes(self.data[begin:begin + count]).decode("utf-8")
        except UnicodeDecodeError:
            raise Broken(self.error, "a name is not UTF-8") from None
        need(not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in text), self.error,
             "a name holds a control character")
        return text


class Columns:
    """The columns of a payload, one after another, each padded with zeros to 8."""

    def __init__(self, payload, offset):
        self.payload, self.offset = payload, offset

    def take(self, form, count):
        size = struct.calcsize("<" + form) * count
        end = self.offset + size
        need(up(end, 8) <= len(self.payload), "segment_invalid", "a column leaves its payload")
        values = self.payload[self.offset:end]
        need(not any(self.payload[end:up(end, 8)]), "segment_invalid", "padding is not zero")
        self.offset = up(end, 8)
        return values if form == "B" else struct.unpack(f"<{count}{form}", values)

    def finish(self):
        need(self.offset == len(self.payload), "segment_invalid", "bytes behind the last column")


def cut(data, lengths):
    """Splits bytes into pieces of these lengths."""
    pieces, begin = [], 0
    for length in lengths:
        pieces.append(data[begin:begin + length])
        begin += length
    return pieces


class File:
    """The bytes of a file with its identity; reads what a superblock leads to."""

    def __init__(self, data):
        self.data = data
        need(data[:8] == b"\x89CRWL\r\n\x1a", "not_a_crawl_file", "the magic is not there")
        need(len(data) >= 4096, "truncated", "the identity page is cut")
        order, version = struct.unpack_from("<II", data, 8)
        need(version <= 1, "newer_version", f"format version {version}")
        need(version == 1, "older_version", f"format version {version}")
        self.uuid = data[16:32]
        self.key_seed, unit, chunk, self.created_us = struct.unpack_from("<QIIq", data, 32)
        right = (order, unit, chunk) == (0x01020304, UNIT, CHUNK) and not any(data[56:4088])
        stored = struct.unpack_from("<Q", data, 4088)[0]
        need(right and stored == xxh3_64(data[:4088], seed(bytes(16), 1, 0, 0, 0)),
             "identity_damaged", "the identity page")
        self.findings = []

    # Superblocks

    def copy(self, slot, index):
        """The superblock copy as a dict, None when it is empty, False when it is invalid."""
        offset = COPY_OFFSETS[slot][index]
        raw = self.data[offset:offset + 4096]
        if len(raw) < 4096:
            return False
        if not any(raw):
            return None
        names = ("generation", "pass", "features_compat", "features_ro_compat",
                 "features_incompat", "commit_time_us", "high_water_bytes", "root_offset_bytes",
                 "root_payload_bytes", "root_checksum")
        fields = dict(zip(names, struct.unpack_from("<QQQQQqQQQQ", raw, 32)))
        unknown = (fields["features_compat"] | fields["features_ro_compat"] |
                   fields["features_incompat"] & ~KNOWN_INCOMPAT)
        valid = (raw[:8] == b"SUPERBLK" and struct.unpack_from("<II", raw, 8) == (slot, index) and
                 raw[16:32] == self.uuid and
                 struct.unpack_from("<Q", raw, 4088)[0] ==
                 xxh3_64(raw[:4088], seed(self.uuid, 2, slot, index, 0)) and
                 fields["generation"] >= 1 and fields["generation"] % 2 == slot and
                 (unknown != 0 or not any(raw[112:4088])))
        return {**fields, "slot": slot} if valid else False

    def choose(self):
        """The winner and the previous generation (or None)."""
        best = []
        invalid = [0, 0]
        for slot in (0, 1):
            copies = [self.copy(slot, index) for index in (0, 1)]
            invalid[slot] = sum(copy is False for copy in copies)
            valid = [copy for copy in copies if copy]
            best.append(max(valid, key=lambda c: (c["generation"], c["pass"]), default=None))
        need(any(best), "superblock_damaged", "no superblock copy is valid")
        winner = max((b for b in best if b), key=lambda c: c["generation"])
        for _ in range(sum(invalid)):
            self.reduced("superblock_damaged", "an invalid superblock copy")
        other = best[1 - winner["slot"]]
        previous = other if other and other["generation"] + 1 == winner["generation"] else None
        for begin, end in ((4096, 16384), (20480, 32768), (36864, 49152), (53248, 65536),
                           (69632, 81920)):
            need(not any(self.data[begin:end]), "superblock_damaged", "a gap is not zero")
        return winner, previous

    def reduced(self, error, text):
        self.findings.append({"kind": "reduced_redundancy", "error": error, "text": text})

    # Directory

    def piece(self, offset, payload, domain, born, checksum):
        extent = self.data[offset:offset + up(payload, UNIT)]
        need(xxh3_64(extent, seed(self.uuid, domain, born, offset, 0)) == checksum,
             "directory_damaged", f"checksum of the piece at {offset:#x}")
        return extent[:payload]

    def directory(self, block):
        need(block["features_incompat"] & ~KNOWN_INCOMPAT == 0, "unknown_feature",
             "an unknown feature bit is set")
        return Directory(self, block)

    # Runs

    def payload(self, segment, run):
        """The payload of a run, every checksum of its tree compared."""
        padded = up(run["payload_bytes"], 8)
        begin, lengths = run["offset_bytes"], [padded]
        while len(lengths) == 1 or lengths[-1] > CHUNK:
            lengths.append(up(lengths[-1], CHUNK) // CHUNK * 8)
        starts = [begin]
        for length in lengths:
            starts.append(starts[-1] + length)
        end = begin + extent_length(run["payload_bytes"])
        name = (segment["id"], run["run_id"])
        need(xxh3_64(self.data[starts[-2]:end],
                     seed(self.uuid, 6, *name, (len(lengths) - 1) << 48)) == run["checksum"],
             "chunk_damaged", f"top of the checksum tree of run {run['run_id']}")
        for level in range(len(lengths) - 2, -1, -1):
            for i in range(0, up(lengths[level], CHUNK) // CHUNK):
                first = starts[level] + i * CHUNK
                chunk = self.data[first:min(first + CHUNK, starts[level + 1])]
                stored = struct.unpack_from("<Q", self.data, starts[level + 1] + 8 * i)[0]
                need(xxh3_64(chunk, seed(self.uuid, 6, *name, (level << 48) + i)) == stored,
                     "chunk_damaged", f"chunk at {first:#x}")
        need(not any(self.data[begin + run["payload_bytes"]:begin + padded]), "segment_invalid",
             "padding behind a payload")
        return self.data[begin:begin + run["payload_bytes"]]


def extent_length(payload):
    end = level = up(payload, 8)
    while True:
        level = up(level, CHUNK) // CHUNK * 8
        end += level
        if level <= CHUNK:
            return up(end, UNIT)


class Directory:
    """Root, tables and held tables of one generation, checked."""

    def __init__(self, file, block):
        self.block, self.high_water = block, block["high_water_bytes"]
        high, offset, length = self.high_water, block["root_offset_bytes"], block[
            "root_payload_bytes"]
        need(high % UNIT == 0 and high <= 2**56, "directory_invalid", "high water")
        need(len(file.data) >= high, "truncated", "the file is shorter than its high water")
        need(offset % UNIT == 0 and offset >= DATA_START and length % 8 == 0 and
             8 <= length <= 2**26 and offset + up(length, UNIT) <= high, "directory_invalid",
             "place of the root")
        root = Buffer.root(file.piece(offset, length, 3, block["generation"],
                                      block["root_checksum"]), "directory_invalid")
        self.extents = []
        self.extent(offset, up(length, UNIT))
        need(root.number(0, "Q") == block["generation"], "directory_invalid", "Root.generation")
        self.next_segment, self.next_run = root.number(1, "Q"), root.number(2, "Q")
        need(self.next_segment >= 1 and self.next_run >= 1, "directory_invalid", "next ids")
        self.held = [self.hold(*entry) for entry in root.structs(4, "QQQQ")]
        self.segments = []
        for ref in root.structs(3, "QQQQII"):
            self.load_table(file, *ref)
        for ref in root.structs(5, "QQQII"):
            self.load_held(file, *ref)
        self.check()

    def extent(self, offset, length):
        need(offset % UNIT == 0 and offset >= DATA_START and length > 0 and length % UNIT == 0 and
             offset + length <= self.high_water, "directory_invalid", f"extent at {offset:#x}")
        self.extents.append((offset, length))

    def check_born(self, born):
        need(1 <= born <= self.block["generation"], "directory_invalid", "born")

    def hold(self, offset, length, born, retired):
        self.check_born(born)
        need(born < retired <= self.block["generation"], "directory_invalid", "retired")
        self.extent(offset, length)
        return {"offset_bytes": offset, "length_bytes": length, "born": born, "retired": retired}

    def open_piece(self, file, domain, offset, born, checksum, length):
        need(length % 8 == 0 and 8 <= length <= 16384, "directory_invalid", "length of a table")
        self.check_born(born)
        self.extent(offset, up(length, UNIT))
        return Buffer.root(file.piece(offset, length, domain, born, checksum),
                           "directory_invalid")

    def load_table(self, file, offset, born, checksum, first, length, count):
        need(1 <= count <= 128, "directory_invalid", "segment_count")
        table = self.open_piece(file, 4, offset, born, checksum, length)
        segments = [self.segment(entry) for entry in table.tables(0)]
        need(len(segments) == count and segments[0]["id"] == first, "directory_invalid",
             "a table does not match its reference")
        self.segments += segments

    def load_held(self, file, offset, born, checksum, length, count):
        table = self.open_piece(file, 5, offset, born, checksum, length)
        entries = table.structs(0, "QQQQ")
        need(len(entries) == count and 1 <= count <= 384, "directory_invalid", "entry_count")
        self.held += [self.hold(*entry) for entry in entries]

    def segment(self, entry):
        segment = {"id": entry.number(0, "Q"), "kind": entry.number(1, "H"),
                   "storage_class": entry.number(2, "B"), "owner": entry.number(3, "Q"),
                   "name": entry.name(4), "runs": []}
        kind, storage_class = segment["kind"], segment["storage_class"]
        need(kind in KINDS and KINDS[kind][1] == storage_class, "directory_invalid", "kind")
        names = ("offset_bytes", "born", "run_id", "payload_bytes", "record_count", "checksum")
        for values in entry.structs(5, "QQQQQQ"):
            run = dict(zip(names, values))
            self.check_born(run["born"])
            need(1 <= run["payload_bytes"] < 2**48, "directory_invalid", "payload_bytes")
            self.extent(run["offset_bytes"], extent_length(run["payload_bytes"]))
            segment["runs"].append(run)
        count = len(segment["runs"])
        need(count == 1 if storage_class == 1 else count <= 256, "directory_invalid", "run count")
        ids = [0] + [run["run_id"] for run in segment["runs"]]
        need(all(a < b for a, b in zip(ids, ids[1:])), "directory_invalid", "run ids")
        return segment

    def check(self):
        error = "directory_invalid"
        self.extents.sort()
        need(all(a[0] + a[1] <= b[0] for a, b in zip(self.extents, self.extents[1:])), error,
             "extents overlap")
        ids = [0] + [segment["id"] for segment in self.segments]
        need(all(a < b for a, b in zip(ids, ids[1:])) and ids[-1] < self.next_segment, error,
             "segment ids")
        runs = [run["run_id"] for segment in self.segments for run in segment["runs"]]
        need(len(set(runs)) == len(runs) and max(runs, default=0) < self.next_run, error,
             "run ids")
        drums = {s["id"]: s["name"] for s in self.segments if s["kind"] == 1}
        need(len(set(drums.values())) == len(drums) and "" not in drums.values(), error,
             "names of drums")
        for segment in self.segments:
            is_drum = segment["kind"] == 1
            need(segment["owner"] == 0 if is_drum else segment["owner"] in drums, error, "owner")
            need(is_drum or segment["name"] == "", error, "name of a segment that is no drum")
        need(not self.segments or self.block["features_incompat"] & 1, error, "feature bit 0")
        self.by_id = {segment["id"]: segment for segment in self.segments}
