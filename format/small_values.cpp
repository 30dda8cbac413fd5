// SPDX-License-Identifier: Apache-2.0
#include "small_values.h"

#include <algorithm>

#include "base/assert.h"
#include "endian.h"
#include "invalid.h"
#include "name.h"

namespace crawlstore::format {

namespace {

/// nullptr, or the text that names the broken rule.
const char* check_header(const ValuesHeader& header) {
  if (header.magic != kValuesMagic) return "the magic number of values is wrong";
  if (header.reserved != 0) return "reserved bytes of values are not zero";
  if (header.value_count == 0 || header.value_count > kSmallValuesMax) {
    return "the count of values is out of range";
  }
  return nullptr;
}

/// The same, of a value and the name before it.
const char* check_value(const SmallValue& value, std::string_view before) {
  if (value.name.empty() || !is_valid_name(value.name)) return "the name of a value is not valid";
  if (value.name <= before) return "the names of values do not ascend";
  if (value.bytes.size() > kSmallValueBytesMax) return "a value is too long";
  return nullptr;
}

}  // namespace

std::vector<std::byte> encode_values(std::span<const SmallValue> values) {
  std::uint64_t length = sizeof(ValuesHeader);
  std::string_view before;
  for (const SmallValue& value : values) {
    CRAWLSTORE_ASSERT(check_value(value, before) == nullptr);
    before = value.name;
    length += sizeof(ValueLengths) + value.name.size() + value.bytes.size();
  }
  const ValuesHeader header{.magic = kValuesMagic,
                            .value_count = static_cast<std::uint32_t>(values.size()),
                            .reserved = 0};
  CRAWLSTORE_ASSERT(check_header(header) == nullptr);
  std::vector<std::byte> payload(round_up(length, 8));
  store_struct(payload.data(), header);
  std::byte* at = payload.data() + sizeof header;
  for (const SmallValue& value : values) {
    store_struct(at, ValueLengths{.name_bytes = static_cast<std::uint16_t>(value.name.size()),
                                  .value_bytes = static_cast<std::uint16_t>(value.bytes.size())});
    at += sizeof(ValueLengths);
  }
  for (const SmallValue& value : values) {
    at = std::ranges::copy(std::as_bytes(std::span(value.name)), at).out;
    at = std::ranges::copy(value.bytes, at).out;
  }
  return payload;
}

Result<std::vector<SmallValue>> parse_values(std::span<const std::byte> payload) {
  if (payload.size() < sizeof(ValuesHeader) || payload.size() > kValuesBytesMax) {
    return invalid("the length of values is out of range");
  }
  const auto header = load_struct<ValuesHeader>(payload.data());
  if (const char* broken = check_header(header)) return invalid(broken);
  auto rest = payload.subspan(sizeof header);
  if (rest.size() / sizeof(ValueLengths) < header.value_count) {
    return invalid("the values do not fit their length");
  }
  const auto lengths = rest.first(header.value_count * sizeof(ValueLengths));
  rest = rest.subspan(lengths.size());
  std::vector<SmallValue> values;
  values.reserve(header.value_count);
  std::string_view before;
  for (std::size_t i = 0; i < header.value_count; ++i) {
    // Loaded once: the bytes may change.
    const std::size_t place = i * sizeof(ValueLengths);
    const auto length = load_struct<ValueLengths>(lengths.data() + place);
    if (rest.size() < std::size_t{length.name_bytes} + length.value_bytes) {
      return invalid("the values do not fit their length");
    }
    const auto name = numbers<char>(rest.first(length.name_bytes));
    const SmallValue value{{name.data(), name.size()},
                           rest.subspan(length.name_bytes, length.value_bytes)};
    if (const char* broken = check_value(value, before))
      return invalid(broken, sizeof header + place);
    before = value.name;
    rest = rest.subspan(value.name.size() + value.bytes.size());
    values.push_back(value);
  }
  const std::size_t end = payload.size() - rest.size();
  if (payload.size() != round_up(end, 8)) return invalid("the values do not fit their length");
  if (!is_zero(rest)) return invalid("padding of values is not zero", end);
  return values;
}

}  // namespace crawlstore::format
