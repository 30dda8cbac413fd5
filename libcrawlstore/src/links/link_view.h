// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reading the links of one `pages` segment, both ways: spec/links.md#links.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "container/reader.h"
#include "container/writer.h"
#include "format/directory.h"
#include "links/combined_rows.h"

namespace crawlstore::links {

/// The segments of links that a `pages` segment owns; 0: there is none.
struct LinkSegments {
  SegmentId out;
  SegmentId in;
  SegmentId gone;
};

/// Links of one state of a store: of a pinned generation, or of a writer with all that it has put.
/// A view of a writer ends with the next change of its segments.
/// Copies share what is verified. Threads: each thread a copy of its own.
class LinkView {
 public:
  /// Reads the footers of all runs.
  ///   errors  kUnknownName (no such segment), kSegmentInvalid, kChunkDamaged, those of storage
  static Result<LinkView> open(container::Reader& reader, const LinkSegments& segments);
  static Result<LinkView> open(container::SegmentWriter& writer, const LinkSegments& segments);
  /// Works on whatever directory `find` knows and whatever file `open_run` reads.
  using Find = std::function<const format::SegmentEntry*(SegmentId)>;
  using OpenRun =
      std::function<std::shared_ptr<const container::RunReader>(SegmentId, const format::RunRef&)>;
  static Result<LinkView> open(const Find& find, const OpenRun& open_run,
                               const LinkSegments& segments);

  /// errors kSegmentInvalid: a row or a link may be of a page that is not below `page_count`
  [[nodiscard]] Result<void> check_pages(std::uint64_t page_count) const;

  /// The links of a page, ascending; none for a page without a row. Replaces `links`.
  ///   errors  kSegmentInvalid, kChunkDamaged, those of storage
  ///   cost    of each run that covers the page: a binary search and one block
  Result<void> out(std::uint64_t page, std::vector<std::uint64_t>& links);
  /// The pages that link to a page, likewise.
  Result<void> in(std::uint64_t page, std::vector<std::uint64_t>& links);

  /// All rows from `first_page` on. A page may come with no links.
  [[nodiscard]] Result<CombinedRows> out_rows(std::uint64_t first_page = 0) const;
  [[nodiscard]] Result<CombinedRows> in_rows(std::uint64_t first_page = 0) const;

  /// Oldest first; those of in_links and gone_links together.
  [[nodiscard]] const std::vector<LogRun>& out_runs() const { return out_; }
  [[nodiscard]] const std::vector<LogRun>& in_runs() const { return in_; }

 private:
  std::vector<LogRun> out_;
  std::vector<LogRun> in_;
  format::LinkRows rows_;
  RowEdits edits_;
};

}  // namespace crawlstore::links
