// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Small values, and payloads of which each breaks a rule.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "format/format_samples.h"
#include "format/small_values.h"

namespace crawlstore::testing {

/// Lengths and contents as they are, whether they keep the rules or not.
inline Bytes raw_values(const std::vector<std::pair<std::string, std::string>>& values) {
  Bytes bytes = bytes_of_struct(
      format::ValuesHeader{format::kValuesMagic, static_cast<std::uint32_t>(values.size()), 0});
  std::string contents;
  for (const auto& [name, value] : values) {
    const Bytes lengths = bytes_of_struct(format::ValueLengths{
        static_cast<std::uint16_t>(name.size()), static_cast<std::uint16_t>(value.size())});
    bytes.insert(bytes.end(), lengths.begin(), lengths.end());
    contents += name + value;
  }
  const Bytes behind = bytes_of(contents);
  bytes.insert(bytes.end(), behind.begin(), behind.end());
  bytes.resize(format::round_up(bytes.size(), 8));
  return bytes;
}

/// Makes `count` values without bytes, "a0000" and so on.
inline Bytes many_values(std::size_t count) {
  std::vector<std::pair<std::string, std::string>> values;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    values.emplace_back("a" + std::string(4 - number.size(), '0') + number, "");
  }
  return raw_values(values);
}

/// Three values: 16 bytes of header, 12 of lengths, 7 + 13 + 1 of contents, 7 of padding.
inline Bytes sample_values() {
  return raw_values({{".next", "ab"}, {"pages", std::string("\1\0\0\0\0\0\0\0", 8)}, {"x", ""}});
}

/// Payloads by name: what begins with "rule_N_" breaks rule N of values.md#small-values, all others
/// keep all rules. The library and spec/small_values.py are both held to it.
inline std::map<std::string, Bytes> sample_value_payloads() {
  const auto with = [](std::size_t offset, std::uint8_t byte) {
    Bytes bytes = sample_values();
    bytes.at(offset) = std::byte{byte};
    return bytes;
  };
  Bytes longer = sample_values();
  longer.resize(longer.size() + 8);
  return {
      {"three", sample_values()},
      {"longest", raw_values({{std::string(255, 'n'), std::string(4096, 'v')}})},
      {"most", many_values(1024)},
      {"rule_1_magic", with(0, 'c')},
      {"rule_1_reserved", with(12, 1)},
      {"rule_1_length_of_value", with(18, 200)},
      {"rule_1_lengths_beyond_the_end", with(8, 250)},
      {"rule_1_longer", longer},
      {"rule_1_header", Bytes(longer.begin(), longer.begin() + 8)},
      {"rule_2_none", raw_values({})},
      {"rule_2_too_many", many_values(1025)},
      {"rule_3_empty_name", raw_values({{"", "value"}})},
      {"rule_3_control_character", with(28, '\t')},
      {"rule_3_long_name", raw_values({{std::string(256, 'n'), ""}})},
      {"rule_3_same_name", raw_values({{"a", "1"}, {"a", "2"}})},
      {"rule_3_order", raw_values({{"b", ""}, {"a", ""}})},
      {"rule_4_long_value", raw_values({{"a", std::string(4097, 'v')}})},
      {"rule_5_padding", with(55, 1)},
  };
}

}  // namespace crawlstore::testing
