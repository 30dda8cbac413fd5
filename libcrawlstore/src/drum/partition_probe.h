// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Many look-ups in one partition, keys ascending: a block is decoded once, however many of its
/// keys are asked for, and the file is read forwards only.

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "drum/partition.h"

namespace crawlstore::drum {

/// One thread at a time.
class PartitionProbe {
 public:
  /// Of a DRUM whose values have one length.
  explicit PartitionProbe(std::shared_ptr<const PartitionLookup> lookup)
      : lookup_(std::move(lookup)) {}

  /// The value of a key that is not below the one asked for before; nothing when it is absent.
  /// Valid until the next call.
  ///   cost    nothing but a search in the block, while keys lie in the same one
  ///   errors  of damage
  Result<std::optional<std::span<const std::byte>>> find(Key16 key);
  /// So many keys from `first` to `last` will be asked for. If these lie in most blocks between,
  /// all of them are read ahead.
  Result<void> expect(Key16 first, Key16 last, std::uint64_t key_count);

 private:
  void read_ahead(std::uint64_t offset);
  Result<void> load_block_of(Key16 key);
  [[nodiscard]] Key16 key_at(std::uint32_t i) const { return {keys_[i], tails_[i]}; }

  std::shared_ptr<const PartitionLookup> lookup_;
  format::KeyBlock block_{};
  std::uint32_t position_ = 0;
  Extent ahead_{};  // of the payload, that will be read and was not yet said to be
  format::BlockNumbers keys_{};
  format::BlockNumbers tails_{};  // of 8-byte keys zeros
};

/// Called for each key that is there: its place among those asked for, and its value, valid in the
/// call only.
using VisitFound = std::function<Result<void>(std::size_t place, std::span<const std::byte> value)>;

/// Looks up those of the ascending `keys` from `first` up to `end` in one partition.
///   errors  of damage, and those of `visit`
Result<void> find_sorted(std::shared_ptr<const PartitionLookup> lookup, std::span<const Key16> keys,
                         std::size_t first, std::size_t end, const VisitFound& visit);

}  // namespace crawlstore::drum
