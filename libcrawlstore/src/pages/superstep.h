// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One superstep: a batch of edits becomes pages, records and links, in one commit.
///
///   batch --keys, sorted--> keys ---------> indexes: those of pages that are there, the next ones
///                                           for the others, edit after edit
///         --new pages-----> origins         appended
///         --edits, by index-> records       tiles that change
///                          -> out-links     one run: the rows of pages that were crawled
///                          -> in-links      one run of what came, one of what went, regrouped by
///                                           target with a counting sort
///
/// Everything is read forwards and written forwards. Nothing is committed here: what was written
/// lies in the writer's changes.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/pages.h>

#include "base/clock.h"
#include "container/tile_writer.h"
#include "container/work_steps.h"
#include "container/writer.h"
#include "drum/key_table.h"
#include "format/record_tile.h"
#include "links/link_log.h"
#include "pages/batch.h"
#include "pages/content_index.h"
#include "pages/origins_run.h"
#include "pages/pages_state.h"

namespace crawlstore::pages {

/// For one use. Threads: one. `keys` is nullptr where pages have no URLs.
class Superstep {
 public:
  Superstep(container::SegmentWriter& writer, PagesState& state, drum::KeyTable* keys,
            const Batch& batch, container::WorkSteps& steps)
      : writer_(writer), state_(state), keys_(keys), batch_(batch), steps_(steps) {}

  /// Puts all segments that change, but not the table, into the writer's changes, and brings
  /// `state` up to date, which the caller puts.
  ///   errors  kNoSpace and the like, of damage, kTooLarge, kCancelled: what was written is still
  ///           reserved, and `state` half changed: the caller gives both back
  Result<SuperstepReport> run();

 private:
  struct LinkTarget {
    std::uint64_t index = 0;
    LocalId local = kNoLocal;
  };

  // superstep.cpp
  void expect_steps();
  Result<void> assign_indexes();
  Result<void> find_named_pages(std::span<const LocalId> by_key);
  void order_new_pages(const ByPage<bool>& is_known);
  void take_index_pages();
  Result<void> write_keys(std::span<const LocalId> by_key);
  void order_edits();
  void order_pages();
  /// In the order in which the batch named them.
  template <class Visit>
  void for_each_page(const Visit& visit) const {
    for (LocalId page; page.value < batch_.page_count(); ++page.value) visit(page);
  }
  [[nodiscard]] bool is_refused(LocalId page) const { return indexes_[page] == kNoIndex; }

  // superstep_origins.cpp
  Result<void> write_origins();
  Result<void> find_linker_depths(const format::SegmentEntry& log);
  Result<void> share_dictionary(const format::SegmentEntry& log, OriginsPlan& plan);

  // superstep_records.cpp
  Result<void> write_records();
  Result<container::TileWriter> open_records();
  void apply_edit(const BatchEdit& edit, format::PageRecord& record, NewContents& contents);

  // superstep_links.cpp
  Result<void> write_links();
  Result<links::LinksWriter> start_run(SegmentId segment, std::uint64_t row_count,
                                       std::uint64_t link_count);
  template <class Visit>
  Result<void> for_each_source(const Visit& visit);
  Result<std::uint64_t> count_links_max(links::LinkView& view);
  Result<void> write_out_rows(const links::LinkSegments& segments);
  Result<void> write_in_rows();
  void make_row(std::span<const std::uint32_t> page_edits);
  void compare_rows(std::uint64_t page);

  static constexpr std::uint64_t kNoIndex = ~std::uint64_t{0};

  container::SegmentWriter& writer_;
  PagesState& state_;
  drum::KeyTable* keys_;
  const Batch& batch_;
  container::WorkSteps& steps_;
  SuperstepReport report_;
  const std::int64_t now_us_ = now_us();
  std::uint64_t first_new_ = 0;            // index of the first new page
  ByPage<std::uint64_t> indexes_;          // kNoIndex: refused
  std::vector<LocalId> new_pages_;         // in the order of their indexes
  ByPage<std::uint32_t> depths_;           // as far as they are needed
  std::vector<std::uint32_t> edit_order_;  // edits by the index of their page, then as they came
  std::vector<LocalId> page_order_;        // pages by index, without those refused

  // Links. A source is its place among the pages whose rows are written.
  std::vector<LinkTarget> row_;
  std::vector<std::uint64_t> old_row_;
  std::vector<std::uint64_t> new_row_;
  std::vector<std::uint64_t> removed_;
  std::vector<std::uint64_t> sources_;  // index of each
  std::vector<LocalId> added_targets_;  // links that came, by source
  std::vector<std::uint32_t> added_sources_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>>
      gone_;  // target and source of those that went
};

/// The value of a key of a page.
using KeyValue = std::array<std::byte, format::kPageValueBytes>;
KeyValue make_key_value(std::uint64_t index, std::uint32_t witness);
/// Its two halves.
std::uint64_t index_in(std::span<const std::byte> value);
std::uint32_t witness_in(std::span<const std::byte> value);

}  // namespace crawlstore::pages
