// SPDX-License-Identifier: Apache-2.0
//
// Invariants: a walk stands at something, or there is no more; a run of origins is left only when
// all its checksums were right.
#include "pages/compared_pages.h"

#include "base/inside.h"
#include "container/run_io.h"

namespace crawlstore::pages {

std::vector<format::RunRef> ComparedPages::runs_of(SegmentId id) const {
  const auto* entry = id ? Inside::of(inside().snapshot).directory().find(id) : nullptr;
  return entry == nullptr ? std::vector<format::RunRef>{} : entry->runs;
}

std::vector<links::LogRun> ComparedPages::out_runs() const {
  if (!exists() || !inside().links) return {};
  return inside().links->out_runs();
}

const format::RunRef* ComparedPages::tile_ref(std::uint64_t tile) const {
  if (!exists() || !inside().records || tile >= inside().records->tile_count()) return nullptr;
  return &inside().records->ref(tile);
}

Result<bool> ComparedPages::is_forgotten(std::uint64_t index,
                                         const format::PageRecord& record) const {
  format::PageRecord left;
  left.state = PageState::kGone;
  if (!has_urls() || record != left) return false;
  CRAWLSTORE_TRY(const auto url, view_->url(index));
  return url.empty();
}

Result<void> OriginWalk::settle() {
  while (cursor_ == nullptr || cursor_->at_end()) {
    if (cursor_ != nullptr) CRAWLSTORE_TRY(cursor_->finish());
    cursor_.reset();
    if (next_run_ == runs_.size()) return {};
    auto& reader = Inside::of(side_.inside().snapshot);
    const format::RunRef& run = runs_[next_run_++];
    const auto name =
        container::run_name(reader.identity(), side_.inside().table.origins, run.run_id);
    CRAWLSTORE_TRY(auto cursor, OriginsCursor::open(*reader.storage(), name, run));
    cursor_ = std::move(cursor);
  }
  return {};
}

Result<void> OriginWalk::advance() {
  CRAWLSTORE_TRY(cursor_->advance());
  return settle();
}

}  // namespace crawlstore::pages
