# SPDX-License-Identifier: Apache-2.0
"""The payloads of segments: drums, partitions, request runs and result runs."""
import struct
from collections import namedtuple

import lz4_block
from container import FRESH_KEYS, PAGE_CONTENTS, CrawlError, up, valid_name
from flatbuf import Buffer, Malformed

VALUE_MAX, AUX_MAX, M64 = 16777216, 67108864, (1 << 64) - 1
REQUESTS_MAX, BLOCK = 16777216, 65536
OPERATIONS, VERDICTS = ('check', 'update', 'check_update'), ('unique', 'duplicate')

Bucket = namedtuple('Bucket', 'first_key partition key_log aux_log key_count pending_count')
Consumer = namedtuple('Consumer', 'id name results result_count')
Drum = namedtuple('Drum', 'key_bytes key_scheme value_bytes next_sequence merge_count '
                  'unparsed_count buckets consumers merge_bytes merge_requests '
                  'partition_keys_max normalizer')
# A key of 16 bytes is one number of 128 bits.
Partition = namedtuple('Partition', 'key_bytes value_bytes keys')   # keys: [(key, value)]
KeyRun = namedtuple('KeyRun', 'key_bytes value_bytes requests')     # requests: [Request]
Request = namedtuple('Request', 'key sequence tag value')
ResultRun = namedtuple('ResultRun', 'key_bytes value_bytes answers')  # answers: [Answer]
Answer = namedtuple('Answer', 'key sequence tag verdict value aux')


def demand(condition, message):
    if not condition:
        raise CrawlError('segment_invalid', message)


def ascends(numbers):
    return all(a < b for a, b in zip(numbers, numbers[1:]))


def join(heads, tails):
    return [head << 64 | tail for head, tail in zip(heads, tails)]


def parse_drum(payload):
    try:
        demand(len(payload) % 8 == 0, 'Drum rule 1: length')
        root = Buffer(payload).root()
        buckets = [Bucket(*b) for b in root.structs(6, 'QQQQQQ')]
        consumers = [Consumer(t.scalar(0, 'H'), t.string(1), t.scalar(2, 'Q'), t.scalar(3, 'Q'))
                     for t in root.tables(7, 16384)]
        drum = Drum(root.scalar(0, 'H'), root.scalar(1, 'H'), root.scalar(2, 'i'),
                    root.scalar(3, 'Q'), root.scalar(4, 'Q'), root.scalar(5, 'Q'),
                    buckets, consumers,
                    root.scalar(8, 'Q'), root.scalar(9, 'Q'), root.scalar(10, 'Q'),
                    root.string(11))
    except Malformed as error:
        raise CrawlError('segment_invalid', 'Drum rule 1: %s' % error) from None
    demand(sum(len(c.name) for c in consumers) + 48 * len(buckets) <= len(payload), 'Drum rule 1')
    schemes = {8: (0, 1, 2), 16: (0, 1, 3)}.get(drum.key_bytes, ())
    demand(drum.key_scheme in schemes and -1 <= drum.value_bytes <= VALUE_MAX and
           valid_name(drum.normalizer) and (drum.key_scheme in (1, 2) or not drum.normalizer),
           'Drum rule 2')
    demand(1 <= len(buckets) <= 65536 and buckets[0].first_key == 0 and
           ascends([b.first_key for b in buckets]), 'Drum rule 3')
    for b in buckets:
        demand((b.partition == 0) == (b.key_count == 0) and
               (b.key_log == 0) == (b.pending_count == 0) and
               (b.aux_log == 0 or b.key_log != 0), 'Drum rule 4')
    demand(consumers and consumers[0].id == 0 and ascends([c.id for c in consumers]) and
           consumers[-1].id <= 16383, 'Drum rule 5')
    demand(all(valid_name(c.name) for c in consumers) and
           len({c.name for c in consumers}) == len(consumers), 'Drum rule 6')
    demand(all((c.results == 0) == (c.result_count == 0) for c in consumers), 'Drum rule 7')
    named = [i for b in buckets for i in (b.partition, b.key_log, b.aux_log) if i]
    named += [c.results for c in consumers if c.results]
    demand(len(set(named)) == len(named), 'Drum rule 8')
    return drum


def cut(data, lengths):
    """Strings that lie one after another."""
    at, strings = 0, []
    for length in lengths:
        strings.append(data[at:at + length])
        at += length
    return strings


class Columns:
    """Columns of a payload or block, one after another, each at a multiple of 8."""

    def __init__(self, data, at, end, what):
        self.data, self.at, self.end, self.what = data, at, end, what

    def take(self, length):
        begin, stop, after = self.at, self.at + length, up(self.at + length, 8)
        demand(after <= self.end, '%s: a column ends outside' % self.what)
        demand(not any(self.data[stop:after]), '%s: padding is not zero' % self.what)
        self.at = after
        return self.data[begin:stop]

    def numbers(self, form, count):
        data = self.take(struct.calcsize('<' + form) * count)
        return struct.unpack('<%d%s' % (count, form), data)

    def strings(self, lengths):
        return cut(self.take(sum(lengths)), lengths)

    def fixed(self, length, count):
        """Bounds the whole column before anything is made for each entry."""
        data = self.take(length * count)
        return [data[i * length:(i + 1) * length] for i in range(count)]

    def finish(self):
        demand(self.at == self.end, '%s: wrong length' % self.what)


def parse_block(data, begin, end, key_bytes, value_bytes):
    """(keys with values of the key block at begin, its end)."""
    demand(end - begin >= 16, 'Partition rule 6: a block of less than 16 bytes')
    first, count, words, low_bits, shares_head = struct.unpack_from('<QHHBB', data, begin)
    demand(1 <= count <= 512 and low_bits <= 63 and not any(data[begin + 14:begin + 16]),
           'Key block rule 9')
    demand(shares_head == 0 or shares_head == 1 and key_bytes == 16 and count > 1,
           'Key block rule 9: shares_head')
    demand(words <= 64, 'Key block rule 10: upper_words')
    columns = Columns(data, begin + 16, end, 'Key block')
    upper_bytes = columns.take(8 * words)
    upper = int.from_bytes(upper_bytes, 'little')
    places = []
    rest = upper
    while rest:
        bit = rest & -rest
        places.append(bit.bit_length() - 1)
        rest ^= bit
    demand(len(places) == count - 1 and words == -(-upper.bit_length() // 64), 'Key block rule 10')
    lower_bytes = columns.take(up((count - 1) * low_bits, 64) // 8)
    lower = int.from_bytes(lower_bytes, 'little')
    demand(lower.bit_length() <= (count - 1) * low_bits, 'Key block rule 12')
    keys, mask = [first], (1 << low_bits) - 1
    for i, place in enumerate(places):
        keys.append(first + (place - i << low_bits) + (lower >> i * low_bits & mask))
    demand(max(keys) <= M64, 'Key block rule 11')
    if key_bytes == 16 and shares_head:
        keys = join([columns.numbers('Q', 1)[0]] * count, keys)
    elif key_bytes == 16:
        demand(count == 1 or keys[0] != keys[-1], 'Key block rule 9: shares_head')
        keys = join(keys, columns.numbers('Q', count))
    demand(ascends(keys), 'Key block rule 11')
    if value_bytes == -1:
        lengths = columns.numbers('I', count)
        demand(max(lengths) <= VALUE_MAX, 'Key block rule 13')
        values = columns.strings(lengths)
    else:
        values = columns.fixed(value_bytes, count)
    demand(columns.at - begin <= (1 << 32) - 8, 'Key block rule 13: length of a block')
    return list(zip(keys, values)), columns.at


def parse_partition(payload, record_count=None):
    size = len(payload)
    demand(size % 8 == 0 and size >= 64, 'Partition rule 1: length')
    key_count, n, index, first, last, key_bytes, codec, value_bytes, reserved, magic = \
        struct.unpack_from('<QQQQQHHiQ8s', payload, size - 64)
    demand(magic == b'CRYPART1' and key_bytes in (8, 16) and codec == 1 and reserved == 0 and
           -1 <= value_bytes <= VALUE_MAX, 'Partition rule 1')
    demand(n >= 1 and n <= key_count <= 512 * n, 'Partition rule 2')
    demand(index == size - 64 - key_bytes * n - up(4 * n, 8) and index >= 16 * n,
           'Partition rule 3')
    demand(last - first >= (key_count - 1 if key_bytes == 8 else 0) and
           (key_count > 1 or first == last), 'Partition rule 4')
    columns = Columns(payload, index, size - 64, 'Partition rule 7')
    firsts = columns.numbers('Q', n)
    demand(firsts[0] == first and firsts[-1] <= last, 'Partition rule 5')
    if key_bytes == 16:
        firsts = join(firsts, columns.numbers('Q', n))
    offsets = [8 * o for o in columns.numbers('I', n)]
    demand(ascends(firsts), 'Partition rule 5')
    demand(ascends(offsets) and offsets[0] == 0 and offsets[-1] < index, 'Partition rule 6')
    keys = []
    for i, (begin, end) in enumerate(zip(offsets, offsets[1:] + [index])):
        block, stop = parse_block(payload, begin, end, key_bytes, value_bytes)
        demand(stop == end, 'Partition rule 6: length of a block')
        demand(block[0][0] == firsts[i] and (not keys or keys[-1][0] < firsts[i]),
               'Partition rule 8: keys of a block')
        keys += block
    demand(keys[-1][0] >> 8 * (key_bytes - 8) == last and len(keys) == key_count,
           'Partition rule 8')
    demand(record_count in (None, key_count), 'Segments rule 1')
    return Partition(key_bytes, value_bytes, keys)


def _header(payload, size, form, magic, record_count, what):
    demand(len(payload) >= size and len(payload) % 8 == 0, what + ' rule 1: length')
    demand(payload[:8] == magic, what + ' rule 2: magic')
    fields = struct.unpack_from('<Q' + form, payload, 8)
    demand(fields[0] >= 1, what + ' rule 3: record_count')
    demand(record_count in (None, fields[0]), 'Segments rule 1')
    return fields


def unpack_keys(packed, n, bits, base):
    demand(int.from_bytes(packed, 'little') >> n * bits == 0, 'Request runs rule 10: unused bits')
    differences, mask = [], (1 << bits) - 1
    for i in range(n):
        begin, end = i * bits // 8, -(-(i + 1) * bits // 8)
        around = int.from_bytes(packed[begin:end], 'little')
        differences.append(around >> i * bits % 8 & mask)
    demand(min(differences) == 0 and max(1, max(differences).bit_length()) == bits,
           'Request runs rule 9')
    demand(base + max(differences) <= M64, 'Request runs rule 10')
    return [base + d for d in differences]


def parse_key_run(payload, record_count=None):
    n, s, flags, value_bytes, uniform, bits, key_bytes, reserved, base = _header(
        payload, 48, 'QIiHHHHQ', b'CKEYRUN1', record_count, 'Request runs')
    demand(n <= REQUESTS_MAX, 'Request runs rule 3: record_count')
    demand(flags < 4 and reserved == 0, 'Request runs rule 2')
    demand(1 <= bits <= 64, 'Request runs rule 9: key_bits')
    demand(-1 <= value_bytes <= VALUE_MAX and key_bytes in (8, 16), 'Request runs rule 3')
    columns = Columns(payload, 48, len(payload), 'Request runs rule 1')
    packed = columns.take(up(n * bits, 64) // 8)
    tails = columns.numbers('Q', n) if key_bytes == 16 else None
    tags = columns.numbers('H', n) if flags & 1 else [uniform] * n
    demand(all(t % 4 < 3 for t in tags) and (not flags & 1 or uniform == 0), 'Request runs rule 4')
    added = columns.numbers('I', n) if flags & 2 else range(n)
    demand(added[0] == 0 and ascends(added) and s + added[-1] <= M64, 'Request runs rule 5')
    if value_bytes == -1:
        lengths = columns.numbers('I', n)
        demand(max(lengths) <= VALUE_MAX and
               not any(length and t % 4 == 0 for length, t in zip(lengths, tags)),
               'Request runs rule 6')
        values = columns.strings(lengths)
    else:
        values = columns.fixed(value_bytes, n)
    columns.finish()
    keys = unpack_keys(packed, n, bits, base)
    keys = join(keys, tails) if tails else keys
    return KeyRun(key_bytes, value_bytes, [Request(k, s + a, t, v)
                                           for k, a, t, v in zip(keys, added, tags, values)])


def read_blocks(columns, total):
    """The auxiliaries of all blocks, one after another."""
    count = -(-total // BLOCK)
    stored = columns.numbers('I', count)
    sizes = [min(BLOCK, total - i * BLOCK) for i in range(count)]
    demand(all(s <= r <= 255 * s for s, r in zip(stored, sizes)), 'Request runs rule 12')
    blocks = columns.strings(stored)
    raw = [block if len(block) == size else lz4_block.decompress(block, size)
           for block, size in zip(blocks, sizes)]
    demand(None not in raw, 'Request runs rule 13')
    return b''.join(raw)


def parse_aux_run(payload, record_count=None):
    n, flags, uniform, codec, reserved = _header(
        payload, 32, 'IIH6s', b'CAUXRUN1', record_count, 'Request runs')
    demand(n <= REQUESTS_MAX, 'Request runs rule 3: record_count')
    demand(flags < 2 and not any(reserved), 'Request runs rule 2')
    demand(codec <= 1, 'Request runs rule 11')
    demand(1 <= uniform <= AUX_MAX if flags else uniform == 0, 'Request runs rule 7')
    columns = Columns(payload, 32, len(payload), 'Request runs rule 1')
    if not flags:
        lengths = columns.numbers('I', n)
        demand(max(lengths) <= AUX_MAX, 'Request runs rule 6')
    total = n * uniform if flags else sum(lengths)
    data = read_blocks(columns, total) if codec else columns.take(total)
    columns.finish()
    return cut(data, [uniform] * n if flags else lengths)


def parse_result_run(payload, record_count=None):
    n, value_bytes, key_bytes, reserved = _header(
        payload, 24, 'iHH', b'CRESRUN1', record_count, 'Result runs')
    demand(reserved == 0, 'Result runs rule 2')
    demand(-1 <= value_bytes <= VALUE_MAX and key_bytes in (8, 16), 'Result runs rule 3')
    columns = Columns(payload, 24, len(payload), 'Result runs rule 1')
    keys = columns.numbers('Q', n)
    keys = join(keys, columns.numbers('Q', n)) if key_bytes == 16 else keys
    sequences = columns.numbers('Q', n)
    tags, verdicts = columns.numbers('H', n), columns.numbers('B', n)
    demand(all(t % 4 < 3 for t in tags) and max(verdicts) <= 1, 'Result runs rule 4')
    lengths = columns.numbers('I', n) if value_bytes == -1 else [0]
    aux_lengths = columns.numbers('I', n)
    demand(max(lengths) <= VALUE_MAX and max(aux_lengths) <= AUX_MAX, 'Result runs rule 5')
    values = columns.strings(lengths) if value_bytes == -1 else columns.fixed(value_bytes, n)
    auxes = columns.strings(aux_lengths)
    columns.finish()
    return ResultRun(key_bytes, value_bytes, [Answer(*a) for a in
                                              zip(keys, sequences, tags, verdicts, values, auxes)])


PARSERS = {1: lambda payload, _: parse_drum(payload), 2: parse_partition, 3: parse_key_run,
           4: parse_aux_run, 5: parse_result_run, FRESH_KEYS: parse_partition,
           PAGE_CONTENTS: parse_partition}


def check_drum(segment, drum, segments, parsed):
    """Drum rules 9 to 14 and Request runs rule 8; segments and parsed are by id."""
    named = set()

    def runs(segment_id, kind):
        """The parsed runs of a segment that the drum names."""
        if segment_id == 0:
            return []
        other = segments.get(segment_id)
        demand(other and other.kind == kind and other.owner == segment.id,
               'Drum rule 9: segment %d' % segment_id)
        named.add(segment_id)
        return parsed[segment_id]

    consumers = {c.id for c in drum.consumers}
    waiting = set()
    ends = [b.first_key - 1 for b in drum.buckets[1:]] + [M64]
    for bucket, end in zip(drum.buckets, ends):
        partition, key_log = runs(bucket.partition, 2), runs(bucket.key_log, 3)
        runs(bucket.aux_log, 4)
        demand(all((p.key_bytes, p.value_bytes) == (drum.key_bytes, drum.value_bytes)
                   for p in partition + key_log), 'Drum rule 12')
        keys = [key for p in partition for key, _ in p.keys]
        requests = [request for run in key_log for request in run.requests]
        demand(bucket.key_count == len(keys) and bucket.pending_count == len(requests),
               'Drum rule 10')
        demand(all(bucket.first_key <= key >> 8 * (drum.key_bytes - 8) <= end
                   for key in keys + [r.key for r in requests]),
               'Drum rule 11')
        sequences = [r.sequence for r in requests]
        demand(ascends(sequences) and all(q < drum.next_sequence for q in sequences) and
               not waiting.intersection(sequences), 'Drum rule 13')
        waiting.update(sequences)
        demand(all(r.tag // 4 in consumers for r in requests), 'Drum rule 14')
        if bucket.aux_log:
            counts = {r.run_id + 1: r.record_count for r in segments[bucket.key_log].runs}
            demand(all(counts.get(r.run_id) == r.record_count
                       for r in segments[bucket.aux_log].runs), 'Request runs rule 8')
    for consumer in drum.consumers:
        results = runs(consumer.results, 5)
        answers = [answer for run in results for answer in run.answers]
        demand(all((run.key_bytes, run.value_bytes) == (drum.key_bytes, drum.value_bytes)
                   for run in results), 'Drum rule 12')
        demand(len(answers) == consumer.result_count, 'Drum rule 10')
        demand(all(a.sequence < drum.next_sequence for a in answers), 'Drum rule 13')
        demand(all(a.tag // 4 == consumer.id for a in answers), 'Drum rule 14')
    demand(all(s.id in named for s in segments.values() if s.owner == segment.id),
           'Drum rule 9: a segment that its drum does not name')
