# SPDX-License-Identifier: Apache-2.0
"""The payload of small values."""
import re
import struct

from drum import ascends, demand
from container import VALUES, up, valid_name

HEADER_BYTES, VALUES_MAX, VALUE_BYTES_MAX, SHARDS_MAX, ENDS_MAX = 16, 1024, 4096, 4096, 400


def is_shard(value):
    """Whether it says I/N."""
    form = re.fullmatch(rb'(0|[1-9][0-9]{0,4})/([1-9][0-9]{0,4})', value)
    return form is not None and 2 <= int(form[2]) <= SHARDS_MAX and int(form[1]) < int(form[2])


def is_exchange(value, shard_count):
    """Whether it keeps the rules of State, in shards.md."""
    if len(value) < 16:
        return False
    step, flags, end_count = struct.unpack_from('<QII', value)
    bits = value[16 + 8 * end_count:]
    if step == 0 or flags > 1 or len(bits) != (shard_count + 7) // 8:
        return False
    ends = struct.unpack_from('<%dQ' % end_count, value, 16)
    return (end_count == min(step - 1 + flags, ENDS_MAX) and list(ends) == sorted(ends) and
            int.from_bytes(bits, 'little') >> shard_count == 0)


def parse_values(payload, record_count=None):
    """Bytes by name, both as bytes, in the order of the names."""
    demand(len(payload) >= HEADER_BYTES, 'Small values rule 1: length')
    magic, value_count, reserved = struct.unpack_from('<8sII', payload)
    demand(magic == b'CVALUES1' and reserved == 0, 'Small values rule 1')
    demand(1 <= value_count <= VALUES_MAX, 'Small values rule 2')
    at = HEADER_BYTES + 4 * value_count
    demand(at <= len(payload), 'Small values rule 1: length')
    lengths = list(struct.iter_unpack('<HH', payload[HEADER_BYTES:at]))
    demand(len(payload) == up(at + sum(map(sum, lengths)), 8), 'Small values rule 1: length')
    found = []
    for name_bytes, value_bytes in lengths:
        middle = at + name_bytes
        found.append((payload[at:middle], payload[middle:middle + value_bytes]))
        at = middle + value_bytes
    names = [name for name, _ in found]
    demand(all(name and valid_name(name) for name in names) and ascends(names),
           'Small values rule 3')
    demand(all(len(value) <= VALUE_BYTES_MAX for _, value in found), 'Small values rule 4')
    demand(not any(payload[at:]), 'Small values rule 5')
    shard = dict(found).get(b'.shard', b'0/2')
    demand(is_shard(shard), 'Small values rule 7')
    shard_count = int(shard.split(b'/')[1]) if b'.shard' in names else 1
    demand(all(is_exchange(value, shard_count) for name, value in found
               if name.startswith(b'.exchange.')), 'Small values rule 8')
    demand(record_count in (None, value_count), 'Segments rule 1: record_count')
    return dict(found)


def check_values(segment):
    demand(segment.name in ('values', b'values'), 'Small values rule 6')


def values_json(segments, parsed):
    found = {name.decode(): value.hex() for segment in segments if segment.kind == VALUES
             for name, value in parsed[segment.id][0].items()}
    return {'values': found} if found else {}
