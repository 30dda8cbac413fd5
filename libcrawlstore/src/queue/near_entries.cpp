// SPDX-License-Identifier: Apache-2.0
#include "queue/near_entries.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <utility>

#include "queue/sort_entries.h"

namespace crawlstore::queue {

namespace {

constexpr std::size_t kBucketMax = 1024;
/// Entries between two looks for buckets that are full.
constexpr std::size_t kBatch = 4096;
/// Up to so many entries are inserted where they belong in a sorted bucket.
constexpr std::size_t kFewEntries = 64;
/// Buckets that have left and are still there.
constexpr std::size_t kDrainedMax = 256;

/// In a sorted bucket, the place from which on entries leave: at most `count`, all below `limit`.
std::vector<Entry>::iterator first_to_take(std::vector<Entry>& entries, std::size_t count,
                                           const Entry& limit) {
  const auto below =
      std::ranges::partition_point(entries, [&](const Entry& entry) { return limit <= entry; });
  const auto there = static_cast<std::size_t>(entries.end() - below);
  return entries.end() - static_cast<std::ptrdiff_t>(std::min(count, there));
}

}  // namespace

NearEntries::NearEntries() : buckets_(1) {}

void NearEntries::insert(std::span<const Entry> entries) {
  size_ += entries.size();
  const bool are_few = entries.size() <= kFewEntries;
  const auto put = [&](const Entry& entry, std::size_t number) {
    Bucket& bucket = buckets_[number];
    first_ = std::min(first_, number);
    if (are_few && bucket.is_sorted) {
      const auto place = std::ranges::upper_bound(bucket.entries, entry, std::ranges::greater());
      bucket.entries.insert(place, entry);
    } else {
      bucket.entries.push_back(entry);
      bucket.is_sorted = false;
    }
    // Now and then: one of equal entries stays as it is.
    const std::size_t size = bucket.entries.size();
    if (size > kBucketMax && std::has_single_bit(size - 1)) full_.push_back(number);
  };
  while (!entries.empty()) {
    const auto batch = entries.first(std::min(entries.size(), kBatch));
    splitters_.find_all(batch, put);
    split_full_buckets();
    entries = entries.subspan(batch.size());
  }
}

void NearEntries::split_full_buckets() {
  // From the last one on, so that numbers stay right.
  std::ranges::sort(full_, std::ranges::greater());
  for (const std::size_t number : full_) split(number);
  full_.clear();
}

void NearEntries::split(std::size_t number) {
  std::vector<Entry> rest = std::move(buckets_[number].entries);
  sort_entries(rest, room_);
  std::vector<Bucket> parts;
  std::vector<Entry> bounds;
  for (std::size_t at = 0; at < rest.size();) {
    std::size_t end = std::min(at + kBucketMax / 2, rest.size());
    // Equal entries stay together.
    while (end < rest.size() && rest[end] == rest[end - 1]) ++end;
    Bucket& part = parts.emplace_back();
    part.entries.reserve(kBucketMax);
    part.entries.assign(rest.rbegin() + static_cast<std::ptrdiff_t>(rest.size() - end),
                        rest.rbegin() + static_cast<std::ptrdiff_t>(rest.size() - at));
    part.is_sorted = true;
    if (end < rest.size()) bounds.push_back(rest[end]);
    at = end;
  }
  buckets_[number] = std::move(parts.front());
  const auto behind = static_cast<std::ptrdiff_t>(number) + 1;
  buckets_.insert(buckets_.begin() + behind, std::move_iterator(parts.begin() + 1),
                  std::move_iterator(parts.end()));
  splitters_.insert(number, bounds);
}

void NearEntries::sort(Bucket& bucket) {
  if (!bucket.is_sorted) {
    sort_entries(bucket.entries, room_);
    std::ranges::reverse(bucket.entries);
  }
  bucket.is_sorted = true;
}

std::size_t NearEntries::take(std::size_t count, const Entry& limit, bool is_sorted,
                              std::vector<Entry>& out) {
  const std::size_t size_before = size_;
  while (count > 0 && first_ < buckets_.size()) {
    Bucket& bucket = buckets_[first_];
    std::vector<Entry>& entries = bucket.entries;
    const bool is_below = first_ < splitters_.size() && splitters_.bound(first_) <= limit;
    const bool is_whole = is_below && entries.size() <= count;
    if (is_sorted || !is_whole) sort(bucket);
    const auto first_taken = is_whole ? entries.begin() : first_to_take(entries, count, limit);
    const auto taken = static_cast<std::size_t>(entries.end() - first_taken);
    out.insert(out.end(), std::reverse_iterator(entries.end()), std::reverse_iterator(first_taken));
    entries.erase(first_taken, entries.end());
    size_ -= taken;
    count -= taken;
    if (!is_whole) break;
    std::vector<Entry>().swap(entries);
    ++first_;
  }
  if (first_ > kDrainedMax) drop_drained();
  return size_before - size_;
}

void NearEntries::drop_drained() {
  // From now on entries inserted below the first bound go to the bucket of the next one.
  const std::size_t count = std::min(first_, buckets_.size() - 1);
  buckets_.erase(buckets_.begin(), buckets_.begin() + static_cast<std::ptrdiff_t>(count));
  splitters_.erase_front(count);
  first_ = 0;
}

std::size_t NearEntries::count_first(const Entry& entry) const {
  for (std::size_t number = first_; number < buckets_.size(); ++number) {
    const std::vector<Entry>& entries = buckets_[number].entries;
    // Equal entries are in one bucket.
    if (!entries.empty()) return static_cast<std::size_t>(std::ranges::count(entries, entry));
  }
  return 0;
}

Entry NearEntries::bound_behind(std::size_t count) const {
  std::size_t number = first_;
  for (; number < splitters_.size(); ++number) {
    const std::size_t size = buckets_[number].entries.size();
    if (size >= count) break;
    count -= size;
  }
  return number < splitters_.size() ? splitters_.bound(number) : kBehindAll;
}

void NearEntries::keep_below(const Entry& bound) {
  const std::size_t last = splitters_.find(bound);
  for (std::size_t number = last; number < buckets_.size(); ++number) {
    std::vector<Entry>& entries = buckets_[number].entries;
    const std::size_t before = entries.size();
    // One who is sorted stays so.
    std::erase_if(entries, [&](const Entry& entry) { return bound <= entry; });
    size_ -= before - entries.size();
  }
  buckets_.resize(last + 1);
  splitters_.resize(last);
  first_ = std::min(first_, last);
}

}  // namespace crawlstore::queue
