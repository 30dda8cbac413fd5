// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "pages/diff_database.h"

namespace crawlstore::pages {
namespace {

bool is_same_link(const EventLink& a, const EventLink& b) {
  return a.url == b.url && a.index == b.index && a.score == b.score;
}

bool is_same_edit(const CrawlEvent& a, const CrawlEvent& b) {
  return a.kind == b.kind && a.url == b.url && a.index == b.index && a.time_us == b.time_us &&
         a.score == b.score && a.http_status == b.http_status &&
         std::ranges::equal(a.content_hash, b.content_hash) &&
         std::ranges::equal(a.links, b.links, is_same_link);
}

/// Returns whether a walk can go on. Notes the edits that damage hides, from `place` on.
Result<bool> can_go_on(const ComparedPages& side, const Result<void>& moved, std::uint64_t place) {
  if (moved) return true;
  const std::uint64_t end = std::max(place + 1, side.inside().table.event_count);
  CRAWLSTORE_TRY(side.inside().note_gap(PagePart::kEvents, place, end, moved.error()));
  return false;
}

}  // namespace

Result<void> DatabaseDiff::diff_edits() {
  if (older_.lacks_edits() || newer_.lacks_edits()) return {};
  auto old_runs = older_.event_runs();
  auto new_runs = newer_.event_runs();
  const auto shared = static_cast<std::ptrdiff_t>(count_shared(old_runs, new_runs, is_same_store_));
  std::uint64_t place = 0;
  std::for_each_n(old_runs.begin(), shared,
                  [&place](const auto& run) { place += run.record_count; });
  old_runs.erase(old_runs.begin(), old_runs.begin() + shared);
  new_runs.erase(new_runs.begin(), new_runs.begin() + shared);
  EventWalk a = older_.walk_events(std::move(old_runs));
  EventWalk b = newer_.walk_events(std::move(new_runs));
  CRAWLSTORE_TRY(auto reads_old, work_.blame(false, can_go_on(older_, a.start(), place)));
  CRAWLSTORE_TRY(auto reads_new, work_.blame(true, can_go_on(newer_, b.start(), place)));
  while (reads_old && reads_new && !a.at_end() && !b.at_end() &&
         is_same_edit(a.event(), b.event())) {
    CRAWLSTORE_TRY(work_.tell(2));
    ++place;
    CRAWLSTORE_TRY(reads_old, work_.blame(false, can_go_on(older_, a.advance(), place)));
    CRAWLSTORE_TRY(reads_new, work_.blame(true, can_go_on(newer_, b.advance(), place)));
  }
  if (!reads_old || !reads_new) return {};  // behind the damage nothing can be compared
  CRAWLSTORE_TRY(tell_edits(false, a, place));
  return tell_edits(true, b, place);
}

Result<void> DatabaseDiff::tell_edits(bool in_new, EventWalk& edits, std::uint64_t place) {
  while (!edits.at_end()) {
    ++(in_new ? found_->added_edit_count : found_->gone_edit_count);
    if (sink_.edit) {
      sink_.edit({found_->name, in_new ? Change::kAdded : Change::kGone, edits.event()});
    }
    CRAWLSTORE_TRY(work_.tell(1));
    const ComparedPages& side = in_new ? newer_ : older_;
    CRAWLSTORE_TRY(const auto reads_on,
                   work_.blame(in_new, can_go_on(side, edits.advance(), ++place)));
    if (!reads_on) break;
  }
  return {};
}

}  // namespace crawlstore::pages
