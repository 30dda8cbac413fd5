// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The small values of a file, each with its name: spec/values.md#small-values. Pure functions over
/// bytes; any thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <crawlstore/error.h>

#include "layout.h"

namespace crawlstore::format {

/// The name of the segment, which a file has once at most.
inline constexpr std::string_view kValuesName = "values";

/// Bytes of the longest payload.
inline constexpr std::uint64_t kValuesBytesMax =
    sizeof(ValuesHeader) +
    kSmallValuesMax * (sizeof(ValueLengths) + kNameBytesMax + std::uint64_t{kSmallValueBytesMax});
static_assert(kValuesBytesMax % 8 == 0);

/// Views into the bytes that were parsed, or are to be encoded.
struct SmallValue {
  std::string_view name;
  std::span<const std::byte> bytes;
};

/// `values` keep the rules.
std::vector<std::byte> encode_values(std::span<const SmallValue> values);
/// The values in the order of their names; views stay in the payload, even while it changes.
///   errors  kSegmentInvalid (offset relative to the payload)
Result<std::vector<SmallValue>> parse_values(std::span<const std::byte> payload);

}  // namespace crawlstore::format
