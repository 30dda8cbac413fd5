# SPDX-License-Identifier: Apache-2.0
"""The payloads of a frontier's group runs and step runs."""
import math
import struct
from collections import namedtuple

import drum
from container import up
from drum import ascends, demand

GROUP_MAX, KEY_MAX, BODY_MAX, LIST_MAX = (1 << 32) - 2, 65535, 65536, 65536
TIME_MAX, COUNT_MAX, NUMBER_MAX = (1 << 48) - 1, (1 << 32) - 1, (1 << 63) - 1
PIECE, HEADER_BYTES = 1, 40
JOURNALS, PIECES, BOTH = (False,), (True,), (False, True)

GroupRun = namedtuple('GroupRun', 'first_group keys')
StepRun = namedtuple('StepRun', 'is_piece first_step first_group end_group steps')
Step = namedtuple('Step', 'kind values')      # values: by name


def parse_group_run(payload, record_count=None):
    demand(len(payload) >= HEADER_BYTES and len(payload) % 8 == 0, 'Group runs rule 1: length')
    magic, first, count, key_bytes, codec, reserved, block_count = struct.unpack_from(
        '<8sIIQH6sQ', payload)
    demand(magic == b'CGROUPS1' and not any(reserved), 'Group runs rule 2')
    demand(count >= 1 and first + count <= GROUP_MAX + 1, 'Group runs rule 3')
    blocks = -(-key_bytes // drum.BLOCK) if codec == 1 else 0
    demand(codec <= 1 and block_count == blocks and (codec == 0 or blocks >= 1),
           'Group runs rule 4')
    at = HEADER_BYTES

    def take(width, entries):
        nonlocal at
        column = payload[at:at + width * entries]
        demand(len(column) == width * entries, 'Group runs rule 1: cut short')
        end = at + up(len(column), 8)
        demand(not any(payload[at + len(column):end]), 'Group runs rule 2: padding')
        at = end
        return column

    lengths = struct.unpack(f'<{count}H', take(2, count))
    demand(sum(lengths) == key_bytes, 'Group runs rule 4')
    if codec == 0:
        keys = take(1, key_bytes)
    else:
        stored = struct.unpack(f'<{blocks}I', take(4, blocks))
        sizes = [min(drum.BLOCK, key_bytes - i * drum.BLOCK) for i in range(blocks)]
        demand(all(s <= r <= 255 * s for s, r in zip(stored, sizes)), 'Group runs rule 4: 12')
        pieces = drum.cut(take(1, sum(stored)), stored)
        raw = [block if len(block) == size else drum.lz4_block.decompress(block, size)
               for block, size in zip(pieces, sizes)]
        demand(None not in raw, 'Group runs rule 4: 13')
        keys = b''.join(raw)
    demand(at == len(payload), 'Group runs rule 1: too long')
    demand(record_count in (None, count), 'Segments rule 1: record_count')
    return GroupRun(first, drum.cut(keys, lengths))


def take_leb128(data, at):
    """(a number, the place after it), or None where there is none in its shortest form."""
    number, begin = 0, at
    while at < len(data) and at - begin < 10:
        number |= (data[at] & 127) << 7 * (at - begin)
        at += 1
        if data[at - 1] < 128:
            is_shortest = data[at - 1] != 0 or at - begin == 1
            return (number, at) if is_shortest and number < 1 << 64 else None
    return None


class Rest:
    """The rest of one record. The last id is that of the run."""

    def __init__(self, data, header, last_id):
        self.data, self.at, self.header, self.last_id = data, 0, header, last_id

    def is_empty(self):
        return self.at == len(self.data)

    def number(self, low, high, rule):
        found = take_leb128(self.data, self.at)
        demand(found, 'Step runs rule 6: a number')
        number, self.at = found
        demand(low <= number <= high, rule)
        return number

    def bytes(self, longest):
        taken, self.at = self.data[self.at:], len(self.data)
        demand(len(taken) <= longest, 'Step runs rule 7: a key or a body')
        return taken

    def all(self, take):
        """The items that `take` takes until the rest ends."""
        taken = []
        while not self.is_empty():
            taken.append(take(self))
        demand(1 <= len(taken) <= LIST_MAX, 'Step runs rule 9')
        return taken


def group(rest):
    number = rest.number(0, GROUP_MAX, 'Step runs rule 7: a group')
    demand(not rest.header.is_piece or
           rest.header.first_group <= number < rest.header.end_group, 'Step runs rule 10')
    return number


def item(rest):
    number = rest.number(0, (1 << 64) - 1, 'Step runs rule 6')
    rest.last_id += -(number + 1) // 2 if number % 2 else number // 2
    demand(0 <= rest.last_id <= NUMBER_MAX, 'Step runs rule 7: an id')
    return rest.last_id


def priority(rest):
    number = rest.number(0, (1 << 64) - 1, 'Step runs rule 6')
    value, = struct.unpack('>d', struct.pack('<Q', number))
    demand(not math.isnan(value) and (value != 0 or number == 0), 'Step runs rule 7: a priority')
    return value


def time(rest):
    return rest.number(0, TIME_MAX, 'Step runs rule 7: a time')


def flag(rest):
    return rest.number(0, 1, 'Step runs rule 7: a flag')


def run_id(rest):
    return rest.number(1, (1 << 64) - 1, 'Step runs rule 7: a run id')


def check(rest):
    return rest.number(0, 65535, 'Step runs rule 7: a check')


def count(rest):
    return rest.number(1, COUNT_MAX, 'Step runs rule 8')


def failures(rest):
    return rest.number(0, COUNT_MAX, 'Step runs rule 8')


def total(rest):
    return rest.number(0, NUMBER_MAX, 'Step runs rule 8')


def key(rest):
    return rest.bytes(KEY_MAX)


def body(rest):
    return rest.bytes(BODY_MAX)


def optional_body(rest):
    return body(rest) if flag(rest) else None


def ids(rest):
    return rest.all(item)


def others(rest):
    run_ids = rest.all(run_id)
    demand(ascends(run_ids), 'Step runs rule 9')
    return run_ids


def runs(rest):
    pairs = rest.all(lambda rest: (run_id(rest),
                                   rest.number(1, NUMBER_MAX, 'Step runs rule 8')))
    demand(ascends([pair[0] for pair in pairs]), 'Step runs rule 9')
    return pairs


# By bits: name, lowest and highest number, and whether it is one more than the value, 0 for none.
RULE = [('soft_ms', 0, TIME_MAX + 1, True), ('hard_ms', 0, TIME_MAX + 1, True),
        ('burst', 1, COUNT_MAX, False), ('in_flight_max', 1, COUNT_MAX, False),
        ('put_max', 0, NUMBER_MAX + 1, True), ('finished_max', 0, NUMBER_MAX + 1, True),
        ('blocked_until', 0, TIME_MAX, False), ('is_active', 0, 1, False),
        ('parent', 0, GROUP_MAX + 1, True)]


def rule(rest):
    mask = rest.number(1, (1 << len(RULE)) - 1, 'Step runs rule 11: mask')
    values = {}
    for bit, (name, low, high, is_one_more) in enumerate(RULE):
        if mask >> bit & 1:
            number = rest.number(low, high, f'Step runs rule 11: {name}')
            values[name] = number if not is_one_more else number - 1 if number else None
    return values


ITEM = [('group', group), ('id', item), ('priority', priority)]
KINDS = {
    1: ('clock', BOTH, [('time', time)]),
    2: ('group', JOURNALS, [('key', key)]),
    3: ('put', BOTH, ITEM + [('time', time), ('body', body)]),
    4: ('lease', JOURNALS, [('until', time)]),
    5: ('visit', JOURNALS, [('group', group), ('count', count), ('check', check)]),
    6: ('finish', JOURNALS, [('ids', ids)]),
    7: ('back', JOURNALS, [('id', item), ('time', time), ('is_failure', flag)]),
    8: ('extend', JOURNALS, [('id', item), ('until', time)]),
    9: ('remove', JOURNALS, [('group', group), ('id', item)]),
    10: ('update', JOURNALS, ITEM + [('time', time), ('body', optional_body)]),
    11: ('rule', BOTH, [('group', group), ('rule', rule)]),
    12: ('drop', JOURNALS, [('group', group)]),
    13: ('stored', JOURNALS, [('run_id', run_id)]),
    14: ('joined', JOURNALS, [('run_id', run_id), ('others', others)]),
    32: ('times', PIECES, [('group', group), ('soft_time', time), ('hard_time', time),
                           ('failures', failures)]),
    33: ('counts', PIECES, [('group', group), ('put_count', total), ('finished_count', total)]),
    34: ('left', PIECES, [('group', group), ('runs', runs)]),
    35: ('leased', PIECES, ITEM + [('until', time), ('attempt', count), ('body', body)]),
    36: ('again', PIECES, ITEM + [('time', time), ('attempt', count), ('body', body)]),
    37: ('gone', BOTH, [('group', group), ('run_id', run_id), ('number', total)]),
}


def parse_step_header(payload):
    """(the run without steps, step_count)"""
    demand(len(payload) >= HEADER_BYTES and len(payload) % 8 == 0, 'Step runs rule 1: length')
    magic, first_step, step_count, first_group, end_group, flags, reserved = struct.unpack_from(
        '<8sQQIIII', payload)
    demand(magic == b'CSTEPRN1' and flags <= PIECE and reserved == 0, 'Step runs rule 1')
    is_piece = flags == PIECE
    demand((is_piece or step_count >= 1) and step_count <= (len(payload) - HEADER_BYTES) // 2,
           'Step runs rule 2')
    if is_piece:
        demand(first_step <= NUMBER_MAX and first_group < end_group, 'Step runs rule 3')
    else:
        demand(first_step >= 1 and first_step + step_count - 1 <= NUMBER_MAX and
               first_group == end_group == 0, 'Step runs rule 3')
    return StepRun(is_piece, first_step, first_group, end_group, []), step_count


def take_step(payload, at, header, last_id):
    """(a step, the place after it, the last id)"""
    demand(payload[at] in KINDS and header.is_piece in KINDS[payload[at]][1], 'Step runs rule 5')
    name, _, form = KINDS[payload[at]]
    found = take_leb128(payload, at + 1)
    demand(found and found[1] + found[0] <= len(payload), 'Step runs rule 6: the length')
    end = found[1] + found[0]
    rest = Rest(payload[found[1]:end], header, last_id)
    values = {field: take(rest) for field, take in form}
    demand(rest.is_empty(), 'Step runs rule 6: left over')
    demand(name != 'joined' or values['run_id'] not in values['others'], 'Step runs rule 9')
    return Step(name, values), end, rest.last_id


def check_order(steps):
    """A piece has its clock first, then group by group."""
    demand(all(step.kind != 'clock' for step in steps[1:]), 'Step runs rule 10: a later clock')
    groups = [step.values['group'] for step in steps if step.kind != 'clock']
    demand(groups == sorted(groups), 'Step runs rule 10: groups descend')


def parse_step_run(payload, record_count=None):
    run, step_count = parse_step_header(payload)
    at, last_id = HEADER_BYTES, 0
    for _ in range(step_count):
        demand(at < len(payload), 'Step runs rule 2')
        step, at, last_id = take_step(payload, at, run, last_id)
        run.steps.append(step)
    if run.is_piece:
        check_order(run.steps)
    demand(len(payload) - at < 8 and not any(payload[at:]), 'Step runs rule 4')
    demand(record_count in (None, step_count), 'Segments rule 1: record_count')
    return run
