# SPDX-License-Identifier: Apache-2.0
"""A reader of FlatBuffers that trusts nothing: every part is bounded when it is used."""
import struct


class Malformed(Exception):
    """Not a valid FlatBuffer of the schema."""


class Buffer:
    def __init__(self, data):
        self.data = data

    def number(self, at, form):
        size = struct.calcsize('<' + form)
        if at < 0 or at + size > len(self.data) or at % size:
            raise Malformed('a number at %d lies outside or is not aligned' % at)
        return struct.unpack_from('<' + form, self.data, at)[0]

    def target(self, at):
        """Where the offset at `at` leads to."""
        offset = self.number(at, 'I')
        if offset == 0 or offset >= 1 << 31:
            raise Malformed('an offset at %d leads nowhere' % at)
        return at + offset

    def root(self):
        return Table(self, self.target(0))


class Table:
    def __init__(self, buffer, at):
        self.buffer, self.at = buffer, at
        self.vtable = at - buffer.number(at, 'i')
        self.vtable_size = buffer.number(self.vtable, 'H')
        size = buffer.number(self.vtable + 2, 'H')
        if self.vtable_size < 4 or self.vtable_size % 2 or size < 4:
            raise Malformed('a vtable at %d is too small' % self.vtable)
        if max(self.vtable + self.vtable_size, at + size) > len(buffer.data):
            raise Malformed('a table at %d ends outside' % at)

    def _field(self, n):
        entry = 4 + 2 * n
        if entry + 2 > self.vtable_size:
            return 0
        offset = self.buffer.number(self.vtable + entry, 'H')
        return offset and self.at + offset

    def scalar(self, n, form, default=0):
        at = self._field(n)
        return self.buffer.number(at, form) if at else default

    def _vector(self, n, element, align):
        """Place of the elements and their number."""
        field = self._field(n)
        if not field:
            return 0, 0
        at = self.buffer.target(field)
        count = self.buffer.number(at, 'I')
        at += 4
        if at + count * element > len(self.buffer.data):
            raise Malformed('a vector at %d ends outside' % at)
        if count and at % align:
            raise Malformed('a vector at %d is not aligned' % at)
        return at, count

    def structs(self, n, form):
        size = struct.calcsize('<' + form)
        at, count = self._vector(n, size, 8)
        return list(struct.iter_unpack('<' + form, self.buffer.data[at:at + count * size]))

    def tables(self, n, limit):
        at, count = self._vector(n, 4, 4)
        if count > limit:
            raise Malformed('more than %d tables' % limit)
        return [Table(self.buffer, self.buffer.target(at + 4 * i)) for i in range(count)]

    def string(self, n):
        at, count = self._vector(n, 1, 1)
        if at and self.buffer.data[at + count:at + count + 1] != b'\0':
            raise Malformed('a string at %d does not end in a zero' % at)
        return bytes(self.buffer.data[at:at + count])
