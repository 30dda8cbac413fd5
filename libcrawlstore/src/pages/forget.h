// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Taking pages out of a page database: their URLs, records and links, and of a small one their
/// keys, too (forget_keys.h). Their indexes stay given.
///
/// Pages go in portions, from the highest index downwards, each in a commit of its own, so that the
/// file grows by a part of what it holds. Downwards, because the runs of origins have ascending ids
/// and ascending pages: each run that is written anew gets an id above all that stay, and below all
/// that were written before it. A page above that links to it has then lost it as its first linker
/// already.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <crawlstore/pages.h>

#include "container/work_steps.h"
#include "container/writer.h"
#include "drum/key_table.h"
#include "links/link_view.h"
#include "pages/forget_survey.h"
#include "pages/pages_state.h"

namespace crawlstore::pages {

class OriginsPieces;

/// One commit forgets the pages of the survey from `first_page` up to `end_page`.
struct Portion {
  std::uint64_t first_page = 0;
  std::uint64_t end_page = 0;
  std::size_t first_run = 0;  ///< of the origins; these are written anew
  std::size_t end_run = 0;
  std::uint64_t bytes = 0;  ///< that it writes, about
};

/// For one use; no edits may wait. Threads: one.
class Forgetting {
 public:
  /// The survey outlives it.
  Forgetting(container::Writer& writer, const PagesState& state, const ForgetSurvey& survey,
             container::WorkSteps& steps);

  /// Whether all portions were written, or those of the pages from `first_page` on.
  [[nodiscard]] bool is_done() const { return is_done_from(0); }
  [[nodiscard]] bool is_done_from(std::uint64_t first_page) const {
    return end_page_ <= std::max(first_page, survey_.first_changed());
  }
  /// The next portion: as many pages as `bytes_max` allow, but at least one page, or one run, and
  /// none that is forgotten and below `first_page`.
  Result<Portion> next(const PagesState& state, std::uint64_t bytes_max,
                       std::uint64_t first_page) const;
  /// Those that go with it.
  [[nodiscard]] std::span<const std::uint64_t> pages_of(const Portion& portion) const;
  /// Puts all segments that change, but neither the table nor keys, into the writer's changes, and
  /// brings `state` up to date. Adds to `report`. Afterwards the portion counts as written.
  ///   errors  of damage, kNoSpace and the like, kCancelled: the caller drops the changes
  Result<void> write(PagesState& state, const Portion& portion, ForgetReport& report);
  /// Keeps the runs of links few, after write(), or in commits of their own behind it.
  Result<void> bound_out_links(PagesState& state);
  Result<void> bound_in_links(PagesState& state);

 private:
  class LinkCost;

  Result<void> write_origins(PagesState& state, const Portion& portion);
  Result<void> append_origins(const format::SegmentEntry& log, const Portion& portion,
                              OriginsPieces& pieces);
  Result<void> write_records(PagesState& state, const Portion& portion);
  Result<void> write_links(PagesState& state, const Portion& portion, ForgetReport& report);
  Result<void> write_rows(const links::LinkSegments& segments, std::uint64_t first_page,
                          std::span<const GoneLink> gone);
  [[nodiscard]] std::uint64_t rows_bytes(std::uint64_t row_count, std::uint64_t link_count) const;
  void note_unparsed(PagesState& state, const Portion& portion) const;

  container::Writer& writer_;
  const ForgetSurvey& survey_;
  container::WorkSteps& steps_;
  std::uint64_t end_page_;
  std::uint64_t piece_bytes_;
  std::uint64_t bytes_of_256_links_ = 0;
  std::uint64_t ids_end_ = 0;  // run ids below it, of those reserved here, are left
};

/// The keys of URLs in a table of seen URLs, as removals, sorted.
std::vector<drum::KeyEdit> seen_removals(const drum::KeyTable& seen,
                                         std::span<const std::string> urls, std::uint64_t key_seed);

}  // namespace crawlstore::pages
