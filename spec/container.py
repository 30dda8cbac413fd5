# SPDX-License-Identifier: Apache-2.0
"""The container of a crawl file: identity, superblocks, directory, runs and their checksums."""
import fcntl
import os
import struct
import time
from collections import namedtuple

from flatbuf import Buffer, Malformed
from xxh3 import xxh3_64

VERSION = 10
UNIT, CHUNK, DATA_START = 4096, 65536, 81920
ROOT_END = struct.Struct('<8sII16sQqQQQQqQQQQ')
RUN_END = struct.Struct('<4sHHQQQQQQQ')
FILE_MAX, GENERATION_MAX, ROOT_MAX = 1 << 56, (1 << 62) - 2, 1 << 26
SLOTS = ((0, 0, 16384), (1, 0, 32768), (0, 1, 49152), (1, 1, 65536))
ZERO_GAPS = ((4096, 16384), (20480, 32768), (36864, 49152), (53248, 65536), (69632, 81920))
KNOWN = {'features_compat': 0, 'features_ro_compat': 0, 'features_incompat': 511}
KINDS = {1: ('drum', 1), 2: ('drum_partition', 1), 3: ('drum_key_log', 2),
         4: ('drum_aux_log', 2), 5: ('drum_results', 2), 6: ('pages', 1), 7: ('page_origins', 2),
         8: ('page_records', 3), 9: ('out_links', 2), 10: ('in_links', 2), 11: ('gone_links', 2),
         12: ('page_events', 2), 13: ('fresh_keys', 2), 14: ('score_array', 1),
         15: ('queue', 1), 16: ('queue_entries', 2), 17: ('frontier', 1),
         18: ('frontier_groups', 2), 19: ('frontier_items', 2), 20: ('frontier_steps', 2),
         21: ('values', 1), 22: ('page_contents', 2)}
ALONE = DRUM, PAGES, QUEUE, FRONTIER = 1, 6, 15, 17  # the kinds that own all others
FRESH_KEYS, SCORE_ARRAY, QUEUE_ENTRIES = 13, 14, 16
FRONTIER_GROUPS, FRONTIER_ITEMS, FRONTIER_STEPS, VALUES = 18, 19, 20, 21
PAGE_CONTENTS = 22
NAMED = {*ALONE, SCORE_ARRAY, VALUES}
CONTENTS_BIT = 1 << 8
# The first of bits 1 to 6.
FEATURE_KINDS = (PAGES, FRESH_KEYS, SCORE_ARRAY, QUEUE, FRONTIER, VALUES)
OWNERS = {kind: 0 if kind in (*ALONE, VALUES) else max(owner for owner in ALONE if owner < kind)
          for kind in KINDS} | {PAGE_CONTENTS: PAGES}
BLOB, LOG, TILED = 1, 2, 3
CLASSES = {BLOB: 'blob', LOG: 'log', TILED: 'tiled'}
FAN_OUT, TILE_LEVEL_MAX = 64, 4
NODE_LENGTHS = range(24 + 48, 24 + 48 * FAN_OUT + 1, 48)
(IDENTITY_DOMAIN, SUPERBLOCK_DOMAIN, ROOT_DOMAIN, TABLE_DOMAIN, HELD_DOMAIN,
 CHUNK_DOMAIN, END_DOMAIN) = range(1, 8)

TableRef = namedtuple('TableRef', 'offset_bytes born checksum first_segment_id payload_bytes '
                      'segment_count')
HeldExtent = namedtuple('HeldExtent', 'offset_bytes length_bytes born retired')
HeldTableRef = namedtuple('HeldTableRef', 'offset_bytes born checksum payload_bytes entry_count')
Run = namedtuple('Run', 'offset_bytes born run_id payload_bytes record_count checksum')
# For a tiled segment, runs is the root of its tree, nodes are all nodes (the root is the first),
# and tiles the tiles in their order; without a tree both are empty.
Segment = namedtuple('Segment', 'id kind storage_class owner name runs nodes tiles')
Finding = namedtuple('Finding', 'error kind offset')
REDUCED = 'reduced_redundancy'
Identity = namedtuple('Identity', 'format_version uuid key_seed created_us')
Superblock = namedtuple('Superblock', 'slot_index copy_index uuid generation pass_ features_compat '
                        'features_ro_compat features_incompat commit_time_us high_water_bytes '
                        'root_offset_bytes root_payload_bytes root_checksum raw')
Directory = namedtuple('Directory', 'superblock next_segment_id next_run_id tables held_tables '
                       'held segments')


class CrawlError(Exception):
    """An error of one of the classes of format.md, Errors."""

    def __init__(self, name, message, offset=None):
        Exception.__init__(self, message)
        self.name, self.message, self.offset = name, message, offset


def up(n, multiple):
    return -(-n // multiple) * multiple


def demand(condition, message, name='directory_invalid', offset=None):
    if not condition:
        raise CrawlError(name, message, offset)


def root_extent(sb):
    return up(sb.root_payload_bytes + ROOT_END.size, UNIT)


def live_extents(directory):
    """(offset, length) of all that a directory refers to."""
    sb = directory.superblock
    return [(sb.root_offset_bytes, root_extent(sb))] + \
        [(ref.offset_bytes, up(ref.payload_bytes, UNIT))
         for ref in directory.tables + directory.held_tables] + \
        [(run.offset_bytes, Tree(run.payload_bytes).extent)
         for segment in directory.segments for run in all_runs(segment)]


def extents_not_kept(newest, previous):
    """Extents of the previous directory that the newest neither refers to nor holds (Verifying)."""
    areas = []
    for offset, length in sorted(live_extents(newest) + [held[:2] for held in newest.held]):
        if areas and areas[-1][1] == offset:
            areas[-1][1] += length
        else:
            areas.append([offset, offset + length])
    return [extent for extent in live_extents(previous)
            if not any(begin <= extent[0] and sum(extent) <= end for begin, end in areas)]


def is_tombstone(sb):
    return sb.root_payload_bytes == 0


def same_generation(a, b):
    return a[2:4] + a[5:13] == b[2:4] + b[5:13] and a.raw[112:4088] == b.raw[112:4088]


def seeded(uuid, data, domain, a=0, b=0, c=0):
    return xxh3_64(data, xxh3_64(uuid + struct.pack('<4Q', domain, a, b, c)))


def valid_name(name):
    """Names: at most 255 bytes of UTF-8, no controls. Python decodes as strictly as RFC 3629."""
    try:
        text = name.decode('utf-8')
    except UnicodeDecodeError:
        return False
    return len(name) <= 255 and not any(c < ' ' or '\x7f' <= c <= '\x9f' for c in text)


class CrawlFile:
    def __init__(self, path, pin=True):
        self.fd = os.open(path, os.O_RDONLY)
        self.pin = pin
        self.identity = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)

    def size(self):
        return os.fstat(self.fd).st_size

    def read(self, offset, length):
        parts, at = [], offset
        while at < offset + length:
            part = os.pread(self.fd, min(offset + length - at, 1 << 30), at)
            demand(part, 'the file ends at %d' % at, 'truncated', at)
            parts.append(part)
            at += len(part)
        return b''.join(parts)

    def _read_identity(self):
        page = os.pread(self.fd, UNIT, 0)
        demand(page[:8] == bytes.fromhex('8943 5257 4c0d 0a1a'), 'no magic', 'not_a_crawl_file', 0)
        demand(len(page) == UNIT, 'the identity page is cut', 'truncated', len(page))
        order, version, uuid, key_seed, unit, chunk, created = struct.unpack_from(
            '<II16sQIIq', page, 8)
        demand(version <= VERSION, 'format version %d' % version, 'newer_version', 12)
        demand(version == VERSION, 'format version %d' % version, 'older_version', 12)
        damaged = 'identity_damaged'
        demand(order == 0x01020304, 'wrong byte order', damaged, 8)
        demand((unit, chunk) == (UNIT, CHUNK), 'wrong unit or chunk', damaged, 40)
        demand(not any(page[56:4088]), 'a reserved byte is not zero', damaged, 56)
        demand(seeded(bytes(16), page[:4088], IDENTITY_DOMAIN) ==
               int.from_bytes(page[4088:], 'little'), 'wrong checksum', damaged, 4088)
        return Identity(version, uuid, key_seed, created)

    # Superblocks

    def _parse_copy(self, slot, copy, page):
        """(superblock or None, finding or None) of one copy."""
        if not any(page):
            return None, None
        sb = Superblock(*struct.unpack_from('<II16sQQQQQqQQQQ', page, 8), page)
        known = not any(getattr(sb, name) & ~bits for name, bits in KNOWN.items())
        if page[:8] != b'SUPERBLK':
            return None, 'no magic'
        if (sb.slot_index, sb.copy_index) != (slot, copy) or sb.uuid != self.identity.uuid:
            return None, 'a copy of another place or file'
        if seeded(sb.uuid, page[:4088], SUPERBLOCK_DOMAIN, slot, copy) != \
                int.from_bytes(page[4088:], 'little'):
            return None, 'wrong checksum'
        if not 1 <= sb.generation <= GENERATION_MAX or sb.generation % 2 != slot:
            return None, 'generation %d in slot %d' % (sb.generation, slot)
        if known and any(page[112:4088]):
            return None, 'a reserved byte is not zero'
        if is_tombstone(sb) and any(page[80:112]):
            return None, 'a tombstone with a root'
        return sb, None

    def _read_copy(self, offset):
        """The bytes of a copy, fewer at the end of the file; None if they cannot be read."""
        try:
            return os.pread(self.fd, UNIT, offset)
        except OSError:
            return None

    def _judge_copy(self, slot, copy, page):
        """(superblock or None, class of its error or None) of one copy; both None if empty."""
        if page is None or len(page) < UNIT:
            return None, 'io' if page is None else 'truncated'
        sb, wrong = self._parse_copy(slot, copy, page)
        return sb, 'superblock_damaged' if wrong else None

    def read_superblocks(self):
        """READ SB: (winner, previous or None, findings)."""
        last, end = None, time.monotonic() + 1
        for _ in range(100):
            pages = [self._read_copy(offset) for _, _, offset in SLOTS]
            parsed = [self._judge_copy(slot, copy, page)
                      for (slot, copy, _), page in zip(SLOTS, pages)]
            if any(sb for sb, _ in parsed) or pages == last or time.monotonic() > end:
                break
            last = pages
            time.sleep(0.01)
        valid = [sb for sb, _ in parsed if sb and not is_tombstone(sb)]
        if not valid:
            for error, message in (('io', 'a superblock cannot be read'),
                                   ('truncated', 'the superblocks are cut')):
                demand(all(wrong != error for _, wrong in parsed), message, error, self.size())
            raise CrawlError('superblock_damaged', 'no valid copy', SLOTS[0][2])
        valid.sort(key=lambda sb: (-sb.generation, -sb.pass_, sb.copy_index))
        winner = valid[0]
        previous = next((sb for sb in valid if sb.slot_index != winner.slot_index and
                         sb.generation == winner.generation - 1), None)
        return winner, previous, self._findings(parsed, winner)

    @staticmethod
    def _findings(parsed, winner):
        """Checks the rules of Superblock, States, on the copies."""
        findings = []
        for slot in 0, 1:
            copies = [result for result, place in zip(parsed, SLOTS) if place[0] == slot]
            best = max((sb for sb, _ in copies if sb), default=None,
                       key=lambda sb: (sb.generation, sb.pass_, -sb.copy_index))
            is_lost = best is None and (winner.generation > 1 or
                                        copies[1][1] == 'superblock_damaged')
            for (sb, wrong), place in zip(copies, [p for p in SLOTS if p[0] == slot]):
                if wrong or is_lost or (best and not (sb and same_generation(sb, best))):
                    kind = 'damaged' if is_lost or (best is None and wrong == 'io') else REDUCED
                    findings.append(Finding(wrong or 'superblock_damaged', kind, place[2]))
            if best and slot != winner.slot_index and not is_tombstone(best) and \
                    best.generation != winner.generation - 1:
                findings.append(Finding('superblock_damaged', 'damaged', SLOTS[slot][2]))
        return findings

    def newer_roots(self, directory):
        """Where whole roots of newer generations end, in what is not live in a directory."""
        sb, ends, at = directory.superblock, [], DATA_START
        live = live_extents(directory) + [(self.size() // UNIT * UNIT, 0)]
        for offset, length in sorted(live):
            for end in range(at + UNIT, offset + 1, UNIT):
                fields = ROOT_END.unpack(self.read(end - ROOT_END.size, ROOT_END.size))
                owner, generation, high_water, root, payload = \
                    fields[3], fields[6], *fields[11:14]
                if fields[:3] != (b'CROOTEND', VERSION, 0) or owner != sb.uuid or \
                        not sb.generation < generation <= GENERATION_MAX:
                    continue
                if high_water % UNIT or not end <= high_water <= FILE_MAX or \
                        payload % 8 or not 8 <= payload <= ROOT_MAX or root < DATA_START or \
                        root + up(payload + ROOT_END.size, UNIT) != end:
                    continue
                if seeded(sb.uuid, self.read(root, end - root - 8), ROOT_DOMAIN, generation,
                          root) == fields[14]:
                    ends.append(end)
            at = offset + length
        return ends

    def open(self):
        """Reads and pins the winner and its predecessor: what read_superblocks gives."""
        self.identity = self._read_identity()
        found = self.read_superblocks()
        while self.pin:
            last = found[0].generation
            demand(last <= GENERATION_MAX, 'generation %d' % last)
            for generation in (last - 1, last):
                self._lock(generation, fcntl.F_RDLCK)
            found = self.read_superblocks()
            if found[0].generation == last:
                break
            for generation in (last - 1, last):
                self._lock(generation, fcntl.F_UNLCK)
        return found

    def _lock(self, generation, kind):
        lock = struct.pack('hhqqi4x', kind, os.SEEK_SET, (1 << 62) + generation, 1, 0)
        try:
            fcntl.fcntl(self.fd, fcntl.F_OFD_SETLK, lock)
        except OSError as error:
            raise CrawlError('no_locks', str(error)) from None

    def check_zeros(self):
        """Layout, rule 2."""
        for begin, end in ZERO_GAPS:
            if any(self.read(begin, end - begin)):
                raise CrawlError('superblock_damaged', 'a gap is not zero', begin)

    # Directory

    @staticmethod
    def check_features(sb):
        """Checks that this reader knows all that a generation needs."""
        demand(not sb.features_incompat & ~KNOWN['features_incompat'],
               'unknown bits in features_incompat', 'unknown_feature')

    def load_directory(self, sb, is_winner=True):
        """The checked directory of a generation. Layout rule 3 binds the winner only: held extents
        of the previous generation may be cut off (Extents, rule 4)."""
        self.check_features(sb)
        demand(not is_winner or self.size() >= sb.high_water_bytes, 'the file is shorter than '
               'high_water_bytes', 'truncated', self.size())
        demand(sb.high_water_bytes % UNIT == 0 and sb.high_water_bytes <= FILE_MAX,
               'Superblock rule 6: high_water_bytes')
        demand(8 <= sb.root_payload_bytes <= ROOT_MAX and sb.root_payload_bytes % 8 == 0,
               'Superblock rule 7: root_payload_bytes')
        self._check_place(sb, sb.root_offset_bytes, root_extent(sb))
        root = self._root(sb)
        try:
            return self._load(sb, root)
        except Malformed as error:
            raise CrawlError('directory_invalid', 'rule 1: %s' % error) from None

    def _check_place(self, sb, offset, length):
        demand(offset % UNIT == 0 and offset >= DATA_START and length > 0 and length % UNIT == 0 and
               offset + length <= sb.high_water_bytes, 'rule 8: an extent', offset=offset)

    def _piece(self, sb, ref, what):
        """The FlatBuffer of a table or held table. Nobody looks at the padding behind it."""
        offset, length = ref.offset_bytes, ref.payload_bytes
        domain = TABLE_DOMAIN if what == 'table' else HELD_DOMAIN
        data = self.read(offset, up(length, UNIT))
        demand(seeded(self.identity.uuid, data, domain, ref.born, offset) == ref.checksum,
               'wrong checksum of a ' + what, 'directory_damaged', offset)
        return data[:length]

    def _root(self, sb):
        """The FlatBuffer of the root."""
        offset = sb.root_offset_bytes
        data = self.read(offset, root_extent(sb))
        checksum = seeded(sb.uuid, data[:-8], ROOT_DOMAIN, sb.generation, offset)
        demand(checksum == sb.root_checksum == int.from_bytes(data[-8:], 'little'),
               'wrong checksum of a root', 'directory_damaged', offset)
        demand(ROOT_END.unpack(data[-ROOT_END.size:]) ==
               (b'CROOTEND', VERSION, 0, sb.uuid, self.identity.key_seed, self.identity.created_us,
                sb.generation) + sb[5:13], 'rule 17: the end of the root', offset=offset)
        return data[:sb.root_payload_bytes]

    def _load(self, sb, root_piece):
        root = Buffer(root_piece).root()
        tables = [TableRef(*t) for t in root.structs(3, 'QQQQII')]
        held = [HeldExtent(*h) for h in root.structs(4, 'QQQQ')]
        held_tables = [HeldTableRef(*h) for h in root.structs(5, 'QQQII')]
        next_segment_id, next_run_id = root.scalar(1, 'Q'), root.scalar(2, 'Q')
        demand(root.scalar(0, 'Q') == sb.generation, 'rule 3: generation')
        demand(next_segment_id >= 1 and next_run_id >= 1, 'rule 4: next ids')
        demand(root.scalar(6, 'Q') < sb.generation, 'rule 18: taken_back')
        extents = [(sb.root_offset_bytes, root_extent(sb))]
        for ref in tables + held_tables:
            demand(8 <= ref.payload_bytes <= 16384 and ref.payload_bytes % 8 == 0,
                   'rule 2: payload_bytes')
            demand(1 <= ref.born <= sb.generation, 'rule 9: born')
            extents.append((ref.offset_bytes, up(ref.payload_bytes, UNIT)))
        for ref, following in zip(tables, [t.first_segment_id for t in tables[1:]] +
                                  [next_segment_id]):
            demand(1 <= ref.segment_count <= 128, 'rule 5: segment_count')
            demand(1 <= ref.first_segment_id <= following - ref.segment_count,
                   'rule 6: first_segment_id')
        for ref in held_tables:
            demand(1 <= ref.entry_count <= 384, 'rule 7: entry_count')
        self._check_held(sb, held)
        extents += [(h.offset_bytes, h.length_bytes) for h in held]
        self._check_disjoint(sb, extents)
        segments, places = [], set()
        for ref in tables:
            of_table = self._load_table(sb, ref)
            for segment in of_table:
                if segment.storage_class == TILED:
                    self._load_tree(sb, segment, places)
            segments += of_table
        for ref in held_tables:
            table = Buffer(self._piece(sb, ref, 'held table')).root()
            entries = [HeldExtent(*h) for h in table.structs(0, 'QQQQ')]
            demand(len(entries) == ref.entry_count, 'rule 7: entry_count')
            self._check_held(sb, entries)
            held += entries
            extents += [(h.offset_bytes, h.length_bytes) for h in entries]
        for segment in segments:
            extents += [(run.offset_bytes, Tree(run.payload_bytes).extent)
                        for run in all_runs(segment)]
        self._check_disjoint(sb, extents)
        self._check_segments(sb, segments, next_segment_id, next_run_id)
        for segment in segments:
            for node in segment.nodes:
                self.load_run(segment, node)
        return Directory(sb, next_segment_id, next_run_id, tables, held_tables, held, segments)

    @staticmethod
    def _check_held(sb, entries):
        for entry in entries:
            demand(1 <= entry.born < entry.retired <= sb.generation, 'rule 9: held extent')

    def _check_disjoint(self, sb, extents):
        end = 0
        for offset, length in sorted(extents):
            self._check_place(sb, offset, length)
            demand(offset >= end, 'rule 10: extents overlap', offset=offset)
            end = offset + length

    def _load_table(self, sb, ref):
        piece = self._piece(sb, ref, 'table')
        segments, shared = [], 0
        for t in Buffer(piece).root().tables(0, 128):
            name, runs = t.string(4), [Run(*r) for r in t.structs(5, 'QQQQQQ')]
            shared += len(name) + 48 * len(runs)
            demand(shared <= len(piece), 'rule 1: shared parts')
            segments.append(Segment(t.scalar(0, 'Q'), t.scalar(1, 'H'), t.scalar(2, 'B'),
                                    t.scalar(3, 'Q'), name, runs, [], []))
        demand(len(segments) == ref.segment_count and segments[0].id == ref.first_segment_id,
               'rule 5: segments of a table')
        for segment in segments:
            self._check_segment(sb, segment)
        demand(all(a.id < b.id for a, b in zip(segments, segments[1:])), 'rule 6: segment ids')
        return segments

    def _check_segment(self, sb, s):
        demand(s.kind in KINDS and s.storage_class in CLASSES and
               KINDS[s.kind][1] == s.storage_class, 'rule 11: kind or class of segment %d' % s.id)
        demand((s.owner == 0) == (OWNERS[s.kind] == 0), 'rule 12: owner of segment %d' % s.id)
        demand(valid_name(s.name) and (len(s.name) > 0) == (s.kind in NAMED),
               'rule 13: name of segment %d' % s.id)
        demand(len(s.runs) <= 256 if s.storage_class == LOG else len(s.runs) == 1,
               'rule 14: runs of segment %d' % s.id)
        last = 0
        for run in s.runs:
            demand(run.run_id > last, 'rule 15: run ids of segment %d' % s.id)
            last = run.run_id
            demand(1 <= run.payload_bytes < 1 << 48, 'rule 16: payload_bytes')
            demand(1 <= run.born <= sb.generation, 'rule 9: born of run %d' % run.run_id)
            self._check_place(sb, run.offset_bytes, Tree(run.payload_bytes).extent)

    # Tiled segments

    def _load_tree(self, sb, segment, places):
        """Fills nodes and tiles of a tiled segment, level by level from the root down. places:
        where nodes of this directory were read."""
        level, refs = None, segment.runs
        while level != 0:
            nodes = [self._load_node(sb, segment, ref, places) for ref in refs]
            if level is None:
                level = nodes[0][0] + 1
                demand(level == 1 or len(nodes[0][1]) > 1, 'Tiled segments rule 7: a root with one '
                       'child', offset=refs[0].offset_bytes)
            level -= 1
            for ref, (node_level, children) in zip(refs, nodes):
                demand(node_level == level, 'Tiled segments rule 6: level', offset=ref.offset_bytes)
                demand(len(children) == FAN_OUT or ref is refs[-1],
                       'Tiled segments rule 7: a node that is not full', offset=ref.offset_bytes)
            segment.nodes.extend(refs)
            refs = [child for _, children in nodes for child in children]
        segment.tiles.extend(refs)

    def _load_node(self, sb, segment, ref, places):
        """(level, children) of a node, its checksums and what it shows by itself verified."""
        def check(condition, message):
            demand(condition, 'Tiled segments rule %s, run %d' % (message, ref.run_id),
                   offset=ref.offset_bytes)

        check(ref.payload_bytes in NODE_LENGTHS, '1: length')
        demand(ref.offset_bytes not in places, 'rule 10: two references to one node',
               offset=ref.offset_bytes)
        places.add(ref.offset_bytes)
        try:
            payload = self.load_run(segment, ref)
        except CrawlError as error:
            name = 'directory_damaged' if error.name == 'chunk_damaged' else error.name
            raise CrawlError(name, error.message, ref.offset_bytes) from None
        level, record_count, children = parse_node(payload, ref.offset_bytes)
        check(record_count == ref.record_count, '4: record_count')
        for child in children:
            check(1 <= child.payload_bytes < 1 << 48, '5: payload_bytes of a child')
            self._check_place(sb, child.offset_bytes, Tree(child.payload_bytes).extent)
            check(1 <= child.born <= ref.born and 1 <= child.run_id < ref.run_id, '5: a child')
            check(level == 0 or child.payload_bytes in NODE_LENGTHS, '6: payload_bytes of a child')
        return level, children

    @staticmethod
    def _check_segments(sb, segments, next_segment_id, next_run_id):
        """The rules between pieces."""
        ids = [s.id for s in segments]
        demand(all(a < b for a, b in zip(ids, ids[1:])), 'rule 6: segment ids')
        demand(not ids or ids[-1] < next_segment_id, 'rule 4: next_segment_id')
        runs = [r.run_id for s in segments for r in all_runs(s)]
        demand(len(set(runs)) == len(runs), 'rule 15: run ids')
        demand(max(runs, default=0) < next_run_id, 'rule 4: next_run_id')
        names = [(s.kind, s.owner, s.name) for s in segments if s.kind in NAMED]
        demand(len(set(names)) == len(names), 'rule 13: names')
        kinds = {0: 0, **{s.id: s.kind for s in segments}}
        demand(all(kinds.get(s.owner) == OWNERS[s.kind] for s in segments), 'rule 12: owners')
        needed = {CONTENTS_BIT if s.kind == PAGE_CONTENTS else
                  1 << sum(s.kind >= first for first in FEATURE_KINDS) for s in segments}
        demand(all(sb.features_incompat & bit for bit in needed), 'Feature bits rule 3')

    # Runs

    def _check_run_end(self, segment, run, last):
        """End of a run, rule 1. last: what the checksum in the directory covers."""
        *fields, first, checksum = RUN_END.unpack(last[-RUN_END.size:])
        message = 'End of a run rule 1: run %d' % run.run_id
        demand(fields == [b'CRUN', segment.kind, 0, segment.id, run.run_id, segment.owner,
                          run.payload_bytes, run.record_count], message, 'segment_invalid')
        if segment.storage_class == TILED:
            demand(first == first_tile(segment, run), message, 'segment_invalid')
        else:
            demand(first < run.run_id and (segment.storage_class != BLOB or first == 0), message,
                   'segment_invalid')
        demand(checksum == seeded(self.identity.uuid, last[:-8], END_DOMAIN, segment.id,
                                  run.run_id), message, 'segment_invalid')

    def load_run(self, segment, run):
        """The payload of a run, every checksum of its extent verified."""
        tree, uuid = Tree(run.payload_bytes), self.identity.uuid

        def check(begin, length, level, index, checksum):
            data = self.read(run.offset_bytes + begin, length)
            demand(seeded(uuid, data, CHUNK_DOMAIN, segment.id, run.run_id, (level << 48) + index)
                   == checksum, 'segment %d, run %d, level %d, piece %d: wrong checksum' %
                   (segment.id, run.run_id, level, index), 'chunk_damaged',
                   run.offset_bytes + begin)
            return data

        at, size = tree.levels[-1]
        last = check(at, tree.extent - at, len(tree.levels), 0, run.checksum)
        above = last[:size]
        demand(not any(last[size:-RUN_END.size]), 'padding of run %d is not zero' % run.run_id,
               'segment_invalid')
        if segment.storage_class != TILED or segment.tiles:  # those of nodes later
            self._check_run_end(segment, run, last)
        for level in range(len(tree.levels) - 1, -1, -1):
            at, size = tree.levels[level - 1] if level else (0, tree.padded)
            above = b''.join(
                check(at + i * CHUNK, min(CHUNK, size - i * CHUNK), level, i, checksum)
                for i, (checksum,) in enumerate(struct.iter_unpack('<Q', above)))
        demand(not any(above[run.payload_bytes:]), 'padding of run %d is not zero' % run.run_id,
               'segment_invalid')
        return above[:run.payload_bytes]


def first_tile(segment, run):
    """The first tile at or under a run of a tiled segment."""
    if run in segment.tiles:
        return segment.tiles.index(run)
    row, span = segment.nodes[:1], FAN_OUT
    while span < len(segment.tiles):
        span *= FAN_OUT
    rest = segment.nodes
    while run not in row:
        rest, span = rest[len(row):], span // FAN_OUT
        row = rest[:-(-len(segment.tiles) // span)]
    return row.index(run) * span


def parse_node(payload, offset=None):
    """(level, record_count, children) of a node: Tiled segments rules 1 to 4, as far as they are
    about the node alone."""
    demand(len(payload) in NODE_LENGTHS, 'Tiled segments rule 1: length', offset=offset)
    magic, record_count, level, child_count, reserved = struct.unpack_from('<8sQHHI', payload)
    demand(magic == b'CTILNOD1' and reserved == 0, 'Tiled segments rule 2', offset=offset)
    demand(level <= TILE_LEVEL_MAX and 1 <= child_count <= FAN_OUT, 'Tiled segments rule 3',
           offset=offset)
    demand(len(payload) == 24 + 48 * child_count, 'Tiled segments rule 1: child_count',
           offset=offset)
    children = [Run(*child) for child in struct.iter_unpack('<6Q', payload[24:])]
    demand(record_count == sum(c.record_count for c in children), 'Tiled segments rule 4',
           offset=offset)
    return level, record_count, children


def all_runs(segment):
    """The runs whose extents a segment has: of a tiled one its nodes and tiles."""
    return segment.nodes + segment.tiles if segment.storage_class == TILED else segment.runs


def payload_runs(segment):
    """The runs whose payloads are those of the segment's kind."""
    return segment.tiles if segment.storage_class == TILED else segment.runs


class Tree:
    """Layout of the extent of a run: place and length of each level, and the whole length."""

    def __init__(self, payload):
        self.padded = up(payload, 8)
        at, size, self.levels = self.padded, self.padded, []
        while True:
            size = 8 * -(-size // CHUNK)
            self.levels.append((at, size))
            at += size
            if size <= CHUNK:
                break
        self.extent = up(at + RUN_END.size, UNIT)
