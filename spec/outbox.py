# SPDX-License-Identifier: Apache-2.0
"""Blocks of the messages between shards (spec/shards.md)."""
import struct
from collections import namedtuple

import zstd_frame
from container import CrawlError
from drum import demand
from xxh3 import xxh3_64

HEADER = struct.Struct('<8sQQ8IQ')
SHARDS_MAX, URLS_MAX, RAW_MAX, URL_MAX = 4096, 65536, 33554432, 16777216
EXPANSION_MAX = 255

Block = namedtuple('Block', 'step crawl_key shard_count from_ to number is_last urls')


def take_length(raw, at):
    """(a number in LEB128 at `at`, its end); Outbox blocks rule 7."""
    number = shift = 0
    while True:
        demand(at < len(raw) and shift < 70, 'Outbox blocks rule 7: a length is cut short')
        byte = raw[at]
        number |= (byte & 127) << shift
        at += 1
        if byte < 128:
            demand((byte or not shift) and number < 1 << 64,
                   'Outbox blocks rule 7: a length is not in its shortest form')
            return number, at
        shift += 7


def take_urls(raw, url_count):
    urls, at = [], 0
    for _ in range(url_count):
        length, at = take_length(raw, at)
        demand(1 <= length <= URL_MAX and at + length <= len(raw),
               'Outbox blocks rule 7: the length of a URL')
        urls.append(raw[at:at + length])
        at += length
    demand(at == len(raw), 'Outbox blocks rule 7: more bytes')
    return urls


def unpack(payload, raw_bytes):
    if len(payload) == raw_bytes:
        return payload
    try:
        zstd_frame.check_subset(payload, raw_bytes)
        return zstd_frame.decompress(payload, size_max=RAW_MAX)
    except zstd_frame.Broken as error:
        raise CrawlError('segment_invalid', 'Outbox blocks rule 6: %s' % error) from None


def parse_block(block):
    """The Block of exactly these bytes; URLs as bytes. errors chunk_damaged, segment_invalid"""
    demand(len(block) >= HEADER.size, 'Outbox blocks rule 2: length')
    magic, step, crawl_key, shard_count, from_, to, number, url_count, raw_bytes, payload_bytes, \
        flags, checksum = HEADER.unpack_from(block)
    payload = block[HEADER.size:]
    if xxh3_64(block[:56] + payload) != checksum:
        raise CrawlError('chunk_damaged', 'Outbox blocks rule 1')
    demand(magic == b'CSHARDB1' and flags < 2 and len(payload) == payload_bytes,
           'Outbox blocks rule 2')
    demand(step > 0 and 2 <= shard_count <= SHARDS_MAX and from_ < shard_count and
           to < shard_count and from_ != to, 'Outbox blocks rule 3')
    demand(url_count <= URLS_MAX and (url_count > 0 or flags == 1) and
           2 * url_count <= raw_bytes <= (RAW_MAX if url_count else 0), 'Outbox blocks rule 4')
    demand(payload_bytes <= raw_bytes <= EXPANSION_MAX * payload_bytes, 'Outbox blocks rule 5')
    urls = take_urls(unpack(payload, raw_bytes), url_count)
    return Block(step, crawl_key, shard_count, from_, to, number, flags == 1, urls)


def cut_blocks(message):
    """The bytes of each block of a message; the last may be cut short."""
    at = 0
    while at < len(message):
        demand(at + HEADER.size <= len(message), 'Outbox blocks rule 2: length')
        end = at + HEADER.size + HEADER.unpack_from(message, at)[9]
        yield message[at:end]
        at = end
