// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Writing and reading partitions: sorted unique keys with values, spec/drum.md#partition.

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include <crawlstore/tools/merge_rules.h>

#include "container/run_io.h"
#include "drum/shape.h"
#include "format/key_block.h"
#include "format/partition_index.h"

namespace crawlstore::drum {

/// Check that a run can hold the keys, or requests, that the directory or a DRUM counts: callers
/// reserve memory by counts before they read. A run of requests has at most 2^24.
///   errors  kSegmentInvalid
Result<void> check_partition_count(const format::RunRef& run, std::uint64_t key_count, Shape shape);
Result<void> check_request_count(const format::RunRef& run, Shape shape);

static_assert(kPartitionBlockKeysMax == format::kBlockKeysMax);

/// One finished partition.
struct PartitionPiece {
  format::RunRef run;
  std::uint64_t first_key = 0;
  std::uint64_t key_count = 0;
};

/// Writes a partition of ascending keys.
class PartitionWriter {
 public:
  PartitionWriter(container::RunWriter run, Shape shape) : run_(std::move(run)), shape_(shape) {}

  /// Appends a key above all before it, and a value of the DRUM's value size.
  Result<void> append(Key16 key, std::span<const std::byte> value) {
    if (shape_.value_bytes != 0) {
      if (values_.size() + value.size() > kBlockValueBytesMax) CRAWLSTORE_TRY(flush());
      keep_value(value);
    }
    tails_[block_count_] = key.tail;
    keys_[block_count_++] = key.head;
    return block_count_ == format::kBlockKeysMax ? flush() : Result<void>{};
  }
  /// Returns room for many keys without values at a time, never empty below `keys_max` keys. The
  /// caller writes keys to its front, then calls fill() with their number.
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
  /// Returns room for the tails of the keys in room(), if keys have 16 bytes.
  [[nodiscard]] std::span<std::uint64_t> tail_room() {
    return std::span(tails_).subspan(block_count_);
  }
  /// Returns the head of the key written last; there must be one.
  [[nodiscard]] std::uint64_t last_head() const {
    return block_count_ != 0 ? keys_[block_count_ - 1] : last_key_;
  }
  [[nodiscard]] std::uint64_t key_count() const { return key_count_ + block_count_; }
  Result<PartitionPiece> finish();
  /// Runs on the caller's thread: see RunWriter::give_back().
  void give_back() { run_.give_back(); }

 private:
  void keep_value(std::span<const std::byte> value);
  Result<void> flush();

  container::RunWriter run_;
  Shape shape_;
  format::BlockNumbers keys_{};   // of 16-byte keys the heads
  format::BlockNumbers tails_{};  // of 16-byte keys
  std::size_t block_count_ = 0;
  std::uint64_t key_count_ = 0;
  std::uint64_t last_key_ = 0;
  std::vector<std::byte> values_;
  std::vector<std::uint32_t> lengths_;
  std::vector<std::byte> encoded_;
  format::PartitionIndex index_;
};

/// Walks a partition from the first key to the last, with one sequential read. Bytes that break a
/// rule are kSegmentInvalid only if their checksums are right; else the error is that of the chunk.
class PartitionCursor {
 public:
  /// Makes a cursor; without a `run` the partition has no keys.
  PartitionCursor(Storage& storage, const format::RunName& name,
                  const std::optional<format::RunRef>& run, std::uint64_t key_count, Shape shape);

  /// Loads the first block. Call it first. Keys (heads) outside [lowest, highest] are an error.
  Result<void> start(std::uint64_t lowest, std::uint64_t highest) {
    lowest_ = lowest;
    highest_ = highest;
    return load_block();
  }
  [[nodiscard]] bool at_end() const { return position_ == block_.key_count; }
  [[nodiscard]] Key16 key() const { return {keys_[position_], tails_[position_]}; }
  /// Returns the value, valid until the next advance().
  [[nodiscard]] std::span<const std::byte> value() const {
    if (shape_.value_bytes == 0) return {};
    if (shape_.value_bytes > 0) return format::value_at(block_, position_, shape_.value_bytes);
    return format::variable_value(block_, position_, value_begin_);
  }
  Result<void> advance() {
    if (shape_.value_bytes < 0) value_begin_ += value().size();
    return ++position_ < block_.key_count ? Result<void>{} : load_block();
  }
  /// Returns the keys from here to the end of the block; none only at the end.
  [[nodiscard]] std::span<const std::uint64_t> keys() const {
    return std::span(keys_).first(block_.key_count).subspan(position_);
  }
  /// Returns the tails of these keys, if they have 16 bytes.
  [[nodiscard]] std::span<const std::uint64_t> tails() const {
    return std::span(tails_).first(block_.key_count).subspan(position_);
  }
  /// Passes `count` keys without values, at most keys().size().
  Result<void> advance(std::size_t count) {
    position_ += static_cast<std::uint32_t>(count);
    return position_ < block_.key_count ? Result<void>{} : load_block();
  }
  /// Compares all checksums, and the footer with the walk, after the last key: the bucket's key
  /// count alone told the end of the blocks. Only its success proves the keys that were read.
  Result<void> finish();

 private:
  Result<void> load_block();
  Result<void> decode_block();
  Result<void> check_end();
  [[nodiscard]] Result<void> broken(const char* text, std::uint64_t offset) const;

  std::optional<container::RunStream> stream_;
  SegmentId segment_;
  std::uint64_t run_offset_bytes_ = 0;
  std::uint64_t payload_bytes_ = 0;
  std::uint64_t key_count_;
  std::uint64_t keys_left_;
  std::uint64_t consumed_bytes_ = 0;
  Shape shape_;
  format::KeyBlock block_{};
  std::uint32_t position_ = 0;
  std::size_t value_begin_ = 0;  // begin of the value of position_, if values are variable
  std::optional<Key16> last_key_;
  std::uint64_t lowest_ = 0;
  std::uint64_t highest_ = 0;
  format::BlockNumbers keys_{};
  format::BlockNumbers tails_{};  // of 8-byte keys zeros
};

/// Finds single keys in a partition. Threads: any number.
class PartitionLookup {
 public:
  static Result<std::shared_ptr<const PartitionLookup>> open(
      std::shared_ptr<const container::RunReader> reader, Shape shape);

  /// Returns the value, copied. cost: interpolation in the block index, one block
  Result<std::optional<std::vector<std::byte>>> find(Key16 key) const;

  [[nodiscard]] std::uint64_t block_count() const { return footer_.block_count; }
  [[nodiscard]] const format::PartitionFooter& footer() const { return footer_; }
  [[nodiscard]] const container::RunReader& reader() const { return *reader_; }
  /// Returns an encoded block.
  Result<format::KeyBlock> block(std::uint64_t index) const;
  /// Returns the place of a block in the payload.
  Result<Extent> block_place(std::uint64_t index) const;
  /// Returns the first key of a block according to the index.
  Result<Key16> first_key(std::uint64_t index) const;
  /// Finds the last block whose first key is <= key. The partition's first key is not above key.
  Result<std::uint64_t> find_block(Key16 key) const;

 private:
  void prefetch(Key16 key, std::uint64_t index, std::span<const std::byte> encoded) const;
  PartitionLookup(std::shared_ptr<const container::RunReader> reader,
                  const format::PartitionFooter& footer, Shape shape)
      : reader_(std::move(reader)), footer_(footer), shape_(shape) {}

  std::shared_ptr<const container::RunReader> reader_;
  format::PartitionFooter footer_;
  Shape shape_;
};

}  // namespace crawlstore::drum
