// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "drum/partition.h"

namespace crawlstore::pages {

/// Keys of a run, block by block, from one of them on. Threads: one.
class KeyRunCursor {
 public:
  KeyRunCursor(std::shared_ptr<const drum::PartitionLookup> run, std::int32_t value_bytes)
      : run_(std::move(run)), value_bytes_(value_bytes) {}

  /// At the first key that is not below `from`.
  Result<void> start(Key16 from) {
    next_block_ = 0;
    if (from.head > run_->footer().last_key) next_block_ = run_->block_count();
    if (from.head >= run_->footer().first_key && from.head <= run_->footer().last_key) {
      CRAWLSTORE_TRY(const auto block, run_->find_block(from));
      next_block_ = block;
    }
    CRAWLSTORE_TRY(load_block());
    while (!at_end() && key() < from) CRAWLSTORE_TRY(advance());
    return {};
  }
  [[nodiscard]] bool at_end() const { return position_ == block_.key_count; }
  [[nodiscard]] Key16 key() const { return {heads_[position_], tails_[position_]}; }
  [[nodiscard]] std::span<const std::byte> value() const {
    return format::value_at(block_, position_, value_bytes_);
  }
  Result<void> advance() { return ++position_ < block_.key_count ? Result<void>{} : load_block(); }

 private:
  Result<void> load_block() {
    position_ = 0;
    block_ = {};
    if (next_block_ == run_->block_count()) return {};
    CRAWLSTORE_TRY(const auto block, run_->block(next_block_++));
    CRAWLSTORE_TRY(format::decode_keys(block, heads_, tails_));
    block_ = block;
    return {};
  }

  std::shared_ptr<const drum::PartitionLookup> run_;
  std::int32_t value_bytes_;
  std::uint64_t next_block_ = 0;
  format::KeyBlock block_{};
  std::uint32_t position_ = 0;
  format::BlockNumbers heads_{};
  format::BlockNumbers tails_{};
};

}  // namespace crawlstore::pages
