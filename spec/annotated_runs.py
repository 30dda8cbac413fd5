# SPDX-License-Identifier: Apache-2.0
"""Rows of the payloads of runs, by the kind of their segment. Not of all kinds: KINDS_SHOWN."""
import struct

import drum
import pages
import queue_runs
from annotations import FlatBuffer
from container import up
from xxh3 import xxh3_64


class Cursor:
    """A place in a payload that moves on with each row."""

    def __init__(self, rows, at, length, texts):
        self.rows, self.begin, self.at, self.end = rows, at, at, at + length
        self.payload, self.texts, self.section = rows.data[at:at + length], texts, ''

    def take(self, length, field, meaning=''):
        data = self.rows.add(self.at, length, field, meaning, self.section)
        self.at += length
        return data

    def pad(self):
        self.take(-(self.at - self.begin) % 8, 'zeros', 'up to a multiple of 8')

    def struct(self, name, label=None):
        self.at = self.rows.struct(self.at, name, label)

    def number(self, size):
        return int.from_bytes(self.rows.data[self.at:self.at + size], 'little')

    def numbers(self, size, count, field, meaning='{:,}'):
        """A row for each number; gives the numbers."""
        found = []
        for i in range(count):
            found.append(self.number(size))
            self.take(size, field.format(i), meaning.format(found[-1]))
        return found

    def key_text(self, key, key_bytes):
        text = self.texts.get(key)
        return f'0x{key:0{2 * key_bytes}x}' + (f' ({text})' if text else '')


def key_block(cursor, end, key_bytes, value_bytes):
    cursor.section = 'Key block'
    begin = cursor.at - cursor.begin
    _, count, words, low_bits, shares_head = struct.unpack_from('<QHHBB', cursor.payload, begin)
    keys, _ = drum.parse_block(cursor.payload, begin, end, key_bytes, value_bytes)
    cursor.struct('KeyBlockHeader')
    upper = cursor.number(8 * words)
    places = ', '.join(str(i) for i in range(64 * words) if upper >> i & 1)
    cursor.take(8 * words, 'upper bits', f'bits that are set: {places}')
    names = ', '.join(cursor.key_text(key, key_bytes) for key, _ in keys)
    cursor.take(up((count - 1) * low_bits, 64) // 8, 'lower bits',
                f'{low_bits} of each key but the first; the keys are {names}')
    if key_bytes == 16 and shares_head:
        cursor.numbers(8, 1, 'head', '0x{:016x}, of all keys')
    elif key_bytes == 16:
        cursor.numbers(8, count, 'tail of key {}', '0x{:016x}')
    if value_bytes == -1:
        cursor.numbers(4, count, 'length of value {}')
        cursor.pad()
    for i, (_, value) in enumerate(keys):
        page_of = (f'page {int.from_bytes(value[:5], "little")}, then the witness '
                   f'0x{int.from_bytes(value[5:], "little"):08x} (Pages, rule 7)')
        cursor.take(len(value), f'value of key {i}', page_of if value_bytes == 9 else '')
    cursor.pad()


def partition(cursor):
    size = len(cursor.payload)
    _, n, index, _, _, key_bytes, _, value_bytes = struct.unpack_from(
        '<QQQQQHHi', cursor.payload, size - 64)
    offsets_at = index + key_bytes * n
    offsets = [8 * o for o in struct.unpack_from(f'<{n}I', cursor.payload, offsets_at)]
    for end in offsets[1:] + [index]:
        key_block(cursor, end, key_bytes, value_bytes)
    cursor.section = 'Partition'
    cursor.numbers(8, n, 'first key of block {}', '0x{:016x}')
    if key_bytes == 16:
        cursor.numbers(8, n, 'its tail, block {}', '0x{:016x}')
    cursor.numbers(4, n, 'offset of block {}', '{} times 8')
    cursor.pad()
    cursor.struct('PartitionFooter')


def key_run(cursor):
    cursor.section = 'Request runs'
    n, _, flags, value_bytes, _, bits, key_bytes = struct.unpack_from('<QQIiHHH', cursor.payload, 8)
    requests = drum.parse_key_run(cursor.payload).requests
    cursor.struct('KeyRunHeader')
    told = '; '.join(f'{drum.OPERATIONS[r.tag % 4]} of {cursor.key_text(r.key, key_bytes)}, '
                     f'consumer {r.tag // 4}, sequence {r.sequence}' for r in requests)
    cursor.take(up(n * bits, 64) // 8, 'keys', f'in bits: {bits} each; {told}')
    if key_bytes == 16:
        cursor.numbers(8, n, 'tail {}', '0x{:016x}')
    columns = ((2, 'tag {}', flags & 1), (4, 'sequence {}', flags & 2),
               (4, 'length of value {}', value_bytes == -1))
    for size, field, is_there in columns:
        if is_there:
            cursor.numbers(size, n, field)
            cursor.pad()
    for i, request in enumerate(requests):
        cursor.take(len(request.value), f'value {i}')
    cursor.pad()


def origin_run(cursor):
    cursor.section = 'Origin runs'
    size = len(cursor.payload)
    first_page, _, n, _, index, dictionary_bytes, _, p, q = struct.unpack_from(
        '<QQQQQIHBB', cursor.payload, size - 64)
    cursor.take(dictionary_bytes, 'dictionary')
    page = first_page
    for _ in range(n):
        page = origin_block(cursor, page)
    if cursor.at != cursor.begin + index:
        raise ValueError('blocks of origins end elsewhere')
    for i in range(n):
        cursor.numbers(p, 1 if p else 0, f'block list: pages before block {i}')
        cursor.numbers(q, 1 if q else 0, f'block list: offset of block {i}')
    cursor.pad()
    cursor.struct('OriginFooter')


def origin_block(cursor, page):
    raw_bytes, stored_bytes, m, a, b, c = struct.unpack_from(
        '<IIHBBB', cursor.payload, cursor.at - cursor.begin)
    cursor.struct('OriginBlockHeader')
    for i in range(m if a else 0):
        distance = cursor.number(a)
        cursor.take(a, f'distance of page {page + i}', f'first linked from page '
                    f'{page + i - distance}' if distance else '0: no page did')
    for i in range(m if b else 0):
        cursor.numbers(b, 1, f'twice the depth of page {page + i}')
    if stored_bytes != raw_bytes:
        cursor.take(stored_bytes, 'stored', f'a zstd frame of {raw_bytes:,} bytes')
        return page + m
    lengths = [cursor.numbers(c, 1, f'length of URL {page + i}')[0] if c else 0 for i in range(m)]
    for i, length in enumerate(lengths):
        url = cursor.rows.data[cursor.at:cursor.at + length].decode('ascii', 'replace')
        cursor.take(length, f'URL {page + i}', url)
    return page + m


def link_run(way):
    """way: what a row of a page says, with the page and one of its links."""
    def annotate(cursor):
        link_rows(cursor, way)
    return annotate


def link_rows(cursor, way):
    cursor.section = 'Link runs'
    _, _, n, index, _, _, _, codec = struct.unpack_from('<QQQQQQQH', cursor.payload,
                                                        len(cursor.payload) - 72)
    if codec != 1:
        raise ValueError('dense link runs have no rows here')
    offsets = [struct.unpack_from('<QQ', cursor.payload, index + 16 * i)[1] for i in range(n)]
    for end in offsets[1:] + [index]:
        link_block(cursor, cursor.begin + end, way)
    cursor.section = 'Link runs'
    for i in range(n):
        cursor.struct('LinkIndexEntry', f'entry {i}')
    cursor.struct('LinkRunFooter')


def link_block(cursor, end, way):
    cursor.section = 'Link block'
    begin = cursor.at - cursor.begin
    _, row_count, link_count, _, codec, flags = struct.unpack_from('<QIIIHH', cursor.payload, begin)
    rows = pages.parse_link_block(cursor.payload[begin:end - cursor.begin])
    cursor.struct('LinkBlockHeader')
    told = iter([way.format(page, link) for page, links in rows for link in links])
    sequences = [('gaps', row_count - 1 if flags else 0), ('degrees', row_count),
                 ('links', link_count)]
    if codec == 2:
        for name, count in sequences:
            cursor.numbers(8, count, f'{name}: {{}}')
        return
    selectors = []
    for name, count in sequences:
        at = cursor.at
        cursor.section = 'Short numbers'
        data = cursor.take(-(-count // 4), f'selectors of {name}',
                           f'2 bits for each of {count:,}')
        if cursor.at != at:
            selectors += [(name, i, data[i // 4] >> 2 * (i % 4) & 3) for i in range(count)]
    cursor.section = 'Link block'
    for name, i, selector in selectors:
        meaning = '{:,}'
        if name == 'links':
            meaning += f', so {next(told)}'
        cursor.numbers((0, 1, 2, 4)[selector], 1 if selector else 0, f'data of {name}: {i}',
                       meaning)
    cursor.take(end - cursor.at, 'zeros', 'up to a multiple of 8')


def tile_node(cursor):
    cursor.section = 'Tiled segments'
    cursor.struct('TileNodeHeader')
    i = 0
    while cursor.at < cursor.end:
        cursor.struct('TileChild', f'child {i}')
        i += 1


COLUMNS = ('state', 'crawl_count', 'change_count', 'first_crawl', 'crawl_span', 'score',
           'hash_end', 'status', 'failures')


def value_of(record, name):
    """The value that a column gives a record."""
    if name == 'state':
        return pages.STATES[record.state]
    if name == 'first_crawl':
        return 'never' if record.first_crawl is None else f'{record.first_crawl:,}'
    if name == 'crawl_span':
        return f'{(record.last_crawl or 0) - (record.first_crawl or 0):,}'
    if name == 'score':
        return f'{struct.unpack("<f", struct.pack("<I", record.score))[0]}'
    if name == 'hash_end':
        return f'a hash of {len(record.content_hash)} bytes'
    return f'{getattr(record, name):,}'


def record_tile(cursor):
    cursor.section = 'Record tiles'
    n, hash_bytes = struct.unpack_from('<II', cursor.payload, 8)
    widths = [cursor.payload[16 + 16 * i + 8] for i in range(len(COLUMNS))]
    records = pages.parse_record_tile(cursor.payload)
    cursor.struct('RecordTileHeader')
    cursor.at = cursor.begin + 16
    for name in COLUMNS:
        cursor.struct('RecordColumn', name)
    for name, width in zip(COLUMNS, widths):
        if width:
            for i, record in enumerate(records):
                cursor.numbers(width, 1, f'{name} of page {i}',
                               f'{{:,}}, so {value_of(record, name)}')
    cursor.take(hash_bytes, 'hash bytes', '; '.join(
        f'page {i}: {record.content_hash.hex()}' for i, record in enumerate(records)
        if record.content_hash))
    cursor.pad()


def queue_table(cursor):
    cursor.section = 'Queue tables'
    run_count, change_run_count = struct.unpack_from('<II', cursor.payload, 32)
    cursor.struct('QueueTableHeader')
    for i in range(run_count):
        cursor.struct('QueueRunCut', f'cut {i}')
    cursor.numbers(8, change_run_count, 'run of changes {}')


def queue_run(cursor):
    cursor.section = 'Queue runs'
    _, fragments, _ = queue_runs.parse_queue_index(cursor.payload)
    for fragment in fragments:
        for i in range(fragment.entry_count):
            cursor.take(fragment.order_bytes, f'order of entry {i}')
            cursor.take(fragment.page_bytes, f'page of entry {i}')
    cursor.pad()
    for i in range(len(fragments)):
        cursor.struct('QueueFragment', f'fragment {i}')
    cursor.struct('QueueRunFooter')


def flat_buffer(root):
    def annotate(cursor):
        FlatBuffer(cursor.rows, cursor.begin, len(cursor.payload), root)
        cursor.at = cursor.end
    return annotate


KINDS_SHOWN = {1: flat_buffer('Drum'), 2: partition, 3: key_run, 6: flat_buffer('Pages'),
               7: origin_run, 8: record_tile, 9: link_run('page {} links to page {}'),
               10: link_run('page {1} links to page {0}'),
               11: link_run('page {1} links to page {0} no more'),
               13: partition, 15: queue_table, 16: queue_run, 22: partition}


def annotate_payload(rows, segment, run, texts):
    cursor = Cursor(rows, run.offset_bytes, run.payload_bytes, texts)
    if run in segment.nodes:
        tile_node(cursor)
    elif segment.kind in KINDS_SHOWN:
        KINDS_SHOWN[segment.kind](cursor)
    else:
        raise ValueError(f'runs of kind {segment.kind} have no rows here')
    if cursor.at != cursor.end:
        raise ValueError(f'the rows of run {run.run_id} end elsewhere')


def key_names(urls, key_seed):
    return {xxh3_64(url.encode(), key_seed): url for url in urls}
