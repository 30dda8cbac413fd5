# SPDX-License-Identifier: Apache-2.0
"""The payloads of page databases: pages, origins, records, links and events."""
import struct
from collections import namedtuple

import crawl_events
import dense_links
import zstd_frame
from container import DRUM, FRESH_KEYS, PAGE_CONTENTS, SCORE_ARRAY, CrawlError, up, valid_name
from dense_links import PAGE_MAX
from drum import ascends, cut, demand
from flatbuf import Buffer, Malformed
from url import page_key
from xxh3 import xxh3_64

PAGES_MAX, M64 = 1 << 40, (1 << 64) - 1
URL_MAX, HASH_MAX, MESSAGE_MAX = 16777216, 64, 67108864
TILE_PAGES, BLOCK_ROWS_MAX, BLOCK_LINKS_MAX = 8192, 16777216, 268435456
PAGE_KEYS = 3                                   # the key scheme
STATES = ('known', 'crawled', 'gone', 'failed', 'redirect', 'denied', 'duplicate',
          'elsewhere')
FAILED, ELSEWHERE, REDIRECT = 3, 7, 7           # two states, a kind of events
EVENTS = crawl_events.KINDS

Pages = namedtuple('Pages', 'flags page_count crawled_count link_count event_count '
                   'superstep_count collision_count unparsed_count keys origins records out_links '
                   'in_links gone_links events fresh_keys normalizer elsewhere_count '
                   'contents')
OriginRun = namedtuple('OriginRun', 'first_page origins')           # origins: [Origin]
Origin = namedtuple('Origin', 'url linked_from depth by_redirect')  # linked_from: None of none
# first_crawl and last_crawl: None if there was none; score: the bits of it
Record = namedtuple('Record', 'state crawl_count change_count first_crawl last_crawl score '
                    'content_hash status failures')
LinkRun = namedtuple('LinkRun', 'rows')                             # rows: [(page, links)]
Event = namedtuple('Event', 'kind url index time_us score content_hash links http_status')
Link = namedtuple('Link', 'url index score')


def parse_pages(payload):
    try:
        demand(len(payload) % 8 == 0, 'Pages rule 1: length')
        root = Buffer(payload).root()
        pages = Pages(root.scalar(0, 'I'), *(root.scalar(n, 'Q') for n in range(1, 16)),
                      root.string(16), *(root.scalar(n, 'Q') for n in (17, 18)))
    except Malformed as error:
        raise CrawlError('segment_invalid', 'Pages rule 1: %s' % error) from None
    demand(pages.flags <= 3, 'Pages rule 1: flags')
    demand(valid_name(pages.normalizer) and (pages.flags & 1 or not pages.normalizer),
           'Pages rule 1: normalizer')
    demand(pages.crawled_count + pages.elsewhere_count <= pages.page_count <= PAGES_MAX and
           (pages.page_count or not pages.link_count), 'Pages rule 2')
    demand((pages.keys == 0) == (pages.flags & 1 == 0) and
           (not pages.contents or pages.flags & 2 and pages.page_count) and
           (pages.keys or not pages.fresh_keys) and
           (pages.origins == 0) == (pages.keys == 0 or pages.page_count == 0) and
           (pages.records == 0) == (pages.page_count == 0) and
           (pages.events == 0) == (pages.event_count == 0) and
           (not pages.link_count or pages.out_links and pages.in_links), 'Pages rule 3')
    named = [i for i in (*pages[8:16], pages.contents) if i]
    demand(len(set(named)) == len(named), 'Pages rule 4')
    return pages


# Origin runs


def width(number):
    """The fewest bytes in which it can be written."""
    return (number.bit_length() + 7) // 8


def uints(data, at, size, count):
    """count numbers of `size` bytes, not signed, from `at` on."""
    return [int.from_bytes(data[at + i * size:at + (i + 1) * size], 'little')
            for i in range(count)]


def parse_origin_block(payload, at, index, codec, dictionary, page):
    """(origins of the block at `at`, the first of which is of `page`; its end)."""
    demand(at + 16 <= index, 'Origin runs rule 5: a block ends outside')
    raw_bytes, stored_bytes, m, a, b, c = struct.unpack_from('<IIHBBB', payload, at)
    demand(1 <= m <= 64 and a <= 8 and b <= 4 and c <= 4 and not any(payload[at + 13:at + 16]),
           'Origin runs rule 7')
    stored_at = at + 16 + m * (a + b)
    end = stored_at + stored_bytes
    demand(end <= index, 'Origin runs rule 5: a block ends outside')
    distances = uints(payload, at + 16, a, m)
    depths = uints(payload, at + 16 + m * a, b, m)
    demand(a == width(max(distances)) and b == width(max(depths)), 'Origin runs rule 8')
    demand(all(d <= page + i for i, d in enumerate(distances)) and
           all(d or depth % 2 == 0 for d, depth in zip(distances, depths)), 'Origin runs rule 9')
    demand(m * c <= raw_bytes and (m == 1 or raw_bytes <= 262144) and
           stored_bytes <= raw_bytes <= 255 * stored_bytes and
           (codec == 1 or stored_bytes == raw_bytes), 'Origin runs rule 10')
    raw = payload[stored_at:end]
    if stored_bytes != raw_bytes:
        try:
            zstd_frame.check_subset(raw, raw_bytes)
            raw = zstd_frame.decompress(raw, dictionary)
        except zstd_frame.Broken as error:
            raise CrawlError('segment_invalid', 'Origin runs rule 11: %s' % error) from None
    lengths = uints(raw, 0, c, m)
    demand(raw_bytes == m * c + sum(lengths) and max(lengths) <= URL_MAX, 'Origin runs rule 10')
    demand(c == width(max(lengths)), 'Origin runs rule 8: length_bytes')
    columns = zip(cut(raw[m * c:], lengths), distances, depths)
    return [Origin(url, page + i - d if d else None, depth // 2, depth % 2 == 1)
            for i, (url, d, depth) in enumerate(columns)], end


def parse_origin_run(payload, record_count=None):
    size = len(payload)
    demand(size % 8 == 0 and size >= 64, 'Origin runs rule 1: length')
    first_page, page_count, n, url_bytes, index, dictionary_bytes, codec, p, q, reserved, magic = \
        struct.unpack_from('<QQQQQIHBBQ8s', payload, size - 64)
    demand(magic == b'CORIGRN1' and codec <= 1 and reserved == 0, 'Origin runs rule 1')
    demand(1 <= n <= page_count <= 64 * n and first_page + page_count <= M64 and
           url_bytes <= 255 * size, 'Origin runs rule 2')
    demand(dictionary_bytes <= 65536 and (codec == 1 or dictionary_bytes == 0),
           'Origin runs rule 3')
    demand(p <= 8 and q <= 8 and index >= dictionary_bytes + 16 * n and
           up(index + n * (p + q), 8) == size - 64, 'Origin runs rule 4')
    demand(not any(payload[index + n * (p + q):size - 64]), 'Origin runs rule 6')
    dictionary = payload[:dictionary_bytes]
    try:
        zstd_frame.Decoder(dictionary)
    except zstd_frame.Broken as error:
        raise CrawlError('segment_invalid', 'Origin runs rule 3: %s' % error) from None
    origins, at, entry = [], dictionary_bytes, (0, 0)
    for i in range(n):
        place = index + i * (p + q)
        entry = uints(payload, place, p, 1)[0], uints(payload, place + p, q, 1)[0]
        demand(entry == (len(origins), at), 'Origin runs rule 5: an entry of the index')
        block, at = parse_origin_block(payload, at, index, codec, dictionary,
                                       first_page + len(origins))
        origins += block
    demand(at == index and (p, q) == tuple(map(width, entry)), 'Origin runs rule 5')
    demand(len(origins) == page_count and sum(len(o.url) for o in origins) == url_bytes,
           'Origin runs rule 2: counts')
    demand(record_count in (None, page_count), 'Segments rule 1')
    return OriginRun(first_page, origins)


def check_origin_runs(runs):
    end = 0
    for run in runs:
        demand(run.first_page == end, 'Origin runs rule 12')
        end += len(run.origins)


# Record tiles


def parse_record_tile(payload, record_count=None):
    """[Record]"""
    demand(len(payload) >= 160, 'Record tiles rule 1: length')
    magic, n, hash_bytes = struct.unpack_from('<8sII', payload)
    columns = [struct.unpack_from('<QB7s', payload, 16 + 16 * i) for i in range(9)]
    demand(magic == b'CRECTIL1' and 1 <= n <= TILE_PAGES and
           all(w <= 8 and not any(reserved) for _, w, reserved in columns), 'Record tiles rule 2')
    end = 160 + n * sum(w for _, w, _ in columns) + hash_bytes
    demand(len(payload) == up(end, 8) and not any(payload[end:]), 'Record tiles rule 1')
    at, values = 160, []
    for i, (base, w, _) in enumerate(columns):
        stored = uints(payload, at, w, n)
        at += w * n
        if i == 3:
            values.append([base + s - 1 if s else None for s in stored])
        else:
            values.append([base + s for s in stored])
    limits = (7, 0xFFFFFFFF, 0xFFFFFFFF, M64 >> 1, M64 >> 1, 0xFFFFFFFF, hash_bytes, 0xFFFF,
              0xFFFFFFFF)
    demand(all(0 <= value <= limit for column, limit in zip(values, limits)
               for value in column if value is not None), 'Record tiles rule 3')
    records, begin = [], 0
    for state, crawls, changes, first, span, score, end, status, failures in zip(*values):
        demand(begin <= end <= begin + HASH_MAX, 'Record tiles rule 8')
        demand((first or 0) + span <= M64 >> 1, 'Record tiles rule 4')
        if crawls == 0:
            demand(state != 1 and changes == 0 and first is None and span == 0 and end == begin,
                   'Record tiles rule 5')
        else:
            demand(state not in (0, ELSEWHERE) and first is not None and changes < crawls,
                   'Record tiles rule 6')
        demand(score >> 23 & 0xFF != 0xFF, 'Record tiles rule 7')
        demand((failures != 0) == (state == FAILED), 'Record tiles rule 10')
        records.append(Record(state, crawls, changes, first, None if first is None else
                              first + span, score, payload[at + begin:at + end], status, failures))
        begin = end
    demand(begin == hash_bytes, 'Record tiles rule 8')
    demand(record_count in (None, n), 'Record tiles rule 9: record_count')
    return records


def check_record_tiles(tiles):
    demand(all(len(tile) == TILE_PAGES for tile in tiles[:-1]), 'Record tiles rule 9')


# Link runs


def short_numbers(data, selectors_at, at, count):
    """(count numbers of selectors at selectors_at and data at `at`, the end of the data)."""
    demand(selectors_at + -(-count // 4) <= len(data), 'Short numbers: cut short')
    numbers = []
    for i in range(count):
        selector = data[selectors_at + i // 4] >> 2 * (i % 4) & 3
        size = (0, 1, 2, 4)[selector]
        demand(at + size <= len(data), 'Short numbers rule 2: length')
        number = int.from_bytes(data[at:at + size], 'little')
        demand(selector == min(width(number), 3), 'Short numbers rule 1')
        numbers.append(number)
        at += size
    demand(count % 4 == 0 or data[selectors_at + count // 4] >> 2 * (count % 4) == 0,
           'Short numbers rule 2: selectors')
    return numbers, at


def parse_link_block(block):
    """The rows of a block: [(page, links)]."""
    demand(len(block) >= 24, 'Link block rule 3: length')
    page, row_count, link_count, data_bytes, codec, flags = struct.unpack_from('<QIIIHH', block)
    demand(1 <= row_count <= BLOCK_ROWS_MAX and link_count <= BLOCK_LINKS_MAX and
           page <= PAGE_MAX, 'Link block rule 1')
    demand(codec in (1, 2) and flags <= 1, 'Link block rule 2')
    counts = (row_count - 1 if flags else 0, row_count, link_count)
    selectors = [-(-count // 4) if codec == 1 else 0 for count in counts]
    at = 24 + sum(selectors)
    demand(len(block) == up(at + data_bytes, 8) and not any(block[at + data_bytes:]) and
           (codec == 1 or data_bytes == 8 * sum(counts)), 'Link block rule 3')
    sequences, selectors_at = [], 24
    for count, selector_bytes in zip(counts, selectors):
        if codec == 1:
            numbers, at = short_numbers(block[:24 + sum(selectors) + data_bytes], selectors_at, at,
                                        count)
            selectors_at += selector_bytes
        else:
            numbers, at = list(struct.unpack_from('<%dQ' % count, block, at)), at + 8 * count
        sequences.append(numbers)
    gaps, degrees, numbers = sequences
    demand(at == 24 + sum(selectors) + data_bytes, 'Link block rule 3: data_bytes')
    demand(codec == 1 or max(gaps + degrees + numbers) >> 32, 'Link block rule 4')
    demand(flags == any(gaps), 'Link block rule 5')
    demand(sum(degrees) == link_count, 'Link block rule 7')
    rows, at = [], 0
    for i, degree in enumerate(degrees):
        if i:
            page += 1 + (gaps[i - 1] if gaps else 0)
        demand(page <= PAGE_MAX, 'Link block rule 6')
        links = []
        for j, number in enumerate(numbers[at:at + degree]):
            if j == 0:
                links.append(page + (-(number + 1) // 2 if number % 2 else number // 2))
            else:
                links.append(links[-1] + 1 + number)
            demand(0 <= links[-1] <= PAGE_MAX, 'Link block rule 8')
        at += degree
        rows.append((page, links))
    return rows


def parse_short_rows(payload, n, index, first, last):
    """The rows of a run whose footer is right."""
    entries = list(struct.iter_unpack('<QQ', payload[index:len(payload) - 72]))
    firsts, offsets = [e[0] for e in entries], [e[1] for e in entries]
    demand(ascends(firsts) and firsts[0] == first and firsts[-1] <= last, 'Link runs rule 5')
    demand(ascends(offsets) and offsets[0] == 0 and offsets[-1] < index and
           not any(offset % 8 for offset in offsets), 'Link runs rule 6')
    rows = []
    for begin, end, page in zip(offsets, offsets[1:] + [index], firsts):
        block = parse_link_block(payload[begin:end])
        demand(block[0][0] == page and (not rows or rows[-1][0] < page), 'Link runs rule 7')
        rows += block
    demand(rows[-1][0] == last, 'Link runs rule 7')
    return rows


def parse_link_run(payload, record_count=None):
    size = len(payload)
    demand(size % 8 == 0 and size >= 72, 'Link runs rule 1: length')
    row_count, link_count, n, index, first, last, target_max, codec, reserved, magic = \
        struct.unpack_from('<QQQQQQQH6s8s', payload, size - 72)
    demand(magic == b'CLINKRN1' and codec in (1, 2) and not any(reserved), 'Link runs rule 1')
    if codec == 1:
        parse_rows, rules = parse_short_rows, 'Link runs rule 7'
        demand(n >= 1 and index == size - 72 - 16 * n and index >= 24 * n, 'Link runs rule 2')
    else:
        parse_rows, rules = dense_links.parse_dense_rows, 'Dense link runs rule 6'
        dense_links.check_footer(size, n, index, row_count, link_count)
    demand(first <= last <= PAGE_MAX and target_max <= PAGE_MAX and
           (link_count or not target_max), 'Link runs rule 3')
    if codec == 1:
        demand(n <= row_count <= last - first + 1 and max(row_count, link_count) <= 4 * index,
               'Link runs rule 4')
    else:
        demand(row_count <= last - first + 1, 'Dense link runs rule 2')
    rows = parse_rows(payload, n, index, first, last)
    demand(len(rows) == row_count and sum(len(links) for _, links in rows) == link_count and
           max((links[-1] for _, links in rows if links), default=0) == target_max, rules)
    demand(record_count in (None, link_count), 'Segments rule 1')
    return LinkRun(rows)


# Links


def combine_out(runs):
    """{page: links}: of several rows of a page, that of the highest run id."""
    return {page: links for run in runs for page, links in run.rows}


def combine_in(runs):
    """{page: set of sources}, of (run id, is of gone_links, run)."""
    combined = {}
    for _, is_gone, run in sorted(runs, key=lambda it: it[0]):
        for page, links in run.rows:
            sources = combined.setdefault(page, set())
            if is_gone:
                sources.difference_update(links)
            else:
                sources.update(links)
    return combined


# Event runs


def _score(number):
    demand(abs(number) < float('inf'), 'Event runs rule 5: score')
    return number


def _url(data):
    demand(len(data) <= URL_MAX, 'Event runs rule 6: url')
    return data


def _event(it):
    kind, time_us = it.number(0, 'H'), it.number(16, 'q')
    demand(kind < len(EVENTS) and time_us >= 0, 'Event runs rule 5')
    url = _url(it.pointer(0, it.segment.bytes_at))
    content_hash = it.pointer(1, it.segment.bytes_at)
    demand(len(content_hash) <= HASH_MAX, 'Event runs rule 6: contentHash')
    links = [Link(_url(link.pointer(0, link.segment.bytes_at)), link.number(0, 'Q'),
                  _score(link.number(8, 'f')))
             for link in it.pointer(2, it.segment.structs_at) or []]
    demand(not links or kind in (0, 4, 5) or kind == REDIRECT and len(links) == 1,
           'Event runs rule 6: links')
    return Event(kind, url, it.number(8, 'Q'), time_us, _score(it.number(4, 'f')), content_hash,
                 links, it.number(2, 'H'))


def parse_event_run(payload, record_count=None):
    """[Event]"""
    demand(len(payload) >= 24 and len(payload) % 8 == 0, 'Event runs rule 1: length')
    magic, count, reserved = struct.unpack_from('<8sQQ', payload)
    demand(magic == b'CEVNTRN1' and reserved == 0 and count >= 1, 'Event runs rule 2')
    events, at = [], 24
    while at < len(payload):
        more, words = struct.unpack_from('<II', payload, at)
        end = at + 8 + 8 * words
        demand(more == 0 and end - at <= MESSAGE_MAX, 'Event runs rule 3')
        demand(end <= len(payload), 'Event runs rule 1: a message is cut short')
        demand(words >= 1, 'Event runs rule 3: a message without a root')
        try:
            root = crawl_events.Segment(payload[at + 8:end]).root()
            found = root.pointer(0, root.segment.structs_at) or []
            events += map(_event, found)
        except crawl_events.Invalid as error:
            raise CrawlError('segment_invalid', 'Event runs rule 4: %s' % error) from None
        demand(found, 'Event runs rule 3: a message without events')
        at = end
    demand(len(events) == count, 'Event runs rule 2: record_count')
    demand(record_count in (None, count), 'Segments rule 1')
    return events


PARSERS = {6: lambda payload, _: parse_pages(payload), 7: parse_origin_run, 8: parse_record_tile,
           9: parse_link_run, 10: parse_link_run, 11: parse_link_run, 12: parse_event_run}
# Rules between the runs of one segment.
CHECKS = {7: check_origin_runs, 8: check_record_tiles}

# The contents of a page database: lists of all pages, {page: links} both ways, events.
Content = namedtuple('Content', 'origins records out_links in_links events')


def check_pages(segment, segments, parsed, key_seed):
    """Pages rules 5 to 11 and Links rule 2; segments and parsed are by id. The Content."""
    pages, named = parsed[segment.id][0], set()

    def runs(field, kind, owner=segment.id):
        """The parsed runs of the segment that a field names."""
        segment_id = getattr(pages, field)
        if segment_id == 0:
            return []
        other = segments.get(segment_id)
        demand(other and (other.kind, other.owner) == (kind, owner), 'Pages rule 5: ' + field)
        named.add(segment_id)
        return parsed[segment_id]

    keys, fresh = runs('keys', DRUM, 0), runs('fresh_keys', FRESH_KEYS)
    origins = [origin for run in runs('origins', 7) for origin in run.origins]
    records = [record for tile in runs('records', 8) for record in tile]
    link_runs = [runs(*way) for way in (('out_links', 9), ('in_links', 10), ('gone_links', 11))]
    events = [event for run in runs('events', 12) for event in run]
    contents = runs('contents', PAGE_CONTENTS)
    demand(all(s.id in named for s in segments.values()
               if s.owner == segment.id and s.kind != SCORE_ARRAY),
           'Pages rule 5: a segment that its page database does not name')
    if keys:
        demand(segments[pages.keys].name == segment.name, 'Pages rule 5: name of the drum')
        check_keys(pages, keys[0], fresh, parsed, origins, key_seed)
    demand(len(origins) == (pages.page_count if keys else 0) and
           len(records) == pages.page_count, 'Pages rule 8')
    demand(sum(record.crawl_count > 0 for record in records) == pages.crawled_count and
           sum(record.state == ELSEWHERE for record in records) == pages.elsewhere_count and
           len(events) == pages.event_count, 'Pages rule 9')
    demand(all(max([page] + links[-1:]) < pages.page_count
               for way in link_runs for run in way for page, links in run.rows), 'Pages rule 10')
    out_links = combine_out(link_runs[0])
    in_links = combine_in((ref.run_id, field == 'gone_links', run)
                          for field, way in zip(('in_links', 'gone_links'), link_runs[1:]) if way
                          for ref, run in zip(segments[getattr(pages, field)].runs, way))
    demand(sum(map(len, out_links.values())) == pages.link_count, 'Pages rule 10: link_count')
    demand(sum(map(len, in_links.values())) == pages.link_count and
           all(source in in_links.get(target, ()) for source, links in out_links.items()
               for target in links), 'Pages rule 10, Links rule 2: in-links')
    demand(all((it.index == 0 or it.url) if keys else it.index < PAGES_MAX and not it.url
               for event in events for it in [event] + event.links), 'Pages rule 11')
    if pages.flags & 2:
        check_contents(pages, contents, records, key_seed)
    return Content(origins, records, out_links, in_links, events)


def check_contents(pages, runs, records, key_seed):
    """Pages rule 12."""
    demand(all((run.key_bytes, run.value_bytes) == (16, 0) for run in runs), 'Pages rule 12: keys')
    keys = [key for run in runs for key, _ in run.keys]
    demand(len(set(keys)) == len(keys), 'Pages rule 12: a key in two runs')
    demand(all(key & M64 < pages.page_count for key in keys), 'Pages rule 12: index')
    asked = {xxh3_64(record.content_hash, key_seed) << 64 | index
             for index, record in enumerate(records) if record.content_hash}
    demand(asked <= set(keys), 'Pages rule 12: a content without a key')


def check_keys(pages, drum, fresh, parsed, origins, key_seed):
    """Pages rules 6 and 7. Drum rules 9 to 14 hold already."""
    demand((drum.key_bytes, drum.key_scheme, drum.value_bytes) == (16, PAGE_KEYS, 9) and
           not any(b.pending_count for b in drum.buckets) and
           not any(c.result_count for c in drum.consumers) and
           all((run.key_bytes, run.value_bytes) == (16, 9) for run in fresh), 'Pages rule 6')
    parts = [part for bucket in drum.buckets for part in parsed.get(bucket.partition, [])] + fresh
    pairs = [pair for part in parts for pair in part.keys]
    demand(len(dict(pairs)) == len(pairs), 'Pages rule 7: a key in two places')
    seen = set()
    for key, value in pairs:
        index, witness = (int.from_bytes(part, 'little') for part in (value[:5], value[5:]))
        demand(index < pages.page_count and index not in seen, 'Pages rule 7: index')
        seen.add(index)
        demand(index < len(origins), 'Pages rule 8: origins')
        expected = page_key(origins[index].url, key_seed)
        for rule, found, right in ((2, key >> 64, expected.head), (3, key & M64, expected.tail),
                                   (4, witness, expected.witness)):
            demand(found == right, 'Pages rule 7, Page keys rule %d: key of page %d' %
                   (rule, index))
    demand(all(i in seen for i, origin in enumerate(origins) if origin.url),
           'Pages rule 7: a page without a key')


def check_key_drums(segments, parsed):
    """Pages rule 6: page keys are those of a page database."""
    of_pages = {parsed[s.id][0].keys for s in segments.values() if s.kind == 6}
    demand(all(s.id in of_pages for s in segments.values()
               if s.kind == DRUM and parsed[s.id][0].key_scheme == PAGE_KEYS),
           'Pages rule 6: a drum of page keys without pages')
