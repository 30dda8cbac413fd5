// SPDX-License-Identifier: Apache-2.0
//
// Invariants: all lines in the spool came after generation spooled_at_ was committed and belong to
// one later commit, so they are true as soon as the store shows a newer generation.
#include "cli/merge_order_output.h"

#include <stdexcept>

#include "cli/console.h"

namespace crawlstore::cli {
namespace {

/// Lines are appended in pieces of so many answers at most, then room is made.
constexpr std::size_t kAnswersAtOnce = 256;

}  // namespace

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

MergeOrderOutput::MergeOrderOutput(const Store& store, Spool& spool, model::LineCounts& counts,
                                   bool as_json)
    : store_(&store), spool_(&spool), counts_(&counts), as_json_(as_json) {}

void MergeOrderOutput::add(std::span<const RawAnswer> answers) {
  for (const RawAnswer& answer : answers) {
    const Verdict verdict = verdict_of(answer);
    count(*counts_, verdict);
    append_line(spool_->tail(), verdict, url_of(answer), as_json_);
  }
}

void MergeOrderOutput::accept(std::span<const RawAnswer> answers) {
  Result<void> done;
  const Generation now = store_->generation();
  if (!spool_->empty() && now > spooled_at_) done = spool_->drain(write_output);
  if (spool_->empty()) spooled_at_ = now;
  while (done && !answers.empty()) {
    const auto some = answers.first(std::min(answers.size(), kAnswersAtOnce));
    add(some);
    answers = answers.subspan(some.size());
    done = spool_->room();
  }
  if (done) return;
  failure_ = done.error();
  throw std::runtime_error("verdicts cannot be printed or kept");
}

Result<void> MergeOrderOutput::finish() {
  return spool_->drain(write_output);
}

void MergeOrderOutput::abandon() {
  const bool is_committed = !failure_ && store_->generation() > spooled_at_;
  if (is_committed && finish()) return;
  spool_->drop();
}

}  // namespace crawlstore::cli
