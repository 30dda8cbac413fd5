// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/shown_text.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "model/format_text.h"
#include "model/utf8.h"

namespace crawlstore::inspector {
namespace {

constexpr char32_t kDrawnMax = 0xFFFF;  // ImWchar has 16 bits

bool is_control(char32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0);
}

bool is_drawable(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t length = model::utf8_length(bytes);
    if (length == 0) return false;
    const char32_t code_point = model::utf8_decode(bytes, length);
    if (code_point > kDrawnMax || is_control(code_point)) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

}  // namespace

std::string shown_text(std::string_view bytes) {
  if (is_drawable(bytes)) return std::string(bytes);
  std::string text;
  while (!bytes.empty()) {
    const std::size_t length = model::utf8_length(bytes);
    const std::string_view piece = bytes.substr(0, length == 0 ? 1 : length);
    const char32_t code_point = length == 0 ? 0 : model::utf8_decode(bytes, length);
    if (code_point > kDrawnMax) {
      text += fmt::format("\\u{{{:x}}}", static_cast<std::uint32_t>(code_point));
    } else {
      text += model::format_printable(piece);
    }
    bytes.remove_prefix(piece.size());
  }
  return text;
}

std::string shown_text(const model::Cell& cell, model::Unit unit) {
  const auto* text = std::get_if<std::string>(&cell);
  return text != nullptr ? shown_text(*text) : model::format_cell(cell, unit);
}

std::string broken_at_blanks(std::string_view text, float room,
                             const std::function<float(std::string_view)>& width_of) {
  std::string broken;
  while (!text.empty()) {
    const auto line_end = std::min(text.find('\n'), text.size());
    std::size_t fits = std::min(text.find(' '), line_end);
    while (fits < line_end) {
      const auto next = std::min(text.find(' ', fits + 1), line_end);
      if (width_of(text.substr(0, next)) > room) break;
      fits = next;
    }
    broken += text.substr(0, fits);
    // The blank, or the break that was there.
    if (fits < text.size()) broken += '\n';
    text.remove_prefix(std::min(fits + 1, text.size()));
  }
  return broken;
}

CopiedText copied_text(const model::Cell& cell, model::Unit unit) {
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr) return {model::format_cell(cell, unit)};
  if (model::is_utf8(*text) && text->find('\0') == text->npos) return {*text};
  CopiedText copied{{}, true};
  for (const char byte : *text) {
    if (!copied.text.empty()) copied.text += ' ';
    copied.text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  return copied;
}

}  // namespace crawlstore::inspector
