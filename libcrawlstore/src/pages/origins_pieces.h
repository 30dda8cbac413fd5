// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Writing the origins of many pages as several runs, so that later those of some pages can be
/// written anew without all others.

#include <cstdint>
#include <optional>
#include <vector>

#include "pages/origins_run.h"

namespace crawlstore::pages {

/// Bytes of URLs after which a run of a log ends: a sixteenth of all that the log holds, and never
/// less than a mebibyte, below which dictionaries do not pay.
std::uint64_t origin_piece_bytes(std::uint64_t url_bytes);

/// Bytes of all URLs of a log, by the footers of its runs. errors of damage
Result<std::uint64_t> origin_url_bytes(container::SegmentWriter& writer,
                                       const format::SegmentEntry& log);

/// The ids of the runs that an OriginsPieces writes; those that it does not need are lost.
std::uint64_t origin_pieces_max(const OriginsPlan& plan, std::uint64_t piece_bytes);

/// An OriginsWriter that begins a new run after each `piece_bytes` of URLs. All runs but the first
/// have its dictionary. Runs that were not given back are released. Threads: one.
class OriginsPieces {
 public:
  /// `first_run`: its id is the first of origin_pieces_max(). `plan` is that of all pages.
  OriginsPieces(container::SegmentWriter& writer, const format::RunLabel& first_run,
                OriginsPlan plan, std::uint64_t piece_bytes);
  OriginsPieces(const OriginsPieces&) = delete;
  OriginsPieces& operator=(const OriginsPieces&) = delete;
  ~OriginsPieces();

  /// Append as the functions of OriginsWriter do, to the run under way or a new one.
  Result<void> append(const format::Origin& origin);
  Result<void> append_block(const format::OriginBlockDecoder& block);

  /// Needs a page.
  Result<std::vector<format::RunRef>> finish();
  /// After finish(): the caller owns the extents of the runs.
  void give_back() { runs_.clear(); }

 private:
  Result<void> make_room(std::uint64_t url_bytes);
  Result<void> end_run();

  container::SegmentWriter& writer_;
  format::RunLabel next_run_;
  OriginsPlan plan_;  // of what is left
  const OriginsPlan whole_;
  std::uint64_t piece_bytes_;
  std::uint64_t piece_pages_;
  std::optional<OriginsWriter> run_;
  std::uint64_t run_bytes_ = 0;      // of the URLs of run_
  std::uint64_t run_bytes_max_ = 0;  // that it was planned for
  std::vector<format::RunRef> runs_;
};

}  // namespace crawlstore::pages
