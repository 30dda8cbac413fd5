// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One of the two states of a page database that are compared; it may not be there at all.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <crawlstore/page_view.h>

#include "base/inside.h"
#include "drum/diff_side.h"
#include "format/record_tile.h"
#include "pages/origins_run.h"
#include "pages/page_view_impl.h"

namespace crawlstore::pages {

/// Threads: one.
class ComparedPages {
 public:
  explicit ComparedPages(std::optional<PageView> view) : view_(std::move(view)) {}

  [[nodiscard]] bool exists() const { return view_.has_value(); }
  [[nodiscard]] const PageView& view() const { return *view_; }
  [[nodiscard]] PageView::Impl& inside() const { return Inside::of(*view_); }
  [[nodiscard]] std::uint64_t page_count() const {
    return exists() ? inside().table.page_count : 0;
  }
  [[nodiscard]] bool has_urls() const { return exists() && inside().table.has_urls; }
  /// The runs of one of its segments; none when there is no such segment.
  [[nodiscard]] std::vector<format::RunRef> runs_of(SegmentId id) const;
  [[nodiscard]] std::vector<format::RunRef> origin_runs() const {
    return exists() ? runs_of(inside().table.origins) : std::vector<format::RunRef>{};
  }
  [[nodiscard]] std::vector<format::RunRef> event_runs() const {
    return exists() ? runs_of(inside().table.events) : std::vector<format::RunRef>{};
  }
  /// Walks the edits of event_runs(), or of some of these runs.
  [[nodiscard]] EventWalk walk_events(std::vector<format::RunRef> runs) const {
    return exists() ? inside().walk_events(std::move(runs)) : EventWalk({}, {}, {});
  }
  /// Oldest first.
  [[nodiscard]] std::vector<links::LogRun> out_runs() const;
  /// A tile of records; nothing when there are fewer.
  [[nodiscard]] const format::RunRef* tile_ref(std::uint64_t tile) const;

  /// Reads the record of a page below page_count().
  [[nodiscard]] Result<format::PageRecord> record(std::uint64_t index) const {
    return inside().record(index);
  }
  /// Whether its view goes on past damage, and past this error.
  [[nodiscard]] bool goes_on_past(const Error& error) const {
    return exists() && inside().goes_on_past(error);
  }
  [[nodiscard]] bool goes_on_past_damage() const { return exists() && inside().gaps != nullptr; }
  /// Whether no link, or no edit, can be read, which the view noted when it was opened.
  [[nodiscard]] bool lacks_links() const;
  [[nodiscard]] bool lacks_edits() const;
  /// Returns the URL of a page below page_count(); nothing when the view goes on past the damage of
  /// it.
  [[nodiscard]] Result<std::optional<std::string>> known_url(std::uint64_t index) const;
  /// The page with this record was forgotten: only its index is left.
  Result<bool> is_forgotten(std::uint64_t index, const format::PageRecord& record) const;

 private:
  std::optional<PageView> view_;
};

/// Origins of runs that follow each other, page by page. Threads: one.
class OriginWalk {
 public:
  OriginWalk(const ComparedPages& side, std::vector<format::RunRef> runs)
      : side_(side), runs_(std::move(runs)) {}
  /// Before anything else.
  Result<void> start() { return settle(); }
  [[nodiscard]] bool at_end() const { return cursor_ == nullptr; }
  [[nodiscard]] std::uint64_t page() const { return cursor_->page(); }
  /// Valid until the next advance().
  [[nodiscard]] format::Origin origin() const { return cursor_->origin(); }
  Result<void> advance();

 private:
  Result<void> settle();

  const ComparedPages& side_;
  std::vector<format::RunRef> runs_;
  std::size_t next_run_ = 0;
  std::unique_ptr<OriginsCursor> cursor_;  // at a page, or there are no more
};

}  // namespace crawlstore::pages
