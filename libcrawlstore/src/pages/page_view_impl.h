// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>

#include <crawlstore/page_view.h>

#include "container/reader.h"
#include "container/tile_reader.h"
#include "format/pages_table.h"
#include "format/record_tile.h"
#include "links/link_log.h"
#include "pages/event_walk.h"
#include "pages/gap_notes.h"
#include "pages/origins_log.h"
#include "pages/page_keys.h"

namespace crawlstore {

struct PageView::Impl {
  explicit Impl(const Snapshot& of) : snapshot(of) {}
  /// `gaps`: of a view that goes on past damage.
  static Result<std::shared_ptr<Impl>> open(const Snapshot& snapshot, std::string_view name,
                                            std::unique_ptr<pages::GapNotes> gaps);

  Snapshot snapshot;
  PagesInfo info;
  format::PagesTable table;
  std::optional<pages::PageKeys> keys;           // where pages have URLs
  std::optional<container::TileReader> records;  // where there are pages
  std::optional<links::LinkView> links;
  mutable std::mutex mutex;  // guards origins: it keeps a block
  mutable std::optional<pages::OriginsLog> origins;

  std::unique_ptr<pages::GapNotes> gaps;
  std::optional<Error> keys_error;  // then `keys` is not there

  Result<void> open_parts();
  Result<void> open_origins();
  Result<void> open_records();
  Result<void> open_links();
  Result<void> open_keys();
  [[nodiscard]] bool goes_on_past(const Error& error) const {
    return gaps != nullptr && pages::is_damage(error);
  }
  Result<void> note_gap(PagePart part, std::uint64_t first, std::uint64_t end,
                        const Error& error) const;
  /// Whether all records or all URLs cannot be read, so that no page can be shown.
  [[nodiscard]] bool lacks_a_part() const {
    return gaps != nullptr && ((!records && table.records) || (!origins && table.origins));
  }
  Result<const format::SegmentEntry*> part(SegmentId id, SegmentKind kind) const;
  [[nodiscard]] Result<void> check_index(std::uint64_t index) const;
  /// errors  kSegmentInvalid: no page has the index
  [[nodiscard]] Result<std::uint64_t> index_of_key(std::span<const std::byte> value) const;
  /// Keys that are not below `from`, with their indexes. errors of damage
  Result<void> for_each_key(const VisitKey& visit, Key16 from) const;
  Result<void> fill_origin(std::uint64_t index, PageInfo& page) const;
  /// errors  kInvalidArgument: no page has this index; of damage
  [[nodiscard]] Result<format::PageRecord> record(std::uint64_t index) const;
  [[nodiscard]] Result<format::PageRecord> read_record(std::uint64_t index) const;
  /// Edits that wait, of these runs of their log.
  pages::EventWalk walk_events(std::vector<format::RunRef> runs);
  /// By index, the head of each page's key; 0 for those that were forgotten.
  Result<std::vector<std::uint64_t>> hosts() const;
};

}  // namespace crawlstore
