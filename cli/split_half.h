// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The two files that a file is split into, while they are made. Threads: one.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/shard.h>
#include <crawlstore/store.h>

namespace crawlstore::cli {

struct SplitHalf {
  Shard shard;
  std::string path;  ///< that it gets when both are whole
  std::string part;  ///< until then
  Store store;
};

/// Both halves, and what all steps of a split need.
struct SplitWork {
  std::vector<SplitHalf> halves;   ///< two, the lower one first
  std::uint64_t memory_bytes = 0;  ///< of one half
  /// Told how far a step is; its error ends the split.
  std::function<Result<void>(std::uint64_t done, std::uint64_t total)> look;
  Progress superstep;          ///< told of supersteps
  std::size_t working_on = 0;  ///< the half that an error is of, unless FILE is damaged

  /// Returns the half that has a host, or 2.
  [[nodiscard]] std::size_t owner(std::string_view host) const {
    const std::uint32_t shard = shard_of(host, halves.front().shard.count);
    const std::uint32_t lower = halves.front().shard.index;
    return shard < lower || shard - lower > 1 ? 2 : shard - lower;
  }
  /// Returns the half that an entry of a host goes to: one that is of neither stays with the lower.
  [[nodiscard]] std::size_t keeper(std::string_view host) const { return owner(host) % 2; }
};

}  // namespace crawlstore::cli
