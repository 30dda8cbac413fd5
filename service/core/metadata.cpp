// SPDX-License-Identifier: Apache-2.0
#include "service/core/metadata.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "service/core/numbers.h"

namespace crawlstore::service {
namespace {

enum WireType : unsigned { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Numbers of fields.
constexpr std::uint64_t kMetadataOfInfo = 3;
constexpr std::uint64_t kNameOfEntry = 1;
constexpr std::uint64_t kListOfEntry = 2;
constexpr std::uint64_t kValueOfList = 1;

/// Bits of a tag below the number of its field, and the highest such number.
constexpr unsigned kTypeBits = 3;
constexpr std::uint64_t kFieldMax = (std::uint64_t{1} << 29) - 1;

void put_bytes(std::string& to, std::uint64_t field, std::string_view bytes) {
  put_number(to, field << kTypeBits | kBytes);
  put_number(to, bytes.size());
  to += bytes;
}

bool skip(std::string_view& message, std::size_t count) {
  const bool is_there = count <= message.size();
  if (is_there) message.remove_prefix(count);
  return is_there;
}

/// Calls take(field, bytes) for each field of a message that is bytes, until it returns false.
/// Returns whether the message has the form of one, and take() wanted all.
template <class Take>
bool for_each_field(std::string_view message, const Take& take) {
  while (!message.empty()) {
    const auto tag = take_number(message);
    if (!tag || *tag >> kTypeBits == 0 || *tag >> kTypeBits > kFieldMax) return false;
    switch (*tag & ((1U << kTypeBits) - 1)) {
      case kVarint:
        if (!take_number(message)) return false;
        break;
      case kFixed64:
        if (!skip(message, sizeof(std::uint64_t))) return false;
        break;
      case kFixed32:
        if (!skip(message, sizeof(std::uint32_t))) return false;
        break;
      case kBytes: {
        const auto size = take_number(message);
        if (!size || *size > message.size()) return false;
        if (!take(*tag >> kTypeBits, message.substr(0, *size))) return false;
        message.remove_prefix(*size);
        break;
      }
      default:
        return false;
    }
  }
  return true;
}

bool take_list(std::string_view list, std::vector<std::string>& values) {
  return for_each_field(list, [&values](std::uint64_t field, std::string_view value) {
    if (field == kValueOfList) values.emplace_back(value);
    return true;
  });
}

/// The last entry of a name counts, as in protobuf.
bool take_entry(std::string_view entry, Metadata& metadata) {
  std::string name;
  std::vector<std::string> values;
  const bool is_whole = for_each_field(entry, [&](std::uint64_t field, std::string_view bytes) {
    if (field == kNameOfEntry) name = bytes;
    return field != kListOfEntry || take_list(bytes, values);
  });
  if (is_whole) metadata.insert_or_assign(std::move(name), std::move(values));
  return is_whole;
}

}  // namespace

std::string encode(const Metadata& metadata) {
  std::string bytes;
  for (const auto& [name, values] : metadata) {
    std::string list;
    for (const std::string& value : values) put_bytes(list, kValueOfList, value);
    std::string entry;
    put_bytes(entry, kNameOfEntry, name);
    put_bytes(entry, kListOfEntry, list);
    put_bytes(bytes, kMetadataOfInfo, entry);
  }
  return bytes;
}

std::optional<Metadata> decode_metadata(std::string_view bytes) {
  Metadata metadata;
  const bool is_whole = for_each_field(bytes, [&](std::uint64_t field, std::string_view entry) {
    return field != kMetadataOfInfo || take_entry(entry, metadata);
  });
  return is_whole ? std::optional(std::move(metadata)) : std::nullopt;
}

}  // namespace crawlstore::service
