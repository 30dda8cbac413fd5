// SPDX-License-Identifier: Apache-2.0
#include "model/report_view.h"

namespace crawlstore::model {

Document merge_view(const std::vector<DrumMerge>& merges) {
  Table table{"merges",
              {{"name", Unit::kText},
               {"request_count", Unit::kCount},
               {"unique_count", Unit::kCount},
               {"duplicate_count", Unit::kCount},
               {"new_key_count", Unit::kCount},
               {"bucket_count", Unit::kCount},
               {"split_count", Unit::kCount},
               {"commit_count", Unit::kCount}},
              {}};
  for (const auto& [name, report] : merges) {
    table.rows.push_back({name, report.request_count, report.unique_count, report.duplicate_count,
                          report.new_key_count, report.bucket_count, report.split_count,
                          report.commit_count});
  }
  return {{}, {std::move(table)}};
}

Document compact_view(const CompactReport& report) {
  return {{{"file_bytes_before", Unit::kBytes, report.file_bytes_before},
           {"file_bytes_after", Unit::kBytes, report.file_bytes_after},
           {"moved_bytes", Unit::kBytes, report.moved_bytes},
           {"commit_count", Unit::kCount, report.commit_count}},
          {}};
}

Document forget_view(const ForgetReport& report) {
  return {{{"pages", Unit::kCount, report.page_count},
           {"links", Unit::kCount, report.link_count},
           {"seen", Unit::kCount, report.seen_count},
           {"score_arrays", Unit::kCount, report.score_array_count},
           {"queued", Unit::kCount, report.queued_count}},
          {}};
}

Document lines_view(const LineCounts& counts) {
  return {{{"lines", Unit::kCount, counts.lines},
           {"unique", Unit::kCount, counts.unique},
           {"duplicate", Unit::kCount, counts.duplicate},
           {"updated", Unit::kCount, counts.updated},
           {"dropped", Unit::kCount, counts.dropped},
           {"unparsed", Unit::kCount, counts.unparsed},
           {"skipped", Unit::kCount, counts.skipped},
           {"refused", Unit::kCount, counts.refused}},
          {}};
}

}  // namespace crawlstore::model
