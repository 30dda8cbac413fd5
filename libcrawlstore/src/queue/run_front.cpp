// SPDX-License-Identifier: Apache-2.0
#include "queue/run_front.h"

#include <algorithm>
#include <utility>

namespace crawlstore::queue {

RunFront::Cursor RunFront::cursor_at(const LiveRun& run, const Entry& bound) {
  return {run.stored->fragment_of(std::max(bound, run.cut)), bound};
}

void RunFront::add(LiveRun run) {
  cursors_.push_back(cursor_at(run, bound_));
  runs_.push_back(std::move(run));
}

void RunFront::replace(std::vector<LiveRun> runs) {
  runs_ = std::move(runs);
  cursors_.resize(runs_.size());
  rewind(bound_);
}

/// The lowest entry that may be in the next fragment of a run.
Entry RunFront::next_lowest(std::size_t run) const {
  const auto& fragments = runs_[run].stored->index.fragments;
  const Cursor& cursor = cursors_[run];
  if (cursor.next == fragments.size()) return kBehindAll;
  return std::max(format::lowest_of(fragments[cursor.next]), cursor.floor);
}

Result<void> RunFront::advance() {
  std::size_t first = 0;
  Entry lowest = kBehindAll;
  Entry second = kBehindAll;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const Entry next = next_lowest(i);
    if (next < lowest) {
      second = lowest;
      lowest = next;
      first = i;
    } else {
      second = std::min(second, next);
    }
  }
  if (lowest != kBehindAll) {
    Cursor& cursor = cursors_[first];
    loaded_.clear();
    CRAWLSTORE_TRY(runs_[first].stored->read(cursor.next, runs_[first].cut, cursor.floor, loaded_));
    near_.insert(loaded_);
    ++cursor.next;
    cursor.floor = kBeforeAll;
    second = std::min(second, next_lowest(first));
  }
  bound_ = second;
  return {};
}

void RunFront::cut_all(const Entry& cut) {
  for (LiveRun& run : runs_) run.cut = std::max(run.cut, cut);
}

Entry RunFront::bound_behind(std::size_t count) const {
  return std::min(near_.bound_behind(count), bound_);
}

Entry RunFront::bound_after(std::size_t fragment_count) const {
  std::vector<Entry> next;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const std::span fragments =
        std::span(runs_[i].stored->index.fragments).subspan(cursors_[i].next);
    for (const auto& fragment : fragments.first(std::min(fragment_count, fragments.size()))) {
      next.push_back(format::lowest_of(fragment));
    }
  }
  if (next.size() <= fragment_count) return kBehindAll;
  const auto nth = next.begin() + static_cast<std::ptrdiff_t>(fragment_count);
  std::nth_element(next.begin(), nth, next.end());
  return std::max(*nth, bound_);
}

void RunFront::rewind(const Entry& bound) {
  near_.keep_below(bound);
  for (std::size_t i = 0; i < runs_.size(); ++i) cursors_[i] = cursor_at(runs_[i], bound);
  bound_ = bound;
}

}  // namespace crawlstore::queue
