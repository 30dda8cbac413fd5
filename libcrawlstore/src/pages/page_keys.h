// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The keys of pages as a reader sees them: a DRUM, and the runs of fresh keys beside it.

#include <functional>
#include <memory>
#include <vector>

#include <crawlstore/drum_view.h>

#include "drum/partition_probe.h"

namespace crawlstore::pages {

/// Threads: any number.
class PageKeys {
 public:
  /// Each key is in one of these.
  PageKeys(DrumView drum, std::vector<std::shared_ptr<const drum::PartitionLookup>> fresh)
      : drum_(std::move(drum)), fresh_(std::move(fresh)) {}

  /// Returns the number of pages that have a key: all but those that were forgotten.
  [[nodiscard]] std::uint64_t count() const;

  /// The value of the key. cost: an index look-up and a block in each until it is found
  Result<std::optional<std::vector<std::byte>>> lookup(Key16 key) const;

  /// `keys` ascend. cost: the blocks that hold them, read forwards
  ///   errors  of damage, and those of `visit`
  Result<void> find_sorted(std::span<const Key16> keys, const drum::VisitFound& visit) const;

  /// Ascending keys that are not below `from`, until `visit` returns false.
  using Visit = std::function<bool(Key16 key, std::span<const std::byte> value)>;
  Result<void> for_each_key(const Visit& visit, Key16 from = {}) const;

 private:
  DrumView drum_;
  std::vector<std::shared_ptr<const drum::PartitionLookup>> fresh_;  // oldest first
};

}  // namespace crawlstore::pages
