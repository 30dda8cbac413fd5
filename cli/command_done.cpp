// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <chrono>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include <crawlstore/transaction.h>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/frontier_source.h"
#include "cli/line_batches.h"
#include "cli/options.h"
#include "cli/refused_inputs.h"
#include "cli/stop_signals.h"
#include "cli/verb.h"
#include "model/format_text.h"
#include "model/parse_text.h"

namespace crawlstore::cli {
namespace {

constexpr std::size_t kDoneAtOnce = 10'000;
constexpr std::uint64_t kDoneRefusalsShown = 5;

struct DoneVerbOptions {
  FrontierSourceOptions source;
  std::string input = "-";
  bool as_json = false;
  bool quiet = false;
};

/// Answers that a line may have for an item.
enum class Outcome : std::uint8_t { kFinished, kRetried, kFailed };

struct DoneLine {
  std::uint64_t id = 0;
  Outcome outcome = Outcome::kFinished;
  std::uint64_t time_ms = 0;  ///< of a retry: 0, after so long, or not before
  bool is_after = false;
};

/// Takes nothing (at once), a duration, or a time.
bool parse_retry(std::string_view text, DoneLine& line) {
  line.outcome = Outcome::kRetried;
  if (text.empty()) return true;
  if (const auto time = model::parse_duration(text)) {
    line.is_after = true;
    line.time_ms = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(*time).count());
    return true;
  }
  const auto time_us = model::parse_time(text);
  if (time_us) line.time_ms = static_cast<std::uint64_t>(*time_us) / 1000;
  return time_us.has_value();
}

/// Returns what is wrong with the line; empty: nothing.
std::string_view parse_done_line(std::string_view text, DoneLine& line) {
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, line.id);
  if (error != std::errc{} || (stopped != end && *stopped != '\t')) {
    return "does not begin with the ID of an item, which a TAB or the line's end follows";
  }
  if (stopped == end) return {};
  const std::string_view word(stopped + 1, static_cast<std::size_t>(end - stopped) - 1);
  const auto blank = word.find(' ');
  const std::string_view time = blank == word.npos ? std::string_view() : word.substr(blank + 1);
  if (word.substr(0, blank) == "retry") {
    return parse_retry(time, line)
               ? ""
               : "has a retry without a time such as 5min, up to 106751d, after it";
  }
  if (word == "failed") line.outcome = Outcome::kFailed;
  if (word.empty() || word == "failed" || word == "gone") return {};
  return "has another word than `retry`, `failed` or `gone` after the ID";
}

struct DoneCounts {
  std::uint64_t line_count = 0;
  std::uint64_t finished_count = 0;
  std::uint64_t retried_count = 0;
  std::uint64_t failed_count = 0;
  std::uint64_t late_count = 0;
  std::uint64_t unknown_count = 0;
  std::uint64_t refused_count = 0;
  std::uint64_t lost_count = 0;
};

class DoneRun {
 public:
  explicit DoneRun(const DoneVerbOptions& options) : options_(options) {}

  /// Applies a batch, and closes the file unless more lines may be at hand.
  void take(const LineBatch& batch, LineBatches::Why why);
  [[nodiscard]] bool is_open() const { return target_.has_value(); }
  /// Tells what became of the lines. An exit code.
  int report() const;

 private:
  void parse(const LineBatch& batch);
  bool apply_all();
  Result<DoneCounts> apply(OpenFrontier& target) const;
  Result<FrontierDone> apply_run(OpenFrontier& target, std::size_t begin, std::size_t end) const;
  void lose(const LineBatch& batch);
  [[nodiscard]] std::string summary() const;

  const DoneVerbOptions& options_;
  std::optional<OpenFrontier> target_;
  std::vector<DoneLine> lines_;        // of the batch that is applied
  std::vector<std::size_t> in_batch_;  // their places
  DoneCounts counts_;
  int failure_ = kExitDone;
};

void DoneRun::parse(const LineBatch& batch) {
  lines_.clear();
  in_batch_.clear();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (batch[i].empty()) continue;
    ++counts_.line_count;
    DoneLine line;
    const std::string_view problem = parse_done_line(batch[i], line);
    if (problem.empty()) {
      lines_.push_back(line);
      in_batch_.push_back(i);
    } else if (++counts_.refused_count <= kDoneRefusalsShown) {
      note(fmt::format("{}: line {} refused: it {}", model::format_printable(options_.input),
                       batch.number(i), problem));
    }
  }
}

/// Lines of one outcome that follow each other.
Result<FrontierDone> DoneRun::apply_run(OpenFrontier& target, std::size_t begin,
                                        std::size_t end) const {
  if (lines_[begin].outcome == Outcome::kFinished) {
    std::vector<std::uint64_t> ids;
    for (std::size_t i = begin; i < end; ++i) ids.push_back(lines_[i].id);
    return target.frontier.finish(ids);
  }
  std::vector<GivenBack> items;
  const std::uint64_t now_ms = target.frontier.now_ms();
  for (std::size_t i = begin; i < end; ++i) {
    const DoneLine& line = lines_[i];
    const std::uint64_t time_ms = line.is_after ? now_ms + line.time_ms : line.time_ms;
    items.push_back({line.id, time_ms, line.outcome == Outcome::kFailed});
  }
  return target.frontier.give_back(items);
}

/// Commits all lines at once, in their order, or none of them.
Result<DoneCounts> DoneRun::apply(OpenFrontier& target) const {
  DoneCounts counts = counts_;
  CRAWLSTORE_TRY(auto changing, Transaction::begin(target.store));
  for (std::size_t begin = 0; begin < lines_.size();) {
    const Outcome outcome = lines_[begin].outcome;
    std::size_t end = begin;
    while (end < lines_.size() && lines_[end].outcome == outcome) ++end;
    CRAWLSTORE_TRY(const auto done, apply_run(target, begin, end));
    if (outcome == Outcome::kFinished) counts.finished_count += done.done_count;
    if (outcome == Outcome::kRetried) counts.retried_count += done.done_count;
    if (outcome == Outcome::kFailed) counts.failed_count += done.done_count;
    counts.late_count += done.late_count;
    counts.unknown_count += done.unknown_count;
    begin = end;
  }
  CRAWLSTORE_TRY(changing.commit());
  return counts;
}

/// Opens the file if it is closed. On failure says why, and closes it.
bool DoneRun::apply_all() {
  if (!target_) target_ = open_frontier(options_.source, false, {}, failure_);
  if (!target_) return false;
  const auto counts = apply(*target_);
  if (counts) {
    counts_ = *counts;
    return true;
  }
  failure_ = fail_with(options_.source.path, counts.error());
  target_.reset();
  return false;
}

/// Writes the lines that had no effect to standard error, to be given again.
void DoneRun::lose(const LineBatch& batch) {
  std::string text;
  for (const std::size_t place : in_batch_) text.append(batch[place]).append("\n");
  counts_.lost_count += in_batch_.size();
  std::string kept;
  (void)write_all(STDERR_FILENO, for_descriptor(STDERR_FILENO, text, kept));
}

void DoneRun::take(const LineBatch& batch, LineBatches::Why why) {
  parse(batch);
  if (!lines_.empty() && !apply_all()) lose(batch);
  if (why == LineBatches::Why::kFull || !target_) return;
  if (const auto closed = target_->close(); !closed) {
    failure_ = fail_with(options_.source.path, closed.error());
  }
  target_.reset();
}

std::string DoneRun::summary() const {
  const std::pair<std::uint64_t, const char*> parts[] = {
      {counts_.finished_count, "finished"},  {counts_.retried_count, "to be retried"},
      {counts_.failed_count, "failed"},      {counts_.late_count, "late"},
      {counts_.unknown_count, "unknown"},    {counts_.refused_count, "refused"},
      {counts_.lost_count, "without effect"}};
  std::string text = model::format_counted(counts_.line_count, "line");
  const char* separator = ": ";
  for (const auto& [count, what] : parts) {
    if (count == 0) continue;
    text +=
        fmt::format("{}{} {}", std::exchange(separator, ", "), model::format_count(count), what);
  }
  return text;
}

int DoneRun::report() const {
  int code = kExitDone;
  if (options_.as_json) {
    const auto field = [](const char* name, std::uint64_t count) {
      return model::Field{name, model::Unit::kCount, count};
    };
    code = print_document(
        {{field("line_count", counts_.line_count), field("finished_count", counts_.finished_count),
          field("retried_count", counts_.retried_count),
          field("failed_count", counts_.failed_count), field("late_count", counts_.late_count),
          field("unknown_count", counts_.unknown_count),
          field("refused_count", counts_.refused_count), field("lost_count", counts_.lost_count)},
         {}},
        true);
  } else if (!options_.quiet) {
    note(summary());
  }
  if (failure_ != kExitDone) return counts_.lost_count == 0 ? failure_ : kExitSystem;
  if (counts_.refused_count != 0) return kExitUsage;
  if (code != kExitDone) return code;
  return counts_.late_count + counts_.unknown_count == 0 ? kExitDone : kExitNo;
}

int run(const DoneVerbOptions& options) {
  const StopSignals stop;
  OpenInput input(options.input, stop);
  if (input.descriptor() < 0) return fail_with_unopened(options.input, input.open_errno());
  LineBatches batches(input, kDoneAtOnce);
  LineBatch batch;
  DoneRun done(options);
  while (true) {
    const auto why = batches.next(batch, done.is_open());
    if (why && *why == LineBatches::Why::kRefused) {
      note_refused_input(options.input, batches.refusal());
      return kExitNo;
    }
    done.take(batch, why.value_or(LineBatches::Why::kEnd));
    if (!why) {
      (void)done.report();
      return fail_with_input(options.input, why.error());
    }
    if (*why == LineBatches::Why::kEnd) break;
  }
  const int code = done.report();
  if (code == kExitSystem || stop.requested() == 0) return code;
  return exit_code_of_signal(stop.requested());
}

}  // namespace

Action define_done(Parser& parser) {
  auto options = std::make_shared<DoneVerbOptions>();
  parser.footer(
      "Reads what became of items that `crawlstore take` printed, a line each: ID, and then "
      "nothing "
      "(it was fetched), or a TAB and `gone` (it is not there: done as well), `failed` (it waits "
      "again, and its group twice as long as before, up to 64 times, until a success), `retry` (it "
      "waits again), `retry 5min` or `retry 2026-11-21T10:11:12Z` (the same, not before).\n"
      "  crawlstore take x.crawl | while IFS=\"$(printf '\\t')\" read -r id host url; do\n"
      "    curl -fsS -o \"page-$id\" \"$url\" && echo \"$id\" || printf '%s\\tfailed\\n' \"$id\"\n"
      "  done | crawlstore done x.crawl\n"
      "FILE is opened when lines came: they are committed after a second, or 10,000 of them, and "
      "FILE is closed again. Empty lines are skipped. Another word is refused (exit code 2), and "
      "the other lines count. Items whose lease had ended before are late: what was fetched, or is "
      "gone, is done all the same, and the others wait already. An ID does not tell attempts: "
      "if a late item was taken again by then, it is done for both, but `failed` and `retry` end "
      "the lease of the one who has it now, and it waits for a third. So let leases be longer than "
      "a fetch can last. Late items, and those that are "
      "unknown, or done already, lead to exit code 1. Lines that cannot be committed, as when "
      "another writer has FILE for too long, go to standard error (exit code 3): give them again.");
  add_frontier_source(parser, options->source);
  parser.text("INPUT", options->input, "the lines; - is standard input (default)");
  add_json(parser, options->as_json);
  add_quiet(parser, options->quiet);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
