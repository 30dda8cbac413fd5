# SPDX-License-Identifier: Apache-2.0
"""XXH3, 64 and 128 bits, from the public description of the algorithm (xxHash 0.8)."""
import struct

M64 = (1 << 64) - 1
P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64_1, P64_2, P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P64_4, P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
PRIME_MX1, PRIME_MX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25
SECRET = bytes.fromhex(
    'b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f'
    'cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c'
    '3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8'
    'a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364'
    'eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e'
    '2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e')


def _r32(b, at):
    return int.from_bytes(b[at:at + 4], 'little')


def _r64(b, at):
    return int.from_bytes(b[at:at + 8], 'little')


def _fold(a, b):
    product = a * b
    return (product & M64) ^ (product >> 64)


def _avalanche(h):
    h ^= h >> 37
    h = h * PRIME_MX1 & M64
    return h ^ h >> 32


def _avalanche64(h):
    h ^= h >> 33
    h = h * P64_2 & M64
    h ^= h >> 29
    h = h * P64_3 & M64
    return h ^ h >> 32


def _rotl(x, n):
    return (x << n | x >> 64 - n) & M64


def _mix16(b, at, s, seed):
    return _fold(_r64(b, at) ^ (_r64(SECRET, s) + seed & M64),
                 _r64(b, at + 8) ^ (_r64(SECRET, s + 8) - seed & M64))


def _short(b, n, seed):
    if n == 0:
        return _avalanche64(seed ^ _r64(SECRET, 56) ^ _r64(SECRET, 64))
    if n <= 3:
        combined = b[0] << 16 | b[n >> 1] << 24 | b[n - 1] | n << 8
        flip = (_r32(SECRET, 0) ^ _r32(SECRET, 4)) + seed & M64
        return _avalanche64(combined ^ flip)
    if n <= 8:
        seed ^= int.from_bytes(struct.pack('>I', seed & 0xFFFFFFFF), 'little') << 32
        flip = (_r64(SECRET, 8) ^ _r64(SECRET, 16)) - seed & M64
        h = (_r32(b, n - 4) + (_r32(b, 0) << 32)) ^ flip
        h ^= _rotl(h, 49) ^ _rotl(h, 24)
        h = h * PRIME_MX2 & M64
        h ^= (h >> 35) + n
        h = h * PRIME_MX2 & M64
        return h ^ h >> 28
    lo = _r64(b, 0) ^ ((_r64(SECRET, 24) ^ _r64(SECRET, 32)) + seed & M64)
    hi = _r64(b, n - 8) ^ ((_r64(SECRET, 40) ^ _r64(SECRET, 48)) - seed & M64)
    swapped = int.from_bytes(lo.to_bytes(8, 'little'), 'big')
    return _avalanche(n + swapped + hi + _fold(lo, hi) & M64)


def _middle(b, n, seed):
    acc = n * P64_1
    if n <= 128:
        for i in range((n - 1) // 32, -1, -1):
            acc += _mix16(b, 16 * i, 32 * i, seed) + _mix16(b, n - 16 * (i + 1), 32 * i + 16, seed)
        return _avalanche(acc & M64)
    for i in range(8):
        acc += _mix16(b, 16 * i, 16 * i, seed)
    acc = _avalanche(acc & M64)
    for i in range(8, n // 16):
        acc += _mix16(b, 16 * i, 16 * (i - 8) + 3, seed)
    return _avalanche(acc + _mix16(b, n - 16, 136 - 17, seed) & M64)


def _stripe(acc, d, s):
    """One stripe of 64 bytes: words d, words of the secret s."""
    a0, a1, a2, a3, a4, a5, a6, a7 = acc
    d0, d1, d2, d3, d4, d5, d6, d7 = d
    k = d0 ^ s[0]; a1 += d0; a0 += (k & 0xFFFFFFFF) * (k >> 32)
    k = d1 ^ s[1]; a0 += d1; a1 += (k & 0xFFFFFFFF) * (k >> 32)
    k = d2 ^ s[2]; a3 += d2; a2 += (k & 0xFFFFFFFF) * (k >> 32)
    k = d3 ^ s[3]; a2 += d3; a3 += (k & 0xFFFFFFFF) * (k >> 32)
    k = d4 ^ s[4]; a5 += d4; a4 += (k & 0xFFFFFFFF) * (k >> 32)
    k = d5 ^ s[5]; a4 += d5; a5 += (k & 0xFFFFFFFF) * (k >> 32)
    k = d6 ^ s[6]; a7 += d6; a6 += (k & 0xFFFFFFFF) * (k >> 32)
    k = d7 ^ s[7]; a6 += d7; a7 += (k & 0xFFFFFFFF) * (k >> 32)
    return a0, a1, a2, a3, a4, a5, a6, a7


def _accumulate(b, n, seed):
    """(accumulators, secret) of more than 240 bytes."""
    secret = b''.join(
        struct.pack('<QQ', _r64(SECRET, i) + seed & M64, _r64(SECRET, i + 8) - seed & M64)
        for i in range(0, 192, 16))
    words = struct.unpack('<24Q', secret)
    keys = [words[i:i + 8] for i in range(17)]
    acc = (P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1)
    blocks = (n - 1) // 1024
    for block in range(blocks + 1):
        count = 16 if block < blocks else (n - 1 - 1024 * blocks) // 64
        data = struct.unpack_from('<%dQ' % (8 * count), b, 1024 * block)
        for i in range(count):
            acc = _stripe(acc, data[8 * i:8 * i + 8], keys[i])
        if block < blocks:
            acc = tuple((a ^ a >> 47 ^ k) * P32_1 & M64
                        for a, k in zip((a & M64 for a in acc), keys[16]))
    acc = _stripe(acc, struct.unpack_from('<8Q', b, n - 64), struct.unpack_from('<8Q', secret, 121))
    return [a & M64 for a in acc], secret


def _merge(acc, secret, at, h):
    for i in range(4):
        h += _fold(acc[2 * i] ^ _r64(secret, at + 16 * i),
                   acc[2 * i + 1] ^ _r64(secret, at + 8 + 16 * i))
    return _avalanche(h & M64)


def _long(b, n, seed):
    acc, secret = _accumulate(b, n, seed)
    return _merge(acc, secret, 11, n * P64_1)


def xxh3_64(b, seed=0):
    n = len(b)
    if n <= 16:
        return _short(b, n, seed)
    return _middle(b, n, seed) if n <= 240 else _long(b, n, seed)


# 128 bits: pairs (high half, low half).


def _swap(x, size):
    return int.from_bytes(x.to_bytes(size, 'little'), 'big')


def _short_128(b, n, seed):
    if n == 0:
        return (_avalanche64(seed ^ _r64(SECRET, 80) ^ _r64(SECRET, 88)),
                _avalanche64(seed ^ _r64(SECRET, 64) ^ _r64(SECRET, 72)))
    if n <= 3:
        low = b[0] << 16 | b[n >> 1] << 24 | b[n - 1] | n << 8
        high = _swap(low, 4)
        high = (high << 13 | high >> 19) & 0xFFFFFFFF
        return (_avalanche64(high ^ (_r32(SECRET, 8) ^ _r32(SECRET, 12)) - seed & M64),
                _avalanche64(low ^ (_r32(SECRET, 0) ^ _r32(SECRET, 4)) + seed & M64))
    if n <= 8:
        seed ^= _swap(seed & 0xFFFFFFFF, 4) << 32
        keyed = (_r32(b, 0) + (_r32(b, n - 4) << 32)) ^ \
            ((_r64(SECRET, 16) ^ _r64(SECRET, 24)) + seed & M64)
        product = keyed * (P64_1 + (n << 2))
        low, high = product & M64, product >> 64
        high = high + (low << 1) & M64
        low ^= high >> 3
        low ^= low >> 35
        low = low * PRIME_MX2 & M64
        return _avalanche(high), low ^ low >> 28
    lo, hi = _r64(b, 0), _r64(b, n - 8)
    product = (lo ^ hi ^ ((_r64(SECRET, 32) ^ _r64(SECRET, 40)) - seed & M64)) * P64_1
    low, high = (product & M64) + (n - 1 << 54) & M64, product >> 64
    hi ^= (_r64(SECRET, 48) ^ _r64(SECRET, 56)) + seed & M64
    high = high + hi + (hi & 0xFFFFFFFF) * (P32_2 - 1) & M64
    low ^= _swap(high, 8)
    product = low * P64_2
    return (_avalanche((product >> 64) + high * P64_2 & M64), _avalanche(product & M64))


def _middle_128(b, n, seed):
    low, high = n * P64_1 & M64, 0

    def mix32(at_1, at_2, s, seed):
        nonlocal low, high
        low = (low + _mix16(b, at_1, s, seed) & M64) ^ (_r64(b, at_2) + _r64(b, at_2 + 8) & M64)
        high = (high + _mix16(b, at_2, s + 16, seed) & M64) ^ \
            (_r64(b, at_1) + _r64(b, at_1 + 8) & M64)

    if n <= 128:
        for i in range((n - 1) // 32, -1, -1):
            mix32(16 * i, n - 16 * (i + 1), 32 * i, seed)
    else:
        for i in range(4):
            mix32(32 * i, 32 * i + 16, 32 * i, seed)
        low, high = _avalanche(low), _avalanche(high)
        for i in range(4, n // 32):
            mix32(32 * i, 32 * i + 16, 32 * (i - 4) + 3, seed)
        mix32(n - 16, n - 32, 136 - 17 - 16, -seed & M64)
    return (-_avalanche(low * P64_1 + high * P64_4 + (n - seed) * P64_2 & M64) & M64,
            _avalanche(low + high & M64))


def xxh3_128(b, seed=0):
    """(high half, low half)."""
    n = len(b)
    if n <= 16:
        return _short_128(b, n, seed)
    if n <= 240:
        return _middle_128(b, n, seed)
    acc, secret = _accumulate(b, n, seed)
    return (_merge(acc, secret, 192 - 64 - 11, ~(n * P64_2) & M64),
            _merge(acc, secret, 11, n * P64_1))
