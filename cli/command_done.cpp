// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/console.h"
#include "cli/done_line.h"
#include "cli/done_target.h"
#include "cli/exit_code.h"
#include "cli/frontier_source.h"
#include "cli/line_batches.h"
#include "cli/options.h"
#include "cli/refused_inputs.h"
#include "cli/stop_signals.h"
#include "cli/verb.h"
#include "model/format_text.h"

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

constexpr std::string_view kNoPages =
    "has an outcome or a status of a page, but the items of this frontier are no pages "
    "(`crawlstore schedule`)";

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
  void refuse(std::uint64_t number, std::string_view problem);
  bool open();
  void refuse_lines_of_pages(const LineBatch& batch);
  bool apply_all();
  void lose(const LineBatch& batch);
  [[nodiscard]] std::string summary() const;

  const DoneVerbOptions& options_;
  UrlNormalizer normalizer_;
  std::optional<DoneTarget> target_;
  std::vector<DoneLine> lines_;        // of the batch that is applied, whose text they view
  std::vector<std::size_t> in_batch_;  // their places
  std::uint64_t line_count_ = 0;
  std::uint64_t refused_count_ = 0;
  std::uint64_t lost_count_ = 0;
  DoneCounts counts_;
  int failure_ = kExitDone;
};

void DoneRun::refuse(std::uint64_t number, std::string_view problem) {
  if (++refused_count_ > kDoneRefusalsShown) return;
  note(fmt::format("{}: line {} refused: it {}", model::format_printable(options_.input), number,
                   problem));
}

void DoneRun::parse(const LineBatch& batch) {
  lines_.clear();
  in_batch_.clear();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (batch[i].empty()) continue;
    ++line_count_;
    DoneLine line;
    const std::string_view problem = parse_done_line(batch[i], normalizer_, line);
    if (problem.empty()) {
      lines_.push_back(line);
      in_batch_.push_back(i);
    } else {
      refuse(batch.number(i), problem);
    }
  }
}

/// Opens the file if it is closed. On failure says why.
bool DoneRun::open() {
  if (target_) return true;
  auto frontier = open_frontier(options_.source, false, {}, failure_);
  if (frontier) target_.emplace(std::move(*frontier));
  return target_.has_value();
}

/// Takes the lines out that a frontier without pages has no use for.
void DoneRun::refuse_lines_of_pages(const LineBatch& batch) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (lines_[i].needs_pages()) {
      refuse(batch.number(in_batch_[i]), kNoPages);
    } else {
      lines_[kept] = lines_[i];
      in_batch_[kept++] = in_batch_[i];
    }
  }
  lines_.resize(kept);
  in_batch_.resize(kept);
}

/// On failure says why, and closes the file.
bool DoneRun::apply_all() {
  const auto counts = target_->apply(lines_, counts_);
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
  lost_count_ += in_batch_.size();
  std::string kept;
  (void)write_all(STDERR_FILENO, for_descriptor(STDERR_FILENO, text, kept));
}

void DoneRun::take(const LineBatch& batch, LineBatches::Why why) {
  parse(batch);
  const bool is_open = !lines_.empty() && open();
  if (is_open && !target_->has_pages()) refuse_lines_of_pages(batch);
  if (!lines_.empty() && !(is_open && apply_all())) lose(batch);
  if (!target_ || (why == LineBatches::Why::kFull && !target_->is_full())) return;
  if (const auto closed = target_->close(); !closed) {
    failure_ = fail_with(options_.source.path, closed.error());
  }
  target_.reset();
}

std::string DoneRun::summary() const {
  const std::pair<std::uint64_t, const char*> parts[] = {
      {counts_.finished_count, "finished"}, {counts_.retried_count, "to be retried"},
      {counts_.failed_count, "failed"},     {counts_.late_count, "late"},
      {counts_.unknown_count, "unknown"},   {refused_count_, "refused"},
      {lost_count_, "without effect"}};
  std::string text = model::format_counted(line_count_, "line");
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
        {{field("line_count", line_count_), field("finished_count", counts_.finished_count),
          field("retried_count", counts_.retried_count),
          field("failed_count", counts_.failed_count), field("late_count", counts_.late_count),
          field("unknown_count", counts_.unknown_count), field("refused_count", refused_count_),
          field("lost_count", lost_count_)},
         {}},
        true);
  } else if (!options_.quiet) {
    note(summary());
  }
  if (failure_ != kExitDone) return lost_count_ == 0 ? failure_ : kExitSystem;
  if (refused_count_ != 0) return kExitUsage;
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
      "Reads a line for each item that `crawlstore take` printed. A line is the ID alone if the "
      "item was fetched, or ID TAB OUTCOME:\n"
      "  gone: the item is not there, so it is done as well\n"
      "  failed: the item waits again, and its group twice as long as before, up to 64 times, "
      "until a success\n"
      "  retry: the item waits again\n"
      "  retry 5min, retry 2026-11-21T10:11:12Z: the item waits again, and is not taken before "
      "that time\n"
      "For pages (`crawlstore schedule`) there are more outcomes:\n"
      "  not_modified: 304, the page is as it was when it was crawled\n"
      "  redirect URL: the URL is absolute, and becomes a page\n"
      "  denied: by robots.txt\n"
      "  duplicate: its content is that of another page\n"
      "A TAB and the HTTP status may follow an outcome of a page: 7 TAB gone TAB 410. A shell "
      "crawls so:\n"
      "  crawlstore take x.crawl | while IFS=\"$(printf '\\t')\" read -r id host url; do\n"
      "    curl -fsS -o \"page-$id\" \"$url\" && echo \"$id\" || printf '%s\\tfailed\\n' "
      "\"$id\"\n"
      "  done | crawlstore done x.crawl\n"
      "Outcomes of pages, except `retry`, reach the page database in the commit that ends the "
      "item. They wait there for `crawlstore merge`, or until they take 64 MiB. An ID alone "
      "tells the page database nothing, as `crawlstore import` brings the content; nor does a "
      "late `failed`, or a page that was forgotten.\n"
      "FILE is opened when lines came: they are committed after a second, or 10,000 of them, and "
      "FILE is closed again. Empty lines are skipped. Another word is refused (exit code 2), and "
      "the other lines count. Lines that cannot be committed, as when another writer has FILE "
      "for too long, go to standard error (exit code 3): give them again.\n"
      "An item whose lease had ended before is late. `failed` and `retry` leave a late item as "
      "it is, for it waits already; all else ends it. An ID does not tell attempts: if a late "
      "item was taken again by then, it is done for both takers. But `failed` and `retry` end "
      "the lease of the second taker, and the item waits for a third. So let leases be longer "
      "than a fetch can last. Items that are late, unknown or done already lead to exit code 1.");
  add_frontier_source(parser, options->source);
  parser.text("INPUT", options->input, "the lines; - is standard input (default)");
  add_json(parser, options->as_json);
  add_quiet(parser, options->quiet);
  return [options] { return run(*options); };
}

}  // namespace crawlstore::cli
