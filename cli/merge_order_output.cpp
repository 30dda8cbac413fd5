// SPDX-License-Identifier: Apache-2.0
#include "cli/merge_order_output.h"

#include <stdexcept>

#include "cli/console.h"

namespace crawlstore::cli {

void count(model::LineCounts& counts, Verdict verdict) {
  switch (verdict) {
    case Verdict::kUnique:
      ++counts.unique;
      return;
    case Verdict::kDuplicate:
      ++counts.duplicate;
      return;
    case Verdict::kUpdated:
      ++counts.updated;
      return;
  }
}

MergeOrderOutput::MergeOrderOutput(model::LineCounts& counts, bool as_json)
    : counts_(&counts), as_json_(as_json) {}

void MergeOrderOutput::accept(std::span<const RawAnswer> answers) {
  out_.clear();
  for (const RawAnswer& answer : answers) {
    if (leaves_out_checks_ && answer.operation == DrumOperation::kCheck) continue;
    const Verdict verdict = verdict_of(answer);
    count(*counts_, verdict);
    append_line(out_, verdict, url_of(answer), as_json_);
  }
  const auto written = write_output(out_);
  if (written) return;
  failure_ = written.error();
  throw std::runtime_error("verdicts cannot be printed");
}

}  // namespace crawlstore::cli
