// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Keys as people see and type them: 16 or 32 hexadecimal digits. Pure functions; any thread.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <crawlstore/drum_view.h>
#include <crawlstore/snapshot.h>

namespace crawlstore::model {

/// 16 or 32 lower-case digits.
std::string format_key(Key16 key, bool is_wide);

/// 1 to 16 hexadecimal digits, in any case, and nothing else.
std::optional<std::uint64_t> parse_hex(std::string_view digits);

struct KeyDigits {
  Key16 key;
  bool is_wide = false;
};

/// Reads the digits that format_key() gives, in any case.
std::optional<KeyDigits> parse_key_digits(std::string_view digits);

/// Reads the text that somebody typed as a key of this DRUM: its digits, in any case. If the DRUM
/// keys URLs, any other text is read as one: also text that no parser takes has a key there.
/// nullopt = neither, or nothing.
std::optional<Key16> parse_key(std::string_view text, const DrumInfo& info, std::uint64_t key_seed);

}  // namespace crawlstore::model
