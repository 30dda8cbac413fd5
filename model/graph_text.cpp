// SPDX-License-Identifier: Apache-2.0
#include "model/graph_text.h"

#include "model/any_byte.h"
#include "model/format_text.h"
#include "model/utf8.h"

namespace crawlstore::model {
namespace {

/// UTF-8 without controls, and without what XML 1.0 excludes: U+FFFE and U+FFFF.
bool is_plain_text(std::string_view bytes) {
  for (const char c : bytes) {
    if (static_cast<unsigned char>(c) < 0x20 || c == '\x7F') return false;
  }
  return is_utf8(bytes) && bytes.find("\xEF\xBF\xBE") == std::string_view::npos &&
         bytes.find("\xEF\xBF\xBF") == std::string_view::npos;
}

/// In the printable form nothing is left of U+FFFE and U+FFFF either.
std::string plain_text(std::string_view bytes) {
  if (is_plain_text(bytes)) return std::string(bytes);
  std::string text = format_printable(bytes);
  for (const auto& [character, shown] : {std::pair{"\xEF\xBF\xBE", "\\xef\\xbf\\xbe"},
                                         std::pair{"\xEF\xBF\xBF", "\\xef\\xbf\\xbf"}}) {
    for (auto at = text.find(character); at != std::string::npos; at = text.find(character)) {
      text.replace(at, 3, shown);
    }
  }
  return text;
}

}  // namespace

void append_csv_field(std::string& to, std::string_view bytes, bool for_spreadsheet) {
  constexpr std::string_view kFormulaStarts = "=+-@\t\r";
  const bool is_formula =
      for_spreadsheet && !bytes.empty() && kFormulaStarts.find(bytes.front()) != bytes.npos;
  const std::string_view mark = is_formula ? "'" : "";
  const auto is_quoted = [](char c) { return (c == ',') | (c == '"') | (c == '\r') | (c == '\n'); };
  if (!any_byte(bytes, is_quoted)) {
    to.append(mark).append(bytes);
    return;
  }
  to.append("\"").append(mark);
  for (const char c : bytes) {
    if (c == '"') to += '"';
    to += c;
  }
  to += '"';
}

void append_dot_label(std::string& to, std::string_view bytes) {
  to += '"';
  for (const char c : plain_text(bytes)) {
    if (c == '&') {
      to += "&amp;";
      continue;
    }
    if (c == '"' || c == '\\') to += '\\';
    to += c;
  }
  to += '"';
}

void append_xml_text(std::string& to, std::string_view bytes) {
  for (const char c : plain_text(bytes)) {
    switch (c) {
      case '&':
        to += "&amp;";
        break;
      case '<':
        to += "&lt;";
        break;
      case '>':
        to += "&gt;";
        break;
      case '"':
        to += "&quot;";
        break;
      default:
        to += c;
    }
  }
}

}  // namespace crawlstore::model
