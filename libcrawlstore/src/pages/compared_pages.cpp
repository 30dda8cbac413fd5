// SPDX-License-Identifier: Apache-2.0
//
// Invariants: a walk stands at something, or there is no more; a run of origins is left only when
// all its checksums were right.
#include "pages/compared_pages.h"

#include <algorithm>

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

bool ComparedPages::lacks_links() const {
  if (!goes_on_past_damage() || inside().links) return false;
  return inside().table.out_links && inside().table.in_links;
}

bool ComparedPages::lacks_edits() const {
  if (!goes_on_past_damage()) return false;
  const auto gaps = inside().gaps->gaps();
  return std::ranges::any_of(gaps, [](const PageGap& gap) {
    return gap.part == PagePart::kEvents && gap.first_page == 0;
  });
}

Result<std::optional<std::string>> ComparedPages::known_url(std::uint64_t index) const {
  PageInfo page;
  const auto filled = inside().fill_origin(index, page);
  if (filled) return std::optional<std::string>(std::move(page.url));
  if (goes_on_past(filled.error())) return std::optional<std::string>{};
  return tl::unexpected<Error>(filled.error());
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
