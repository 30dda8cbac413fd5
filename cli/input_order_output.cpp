// SPDX-License-Identifier: Apache-2.0
//
// Invariants: buckets only change in merges, and a batch is answered by one merge as a whole, so
// first_keys_ holds for all its answers. The spool holds the lines of the batch, each with an LF.
// taken_ <= size of answers_, for each bucket.
#include "cli/input_order_output.h"

#include <algorithm>
#include <stdexcept>

#include <crawlstore/drum_view.h>

#include "cli/console.h"
#include "cli/merge_order_output.h"

namespace crawlstore::cli {
namespace {

constexpr std::size_t kOutBytes = std::size_t{1} << 20;

}  // namespace

InputOrderOutput::InputOrderOutput(Store& store, Spool& spool, model::LineCounts& counts,
                                   Options options)
    : store_(&store), spool_(&spool), counts_(&counts), options_(std::move(options)) {}

Result<void> InputOrderOutput::start_batch() {
  // Publishes a DRUM that was made just now; otherwise there is nothing to write.
  CRAWLSTORE_TRY(store_->commit());
  CRAWLSTORE_TRY(const auto snapshot, store_->snapshot());
  CRAWLSTORE_TRY(const auto view, DrumView::open(snapshot, options_.drum));
  first_keys_.clear();
  for (const auto& bucket : view.buckets()) first_keys_.push_back(bucket.first_key);
  answers_.assign(first_keys_.size(), {});
  taken_.assign(first_keys_.size(), 0);
  buckets_.clear();
  answer_count_ = 0;
  printed_ = 0;
  return {};
}

std::size_t InputOrderOutput::bucket_of(std::uint64_t key) const {
  const auto after = std::upper_bound(first_keys_.begin(), first_keys_.end(), key);
  return static_cast<std::size_t>(after - first_keys_.begin()) - 1;
}

Result<void> InputOrderOutput::add(std::uint64_t key, std::string_view url) {
  buckets_.push_back(static_cast<std::uint16_t>(bucket_of(key)));
  spool_->tail() += url;
  spool_->tail() += '\n';
  return spool_->room();
}

void InputOrderOutput::accept(std::span<const RawAnswer> answers) {
  for (const RawAnswer& answer : answers) {
    answers_[bucket_of(answer.key)].push_back(verdict_of(answer));
  }
  answer_count_ += answers.size();
  if (answer_count_ != buckets_.size()) return;
  const auto printed = print_batch();
  if (printed) return;
  failure_ = printed.error();
  throw std::runtime_error("verdicts cannot be printed");
}

void InputOrderOutput::take_line(std::string_view url) {
  const std::size_t bucket = buckets_[printed_++];
  if (taken_[bucket] == answers_[bucket].size()) return;
  const Verdict verdict = answers_[bucket][taken_[bucket]++];
  count(*counts_, verdict);
  append_line(out_, verdict, url, options_.as_json);
}

/// Some text of the spool, cut anywhere.
Result<void> InputOrderOutput::print_lines(std::string_view text) {
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    if (partial_line_.empty()) {
      take_line(text.substr(0, end));
    } else {
      partial_line_ += text.substr(0, end);
      take_line(partial_line_);
      partial_line_.clear();
    }
    text.remove_prefix(end + 1);
    if (out_.size() < kOutBytes) continue;
    CRAWLSTORE_TRY(write_output(out_));
    out_.clear();
  }
  partial_line_ += text;
  return {};
}

Result<void> InputOrderOutput::print_batch() {
  CRAWLSTORE_TRY(spool_->drain([this](std::string_view text) { return print_lines(text); }));
  CRAWLSTORE_TRY(write_output(out_));
  out_.clear();
  return {};
}

Result<void> InputOrderOutput::check_complete() const {
  if (answer_count_ == buckets_.size()) return {};
  return fail(Errc::kIo, "the merge answered another number of lines than were asked");
}

}  // namespace crawlstore::cli
