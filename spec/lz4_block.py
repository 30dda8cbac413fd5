# SPDX-License-Identifier: Apache-2.0
"""A reader of LZ4 blocks, from drum.md (Auxiliary blocks). None: the block is not valid."""


def _length(block, at, begin):
    """(a length that begins in a token, the place behind it), or None where it is cut off."""
    if begin < 15:
        return begin, at
    while at < len(block):
        begin += block[at]
        at += 1
        if block[at - 1] != 255:
            return begin, at
    return None


def decompress(block, raw_bytes):
    """The raw_bytes bytes of a block."""
    raw, at = bytearray(), 0
    while at < len(block):
        token = block[at]
        found = _length(block, at + 1, token >> 4)
        if found is None:
            return None
        literals, at = found
        if at + literals > len(block) or len(raw) + literals > raw_bytes:
            return None
        raw += block[at:at + literals]
        at += literals
        if at == len(block):
            return bytes(raw) if len(raw) == raw_bytes else None
        # A match begins at least 12 bytes before the end; what follows it are 5 literals at least.
        if len(raw) + 12 > raw_bytes or at + 2 > len(block):
            return None
        offset = block[at] | block[at + 1] << 8
        found = _length(block, at + 2, token & 15)
        if found is None:
            return None
        length, at = found[0] + 4, found[1]
        if not 1 <= offset <= len(raw) or len(raw) + length + 5 > raw_bytes:
            return None
        begin = len(raw) - offset
        while length > 0:  # what it repeats may have been written by itself
            part = raw[begin:begin + length]
            raw += part
            length -= len(part)
    return None
