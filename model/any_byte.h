// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Whether a text holds a byte of a small set: `std::string_view::find_first_of` calls memchr for
/// each character, and is not for what is asked once a URL. Threads: pure functions.

#include <string_view>

namespace crawlstore::model {

/// `test` is true of one of the bytes. Cost: one pass; where `test` joins comparisons with `|`, the
/// compiler makes it 16 bytes at a time, which it does not for `||`, or for a result of type bool.
template <class Test>
bool any_byte(std::string_view text, Test test) {
  unsigned char any = 0;
  for (const char c : text) {
    any = static_cast<unsigned char>(any | static_cast<unsigned char>(test(c) ? 1 : 0));
  }
  return any != 0;
}

/// A TAB, CR or LF: the text would look like more than one field or line.
inline bool breaks_lines(std::string_view text) {
  return any_byte(text, [](char c) { return (c == '\t') | (c == '\r') | (c == '\n'); });
}

}  // namespace crawlstore::model
