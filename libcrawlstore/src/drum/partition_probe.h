// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Many look-ups in one partition, by ascending keys. They decode each block at most once, and read
/// the file forwards only.

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "drum/partition.h"

namespace crawlstore::drum {

/// Threads: one at a time.
class PartitionProbe {
 public:
  /// Makes a probe of a partition whose values have one length.
  explicit PartitionProbe(std::shared_ptr<const PartitionLookup> lookup)
      : lookup_(std::move(lookup)) {}

  /// Returns the value of a key, valid until the next call; nothing if the key is absent. No key
  /// may be below the one before it.
  ///   cost    a search in the block, while keys lie in one block
  ///   errors  of damage
  Result<std::optional<std::span<const std::byte>>> find(Key16 key);
  /// Announces `key_count` look-ups from `first` to `last`. If there are as many as blocks between,
  /// these blocks are read ahead.
  Result<void> expect(Key16 first, Key16 last, std::uint64_t key_count);

 private:
  void read_ahead(std::uint64_t offset);
  Result<void> load_block_of(Key16 key);
  [[nodiscard]] Key16 key_at(std::uint32_t i) const { return {keys_[i], tails_[i]}; }

  std::shared_ptr<const PartitionLookup> lookup_;
  format::KeyBlock block_{};
  std::uint32_t position_ = 0;
  Extent ahead_{};  // of the payload, still to be read ahead
  format::BlockNumbers keys_{};
  format::BlockNumbers tails_{};  // of 8-byte keys zeros
};

/// Gets each key that is there: its place among the keys looked up, and its value, which is valid
/// in the call only.
using VisitFound = std::function<Result<void>(std::size_t place, std::span<const std::byte> value)>;

/// Looks up the ascending `keys`, from number `first` up to `end`, in one partition.
///   errors  of damage, and those of `visit`
Result<void> find_sorted(std::shared_ptr<const PartitionLookup> lookup, std::span<const Key16> keys,
                         std::size_t first, std::size_t end, const VisitFound& visit);

}  // namespace crawlstore::drum
