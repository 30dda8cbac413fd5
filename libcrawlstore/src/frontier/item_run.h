// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Runs of items in the file: spec/frontier.md#item-runs.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "container/run.h"
#include "format/item_run.h"

namespace crawlstore::frontier {

class ItemRun;
using ItemRunPtr = std::shared_ptr<const ItemRun>;

/// A run. In memory are its directory and its block index; items are read one by one. Threads: any
/// number. Memory: 12 bytes a group of a run by group, 16 a block.
class ItemRun {
 public:
  static constexpr std::uint64_t kItemsMax = 0xFFFF'FFFF;

  /// errors  kSegmentInvalid, with the segment and the place in the file; kUnknownFeature: a run
  ///         of more than kItemsMax items; of damage
  static Result<ItemRunPtr> open(container::RunPtr run);

  [[nodiscard]] const container::RunPtr& run() const { return run_; }
  [[nodiscard]] RunId id() const { return run_->ref().run_id; }
  [[nodiscard]] bool is_by_time() const { return index_.is_by_time; }
  [[nodiscard]] std::uint64_t item_count() const { return index_.first_items.back(); }
  /// The sum of all bodies, before they are compressed.
  [[nodiscard]] std::uint64_t body_bytes() const { return body_bytes_; }
  [[nodiscard]] std::size_t group_count() const { return directory_.groups.size(); }
  [[nodiscard]] std::uint32_t group(std::size_t place) const { return directory_.groups[place]; }
  /// The place of a group in the directory.
  [[nodiscard]] std::optional<std::size_t> place_of(std::uint32_t group) const;
  /// The items of the group at a place, by order and id.
  [[nodiscard]] format::ItemRange items_at(std::size_t place) const {
    return {directory_.begins[place], directory_.begins[place + 1]};
  }

  /// Item `number`, which is there; of a run by group it gets group 0. Cost: about 0.2
  /// microseconds.
  ///   errors  kSegmentInvalid, of damage: with the segment and the place in the file
  [[nodiscard]] Result<format::Item> item(std::uint64_t number) const;
  /// Its body. Cost: that of decoding a block. errors  as item()
  [[nodiscard]] Result<std::string> body(std::uint64_t number) const;
  /// Decodes block `number`, groups and all. errors  as item()
  [[nodiscard]] Result<void> read_block(std::size_t number, format::ItemBlock& out) const;
  /// Decodes its items without their bodies; of a run by group they get group 0. errors  as item()
  [[nodiscard]] Result<void> read_items(std::size_t number, std::vector<format::Item>& out) const;
  [[nodiscard]] std::size_t block_count() const { return index_.block_count(); }
  [[nodiscard]] std::size_t block_of(std::uint64_t item) const;
  [[nodiscard]] std::uint64_t first_item_of(std::size_t block) const {
    return index_.first_items[block];
  }

 private:
  explicit ItemRun(container::RunPtr run) : run_(std::move(run)), reader_(run_->reader()) {}
  Result<void> load();
  [[nodiscard]] Result<std::span<const std::byte>> bytes_of(std::size_t block) const;

  container::RunPtr run_;
  std::shared_ptr<const container::RunReader> reader_;  // of each block, without a lock
  format::ItemDirectory directory_;
  format::ItemIndex index_;
  std::uint64_t body_bytes_ = 0;
};

}  // namespace crawlstore::frontier
