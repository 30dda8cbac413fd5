// SPDX-License-Identifier: Apache-2.0
#include "pages/superstep.h"

#include <algorithm>

#include "format/endian.h"
#include "pages/fresh_keys.h"

namespace crawlstore::pages {
namespace {

/// Keys that are looked for between two looks at whether to go on.
constexpr std::size_t kKeysPerLook = std::size_t{1} << 16;

constexpr std::size_t kIndexBytes = 5;
static_assert(kIndexBytes + sizeof(std::uint32_t) == format::kPageValueBytes);

}  // namespace

KeyValue make_key_value(std::uint64_t index, std::uint32_t witness) {
  KeyValue value{};
  std::array<std::byte, sizeof(index)> number{};
  format::store(number.data(), index);
  std::copy_n(number.begin(), kIndexBytes, value.begin());
  format::store(value.data() + kIndexBytes, witness);
  return value;
}

std::uint64_t index_in(std::span<const std::byte> value) {
  std::array<std::byte, sizeof(std::uint64_t)> number{};
  std::copy_n(value.begin(), kIndexBytes, number.begin());
  return format::load<std::uint64_t>(number.data());
}

std::uint32_t witness_in(std::span<const std::byte> value) {
  return format::load<std::uint32_t>(value.data() + kIndexBytes);
}

Result<SuperstepReport> Superstep::run() {
  report_.edit_count = batch_.edits().size();
  report_.collision_count = batch_.collision_count();
  first_new_ = state_.table.page_count;
  expect_steps();
  CRAWLSTORE_TRY(steps_.look());  // who said stop before has to wait for no sort
  CRAWLSTORE_TRY(assign_indexes());
  if (state_.table.has_urls) CRAWLSTORE_TRY(write_origins());
  order_edits();
  order_pages();
  CRAWLSTORE_TRY(write_links());
  CRAWLSTORE_TRY(write_records());
  ++state_.table.superstep_count;
  state_.table.collision_count += report_.collision_count;
  return report_;
}

/// Expects steps as if all pages were new. Keys that are written, and joins of runs, come on top.
void Superstep::expect_steps() {
  const Batch::Mark counts = batch_.mark();
  const std::uint64_t steps_of_page = state_.table.has_urls ? 3 : 1;  // key, URL, record
  steps_.expect(steps_of_page * counts.pages + 2 * (counts.edits + counts.links));
  steps_.expect(std::min(counts.edits * format::kTilePagesMax, state_.table.page_count));
}

Result<void> Superstep::assign_indexes() {
  indexes_.assign(batch_.page_count(), kNoIndex);
  if (state_.table.has_urls) {
    std::vector<LocalId> by_key;
    by_key.reserve(batch_.page_count());
    for_each_page([&by_key](LocalId page) { by_key.push_back(page); });
    const auto less = [this](LocalId a, LocalId b) { return batch_.key(a) < batch_.key(b); };
    std::sort(by_key.begin(), by_key.end(), less);
    CRAWLSTORE_TRY(steps_.look());
    CRAWLSTORE_TRY(find_named_pages(by_key));
    CRAWLSTORE_TRY(write_keys(by_key));
  } else {
    take_index_pages();
  }
  report_.new_page_count = state_.table.page_count - first_new_;
  return {};
}

/// Pages that are there get their indexes, all others the next ones. A key that is there with
/// another witness belongs to another URL: that page is refused.
Result<void> Superstep::find_named_pages(std::span<const LocalId> by_key) {
  std::vector<Key16> keys(by_key.size());
  std::transform(by_key.begin(), by_key.end(), keys.begin(),
                 [this](LocalId page) { return batch_.key(page); });
  ByPage<bool> is_known(by_key.size());
  std::size_t begin = 0;
  const auto take = [&](std::size_t place, std::span<const std::byte> value) {
    const LocalId page = by_key[begin + place];
    is_known[page] = true;
    if (witness_in(value) != batch_.witness(page)) {
      ++report_.collision_count;
      return Result<void>{};
    }
    indexes_[page] = index_in(value);
    if (indexes_[page] < first_new_) return Result<void>{};
    return Result<void>(fail(Errc::kSegmentInvalid,
                             "the key of a page has an index that no page has", Error::kNoOffset,
                             keys_->segment()));
  };
  CRAWLSTORE_TRY(const auto fresh, FreshKeys::open(writer_, state_));
  for (; begin < keys.size(); begin += std::min(kKeysPerLook, keys.size() - begin)) {
    const auto some =
        std::span<const Key16>(keys).subspan(begin, std::min(kKeysPerLook, keys.size() - begin));
    CRAWLSTORE_TRY(keys_->find_sorted(some, take));
    CRAWLSTORE_TRY(fresh.find_sorted(some, take));
    CRAWLSTORE_TRY(steps_.add(some.size()));
  }
  order_new_pages(is_known);
  for (const LocalId page : new_pages_) indexes_[page] = state_.table.page_count++;
  if (state_.table.page_count <= format::kPagesMax) return {};
  return fail(Errc::kTooLarge, "a page database holds at most 2^40 pages");
}

/// Lists new pages in the order in which edits name them first, but those that the links of one
/// edit name first by their URLs.
void Superstep::order_new_pages(const ByPage<bool>& is_known) {
  LocalId next;
  const auto take_named = [&](std::size_t end) {
    for (; next.value < end; ++next.value) {
      if (!is_known[next]) new_pages_.push_back(next);
    }
  };
  for (const BatchEdit& edit : batch_.edits()) {
    take_named(edit.page.value + std::size_t{1});
    const auto linked = static_cast<std::ptrdiff_t>(new_pages_.size());
    for (const LocalId target : batch_.links(edit)) take_named(target.value + std::size_t{1});
    std::sort(new_pages_.begin() + linked, new_pages_.end(),
              [this](LocalId a, LocalId b) { return batch_.url(a) < batch_.url(b); });
  }
  take_named(batch_.page_count());
}

/// All indexes below the largest exist.
void Superstep::take_index_pages() {
  for_each_page([this](LocalId page) {
    indexes_[page] = batch_.key(page).tail;
    state_.table.page_count = std::max(state_.table.page_count, indexes_[page] + 1);
    if (indexes_[page] >= first_new_) new_pages_.push_back(page);
  });
  std::sort(new_pages_.begin(), new_pages_.end(),
            [this](LocalId a, LocalId b) { return indexes_[a] < indexes_[b]; });
}

Result<void> Superstep::write_keys(std::span<const LocalId> by_key) {
  std::vector<KeyValue> values;
  values.reserve(new_pages_.size());  // edits point into it
  std::vector<drum::KeyEdit> edits;
  edits.reserve(new_pages_.size());
  for (const LocalId page : by_key) {
    if (is_refused(page) || indexes_[page] < first_new_) continue;
    values.push_back(make_key_value(indexes_[page], batch_.witness(page)));
    edits.push_back({batch_.key(page), false, values.back()});
  }
  if (state_.table.keys) return add_keys(writer_, state_, *keys_, edits, steps_);
  CRAWLSTORE_TRY(settle_keys(writer_, state_, *keys_, edits, steps_));
  state_.table.keys = keys_->segment();
  return {};
}

void Superstep::order_edits() {
  const auto& edits = batch_.edits();
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (!is_refused(edits[i].page)) edit_order_.push_back(static_cast<std::uint32_t>(i));
  }
  std::stable_sort(edit_order_.begin(), edit_order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return indexes_[edits[a].page] < indexes_[edits[b].page];
  });
}

/// New pages are in order already, and come last.
void Superstep::order_pages() {
  for_each_page([this](LocalId page) {
    if (indexes_[page] < first_new_) page_order_.push_back(page);
  });
  std::sort(page_order_.begin(), page_order_.end(),
            [this](LocalId a, LocalId b) { return indexes_[a] < indexes_[b]; });
  page_order_.insert(page_order_.end(), new_pages_.begin(), new_pages_.end());
}

}  // namespace crawlstore::pages
