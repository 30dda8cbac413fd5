// SPDX-License-Identifier: Apache-2.0
#include "frontier/item_run.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "container/blocked_run.h"

namespace crawlstore::frontier {
namespace {

/// The place of the first value that is not below `value`, looked for from a guess on: directories
/// and indexes are even, so it is some steps away, where a binary search reads all over.
template <class Values, class Value>
std::size_t lower_bound_near(const Values& values, Value value, std::size_t guess) {
  std::size_t begin = 0;
  std::size_t end = values.size();
  std::size_t step = 1;
  if (values[guess] < value) {
    begin = guess + 1;
    while (begin + step < end && values[begin + step] < value) {
      begin += step;
      step *= 2;
    }
    end = std::min(end, begin + step + 1);
  } else {
    end = guess;
    while (end > step && !(values[end - step] < value)) {
      end -= step;
      step *= 2;
    }
    begin = end > step ? end - step : 0;
  }
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = values.begin() + static_cast<std::ptrdiff_t>(end);
  return static_cast<std::size_t>(std::lower_bound(first, last, value) - values.begin());
}

}  // namespace

Result<ItemRunPtr> ItemRun::open(container::RunPtr run) {
  const std::shared_ptr<ItemRun> opened(new ItemRun(std::move(run)));
  CRAWLSTORE_TRY(container::in_file(opened->load(), *opened->reader_));
  return ItemRunPtr(opened);
}

Result<void> ItemRun::load() {
  CRAWLSTORE_TRY(const auto footer, container::read_footer(*reader_, format::parse_item_footer));
  if (footer.item_count > kItemsMax) {
    return fail(Errc::kUnknownFeature, "a run of a frontier has 2^32 items or more");
  }
  const auto places = format::item_run_places(footer);
  CRAWLSTORE_TRY(const auto index_read, reader_->bytes(places.index, places.footer - places.index));
  CRAWLSTORE_TRY(index_, format::parse_item_index(index_read, footer));
  CRAWLSTORE_TRY(const auto directory_read,
                 reader_->bytes(places.directory, places.padding - places.directory));
  CRAWLSTORE_TRY(directory_, format::parse_item_directory(directory_read, footer));
  body_bytes_ = footer.body_bytes;
  return {};
}

std::optional<std::size_t> ItemRun::place_of(std::uint32_t group) const {
  const auto& groups = directory_.groups;
  if (group > groups.back()) return std::nullopt;
  const std::uint64_t guess =
      std::uint64_t{group} * groups.size() / (std::uint64_t{groups.back()} + 1);
  const std::size_t place = lower_bound_near(groups, group, guess);
  if (groups[place] != group) return std::nullopt;
  return place;
}

std::size_t ItemRun::block_of(std::uint64_t item) const {
  const std::uint64_t guess = item * index_.block_count() / item_count();
  return lower_bound_near(index_.first_items, item + 1, guess) - 1;
}

Result<std::span<const std::byte>> ItemRun::bytes_of(std::size_t block) const {
  const std::uint64_t begin = index_.offsets[block];
  return reader_->bytes(begin, index_.offsets[block + 1] - begin);
}

Result<format::Item> ItemRun::item(std::uint64_t number) const {
  const std::size_t block = block_of(number);
  CRAWLSTORE_TRY(const auto bytes, bytes_of(block));
  const auto place = static_cast<std::uint32_t>(number - first_item_of(block));
  return container::in_file(format::read_item(index_.frame(block), bytes, place), *reader_);
}

Result<std::string> ItemRun::body(std::uint64_t number) const {
  const std::size_t block = block_of(number);
  CRAWLSTORE_TRY(const auto bytes, bytes_of(block));
  const auto place = static_cast<std::uint32_t>(number - first_item_of(block));
  CRAWLSTORE_TRY(
      const auto body,
      container::in_file(format::read_item_body(index_.frame(block), bytes, place), *reader_));
  return std::string(static_cast<const char*>(static_cast<const void*>(body.data())), body.size());
}

Result<void> ItemRun::read_items(std::size_t number, std::vector<format::Item>& out) const {
  CRAWLSTORE_TRY(const auto bytes, bytes_of(number));
  return container::in_file(format::decode_items(index_.frame(number), bytes, out), *reader_);
}

Result<void> ItemRun::read_block(std::size_t number, format::ItemBlock& out) const {
  CRAWLSTORE_TRY(const auto bytes, bytes_of(number));
  return container::in_file(format::read_item_block(index_, directory_, number, bytes, out),
                            *reader_);
}

}  // namespace crawlstore::frontier
