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
         a.score == b.score && std::ranges::equal(a.content_hash, b.content_hash) &&
         std::ranges::equal(a.links, b.links, is_same_link);
}

}  // namespace

Result<void> DatabaseDiff::diff_edits() {
  auto old_runs = older_.event_runs();
  auto new_runs = newer_.event_runs();
  const auto shared = static_cast<std::ptrdiff_t>(count_shared(old_runs, new_runs, is_same_store_));
  old_runs.erase(old_runs.begin(), old_runs.begin() + shared);
  new_runs.erase(new_runs.begin(), new_runs.begin() + shared);
  EventWalk a = older_.walk_events(std::move(old_runs));
  EventWalk b = newer_.walk_events(std::move(new_runs));
  CRAWLSTORE_TRY(work_.blame(false, a.start()));
  CRAWLSTORE_TRY(work_.blame(true, b.start()));
  while (!a.at_end() && !b.at_end() && is_same_edit(a.event(), b.event())) {
    CRAWLSTORE_TRY(work_.tell(2));
    CRAWLSTORE_TRY(work_.blame(false, a.advance()));
    CRAWLSTORE_TRY(work_.blame(true, b.advance()));
  }
  CRAWLSTORE_TRY(tell_edits(false, a));
  return tell_edits(true, b);
}

Result<void> DatabaseDiff::tell_edits(bool in_new, EventWalk& edits) {
  while (!edits.at_end()) {
    ++(in_new ? found_->added_edit_count : found_->gone_edit_count);
    if (sink_.edit) {
      sink_.edit({found_->name, in_new ? Change::kAdded : Change::kGone, edits.event()});
    }
    CRAWLSTORE_TRY(work_.tell(1));
    CRAWLSTORE_TRY(work_.blame(in_new, edits.advance()));
  }
  return {};
}

}  // namespace crawlstore::pages
