// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Small values of a program: counters and states of its own that belong to what it crawls, as how
/// far it has read its input. Store::set() keeps them, in one commit with all that waits; here a
/// snapshot's are read. The bytes are in spec/values.md, "Small values".
///
/// Ownership: as in crawlstore.hpp. Threads: any number.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/snapshot.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// Bytes of a small value, without its name.
inline constexpr std::uint32_t kSmallValueBytesMax = 4096;
/// Small values of a store.
inline constexpr std::uint32_t kSmallValuesMax = 1024;

/// Bytes by name, in the order of the names.
using SmallValues = std::map<std::string, std::vector<std::byte>, std::less<>>;

/// Reads all small values of a generation; there may be none.
///   errors  kChunkDamaged, kSegmentInvalid; of storage
///   cost    one read of at most 5 MiB, as a rule of one unit of 4 KiB
[[nodiscard]] Result<SmallValues> read_values(const Snapshot& snapshot);

}  // namespace crawlstore
#pragma GCC visibility pop
