// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Strict UTF-8: shortest forms, no surrogates, up to U+10FFFF. Pure functions; any thread.

#include <cstddef>
#include <string_view>

namespace crawlstore::model {

/// Bytes of the code point at the start of `bytes`; 0 when there is none, or no valid one.
std::size_t utf8_length(std::string_view bytes);

/// The code point of so many bytes; `length` is what utf8_length() said of them, not 0.
char32_t utf8_decode(std::string_view bytes, std::size_t length);

/// Whether the bytes are UTF-8, the empty string as well. Cost: one pass, many bytes at a time
/// while they are ASCII.
bool is_utf8(std::string_view bytes);

}  // namespace crawlstore::model
