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

Document compact_view(const CompactReport& report, const JoinReport& joined) {
  return {{{"old_file_bytes", Unit::kBytes, report.file_bytes_before},
           {"new_file_bytes", Unit::kBytes, report.file_bytes_after},
           {"moved_bytes", Unit::kBytes, report.moved_bytes},
           {"coder_bytes", Unit::kBytes, joined.coder_bytes_max},
           {"commit_count", Unit::kCount, report.commit_count}},
          {}};
}

Document forget_view(const ForgetReport& report) {
  return {{{"page_count", Unit::kCount, report.page_count},
           {"link_count", Unit::kCount, report.link_count},
           {"seen_count", Unit::kCount, report.seen_count},
           {"score_array_count", Unit::kCount, report.score_array_count},
           {"queued_count", Unit::kCount, report.queued_count}},
          {}};
}

Document lines_view(const LineCounts& counts) {
  return {{{"line_count", Unit::kCount, counts.lines},
           {"unique_count", Unit::kCount, counts.unique},
           {"duplicate_count", Unit::kCount, counts.duplicate},
           {"updated_count", Unit::kCount, counts.updated},
           {"dropped_count", Unit::kCount, counts.dropped},
           {"unparsed_count", Unit::kCount, counts.unparsed},
           {"skipped_count", Unit::kCount, counts.skipped},
           {"refused_count", Unit::kCount, counts.refused},
           {"cut_count", Unit::kCount, counts.cut},
           {"refused_input_count", Unit::kCount, counts.refused_inputs}},
          {}};
}

}  // namespace crawlstore::model
