// SPDX-License-Identifier: Apache-2.0
#include "service/core/known_urls.h"

#include <utility>

namespace crawlstore::service {
namespace {

/// Nobody asks for the answers of updates.
NullDispatcher no_answers;

DrumOptions options_of(std::uint64_t memory_bytes) {
  DrumOptions options;
  options.memory_bytes = memory_bytes;
  // A commit ten times a second writes a run for each bucket, of 4 KiB or more.
  options.bucket_count = 8;
  options.auto_merge = false;  // a merge would publish URLs without their items
  options.log_first = true;    // a merge begins with a commit of the whole store
  options.merge_commit = MergeCommit::kEverything;
  options.merge_scope = MergeScope::kFull;
  return options;
}

}  // namespace

Result<KnownUrls> KnownUrls::open(Store& store, std::string_view crawl,
                                  std::uint64_t memory_bytes) {
  using Table = Drum<Key16, std::string>;
  CRAWLSTORE_TRY(auto drum, Table::open(store, name_of(crawl), options_of(memory_bytes)));
  drum.attach(no_answers);
  return KnownUrls(std::move(drum));
}

Result<Counts> KnownUrls::counts(Key16 key) {
  if (const auto known = counts_.find(key.head); known != counts_.end()) {
    return known->second.counts;
  }
  CRAWLSTORE_TRY(const auto stored, drum_.find(key));
  const auto counts = stored ? decode_counts(*stored) : Counts{};
  if (!counts) return fail(Errc::kSegmentInvalid, "the counts of a crawl have another form");
  counts_[key.head] = {*counts, false};
  return *counts;
}

void KnownUrls::set_counts(Key16 key, const Counts& counts) {
  CountsOfQueue& of_queue = counts_[key.head];
  of_queue.counts = counts;
  if (!std::exchange(of_queue.is_changed, true)) changed_.push_back(key.head);
}

void KnownUrls::forget_counts() {
  counts_.clear();
  changed_.clear();
}

Result<void> KnownUrls::write_counts() {
  for (; !changed_.empty(); changed_.pop_back()) {
    CountsOfQueue& of_queue = counts_.at(changed_.back());
    CRAWLSTORE_TRY(drum_.update({changed_.back(), 0}, encode(of_queue.counts)));
    of_queue.is_changed = false;
  }
  if (counts_.size() > kCountsKept) counts_.clear();
  return {};
}

Result<void> KnownUrls::merge_if_full() {
  return drum_.core().merge_if_full().map([](const MergeReport&) {});
}

Result<void> KnownUrls::merge() {
  return drum_.merge().map([](const MergeReport&) {});
}

Result<void> KnownUrls::drop(std::uint64_t first, std::uint64_t last,
                             const ShouldDrop& should_drop) {
  CRAWLSTORE_TRY(write_counts());
  return drum_.core()
      .drop_keys(first, last,
                 [&should_drop](Key16 key, std::span<const std::byte> value) {
                   const void* const bytes = value.data();
                   return should_drop(key, {static_cast<const char*>(bytes), value.size()});
                 })
      .map([](std::uint64_t) {});
}

}  // namespace crawlstore::service
