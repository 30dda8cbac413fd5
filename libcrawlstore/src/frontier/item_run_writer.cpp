// SPDX-License-Identifier: Apache-2.0
#include "frontier/item_run_writer.h"

#include <algorithm>
#include <span>
#include <utility>

namespace crawlstore::frontier {
namespace {

/// A block ends when its bodies have so many bytes: whoever takes an item unpacks one block.
constexpr std::size_t kBlockBytes = 4096;
constexpr std::size_t kBlockItems = 1024;
/// The most that an item takes besides its body: order, id, time, group, length; and what it takes
/// mostly.
constexpr std::uint64_t kItemBytesMax = 8 + 8 + 6 + 4 + 4;
constexpr std::uint64_t kItemBytesTypical = 12;
/// The most that a group takes in the directory.
constexpr std::uint64_t kGroupBytesMax = 5 + 10;

}  // namespace

Result<ItemRunWriter> ItemRunWriter::start(container::SegmentWriter& writer,
                                           const format::RunLabel& label, const Size& size,
                                           bool is_typical) {
  const std::uint64_t blocks = size.item_count / kBlockItems + size.body_bytes / kBlockBytes + 1;
  const std::uint64_t bytes =
      (is_typical ? size.body_bytes / 8 * 5 : size.body_bytes) +
      size.item_count * (is_typical ? kItemBytesTypical : kItemBytesMax) +
      size.group_count * kGroupBytesMax +
      blocks * (sizeof(format::ItemBlockHeader) + sizeof(format::ItemBlockPlace)) + 8 +
      sizeof(format::ItemRunFooter);
  CRAWLSTORE_TRY(auto run, container::RunWriter::start(writer, label, bytes));
  return ItemRunWriter(std::move(run));
}

Result<void> ItemRunWriter::add(const format::Item& item, std::string_view body) {
  if (item_count_ != 0 && item == last_) {
    left_out_.push_back(item);
    return {};
  }
  if (item_count_ != 0 && item.group != last_.group) end_group();
  last_ = item;
  ++group_item_count_;
  ++item_count_;
  items_.push_back(item);
  const auto bytes = std::as_bytes(std::span(body));
  bodies_.insert(bodies_.end(), bytes.begin(), bytes.end());
  body_ends_.push_back(bodies_.size());
  if (bodies_.size() < kBlockBytes && items_.size() < kBlockItems) return {};
  return write_block();
}

void ItemRunWriter::end_group() {
  if (last_.time != 0) return;
  directory_.add(last_.group, std::exchange(group_item_count_, 0));
}

Result<void> ItemRunWriter::write_block() {
  std::vector<std::span<const std::byte>> bodies;
  std::size_t begin = 0;
  for (const std::size_t end : body_ends_) {
    bodies.push_back(std::span(bodies_).subspan(begin, end - begin));
    begin = end;
  }
  room_.clear();
  const auto encoded = format::encode_item_block(items_, bodies, format::AuxCodec::kLz4, room_);
  blocks_.push_back(encoded.place);
  body_bytes_ += encoded.body_bytes;
  items_.clear();
  body_ends_.clear();
  bodies_.clear();
  return run_.append(room_);
}

Result<format::RunRef> ItemRunWriter::finish() {
  if (!items_.empty()) CRAWLSTORE_TRY(write_block());
  end_group();
  room_.clear();
  format::encode_item_tail(blocks_, directory_, body_bytes_, room_);
  CRAWLSTORE_TRY(run_.append(room_));
  CRAWLSTORE_TRY(const auto run, run_.finish(item_count_));
  run_.give_back();
  return run;
}

}  // namespace crawlstore::frontier
