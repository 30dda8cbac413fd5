# SPDX-License-Identifier: Apache-2.0
"""The payloads of item runs of frontiers."""
import struct
from collections import namedtuple

import lz4_block
from container import up
from drum import demand
from queue_runs import GONE, is_order

HEADER_BYTES, FOOTER_BYTES, PLACE_BYTES = 48, 56, 8
BLOCK_ITEMS_MAX, BLOCK_BODY_BYTES_MAX, BODY_BYTES_MAX = 4096, 131072, 65536
ID_MAX, GROUP_MAX, TIME_MAX = (1 << 63) - 1, (1 << 32) - 2, (1 << 48) - 1
BY_TIME = 1

Footer = namedtuple('Footer', 'item_count block_bytes directory_bytes body_bytes group_count '
                    'block_count flags reserved magic')
Header = namedtuple('Header', 'lowest_order lowest_id lowest_time lowest_group shortest_body '
                    'body_bytes order_shift order_bytes id_bytes time_bytes group_bytes '
                    'length_bytes codec reserved')
# Compares as items of a run do: by group, all have time 0.
Item = namedtuple('Item', 'time group order id')


def take_leb128(data, at, rule):
    """(a number, the place after it)"""
    number, shift = 0, 0
    while True:
        demand(at < len(data), rule)
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            break
        shift += 7
    demand(number < 1 << 64 and (byte or not shift), rule)
    return number, at


def parse_footer(payload):
    """(the footer, where the index begins)"""
    demand(len(payload) % 8 == 0 and len(payload) >= FOOTER_BYTES, 'Item runs rule 1: length')
    footer = Footer(*struct.unpack_from('<QQQQIIII8s', payload, len(payload) - FOOTER_BYTES))
    demand(footer.magic == b'CITEMRN1' and footer.reserved == 0 and footer.flags <= BY_TIME and
           footer.item_count >= 1 and footer.block_count >= 1, 'Item runs rule 1')
    index_at = up(footer.block_bytes + footer.directory_bytes, 8)
    demand(index_at + PLACE_BYTES * footer.block_count + FOOTER_BYTES == len(payload),
           'Item runs rule 1: parts')
    return footer, index_at


def parse_directory(footer, data):
    """A list of (group, item_count)."""
    rule = 'Item runs rule 2'
    demand((footer.group_count == 0) == (footer.flags == BY_TIME) and
           2 * footer.group_count <= len(data), rule)
    at, group, found = 0, -1, []
    for _ in range(footer.group_count):
        gap, at = take_leb128(data, at, rule)
        count, at = take_leb128(data, at, rule)
        group += 1 + gap
        demand(group <= GROUP_MAX and count >= 1, rule)
        found.append((group, count))
    demand(at == len(data), rule)
    demand(not found or sum(count for _, count in found) == footer.item_count, rule)
    return found


def parse_index(footer, data):
    """A list of (stored_bytes, item_count)."""
    places = list(struct.iter_unpack('<II', data))
    demand(all(1 <= count <= BLOCK_ITEMS_MAX for _, count in places) and
           sum(count for _, count in places) == footer.item_count and
           sum(stored for stored, _ in places) == footer.block_bytes, 'Item runs rule 3')
    return places


def check_header(header, is_by_time):
    demand(header.reserved == 0 and header.order_shift <= 63 and header.order_bytes <= 8 and
           header.id_bytes <= 8 and header.time_bytes <= 6 and header.group_bytes <= 4 and
           header.length_bytes <= 4 and header.codec <= 1 and
           header.body_bytes <= BLOCK_BODY_BYTES_MAX, 'Item runs rule 4')
    demand(is_by_time or not (header.lowest_time or header.lowest_group or header.time_bytes or
                              header.group_bytes), 'Item runs rule 5: by group')
    # Rule 8 wants them to be those of an item.
    demand(is_order(header.lowest_order) and header.lowest_order != GONE and
           header.lowest_id <= ID_MAX and header.lowest_group <= GROUP_MAX and
           is_by_time <= header.lowest_time <= TIME_MAX and
           header.shortest_body <= BODY_BYTES_MAX, 'Item runs rule 5: lowest')


def read_bodies(header, stored):
    """All bodies, one after another."""
    if header.codec == 0:
        demand(len(stored) == header.body_bytes, 'Item runs rule 4: length')
        return stored
    demand(len(stored) < header.body_bytes <= 255 * len(stored), 'Item runs rule 4: LZ4 length')
    bodies = lz4_block.decompress(stored, header.body_bytes)
    demand(bodies is not None, 'Item runs rule 4: LZ4')
    return bodies


def check_shortest(header, items, lengths):
    times, groups, orders, ids = zip(*items)
    if header.lowest_time == 0:
        groups = (0,)
    shift = 0
    if min(orders) != max(orders):
        while len({order >> shift & 1 for order in orders}) == 1:
            shift += 1
    widths = [((max(column) - min(column) >> by).bit_length() + 7) // 8 for column, by in (
        (orders, shift), (ids, 0), (times, 0), (groups, 0), (lengths, 0))]
    lowest = [min(column) for column in (orders, ids, times, groups, lengths)]
    demand(list(header[:5]) == lowest and list(header[6:12]) == [shift, *widths],
           'Item runs rule 8')


def parse_block(block, count, groups):
    """A list of (item, body). groups: those of the items; None: by time, the block has them."""
    demand(len(block) >= HEADER_BYTES, 'Item runs rule 4: length')
    header = Header(*struct.unpack_from('<QQQIIIBBBBBBHI', block))
    check_header(header, groups is None)
    at = HEADER_BYTES
    columns = []
    for width in header[7:12]:
        columns.append([int.from_bytes(block[at + i * width:at + (i + 1) * width], 'little')
                        for i in range(count)])
        at += count * width
    demand(at <= len(block), 'Item runs rule 4: length')
    orders, ids, times, found_groups, lengths = columns
    if header.codec == 0:
        demand(len(block) - at == header.body_bytes, 'Item runs rule 4: length')
    lengths = [header.shortest_body + n for n in lengths]
    items = [Item(header.lowest_time + time, header.lowest_group + group,
                  header.lowest_order + (order << header.order_shift), header.lowest_id + number)
             for time, group, order, number in zip(times, found_groups, orders, ids)]
    demand(all(is_order(item.order) and item.order != GONE and item.id <= ID_MAX and
               item.group <= GROUP_MAX and item.time <= TIME_MAX for item in items) and
           max(lengths) <= BODY_BYTES_MAX, 'Item runs rule 5')
    demand(sum(lengths) == header.body_bytes, 'Item runs rule 4: body_bytes')
    bodies = read_bodies(header, block[at:])
    check_shortest(header, items, lengths)
    if groups is not None:
        items = [item._replace(group=group) for item, group in zip(items, groups)]
    ends = [sum(lengths[:i]) for i in range(count + 1)]
    return [(item, bytes(bodies[begin:end])) for item, begin, end in zip(items, ends, ends[1:])]


def parse_item_run(payload, record_count=None):
    """A list of blocks, each a list of (item, body)."""
    footer, index_at = parse_footer(payload)
    directory_end = footer.block_bytes + footer.directory_bytes
    directory = parse_directory(footer, payload[footer.block_bytes:directory_end])
    places = parse_index(footer, payload[index_at:len(payload) - FOOTER_BYTES])
    demand(not any(payload[directory_end:index_at]), 'Item runs rule 7')
    groups = None
    if footer.flags != BY_TIME:
        groups = [group for group, count in directory for _ in range(count)]
    at, first, found = 0, 0, []
    for stored, count in places:
        found.append(parse_block(payload[at:at + stored], count,
                                 groups and groups[first:first + count]))
        at += stored
        first += count
    items = [item for block in found for item, _ in block]
    demand(all(a < b for a, b in zip(items, items[1:])), 'Item runs rule 6')
    demand(sum(len(body) for block in found for _, body in block) == footer.body_bytes,
           'Item runs rule 3: body_bytes')
    demand(record_count in (None, footer.item_count), 'Segments rule 1: record_count')
    return found
