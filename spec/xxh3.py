# SPDX-License-Identifier: Apache-2.0
"""XXH3, 64 bits, with a seed, in plain Python: the reference is xxHash 0.8, doc/xxhash_spec.md."""

import struct

MASK = 2**64 - 1
P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64_1, P64_2, P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P64_4, P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")


def u32(data, offset):
    return struct.unpack_from("<I", data, offset)[0]


def u64(data, offset):
    return struct.unpack_from("<Q", data, offset)[0]


def fold(a, b):
    product = a * b
    return (product ^ product >> 64) & MASK


def rotate(value, count):
    return (value << count | value >> 64 - count) & MASK


def avalanche(value):
    value ^= value >> 37
    value = value * 0x165667919E3779F9 & MASK
    return value ^ value >> 32


def avalanche_64(value):
    value = (value ^ value >> 33) * P64_2 & MASK
    value = (value ^ value >> 29) * P64_3 & MASK
    return value ^ value >> 32


def mix(data, offset, secret, seed):
    return fold(u64(data, offset) ^ (u64(SECRET, secret) + seed & MASK),
                u64(data, offset + 8) ^ (u64(SECRET, secret + 8) - seed & MASK))


def up_to_16(data, seed):
    length = len(data)
    if length > 8:
        low = u64(data, 0) ^ ((u64(SECRET, 24) ^ u64(SECRET, 32)) + seed & MASK)
        high = u64(data, length - 8) ^ ((u64(SECRET, 40) ^ u64(SECRET, 48)) - seed & MASK)
        swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
        return avalanche(length + swapped + high + fold(low, high) & MASK)
    if length >= 4:
        seed ^= int.from_bytes((seed & 0xFFFFFFFF).to_bytes(4, "little"), "big") << 32
        value = u32(data, length - 4) + (u32(data, 0) << 32)
        value ^= (u64(SECRET, 8) ^ u64(SECRET, 16)) - seed & MASK
        value ^= rotate(value, 49) ^ rotate(value, 24)
        value = value * 0x9FB21C651E98DF25 & MASK
        value ^= (value >> 35) + length
        value = value * 0x9FB21C651E98DF25 & MASK
        return value ^ value >> 28
    if length:
        value = data[0] << 16 | data[length // 2] << 24 | data[-1] | length << 8
        return avalanche_64(value ^ ((u32(SECRET, 0) ^ u32(SECRET, 4)) + seed & MASK))
    return avalanche_64(seed ^ u64(SECRET, 56) ^ u64(SECRET, 64))


def up_to_240(data, seed):
    length = len(data)
    total = length * P64_1
    if length <= 128:
        for i in range((length - 1) // 32 + 1):
            total += mix(data, 16 * i, 32 * i, seed)
            total += mix(data, length - 16 * (i + 1), 32 * i + 16, seed)
        return avalanche(total & MASK)
    for i in range(8):
        total += mix(data, 16 * i, 16 * i, seed)
    total = avalanche(total & MASK)
    for i in range(8, length // 16):
        total += mix(data, 16 * i, 16 * (i - 8) + 3, seed)
    return avalanche(total + mix(data, length - 16, 136 - 17, seed) & MASK)


def accumulate(lanes, words, key):
    for i in range(8):
        value = words[i]
        lanes[i ^ 1] += value
        value ^= key[i]
        lanes[i] = lanes[i] + (value & 0xFFFFFFFF) * (value >> 32) & MASK


def long_hash(data, seed):
    words = struct.unpack("<24Q", SECRET)
    secret = struct.pack("<24Q", *(word + (seed, -seed)[i % 2] & MASK
                                   for i, word in enumerate(words)))
    keys = [struct.unpack_from("<8Q", secret, 8 * i) for i in range(17)]
    lanes = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1]
    stripes = (len(data) - 1) // 64
    for n, words in zip(range(stripes), struct.iter_unpack("<8Q", data[:stripes * 64])):
        accumulate(lanes, words, keys[n % 16])
        if n % 16 == 15:
            lanes = [((lane & MASK) ^ (lane & MASK) >> 47 ^ key) * P32_1 & MASK
                     for lane, key in zip(lanes, keys[16])]
    accumulate(lanes, struct.unpack("<8Q", data[-64:]), struct.unpack_from("<8Q", secret, 121))
    total = len(data) * P64_1
    for i in range(4):
        total += fold((lanes[2 * i] & MASK) ^ u64(secret, 11 + 16 * i),
                      (lanes[2 * i + 1] & MASK) ^ u64(secret, 19 + 16 * i))
    return avalanche(total & MASK)


def xxh3_64(data, seed=0):
    """The hash of bytes."""
    if len(data) <= 16:
        return up_to_16(data, seed)
    return up_to_240(data, seed) if len(data) <= 240 else long_hash(data, seed)
