# SPDX-License-Identifier: Apache-2.0
"""A reader of zstd frames, from RFC 8878. Broken: the bytes are not what it allows.

Slow and plain. Single frames only; a content checksum is not compared, the id of a dictionary not
looked at."""

MAGIC, DICTIONARY_MAGIC = 0xFD2FB528, 0xEC30A437
BLOCK_MAX = 131072

LITERAL_LENGTHS = [(i, 0) for i in range(16)] + [
    (16, 1), (18, 1), (20, 1), (22, 1), (24, 2), (28, 2), (32, 3), (40, 3), (48, 4), (64, 6),
    (128, 7), (256, 8), (512, 9), (1024, 10), (2048, 11), (4096, 12), (8192, 13), (16384, 14),
    (32768, 15), (65536, 16)]
MATCH_LENGTHS = [(i + 3, 0) for i in range(32)] + [
    (35, 1), (37, 1), (39, 1), (41, 1), (43, 2), (47, 2), (51, 3), (59, 3), (67, 4), (83, 4),
    (99, 5), (131, 7), (259, 8), (515, 9), (1027, 10), (2051, 11), (4099, 12), (8195, 13),
    (16387, 14), (32771, 15), (65539, 16)]
OFFSETS = [(1 << i, i) for i in range(32)]

DEFAULT_LITERAL_LENGTHS = [4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2,
                           2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1]
DEFAULT_MATCH_LENGTHS = [1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                         1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1,
                         -1, -1, -1, -1, -1]
DEFAULT_OFFSETS = [1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1,
                   -1, -1, -1]


class Broken(Exception):
    """The bytes are no frame, or none that this reads."""


def demand(condition, message):
    if not condition:
        raise Broken(message)


class Bytes:
    """Takes numbers and pieces from the front."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, length):
        demand(self.at + length <= len(self.data), 'cut short')
        self.at += length
        return self.data[self.at - length:self.at]

    def number(self, length):
        return int.from_bytes(self.take(length), 'little')


class BackwardBits:
    """A bit stream that is read from its end (4.1); zeros stand before its beginning."""

    def __init__(self, data):
        demand(data and data[-1], 'a bit stream without its end mark')
        self.number = int.from_bytes(data, 'little')
        self.left = self.number.bit_length() - 1   # may get negative: bits that are not there

    def take(self, count):
        self.left -= count
        if self.left >= 0:
            return self.number >> self.left & (1 << count) - 1
        return self.number << -self.left & (1 << count) - 1 if self.left > -count else 0


class Fse:
    """A table of 4.1.1: per state (symbol, bits to read, what to add to them)."""

    def __init__(self, counts, accuracy_log):
        self.accuracy_log, size = accuracy_log, 1 << accuracy_log
        symbols, high = [None] * size, size
        for symbol, count in enumerate(counts):
            if count == -1:
                high -= 1
                symbols[high] = symbol
        step, mask, at = (size >> 1) + (size >> 3) + 3, size - 1, 0
        for symbol, count in enumerate(counts):
            for _ in range(max(count, 0)):
                symbols[at] = symbol
                at = at + step & mask
                while at >= high:
                    at = at + step & mask
        demand(at == 0, 'counts of a table do not fill it')
        following = [1 if count == -1 else count for count in counts]
        self.states = []
        for symbol in symbols:
            state = following[symbol]
            following[symbol] += 1
            bits = accuracy_log - state.bit_length() + 1
            self.states.append((symbol, bits, (state << bits) - size))

    @classmethod
    def single(cls, symbol):
        table = cls.__new__(cls)
        table.accuracy_log, table.states = 0, [(symbol, 0, 0)]
        return table


def read_counts(data, accuracy_log_max, symbol_max):
    """(table, the bytes that it took): 4.1.1."""
    number, bit_count, at = int.from_bytes(data, 'little'), len(data) * 8, 0

    def take(count):
        nonlocal at
        at += count
        return number >> at - count & (1 << count) - 1

    accuracy_log = take(4) + 5
    demand(accuracy_log <= accuracy_log_max, 'a table is too large')
    left, counts = (1 << accuracy_log) + 1, []
    while left > 1:
        demand(len(counts) <= symbol_max and at <= bit_count, 'counts of a table are broken')
        bits = left.bit_length()
        small = (1 << bits) - 1 - left         # values that need a bit less
        value = take(bits - 1)
        if value >= small:
            value += take(1) << bits - 1
            if value >= 1 << bits - 1:
                value -= small
        counts.append(value - 1)
        left -= abs(value - 1)
        repeats = 3 if value == 1 else 0
        while repeats == 3:
            demand(at <= bit_count, 'counts of a table are cut short')
            repeats = take(2)
            counts += [0] * repeats
    used = (at + 7) // 8
    demand(left == 1 and len(counts) <= symbol_max + 1 and used <= len(data),
           'counts of a table are broken')
    return Fse(counts, accuracy_log), used


def huffman_table(weights):
    """(table of (symbol, bits) by the next bits, how many): 4.2.1; the last weight is implied."""
    total = sum(1 << weight - 1 for weight in weights if weight)
    demand(total > 0, 'Huffman weights are empty')
    max_bits = total.bit_length()
    rest = (1 << max_bits) - total
    demand(rest & rest - 1 == 0 and max_bits <= 11, 'Huffman weights do not add up')
    weights = weights + [rest.bit_length()]
    table = []
    for weight in range(1, max_bits + 1):
        for symbol, other in enumerate(weights):
            if other == weight:
                table += [(symbol, max_bits + 1 - weight)] * (1 << weight - 1)
    demand(weights.count(1) >= 2 and weights.count(1) % 2 == 0, 'Huffman weights are no code')
    return table, max_bits


def read_huffman(data):
    """(table, the bytes that its description took): 4.2.1."""
    head = Bytes(data).number(1)
    if head >= 128:
        count = head - 127
        packed = Bytes(data, 1).take((count + 1) // 2)
        weights = [packed[i // 2] >> (0 if i % 2 else 4) & 15 for i in range(count)]
        return huffman_table(weights), 1 + len(packed)
    packed = Bytes(data, 1).take(head)
    table, used = read_counts(packed, 6, 255)
    bits = BackwardBits(packed[used:])
    states = [bits.take(table.accuracy_log), bits.take(table.accuracy_log)]
    weights = []
    while True:   # two states in turn, until bits are asked for that are not there
        demand(len(weights) < 255, 'too many Huffman weights')
        symbol, count, base = table.states[states[0]]
        weights.append(symbol)
        states[0] = base + bits.take(count)
        if bits.left < 0:
            weights.append(table.states[states[1]][0])
            break
        states.reverse()
    demand(len(weights) <= 255, 'too many Huffman weights')
    return huffman_table(weights), 1 + head


def huffman_stream(data, table, max_bits, count):
    bits, out = BackwardBits(data), bytearray()
    for _ in range(count):
        symbol, used = table[bits.take(max_bits)]
        bits.left += max_bits - used
        out.append(symbol)
    demand(bits.left == 0, 'a stream of literals has another length')
    return out


class Decoder:
    """The state that one block hands to the next, and the one before the first: 3.1.1.5, 5."""

    def __init__(self, dictionary):
        self.huffman, self.tables = None, {}
        self.repeats, self.history = [1, 4, 8], bytearray()
        if dictionary[:4] == DICTIONARY_MAGIC.to_bytes(4, 'little'):
            self._read_dictionary(dictionary)
        else:
            self.history += dictionary

    def _read_dictionary(self, data):
        demand(len(data) > 8, 'a dictionary is cut short')
        self.huffman, used = read_huffman(data[8:])
        at = 8 + used
        for name, log_max, symbol_max in (('offset', 8, 31), ('match', 9, 52), ('literal', 9, 35)):
            self.tables[name], used = read_counts(data[at:], log_max, symbol_max)
            at += used
        rest = Bytes(data, at)
        self.repeats = [rest.number(4) for _ in range(3)]
        self.history += data[rest.at:]
        demand(all(0 < repeat <= len(self.history) for repeat in self.repeats),
               'an offset of a dictionary leads nowhere')

    def literals(self, block):
        """(literals, the bytes that their section took): 3.1.1.3.1."""
        head = Bytes(block).number(1)
        kind, form = head & 3, head >> 2 & 3
        if kind < 2:   # raw, or one byte repeated
            header_bytes, shift = {0: (1, 3), 2: (1, 3), 1: (2, 4), 3: (3, 4)}[form]
            source = Bytes(block)
            size = source.number(header_bytes) >> shift
            demand(size <= BLOCK_MAX, 'too many literals')
            found = source.take(size) if kind == 0 else source.take(1) * size
            return found, source.at
        header_bytes, bits = ((3, 10), (3, 10), (4, 14), (5, 18))[form]
        source = Bytes(block)
        header = source.number(header_bytes)
        size, packed_bytes = header >> 4 & (1 << bits) - 1, header >> 4 + bits
        demand(size <= BLOCK_MAX, 'too many literals')
        packed = source.take(packed_bytes)
        if kind == 2:
            self.huffman, used = read_huffman(packed)
            packed = packed[used:]
        demand(self.huffman is not None, 'there is no Huffman table yet')
        if form == 0:
            return huffman_stream(packed, *self.huffman, size), source.at
        jump = Bytes(packed)
        lengths = [jump.number(2) for _ in range(3)]
        each, found = (size + 3) // 4, bytearray()
        demand(size >= 6 and 3 * each <= size, 'too few literals for four streams')
        for length, count in zip(lengths + [len(packed) - 6 - sum(lengths)],
                                 [each] * 3 + [size - 3 * each]):
            demand(length > 0, 'a stream of literals is empty')
            found += huffman_stream(jump.take(length), *self.huffman, count)
        return found, source.at

    def _table(self, name, mode, source, default, log_max, symbol_max):
        if mode == 0:
            table = Fse(default, 5 if name == 'offset' else 6)
        elif mode == 1:
            symbol = source.number(1)
            demand(symbol <= symbol_max, 'a symbol is out of range')
            table = Fse.single(symbol)
        elif mode == 2:
            table, used = read_counts(source.data[source.at:], log_max, symbol_max)
            source.at += used
        else:
            demand(name in self.tables, 'there is no table yet')
            return self.tables[name]
        self.tables[name] = table
        return table

    def _offset(self, value, literal_length):
        """The repeated offsets of 3.1.1.5."""
        if value > 3:
            self.repeats = [value - 3] + self.repeats[:2]
            return value - 3
        index = value - 1 + (literal_length == 0)
        offset = self.repeats[index] if index < 3 else self.repeats[0] - 1
        demand(offset > 0, 'an offset is 0')
        if index:
            self.repeats = [offset] + [r for i, r in enumerate(self.repeats) if i != min(index, 2)]
        return offset

    def block(self, block, room):
        """Appends what a compressed block gives to the history: 3.1.1.3, 3.1.1.4."""
        literals, at = self.literals(block)
        source = Bytes(block, at)
        count = source.number(1)
        if count == 255:
            count = source.number(2) + 0x7F00
        elif count >= 128:
            count = (count - 128 << 8) + source.number(1)
        used = 0
        begin = len(self.history)
        if count:
            modes = source.number(1)
            demand(modes & 3 == 0, 'reserved bits are set')
            literal = self._table('literal', modes >> 6, source, DEFAULT_LITERAL_LENGTHS, 9, 35)
            offset = self._table('offset', modes >> 4 & 3, source, DEFAULT_OFFSETS, 8, 31)
            match = self._table('match', modes >> 2 & 3, source, DEFAULT_MATCH_LENGTHS, 9, 52)
            used = self._sequences(count, literals, (literal, offset, match),
                                   BackwardBits(source.data[source.at:]), begin + room)
        else:
            demand(source.at == len(block), 'a block is too long')
        demand(len(self.history) - begin + len(literals) - used <= room, 'a block gives too much')
        self.history += literals[used:]

    def _sequences(self, count, literals, tables, bits, end_max):
        literal, offset, match = tables
        states = [bits.take(table.accuracy_log) for table in tables]
        used = 0
        for i in range(count):
            literal_code, offset_code, match_code = (
                table.states[state][0] for table, state in zip(tables, states))
            offset_value = (1 << offset_code) + bits.take(offset_code)
            base, extra = MATCH_LENGTHS[match_code]
            match_length = base + bits.take(extra)
            base, extra = LITERAL_LENGTHS[literal_code]
            literal_length = base + bits.take(extra)
            if i + 1 < count:
                for place, table in ((0, literal), (2, match), (1, offset)):
                    _, extra, base = table.states[states[place]]
                    states[place] = base + bits.take(extra)
            demand(bits.left >= 0, 'sequences are cut short')
            distance = self._offset(offset_value, literal_length)
            demand(used + literal_length <= len(literals), 'there are too few literals')
            self.history += literals[used:used + literal_length]
            used += literal_length
            demand(distance <= len(self.history) and
                   len(self.history) + match_length <= end_max, 'a match leads nowhere')
            start = len(self.history) - distance
            while match_length > 0:   # what it repeats may have been written by itself
                part = self.history[start:start + match_length]
                self.history += part
                match_length -= len(part)
        demand(bits.left == 0, 'sequences have another length')
        return used


def frame_header(source):
    """(content size or None, window, has a checksum, id of a dictionary): 3.1.1.1."""
    demand(source.number(4) == MAGIC, 'no zstd frame')
    descriptor = source.number(1)
    demand(descriptor & 8 == 0, 'a reserved bit is set')
    is_single = descriptor >> 5 & 1
    window = None
    if not is_single:
        number = source.number(1)
        base = 1 << 10 + (number >> 3)
        window = base + base // 8 * (number & 7)
    dictionary_id = source.number((0, 1, 2, 4)[descriptor & 3])
    size_bytes = (is_single, 2, 4, 8)[descriptor >> 6]
    size = source.number(size_bytes) + (256 if size_bytes == 2 else 0) if size_bytes else None
    return size, size if is_single else window, descriptor >> 2 & 1, dictionary_id


def decompress(frame, dictionary=b'', size_max=1 << 25):
    """The content of exactly one frame. errors Broken"""
    source = Bytes(bytes(frame))
    size, window, has_checksum, _ = frame_header(source)
    decoder = Decoder(bytes(dictionary))
    begin = len(decoder.history)
    limit = size_max if size is None else min(size, size_max)
    is_last = False
    while not is_last:
        header = source.number(3)
        is_last, kind, length = header & 1, header >> 1 & 3, header >> 3
        room = min(limit - len(decoder.history) + begin, BLOCK_MAX, window)
        demand(kind < 3 and length <= (room if kind < 2 else min(BLOCK_MAX, window)),
               'a block is too long')
        if kind == 0:
            decoder.history += source.take(length)
        elif kind == 1:
            decoder.history += source.take(1) * length
        else:
            demand(length > 0, 'a block is empty')
            decoder.block(source.take(length), room)
    source.take(4 if has_checksum else 0)
    demand(source.at == len(source.data), 'more than a frame')
    demand(size is None or len(decoder.history) - begin == size, 'another content size')
    return bytes(decoder.history[begin:])


def check_subset(frame, raw_bytes):
    """Checks a header by Origin runs, rule 11. errors Broken"""
    size, window, has_checksum, dictionary_id = frame_header(Bytes(bytes(frame)))
    has_id = frame[4] & 3
    demand(size == raw_bytes and not has_checksum and not has_id and not dictionary_id and
           window <= 8388608, 'a header that no frame of an origin run has')
