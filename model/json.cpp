// SPDX-License-Identifier: Apache-2.0
#include "model/json.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "model/any_byte.h"
#include "model/format_text.h"
#include "model/utf8.h"

namespace crawlstore::model {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kHexDigits = "0123456789abcdef";

struct CellJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(bool flag) const { return flag; }
  Json operator()(std::int64_t number) const { return number; }
  Json operator()(std::uint64_t number) const { return number; }
  Json operator()(double ratio) const { return ratio; }
  Json operator()(const std::string& text) const { return text; }
};

void put(Json& object, const std::string& name, Unit unit, const Cell& cell) {
  const auto* const text = std::get_if<std::string>(&cell);
  if (text != nullptr && !is_utf8(*text)) {
    std::string digits;
    append_hex(digits, *text);
    object[name + "_hex"] = std::move(digits);
    return;
  }
  object[name] = std::visit(CellJson{}, cell);
  constexpr std::string_view kSuffix = "_us";
  if (unit == Unit::kTimeUs && name.ends_with(kSuffix)) {
    const bool is_known = !std::holds_alternative<std::monostate>(cell);
    object[name.substr(0, name.size() - kSuffix.size())] =
        is_known ? Json(format_cell(cell, unit)) : Json(nullptr);
  }
}

Json list_of(const Table& table) {
  Json list = Json::array();
  for (const auto& row : table.rows) {
    Json object = Json::object();
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      put(object, table.columns[i].name, table.columns[i].unit, row[i]);
    }
    list.push_back(std::move(object));
  }
  return list;
}

bool is_escaped(char c) {
  return (static_cast<unsigned char>(c) < 0x20) | (c == '"') | (c == '\\') | (c == '\x7F');
}

/// Runs of bytes that stand for themselves are appended as a whole.
void append_escaped(std::string& to, std::string_view text) {
  while (true) {
    const auto* const found = std::find_if(text.begin(), text.end(), is_escaped);
    to.append(text.begin(), found);
    if (found == text.end()) return;
    to += '\\';
    if (*found == '"' || *found == '\\') {
      to += *found;
    } else {
      to += "u00";
      append_hex(to, {found, 1});
    }
    text.remove_prefix(static_cast<std::size_t>(found - text.begin()) + 1);
  }
}

}  // namespace

std::string to_json(const Document& document) {
  Json object = Json::object();
  for (const Field& field : document.fields) put(object, field.name, field.unit, field.value);
  for (const Table& table : document.tables) object[table.name] = list_of(table);
  return object.dump(2) + '\n';
}

void append_json_bytes(std::string& to, std::string_view key, std::string_view bytes) {
  to += '"';
  to += key;
  if (is_utf8(bytes)) {
    to += "\":";
    append_json_text(to, bytes);
    return;
  }
  to += "_hex\":\"";
  append_hex(to, bytes);
  to += '"';
}

void append_json_text(std::string& to, std::string_view text) {
  to += '"';
  if (any_byte(text, is_escaped)) {
    append_escaped(to, text);
  } else {
    to += text;
  }
  to += '"';
}

void append_json_list_end(std::string& to, bool is_empty, const Result<void>& read,
                          std::string_view members) {
  to += is_empty ? "]" : "\n  ]";
  to += members;
  to += ",\n  \"error\": ";
  if (read) {
    to += "null";
  } else {
    append_json_text(to, describe(read.error()));
  }
  to += "\n}\n";
}

void append_hex(std::string& to, std::string_view bytes) {
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    to += kHexDigits[byte >> 4];
    to += kHexDigits[byte & 15];
  }
}

}  // namespace crawlstore::model
