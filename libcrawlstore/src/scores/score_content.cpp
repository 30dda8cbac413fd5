// SPDX-License-Identifier: Apache-2.0
#include "scores/score_content.h"

#include <algorithm>

#include "format/pages_table.h"

namespace crawlstore::scores {

using container::PayloadWindow;

Result<container::RunContentPtr> check_score_array(const container::PayloadSource& payload,
                                                   const container::ContentProgress& progress) {
  const std::uint64_t footer_bytes =
      std::min<std::uint64_t>(payload.length_bytes, sizeof(format::ScoreFooter));
  const Extent place{payload.length_bytes - footer_bytes, footer_bytes};
  CRAWLSTORE_TRY(const std::byte* const footer,
                 PayloadWindow(payload, place, progress).at(place.offset_bytes, footer_bytes));
  CRAWLSTORE_TRY(const auto array,
                 format::parse_score_footer({footer, footer_bytes}, payload.length_bytes));
  format::ScoreArrayRules rules(array);
  PayloadWindow window(payload, {0, place.offset_bytes}, progress);
  for (std::uint64_t at = 0; at < place.offset_bytes;) {
    const std::uint64_t length = std::min(PayloadWindow::kWindowBytes, place.offset_bytes - at);
    CRAWLSTORE_TRY(const std::byte* const piece, window.at(at, length));
    CRAWLSTORE_TRY(rules.take({piece, length}));
    CRAWLSTORE_TRY(progress(length));
    at += length;
  }
  CRAWLSTORE_TRY(rules.finish());
  CRAWLSTORE_TRY(progress(footer_bytes));
  return std::make_unique<const ScoreContent>(array);
}

Result<bool> verify_score_array(container::SegmentVerifier& segments,
                                const format::SegmentEntry& entry) {
  const format::RunRef& run = entry.runs.front();
  CRAWLSTORE_TRY(const auto* const content, segments.content_of<ScoreContent>(entry, run));
  if (content == nullptr || !segments.all_read(SegmentKind::kPages)) return true;
  const format::SegmentEntry* const owner = segments.directory().find(entry.owner);
  CRAWLSTORE_TRY(const auto payload,
                 segments.read_table(*owner, format::kPagesTableBytesMax, "a table is too long"));
  if (!payload) return true;
  CRAWLSTORE_TRY(const auto table, format::parse_pages_table(*payload));
  const format::ScoreArray& array = content->array;
  const auto broken = [&](const char* text) { segments.broken(entry.id, run.offset_bytes, text); };
  if (array.page_count > table.page_count) {
    broken("a score array is of more pages than there are");
  }
  if (array.superstep_count > table.superstep_count) {
    broken("a score array is of more supersteps than there were");
  }
  if (array.generation > segments.directory().generation()) {
    broken("a score array is of a generation that was not there");
  }
  return true;
}

}  // namespace crawlstore::scores
