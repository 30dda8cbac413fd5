// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include <crawlstore/shard.h>
#include <crawlstore/values.h>

#include "container/directory_state.h"
#include "container/reader.h"

namespace crawlstore::values {

/// The segment of small values, or nullptr.
const format::SegmentEntry* find_values(const container::Directory& directory);

/// Reads the values of a segment, or none of nullptr. Errors name the segment.
Result<SmallValues> load(Storage& storage, const Uuid& store, const format::SegmentEntry* entry);

/// The value that says which shard of several a file is.
inline constexpr std::string_view kShardName = ".shard";
/// The shard that values name, or one that is alone. errors kSegmentInvalid
Result<Shard> shard_in(const SmallValues& values);
/// errors  kSegmentInvalid
Result<Shard> shard_in(std::span<const std::byte> bytes);

}  // namespace crawlstore::values
