// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Numbers, sizes and places as people write them, on a command line or in a field of the
/// inspector. Threads: pure functions. nullopt = not of that form, or beyond 64 bits.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <crawlstore/types.h>

namespace crawlstore::model {

/// "1234567", "1,234,567", "1_234_567", "1e6", "1.5M"; hexadecimal as "0x1f". Separators stand
/// between digits; k, M, G and T are powers of 1000.
std::optional<std::uint64_t> parse_count(std::string_view text);

/// A count of bytes, or one with a unit: B, KiB, MiB, GiB, TiB (powers of 1024), kB, MB, GB, TB
/// (powers of 1000), in any case, with or without a space; "1.5GiB" as well.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

/// A time with its unit: "500ms", "2s", "1.5s", "1min" or "1m", "2h", "7d"; with or without a
/// space.
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);

/// A number that is finite and not negative: "0.05", "1e-7".
std::optional<double> parse_score(std::string_view text);

/// 32 hexadecimal digits, with or without hyphens.
std::optional<Uuid> parse_uuid(std::string_view text);

/// "2026-11-21", "2026-11-21T10:11:12Z", "2026-11-21T10:11:12.345678Z", or with an offset such as
/// +01:00 instead of Z: microseconds since the epoch. Times from 1970 to 9999, without leap
/// seconds; digits beyond microseconds are not taken.
std::optional<std::int64_t> parse_time(std::string_view text);

/// Pairs of hexadecimal digits as the bytes that they mean.
std::optional<std::string> parse_hex_bytes(std::string_view digits);

}  // namespace crawlstore::model
