// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "container/run_io.h"
#include "format/item_run.h"

namespace crawlstore::frontier {

/// Writes a run of items from front to back: by time, if the first one has a time. Threads: one.
/// Memory: a block, the directory and the index.
class ItemRunWriter {
 public:
  /// The most that a run will have.
  struct Size {
    std::uint64_t item_count = 0;
    std::uint64_t group_count = 0;  ///< by time: 0
    std::uint64_t body_bytes = 0;
  };
  /// Reserves room.
  ///   is_typical  about what such runs take: it may turn out to be too little (kTooLarge)
  ///   errors      of the storage
  static Result<ItemRunWriter> start(container::SegmentWriter& writer,
                                     const format::RunLabel& label, const Size& size,
                                     bool is_typical);

  /// Adds an item behind all others in the order of the run; one like the last one is left out.
  ///   errors  of the storage
  Result<void> add(const format::Item& item, std::string_view body);
  [[nodiscard]] std::uint64_t item_count() const { return item_count_; }
  [[nodiscard]] const std::vector<format::Item>& left_out() const { return left_out_; }
  /// Ends the run, which has an item. The caller owns the run's extent from now on.
  ///   errors  of the storage
  Result<format::RunRef> finish();

 private:
  explicit ItemRunWriter(container::RunWriter run) : run_(std::move(run)) {}
  Result<void> write_block();
  void end_group();

  container::RunWriter run_;
  std::vector<format::Item> items_;     // of the block under way
  std::vector<std::size_t> body_ends_;  // in bodies_
  std::vector<std::byte> bodies_;       // of the block
  std::vector<std::byte> room_;         // of write_block()
  std::vector<format::ItemBlockPlace> blocks_;
  format::ItemDirectory directory_;
  format::Item last_;
  std::uint64_t group_item_count_ = 0;  // of its group so far
  std::uint64_t item_count_ = 0;
  std::vector<format::Item> left_out_;
  std::uint64_t body_bytes_ = 0;
};

}  // namespace crawlstore::frontier
