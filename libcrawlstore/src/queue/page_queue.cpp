// SPDX-License-Identifier: Apache-2.0
#include "queue/page_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace crawlstore::queue {

namespace {

/// Changes, or stale entries, that are too many are more than a quarter as many as pages wait, but
/// not fewer than this.
constexpr std::uint64_t kStaleMin = std::uint64_t{1} << 15;
/// Entries that are rewritten for each one that comes or leaves, changed or not.
constexpr std::size_t kRewrittenForOne = 2;

/// Calls work(entries) with what a run has above a cut, a fragment at a time.
template <class Work>
Result<void> for_each_fragment(const StoredRun& run, const Entry& cut, const Work& work) {
  std::vector<Entry> entries;
  for (std::size_t i = run.fragment_of(cut); i < run.fragment_count(); ++i) {
    entries.clear();
    CRAWLSTORE_TRY(run.read(i, cut, kBeforeAll, entries));
    CRAWLSTORE_TRY(work(std::span<const Entry>(entries)));
  }
  return {};
}

template <class Work>
Result<void> for_each_fragment(std::span<const LiveRun> runs, const Work& work) {
  for (const LiveRun& run : runs) CRAWLSTORE_TRY(for_each_fragment(*run.stored, run.cut, work));
  return {};
}

/// Calls work(entry) with each, when its page of the set has come from memory.
template <class Work>
void for_each_ahead(std::span<const Entry> entries, const PageSet& pages, const Work& work) {
  constexpr std::size_t kAhead = 16;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i + kAhead < entries.size()) pages.prefetch(entries[i + kAhead].page);
    work(entries[i]);
  }
}

void sort_once(std::vector<std::uint64_t>& pages) {
  std::ranges::sort(pages);
  pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
}

}  // namespace

PageQueue::PageQueue(RunSink& sink, State state, const QueueLimits& limits)
    : sink_(&sink),
      limits_(limits),
      entries_(sink, std::move(state.runs), state.entry_count, limits),
      count_(state.page_count),
      change_runs_(std::move(state.changes)),
      has_loaded_changes_(change_runs_.empty()) {}

PageQueue::State PageQueue::state() const {
  return {{entries_.runs().begin(), entries_.runs().end()}, entries_.count(), count_, change_runs_};
}

Result<void> PageQueue::load_changes() {
  if (has_loaded_changes_) return {};
  Changes changes;
  for (const StoredRunPtr& run : change_runs_) {
    CRAWLSTORE_TRY(for_each_fragment(*run, kBeforeAll, [&](auto entries) {
      for (const Entry& entry : entries) changes[entry.page] = entry.order;
      return Result<void>();
    }));
  }
  for (const auto& [page, order] : changes) changes_end_ = std::max(changes_end_, page + 1);
  changes_ = std::move(changes);
  has_loaded_changes_ = true;
  return {};
}

/// Finds out which pages wait.
Result<void> PageQueue::load_pages() {
  CRAWLSTORE_TRY(load_changes());
  if (pages_) return {};
  CRAWLSTORE_TRY(entries_.flush());
  PageSet pages;
  CRAWLSTORE_TRY(for_each_fragment(entries_.runs(), [&](auto entries) {
    for (const Entry& entry : entries) {
      if (!changes_.contains(entry.page)) pages.insert(entry.page);
    }
    return Result<void>();
  }));
  for (const auto& [page, order] : changes_) {
    if (order != format::kQueueGone) pages.insert(page);
  }
  if (pages.count() != count_) {
    return fail(Errc::kSegmentInvalid, "a queue has another number of pages than its table says");
  }
  pages_ = std::move(pages);
  return {};
}

Result<void> PageQueue::check() {
  CRAWLSTORE_TRY(load_changes());
  std::uint64_t entry_count = 0;
  PageSet pages;
  PageSet met;
  CRAWLSTORE_TRY(for_each_fragment(entries_.runs(), [&](auto entries) -> Result<void> {
    entry_count += entries.size();
    for (const Entry& entry : entries) {
      if (entry.order == format::kQueueGone) {
        return fail(Errc::kSegmentInvalid, "an entry of a queue is of no priority");
      }
      if (is_true(entry, met) && !pages.insert(entry.page)) {
        return fail(Errc::kSegmentInvalid, "a page is in a queue twice");
      }
    }
    return {};
  }));
  if (entry_count != entries_.count()) {
    return fail(Errc::kSegmentInvalid, "a queue has another number of entries than its table says");
  }
  const auto is_waiting = [](const auto& change) { return change.second != format::kQueueGone; };
  const auto waiting = static_cast<std::size_t>(std::ranges::count_if(changes_, is_waiting));
  if (pages.count() != count_ || met.count() != waiting) {
    return fail(Errc::kSegmentInvalid, "a queue has another number of pages than its table says");
  }
  return {};
}

/// The entry of a page that waits.
///   met  pages with a change whose entry was met: equal ones are stale
bool PageQueue::is_true(const Entry& entry, PageSet& met) const {
  const auto change = changes_.find(entry.page);
  if (change == changes_.end()) return true;
  return change->second == entry.order && met.insert(entry.page);
}

void PageQueue::change(std::uint64_t page, std::uint64_t order) {
  changes_[page] = order;
  changes_end_ = std::max(changes_end_, page + 1);
  unsaved_.push_back(page);
  if (rewrite_) rewrite_->changed.push_back(page);
  // Pages may come and go many times before they are saved.
  if (unsaved_.size() >= 2 * (changes_.size() + kStaleMin)) sort_once(unsaved_);
}

Result<void> PageQueue::insert_piece(std::span<const Entry> piece) {
  CRAWLSTORE_TRY(entries_.insert(piece));
  for_each_ahead(piece, *pages_, [this](const Entry& entry) {
    const bool is_new = pages_->insert(entry.page);
    count_ += is_new ? 1 : 0;
    // Pages that were never in the queue have, in a crawl, the highest numbers.
    if (!is_new || (entry.page < changes_end_ && changes_.contains(entry.page))) {
      change(entry.page, entry.order);
    }
  });
  rewrite_some(piece.size());
  return {};
}

Result<std::uint64_t> PageQueue::insert(std::span<const Entry> entries) {
  CRAWLSTORE_TRY(load_pages());
  const std::uint64_t before = count_;
  while (!entries.empty()) {
    const auto piece = entries.first(std::min(entries.size(), entries_.piece_max()));
    CRAWLSTORE_TRY(insert_piece(piece));
    entries = entries.subspan(piece.size());
  }
  return count_ - before;
}

Result<std::uint64_t> PageQueue::update(std::span<const Entry> entries) {
  CRAWLSTORE_TRY(load_pages());
  std::vector<Entry> there;
  std::ranges::copy_if(entries, std::back_inserter(there),
                       [this](const Entry& entry) { return pages_->contains(entry.page); });
  CRAWLSTORE_TRY(insert(there));
  return there.size();
}

Result<std::uint64_t> PageQueue::remove(std::span<const std::uint64_t> pages) {
  CRAWLSTORE_TRY(load_pages());
  const std::uint64_t before = count_;
  for (const std::uint64_t page : pages) {
    if (!pages_->erase(page)) continue;
    --count_;
    change(page, format::kQueueGone);
  }
  const std::uint64_t removed_count = before - count_;
  rewrite_some(pages.size());
  if (count_ == 0) clear();
  return removed_count;
}

/// In pieces, so that changes stay few.
Result<std::uint64_t> PageQueue::trim(std::uint64_t count) {
  CRAWLSTORE_TRY(load_pages());
  const std::uint64_t before = count_;
  while (count_ > count) {
    PageSet met;
    CRAWLSTORE_TRY(const auto last,
                   entries_.last(std::min(count_ - count, limits_.changes_max),
                                 [&](const Entry& entry) { return is_true(entry, met); }));
    std::vector<std::uint64_t> pages;
    pages.reserve(last.size());
    for (const Entry& entry : last) pages.push_back(entry.page);
    CRAWLSTORE_TRY(const auto removed_count, remove(pages));
    if (removed_count == 0)
      return fail(Errc::kSegmentInvalid, "a queue has fewer entries than it says");
  }
  return before - count_;
}

Result<void> PageQueue::take(std::size_t count, bool is_sorted, std::vector<Entry>& out) {
  CRAWLSTORE_TRY(load_changes());
  const std::size_t before = out.size();
  PageSet met;
  Filter filter;
  if (!changes_.empty()) filter = [&](const Entry& entry) { return is_true(entry, met); };
  CRAWLSTORE_TRY(entries_.take(std::min<std::uint64_t>(count, count_), is_sorted, out, filter));
  const auto taken = std::span(out).subspan(before);
  if (met.count() != 0) {
    for (const Entry& entry : taken) {
      if (met.contains(entry.page)) change(entry.page, format::kQueueGone);
    }
  }
  if (pages_) {
    for_each_ahead(taken, *pages_, [this](const Entry& entry) { pages_->erase(entry.page); });
  }
  count_ -= taken.size();
  rewrite_some(taken.size());
  if (count_ == 0) clear();
  return {};
}

Result<void> PageQueue::flush() {
  CRAWLSTORE_TRY(entries_.flush());
  return write_changes();
}

/// Writes the changes that are in no run; of younger runs, those as well that are not much larger,
/// so that there are few.
Result<void> PageQueue::write_changes() {
  if (unsaved_.empty()) return {};
  PageSet written;
  std::vector<Entry> changes;
  changes.reserve(unsaved_.size());
  for (const std::uint64_t page : unsaved_) {
    if (written.insert(page)) changes.push_back({changes_.at(page), page});
  }
  std::size_t kept_count = change_runs_.size();
  while (kept_count > 0 && change_runs_[kept_count - 1]->index.entry_count <= 2 * changes.size()) {
    --kept_count;
    CRAWLSTORE_TRY(for_each_fragment(*change_runs_[kept_count], kBeforeAll, [&](auto entries) {
      std::ranges::copy_if(entries, std::back_inserter(changes),
                           [&](const Entry& entry) { return written.insert(entry.page); });
      return Result<void>();
    }));
  }
  std::vector<Entry> room;
  CRAWLSTORE_TRY(auto run, store_run(*sink_, changes, room));
  change_runs_.resize(kept_count);
  change_runs_.push_back(std::move(run));
  unsaved_.clear();
  return {};
}

/// Goes on with a rewrite, or begins it. The call does not tell of its failures: all that was asked
/// for is done by then and none of it is lost. A caller that repeats a take() because of an error
/// would take others. A full disk is what the next commit tells of, if it is still full then, and
/// damage what a take() does that comes to it. There will be another try when twice as much is
/// stale.
void PageQueue::rewrite_some(std::size_t count) {
  if (rewrite_ && !entries_.is_rewriting()) rewrite_.reset();
  if (!rewrite_) start_rewrite_when_stale();
  if (!rewrite_) return;
  const std::size_t unpaid_count = rewrite_->changed.size() - rewrite_->paid_count;
  rewrite_->paid_count += unpaid_count;
  const std::size_t at_once_count = std::exchange(rewrite_->at_once_count, 0);
  const auto is_done =
      entries_.rewrite(kRewrittenForOne * count + rewrite_->pace * unpaid_count + at_once_count,
                       [this](const Entry& entry) { return is_true(entry, rewrite_->met); });
  if (is_done && !*is_done) return;
  if (is_done) end_changes();
  rewrite_.reset();
}

/// A rewrite ends before changes are twice as many.
std::uint64_t PageQueue::stale_max() const {
  return std::clamp(count_ / 4, kStaleMin, limits_.changes_max);
}

void PageQueue::start_rewrite_when_stale() {
  const std::uint64_t stale_count =
      std::max<std::uint64_t>(changes_.size(), entries_.count() - count_);
  if (stale_count < std::max(stale_max(), stale_tolerated_)) return;
  stale_tolerated_ = 2 * stale_count;
  if (!entries_.start_rewrite()) return;
  const std::size_t pace = entries_.count() / stale_max() + 1;
  rewrite_ = Rewrite{pace, {}, {}};
  // No rewrite ends by itself if a queue is opened for a few pages and closed again.
  if (stale_count >= 2 * stale_max()) rewrite_->at_once_count = entries_.count();
}

/// All runs were rewritten: there are stale entries of those only that were changed since.
void PageQueue::end_changes() {
  Changes changes;
  changes_end_ = 0;
  for (const std::uint64_t page : rewrite_->changed) {
    changes[page] = changes_.at(page);
    changes_end_ = std::max(changes_end_, page + 1);
  }
  changes_ = std::move(changes);
  unsaved_ = std::move(rewrite_->changed);
  change_runs_.clear();
  stale_tolerated_ = 0;
}

}  // namespace crawlstore::queue
