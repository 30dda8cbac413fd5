// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Writing and reading partitions: sorted unique keys with values, spec/format.md#partition.

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "container/run_io.h"
#include "format/key_block.h"

namespace crawlstore::drum {

/// Bytes that a partition's payload needs at most.
///   range  last possible key - first possible key
///   value_total_bytes  of all values, lengths included
std::uint64_t partition_bytes_max(std::uint64_t key_count, std::uint64_t range,
                                  std::uint64_t value_total_bytes);

/// A block ends before its values have more bytes.
inline constexpr std::uint64_t kBlockValueBytesMax = 16 * 1024 * 1024;

/// One finished partition.
struct PartitionPiece {
  format::RunRef run;
  std::uint64_t first_key = 0;
  std::uint64_t key_count = 0;
};

/// Takes ascending keys, writes a partition.
class PartitionWriter {
 public:
  PartitionWriter(container::RunWriter run, std::int32_t value_bytes)
      : run_(std::move(run)), value_bytes_(value_bytes) {}

  /// Keys ascend strictly. value: as the DRUM's value size says.
  Result<void> append(std::uint64_t key, std::span<const std::byte> value) {
    if (value_bytes_ != 0) {
      if (values_.size() + value.size() > kBlockValueBytesMax) CRAWLSTORE_TRY(flush());
      keep_value(value);
    }
    keys_[block_count_++] = key;
    return block_count_ == format::kBlockKeysMax ? flush() : Result<void>{};
  }
  /// Keys without values, many at a time: write some to the front of room(), which is never empty
  /// while the partition has fewer than `keys_max`, then say with fill() how many.
  [[nodiscard]] std::span<std::uint64_t> room(std::uint64_t keys_max) {
    return std::span(keys_)
        .subspan(block_count_)
        .first(static_cast<std::size_t>(
            std::min<std::uint64_t>(keys_.size() - block_count_, keys_max - key_count())));
  }
  Result<void> fill(std::size_t count) {
    block_count_ += count;
    return block_count_ == format::kBlockKeysMax ? flush() : Result<void>{};
  }
  [[nodiscard]] std::uint64_t key_count() const { return key_count_ + block_count_; }
  Result<PartitionPiece> finish();
  /// Caller's thread: see RunWriter::give_back().
  void give_back() { run_.give_back(); }

 private:
  void keep_value(std::span<const std::byte> value);
  Result<void> flush();

  container::RunWriter run_;
  std::int32_t value_bytes_;
  std::array<std::uint64_t, format::kBlockKeysMax> keys_{};
  std::size_t block_count_ = 0;
  std::uint64_t key_count_ = 0;
  std::uint64_t last_key_ = 0;
  std::vector<std::byte> values_;
  std::vector<std::uint32_t> lengths_;
  std::vector<std::byte> encoded_;
  format::PartitionIndex index_;
};

/// Walks a partition from the first key to the last, with one sequential read.
class PartitionCursor {
 public:
  /// `run` empty: a partition without keys.
  PartitionCursor(Storage& storage, const format::RunName& name,
                  const std::optional<format::RunRef>& run, std::uint64_t key_count,
                  std::int32_t value_bytes);

  /// Loads the first block; keys outside of [lowest, highest] are an error. Before anything else.
  Result<void> start(std::uint64_t lowest, std::uint64_t highest) {
    lowest_ = lowest;
    highest_ = highest;
    return load_block();
  }
  [[nodiscard]] bool at_end() const { return position_ == block_.key_count; }
  [[nodiscard]] std::uint64_t key() const { return keys_[position_]; }
  /// Valid until the next advance().
  [[nodiscard]] std::span<const std::byte> value() const {
    if (value_bytes_ == 0) return {};
    if (value_bytes_ > 0) return format::value_at(block_, position_, value_bytes_);
    return format::variable_value(block_, position_, value_begin_);
  }
  Result<void> advance() {
    if (value_bytes_ < 0) value_begin_ += value().size();
    return ++position_ < block_.key_count ? Result<void>{} : load_block();
  }
  /// The keys from here to the end of the block; none only at the end.
  [[nodiscard]] std::span<const std::uint64_t> keys() const {
    return std::span(keys_).first(block_.key_count).subspan(position_);
  }
  /// Passes keys without values: at most keys().size().
  Result<void> advance(std::size_t count) {
    position_ += static_cast<std::uint32_t>(count);
    return position_ < block_.key_count ? Result<void>{} : load_block();
  }
  /// Compares all checksums. After it succeeded, everything that was read is believed.
  Result<void> finish();

 private:
  Result<void> load_block();

  std::optional<container::RunStream> stream_;
  SegmentId segment_;
  std::uint64_t run_offset_bytes_ = 0;
  std::uint64_t keys_left_;
  std::uint64_t consumed_bytes_ = 0;
  std::int32_t value_bytes_;
  format::KeyBlock block_{};
  std::uint32_t position_ = 0;
  std::size_t value_begin_ = 0;  // variable values: where that of position_ begins
  std::optional<std::uint64_t> last_key_;
  std::uint64_t lowest_ = 0;
  std::uint64_t highest_ = 0;
  std::array<std::uint64_t, format::kBlockKeysMax> keys_{};
};

/// Finds single keys in a partition. Threads: any number.
class PartitionLookup {
 public:
  static Result<std::shared_ptr<const PartitionLookup>> open(
      std::shared_ptr<const container::RunReader> reader, std::int32_t value_bytes);

  /// The value, copied. cost: interpolation in the block index, one block
  Result<std::optional<std::vector<std::byte>>> find(std::uint64_t key) const;

  [[nodiscard]] std::uint64_t block_count() const { return footer_.block_count; }
  /// The encoded block, number `index`.
  Result<format::KeyBlock> block(std::uint64_t index) const;

 private:
  PartitionLookup(std::shared_ptr<const container::RunReader> reader,
                  const format::PartitionFooter& footer, std::int32_t value_bytes)
      : reader_(std::move(reader)), footer_(footer), value_bytes_(value_bytes) {}
  Result<std::uint64_t> first_key(std::uint64_t index) const;
  Result<std::uint64_t> find_block(std::uint64_t key) const;

  std::shared_ptr<const container::RunReader> reader_;
  format::PartitionFooter footer_;
  std::int32_t value_bytes_;
};

}  // namespace crawlstore::drum
