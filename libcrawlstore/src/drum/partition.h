// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Writing and reading partitions: sorted unique keys with values, spec/format.md#partition.

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include <crawlstore/merge_rules.h>

#include "container/run_io.h"
#include "drum/shape.h"
#include "format/key_block.h"
#include "format/partition_index.h"

namespace crawlstore::drum {

/// That a run can hold so many keys (or requests), which the directory or a DRUM says: room is
/// reserved by counts before anything is read. A run of requests has at most 2^24.
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

/// Takes ascending keys, writes a partition.
class PartitionWriter {
 public:
  PartitionWriter(container::RunWriter run, Shape shape) : run_(std::move(run)), shape_(shape) {}

  /// Keys ascend strictly. value: as the DRUM's value size says.
  Result<void> append(Key16 key, std::span<const std::byte> value) {
    if (shape_.value_bytes != 0) {
      if (values_.size() + value.size() > kBlockValueBytesMax) CRAWLSTORE_TRY(flush());
      keep_value(value);
    }
    tails_[block_count_] = key.tail;
    keys_[block_count_++] = key.head;
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
  /// The tails of the keys in room(), of 16-byte keys.
  [[nodiscard]] std::span<std::uint64_t> tail_room() {
    return std::span(tails_).subspan(block_count_);
  }
  /// Of the key written last; there must be one.
  [[nodiscard]] std::uint64_t last_head() const {
    return block_count_ != 0 ? keys_[block_count_ - 1] : last_key_;
  }
  [[nodiscard]] std::uint64_t key_count() const { return key_count_ + block_count_; }
  Result<PartitionPiece> finish();
  /// Caller's thread: see RunWriter::give_back().
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
/// rule are kSegmentInvalid only if their checksums are right; else they have rotted, and the error
/// is that of the chunk.
class PartitionCursor {
 public:
  /// `run` empty: a partition without keys.
  PartitionCursor(Storage& storage, const format::RunName& name,
                  const std::optional<format::RunRef>& run, std::uint64_t key_count, Shape shape);

  /// Loads the first block; keys (heads) outside of [lowest, highest] are an error. Before anything
  /// else.
  Result<void> start(std::uint64_t lowest, std::uint64_t highest) {
    lowest_ = lowest;
    highest_ = highest;
    return load_block();
  }
  [[nodiscard]] bool at_end() const { return position_ == block_.key_count; }
  [[nodiscard]] Key16 key() const { return {keys_[position_], tails_[position_]}; }
  /// Valid until the next advance().
  [[nodiscard]] std::span<const std::byte> value() const {
    if (shape_.value_bytes == 0) return {};
    if (shape_.value_bytes > 0) return format::value_at(block_, position_, shape_.value_bytes);
    return format::variable_value(block_, position_, value_begin_);
  }
  Result<void> advance() {
    if (shape_.value_bytes < 0) value_begin_ += value().size();
    return ++position_ < block_.key_count ? Result<void>{} : load_block();
  }
  /// The keys from here to the end of the block; none only at the end.
  [[nodiscard]] std::span<const std::uint64_t> keys() const {
    return std::span(keys_).first(block_.key_count).subspan(position_);
  }
  /// Their tails, of 16-byte keys.
  [[nodiscard]] std::span<const std::uint64_t> tails() const {
    return std::span(tails_).first(block_.key_count).subspan(position_);
  }
  /// Passes keys without values: at most keys().size().
  Result<void> advance(std::size_t count) {
    position_ += static_cast<std::uint32_t>(count);
    return position_ < block_.key_count ? Result<void>{} : load_block();
  }
  /// At the end: compares all checksums, and the walk with the footer: the bucket's key count alone
  /// said where the blocks end. After it succeeded, everything that was read is believed.
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
  std::size_t value_begin_ = 0;  // variable values: where that of position_ begins
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

  /// The value, copied. cost: interpolation in the block index, one block
  Result<std::optional<std::vector<std::byte>>> find(Key16 key) const;

  [[nodiscard]] std::uint64_t block_count() const { return footer_.block_count; }
  [[nodiscard]] const format::PartitionFooter& footer() const { return footer_; }
  [[nodiscard]] const container::RunReader& reader() const { return *reader_; }
  /// The encoded block, number `index`.
  Result<format::KeyBlock> block(std::uint64_t index) const;
  /// Where that lies in the payload.
  Result<Extent> block_place(std::uint64_t index) const;
  /// What the index says is the first key of a block.
  Result<Key16> first_key(std::uint64_t index) const;
  /// The last block whose first key is <= key, which is not below the first key of the partition.
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
