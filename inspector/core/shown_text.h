// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Bytes of a file as text that the screen can draw, and as text that a clipboard can hold.
/// Pure functions; any thread.

#include <functional>
#include <string>
#include <string_view>

#include "model/table.h"

namespace crawlstore::inspector {

/// One line of valid UTF-8, whatever the bytes are: controls and what is no UTF-8 become "\xff",
/// code points beyond U+FFFF, which ImGui cannot draw, "\u{1f600}"; then "\" is doubled as well.
/// Left alone when it is drawable already.
std::string shown_text(std::string_view bytes);
/// A cell so; numbers as their unit says.
std::string shown_text(const model::Cell& cell, model::Unit unit);

/// The text with line breaks where a line would be wider than `room`. Lines break at blanks alone,
/// not in numbers and names with points and commas; a word that is wider than a line is left whole.
std::string broken_at_blanks(std::string_view text, float room,
                             const std::function<float(std::string_view)>& width_of);

/// Bytes as a clipboard takes them: as they are, or as pairs of hexadecimal digits, which the hex
/// panel finds, when they are no UTF-8 or hold a NUL, where clipboards end.
struct CopiedText {
  std::string text;
  bool is_hex = false;
};
CopiedText copied_text(const model::Cell& cell, model::Unit unit);

}  // namespace crawlstore::inspector
