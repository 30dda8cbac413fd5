# SPDX-License-Identifier: Apache-2.0
"""Dense link runs, whose rows copy links from rows before them, from links.md."""
import bisect
import struct

from drum import demand

PAGE_MAX = (1 << 40) - 1
CONTEXTS, TOKENS = 41, 96
MODEL_BYTES = CONTEXTS * TOKENS // 2
GROUP, GROUP_BLOCKS = struct.Struct('<QQ64s64H'), 64
ROWS_MAX, LINKS_MAX, PIECE_LINKS_MAX, ROW_LINKS_MAX = 32, 2048, 8192, 16777216
EQUAL = 48                                      # types above: the row equals another one


def parse_model(data):
    """The codes of each context: {(length, code): token}."""
    model = []
    for context in range(CONTEXTS):
        octets = data[context * TOKENS // 2:(context + 1) * TOKENS // 2]
        lengths = [half for octet in octets for half in (octet & 15, octet >> 4)]
        demand(sum(1 << 15 - length for length in lengths if length) in (0, 1 << 15),
               'Dense model rule 7')
        codes, code, before = {}, 0, 0
        for length, token in sorted((length, token) for token, length in enumerate(lengths)
                                    if length):
            code <<= length - before
            codes[length, code] = token
            code, before = code + 1, length
        model.append(codes)
    return model


class Numbers:
    """The numbers that the bits of a block say."""

    def __init__(self, model, data):
        self.model, self.data, self.at = model, data, 0

    def bits(self, count):
        begin, self.at = self.at, self.at + count
        demand(self.at <= 8 * len(self.data), 'Dense block rule 11: cut short')
        word = int.from_bytes(self.data[begin // 8:-(-self.at // 8)], 'little')
        return word >> begin % 8 & (1 << count) - 1

    def number(self, context):
        codes, length, code = self.model[context], 0, 0
        demand(codes, 'Dense model rule 7: a context without codes')
        while (length, code) not in codes:
            length, code = length + 1, code << 1 | self.bits(1)
        token = codes[length, code]
        if token < 16:
            return token
        raw_bits = token // 2 - 5
        return 2 + token % 2 << raw_bits | self.bits(raw_bits)

    def check_end(self):
        demand(-(-self.at // 8) == len(self.data) and self.bits(-self.at % 8) == 0,
               'Dense block rule 11')


def type_context(before):
    """The context of a type after another one; None: there is none before."""
    if before is None:
        return 0
    return before + 1 if before < 3 else 4 if before <= 47 else 5


def size_class(count):
    return (count >= 8) + (count >= 32)


def copied_links(numbers, reference):
    left, copies, copied = len(reference), True, []
    run = numbers.number(10 + size_class(left) + (left >= 128))
    run = run - 1 if run else left
    while True:
        demand(run <= left, 'Dense block rule 9: a run')
        if copies:
            begin = len(reference) - left
            copied += reference[begin:begin + run]
        left -= run
        if left == 0:
            return copied
        copies = not copies
        run = 1 if left == 1 else numbers.number((14 if copies else 17) + size_class(left)) or left


def extra_gaps(numbers, count, copied):
    """The gaps before all extras but the first."""
    gap, zeros = numbers.number(27 + 2 * bool(copied) + (count >= 8)), 0
    left = count - 1
    while True:
        yield gap
        left -= 1
        if left == 0:
            return
        zeros = 0 if gap else zeros + 1
        if zeros < 3:
            gap = numbers.number(31 + min(8, gap.bit_length()))
            continue
        more = numbers.number(40)
        demand(more <= left, 'Dense block rule 9: zeros')
        yield from [0] * more
        left, zeros = left - more, 0
        if left == 0:
            return
        gap = numbers.number(31) + 1


def with_extras(numbers, rows, page, copied, count):
    """The links of a row: those that it copies, and `count` others."""
    first = numbers.number(23 + bool(rows) + bool(copied) + (len(copied) >= 16))
    if rows:
        page, first = rows[-1][1][0] if first % 2 else page, first // 2
    extras = [page + (-(first + 1) // 2 if first % 2 else first // 2)]
    demand(extras[0] not in copied, 'Dense block rule 10: the first extra is a copied link')
    next_copied = bisect.bisect(copied, extras[0])
    for gap in extra_gaps(numbers, count, copied) if count > 1 else ():
        link = extras[-1] + 1 + gap
        while next_copied < len(copied) and copied[next_copied] <= link:
            link, next_copied = link + 1, next_copied + 1
        extras.append(link)
    demand(extras[0] >= 0 and extras[-1] <= PAGE_MAX, 'Dense block rule 10: a link')
    return sorted(copied + extras)


def parse_row(numbers, rows, page, kind):
    """The links of a row of a type, `rows` being before it."""
    room = LINKS_MAX - sum(len(links) for _, links in rows) if rows else PIECE_LINKS_MAX
    copied = []
    if kind == 1:
        count = 1 + numbers.number(7 + size_class(len(rows[-1][1]) if rows else 0))
    else:
        back = kind - EQUAL if kind >= EQUAL else kind - 1
        demand(1 <= back <= len(rows), 'Dense block rule 9: a type')
        reference = rows[-back][1]
        if kind > EQUAL:
            copied, count = reference, 0
        else:
            copied = copied_links(numbers, reference)
            left_out = len(reference) - len(copied)
            count = numbers.number(20 + (left_out > 0) + (left_out >= 8))
    demand(1 <= len(copied) + count <= room, 'Dense block rule 8: links')
    return with_extras(numbers, rows, page, copied, count) if count else copied


def parse_dense_block(model, data, page, page_count):
    """The rows of a block that covers `page_count` pages from `page` on: [(page, links)]."""
    numbers, rows, kind, end = Numbers(model, data), [], None, page + page_count
    while page < end:
        kind = numbers.number(type_context(kind))
        if kind == 0:
            page += 1 + numbers.number(6)
            demand(page < end, 'Dense block rule 8: the last page')
            kind = numbers.number(1)
            demand(kind, 'Dense block rule 9: type 0 behind type 0')
        demand(len(rows) < ROWS_MAX, 'Dense block rule 8: rows')
        rows.append((page, parse_row(numbers, rows, page, kind)))
        page += 1
    numbers.check_end()
    return rows


def check_footer(payload_bytes, block_count, index, row_count, link_count):
    groups = -(-block_count // GROUP_BLOCKS)
    demand(1 <= block_count <= payload_bytes and index >= MODEL_BYTES and
           index == payload_bytes - 72 - GROUP.size * groups, 'Dense link runs rule 1')
    demand(1 <= row_count <= ROWS_MAX * block_count and
           row_count <= link_count <= PIECE_LINKS_MAX * block_count, 'Dense link runs rule 2')


def parse_index(payload, index, block_count, first_page):
    """(first page, offset, pages, bytes) of each block; ends with those behind the last."""
    places, page, at = [], first_page, 0
    for i in range(-(-block_count // GROUP_BLOCKS)):
        group_page, group_at, counts, *lengths = GROUP.unpack_from(payload, index + GROUP.size * i)
        demand((group_page, group_at) == (page, at), 'Dense link runs rule 3: a group')
        used = min(GROUP_BLOCKS, block_count - GROUP_BLOCKS * i)
        demand(not any(counts[used:]) and not any(lengths[used:]),
               'Dense link runs rule 3: behind the last block')
        for page_count, length in zip(counts[:used], lengths):
            demand(page_count or length, 'Dense link runs rule 3: a block of nothing')
            places.append((page, at, page_count, length))
            page, at = page + page_count, at + length
    return places + [(page, at, 0, 0)]


def rows_of(model, blocks):
    """The rows of blocks: (first page, pages, bytes) of each."""
    rows, goes_on = [], False
    for page, page_count, data in blocks:
        if page_count:
            rows += parse_dense_block(model, data, page, page_count) if data else []
        else:
            demand(goes_on, 'Dense link runs rule 4: a block goes on with no row')
            page, links = rows.pop()
            [(_, more)] = parse_dense_block(model, data, page, 1)
            demand(links[-1] < more[0] and len(links) + len(more) <= ROW_LINKS_MAX,
                   'Dense link runs rule 5')
            rows.append((page, links + more))
        goes_on = bool(data)
    return rows


def parse_dense_rows(payload, block_count, index, first_page, last_page):
    """The rows of a run whose footer is right."""
    model_at = index - MODEL_BYTES
    *places, (end_page, end, _, _) = parse_index(payload, index, block_count, first_page)
    demand(end_page == last_page + 1 and 0 <= model_at - end < 8 and
           not any(payload[end:model_at]), 'Dense link runs rule 4')
    demand(places[0][3] and places[-1][3], 'Dense link runs rule 4: no bytes at an end')
    return rows_of(parse_model(payload[model_at:index]),
                   ((page, page_count, payload[at:at + length])
                    for page, at, page_count, length in places))
