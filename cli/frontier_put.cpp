// SPDX-License-Identifier: Apache-2.0
#include "cli/frontier_put.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include <crawlstore/transaction.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/line_batches.h"
#include "cli/refused_inputs.h"
#include "cli/stop_signals.h"
#include "model/format_text.h"

namespace crawlstore::cli {
namespace {

constexpr std::size_t kLinesAtOnce = 100'000;
constexpr std::size_t kGroupBytesMax = 65'535;
constexpr std::size_t kBodyBytesMax = 65'536;

/// Returns what is wrong with the line; empty: nothing.
std::string_view parse_put_line(std::string_view line, FrontierItem& item) {
  constexpr std::string_view kForm = "is no GROUP TAB PRIORITY TAB BODY";
  const auto tab = line.find('\t');
  if (tab == line.npos) return kForm;
  item.group = line.substr(0, tab);
  if (item.group.size() > kGroupBytesMax) return "has a group of more than 65,535 bytes";
  const char* const begin = line.data() + tab + 1;
  const char* const end = line.data() + line.size();
  const auto [stopped, error] = std::from_chars(begin, end, item.priority);
  if (error != std::errc{} || (stopped != end && *stopped != '\t')) return kForm;
  if (std::isnan(item.priority)) return "has `nan` as its PRIORITY: give a number, or inf or -inf";
  item.body = {};
  if (stopped != end) item.body = {stopped + 1, static_cast<std::size_t>(end - stopped) - 1};
  return item.body.size() > kBodyBytesMax ? "has a body of more than 65,536 bytes" : "";
}

class PutRun {
 public:
  PutRun(const FrontierSourceOptions& source, const FrontierPut& put)
      : source_(source), put_(put) {}

  /// An exit code. `why`: of the end of the batch.
  int put(const LineBatch& batch, LineBatches::Why why);
  [[nodiscard]] bool is_open() const { return target_.has_value(); }
  /// Lines of the input that are committed: the first ones.
  [[nodiscard]] std::uint64_t line_count() const { return line_count_; }
  /// Tells the counts; makes the frontier first if no line did.
  int finish();
  /// Says up to which line it has committed, for a run that ends before its input does.
  void note_rest() const;

 private:
  bool open();
  int commit(std::vector<FrontierItem>& items);
  int close();

  const FrontierSourceOptions& source_;
  const FrontierPut& put_;
  std::optional<OpenFrontier> target_;
  std::string name_;
  int code_ = kExitDone;
  std::uint64_t line_count_ = 0;
  std::uint64_t put_count_ = 0;
  std::uint64_t refused_count_ = 0;
  std::uint64_t waiting_count_ = 0;
};

bool PutRun::open() {
  if (target_) return true;
  target_ = open_frontier(source_, true, put_.made, code_);
  if (target_) name_ = target_->name;
  return target_.has_value();
}

int PutRun::commit(std::vector<FrontierItem>& items) {
  const auto put_all = [&]() -> Result<void> {
    CRAWLSTORE_TRY(auto putting, Transaction::begin(target_->store));
    CRAWLSTORE_TRY(const auto done, target_->frontier.put(items));
    CRAWLSTORE_TRY(putting.commit());
    put_count_ += items.size() - done.refused.size();
    refused_count_ += done.refused.size();
    return {};
  };
  if (const auto done = put_all(); !done) return fail_with(source_.path, done.error());
  return kExitDone;
}

int PutRun::close() {
  if (!target_) return kExitDone;
  waiting_count_ = target_->frontier.waiting_count();
  const auto closed = target_->close();
  target_.reset();
  return closed ? kExitDone : fail_with(source_.path, closed.error());
}

int PutRun::put(const LineBatch& batch, LineBatches::Why why) {
  std::vector<FrontierItem> items;
  items.reserve(batch.size());
  std::string problem;
  for (std::size_t i = 0; i < batch.size() && problem.empty(); ++i) {
    if (batch[i].empty()) continue;
    FrontierItem item;
    const std::string_view wrong = parse_put_line(batch[i], item);
    if (wrong.empty()) {
      items.push_back(item);
    } else {
      problem = fmt::format("{}: line {} {}; ", model::format_printable(put_.input),
                            batch.number(i), wrong);
    }
  }
  if (!items.empty()) {
    if (!open()) return code_;
    if (const int code = commit(items); code != kExitDone) return code;
  }
  if (problem.empty() && !batch.empty()) line_count_ = batch.number(batch.size() - 1);
  if (!problem.empty()) {
    return fail_with(
        problem + (put_count_ + refused_count_ == 0 ? "nothing was put"
                                                    : "the lines before it were put, no other was"),
        kExitUsage);
  }
  return why == LineBatches::Why::kFull ? kExitDone : close();
}

int PutRun::finish() {
  if (name_.empty()) {
    if (!open()) return code_;
    if (const auto made = target_->store.commit(); !made) {
      return fail_with(source_.path, made.error());
    }
  }
  if (const int code = close(); code != kExitDone) return code;
  const model::Document counts{{{"name", model::Unit::kText, name_},
                                {"line_count", model::Unit::kCount, line_count_},
                                {"put_count", model::Unit::kCount, put_count_},
                                {"refused_count", model::Unit::kCount, refused_count_},
                                {"waiting_count", model::Unit::kCount, waiting_count_}},
                               {}};
  const int code = print_document(counts, put_.as_json);
  return code == kExitDone && refused_count_ != 0 ? kExitNo : code;
}

void PutRun::note_rest() const {
  const std::string input = model::format_printable(put_.input);
  note(line_count_ == 0
           ? input + ": no line was committed: give all of them again"
           : fmt::format("{}: committed up to line {}; `tail -n +{}` gives the lines after it",
                         input, line_count_, line_count_ + 1));
}

/// An exit code; where it is not 0 it has said why.
int put_batches(LineBatches& batches, const std::string& input, PutRun& run) {
  LineBatch batch;
  while (true) {
    const auto why = batches.next(batch, run.is_open());
    if (why && *why == LineBatches::Why::kRefused) {
      note_refused_input(input, batches.refusal());
      return kExitNo;
    }
    const int code = run.put(batch, why.value_or(LineBatches::Why::kEnd));
    if (code != kExitDone) return code;
    if (!why) return fail_with_input(input, why.error());
    if (*why == LineBatches::Why::kEnd) return kExitDone;
  }
}

}  // namespace

int put_lines(const FrontierSourceOptions& source, const FrontierPut& put) {
  const StopSignals stop;
  OpenInput input(put.input, stop);
  if (input.descriptor() < 0) {
    return fail_with_unopened(put.input, input.open_errno());
  }
  LineBatches batches(input, kLinesAtOnce);
  PutRun run(source, put);
  int code = put_batches(batches, put.input, run);
  if (code == kExitUsage) return code;  // the line is named
  const bool is_stopped = code == kExitDone && stop.requested() != 0;
  // A frontier without a line is made of an input that was read as a whole.
  if (code == kExitDone && (!is_stopped || run.line_count() != 0)) {
    code = run.finish();
    if (!is_stopped) return code;
  }
  run.note_rest();
  return is_stopped ? exit_code_of_signal(stop.requested()) : code;
}

}  // namespace crawlstore::cli
