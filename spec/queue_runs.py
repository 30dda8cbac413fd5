# SPDX-License-Identifier: Apache-2.0
"""The payloads of queues and of their runs."""
import math
import struct
from collections import namedtuple

from drum import ascends, demand
from container import QUEUE_ENTRIES, up

FRAGMENT_ENTRIES_MAX, PAGE_MAX, RUNS_MAX = 65536, (1 << 40) - 1, 256
FRAGMENT_BYTES, FOOTER_BYTES, HEADER_BYTES, CUT_BYTES = 32, 40, 40, 24
SIGN = GONE = 1 << 63

Fragment = namedtuple('Fragment', 'lowest_order lowest_page first_page entry_count order_shift '
                      'order_bytes page_bytes reserved')
Cut = namedtuple('Cut', 'run_id order page')
QueueTable = namedtuple('QueueTable', 'entries entry_count page_count cuts changes')
Footer = namedtuple('Footer', 'entry_count highest_order highest_page fragment_count reserved '
                    'magic')


def order_of(priority):
    bits, = struct.unpack('<Q', struct.pack('<d', priority or 0.0))
    return bits if bits & SIGN else bits ^ (SIGN - 1)


def priority_of(order):
    return struct.unpack('<d', struct.pack('<Q', order if order & SIGN else order ^ (SIGN - 1)))[0]


def is_order(order):
    return order_of(math.inf) <= order <= order_of(-math.inf)


def parse_queue_index(payload):
    demand(len(payload) % 8 == 0 and len(payload) >= FOOTER_BYTES, 'Queue runs rule 1: length')
    footer_at = len(payload) - FOOTER_BYTES
    footer = Footer(*struct.unpack_from('<QQQII8s', payload, footer_at))
    index_at = footer_at - FRAGMENT_BYTES * footer.fragment_count
    demand(footer.magic == b'CQUEUES1' and footer.reserved == 0 and footer.fragment_count >= 1 and
           index_at >= 0 and is_order(footer.highest_order), 'Queue runs rule 1')
    fragments = [Fragment(*struct.unpack_from('<QQQIBBBB', payload, at))
                 for at in range(index_at, footer_at, FRAGMENT_BYTES)]
    before, highest, end = (0, 0), footer[1:3], 0
    for each in fragments:
        demand(1 <= each.entry_count <= FRAGMENT_ENTRIES_MAX and each.order_shift <= 63 and
               each.order_bytes <= 8 and each.page_bytes <= 8 and each.reserved == 0 and
               is_order(each.lowest_order) and each.first_page <= PAGE_MAX, 'Queue runs rule 2')
        demand(before <= each[:2] <= highest, 'Queue runs rule 3')
        before = each[:2]
        end += each.entry_count * (each.order_bytes + each.page_bytes)
    demand(footer.entry_count == sum(each.entry_count for each in fragments), 'Queue runs rule 4')
    demand(up(end, 8) == index_at, 'Queue runs rule 5')
    return footer, fragments, end


def check_shortest(fragment, entries):
    orders, pages = zip(*entries)
    shift = 0
    if min(orders) != max(orders):
        while len({order >> shift & 1 for order in orders}) == 1:
            shift += 1
    widths = [(number.bit_length() + 7) // 8
              for number in ((max(orders) - min(orders)) >> shift, max(pages) - min(pages))]
    demand([fragment.first_page, fragment.order_shift, fragment.order_bytes, fragment.page_bytes] ==
           [min(pages), shift, *widths], 'Queue runs rule 9')


def parse_queue_run(payload, record_count=None):
    """A list of fragments, each a list of entries (order, page)."""
    footer, fragments, end = parse_queue_index(payload)
    demand(not any(payload[end:up(end, 8)]), 'Queue runs rule 6')
    highest, at, found = footer[1:3], 0, []
    limits = [each[:2] for each in fragments[1:]] + [highest]
    for each, limit in zip(fragments, limits):
        entries = []
        for _ in range(each.entry_count):
            middle = at + each.order_bytes
            order, page = (int.from_bytes(payload[begin:stop], 'little')
                           for begin, stop in ((at, middle), (middle, middle + each.page_bytes)))
            entries.append((each.lowest_order + (order << each.order_shift),
                            each.first_page + page))
            at = middle + each.page_bytes
        demand(all(each[:2] <= entry <= limit and entry[1] <= PAGE_MAX
                   for entry in entries), 'Queue runs rule 7')
        demand(min(entries) == each[:2] and (limit is not highest or max(entries) == limit),
               'Queue runs rule 8')
        check_shortest(each, entries)
        found.append(entries)
    demand(record_count in (None, footer.entry_count), 'Segments rule 1: record_count')
    return found


def parse_queue_table(payload, _record_count=None):
    demand(len(payload) >= HEADER_BYTES, 'Queue tables rule 1: length')
    magic, entries, entry_count, page_count, run_count, change_run_count = struct.unpack_from(
        '<8sQQQII', payload)
    changes_at = HEADER_BYTES + CUT_BYTES * run_count
    demand(magic == b'CQTABLE1' and len(payload) == changes_at + 8 * change_run_count and
           run_count + change_run_count <= RUNS_MAX, 'Queue tables rule 1')
    demand((entries == 0) == (run_count + change_run_count == 0) and
           (run_count or entry_count == 0) and page_count <= entry_count, 'Queue tables rule 2')
    cuts = [Cut(*struct.unpack_from('<QQQ', payload, at))
            for at in range(HEADER_BYTES, changes_at, CUT_BYTES)]
    changes = list(struct.unpack_from(f'<{change_run_count}Q', payload, changes_at))
    demand(ascends([0] + [cut.run_id for cut in cuts]) and ascends([0] + changes),
           'Queue tables rule 3')
    demand(all(cut[1:] == (0, 0) or is_order(cut.order) and cut.order != GONE and
               cut.page <= PAGE_MAX for cut in cuts), 'Queue tables rule 4')
    return QueueTable(entries, entry_count, page_count, cuts, changes)


def entries_there(table, runs):
    """The entries that have not left. runs: payloads by id."""
    return [entry for cut in table.cuts for entries in runs[cut.run_id] for entry in entries
            if entry > cut[1:]]


def pages_there(table, runs):
    """The entry of each page that waits, the first to leave first."""
    changes = {page: order for run in table.changes for entries in runs[run]
               for order, page in entries}
    there = entries_there(table, runs)
    unchanged = [entry for entry in there if entry[1] not in changes]
    demand(len({page for _, page in unchanged}) == len(unchanged), 'Queue tables rule 8: twice')
    changed = {(order, page) for page, order in changes.items() if order != GONE}
    demand(changed <= set(there), 'Queue tables rule 8: a changed page has no entry')
    return sorted(changed.union(unchanged))


def runs_of(table, segments, parsed):
    if table.entries == 0:
        return {}
    runs = segments[table.entries].runs
    return {run.run_id: payload for run, payload in zip(runs, parsed[table.entries])}


def check_queue(segment, segments, parsed):
    table = parsed[segment.id][0]
    if table.entries:
        log = segments.get(table.entries)
        demand(log and log.kind == QUEUE_ENTRIES and log.owner == segment.id and
               [run.run_id for run in log.runs] ==
               sorted([cut.run_id for cut in table.cuts] + table.changes), 'Queue tables rule 5')
    runs = runs_of(table, segments, parsed)
    there = entries_there(table, runs)
    demand(len(there) == table.entry_count, 'Queue tables rule 6')
    demand(all(order != GONE for order, _ in there), 'Queue tables rule 7')
    demand(len(pages_there(table, runs)) == table.page_count, 'Queue tables rule 8')


def check_logs(segments, parsed):
    for segment in segments.values():
        if segment.kind == QUEUE_ENTRIES:
            demand(parsed[segment.owner][0].entries == segment.id, 'Queue tables rule 5')
