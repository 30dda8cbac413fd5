// SPDX-License-Identifier: Apache-2.0
#include "cli/seen_run.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/input_file.h"
#include "cli/input_size.h"
#include "model/format_text.h"

namespace crawlstore::cli {
namespace {

constexpr std::uint64_t kLinesPerProgress = 1024;
constexpr std::uint64_t kRefusalsShown = 5;

}  // namespace

SeenRun::SeenRun(const SeenOptions& options, UrlSession& session, UnparsedReport& unparsed)
    : options_(options),
      session_(session),
      unparsed_(unparsed),
      keyer_(session.keyer()),
      progress_("seen", model::Unit::kCount, " lines", options.quiet),
      subject_(options.session.path),
      asker_(options, session, counts_) {}

void SeenRun::refuse(const char* why) {
  if (++counts_.refused > kRefusalsShown) return;
  const std::string where = model::format_printable(place());
  note(fmt::format("{}{} refused: {}", where, input_.empty() ? "" : ":", why));
}

std::string SeenRun::place() const {
  const std::uint64_t number = counts_.lines - lines_before_input_;
  return input_.empty() ? fmt::format("line {}", number) : fmt::format("{}:{}", input_, number);
}

std::optional<const char*> SeenRun::refusal_of(std::string_view url) const {
  if (options_.as_json) return std::nullopt;
  if (url.find('\t') != std::string_view::npos) return "it holds a TAB (--json takes it)";
  if (url.find('\r') != std::string_view::npos) {
    return "it holds a carriage return (--json takes it)";
  }
  return std::nullopt;
}

/// Waits until the other thread has asked for its lines.
Result<void> SeenRun::await_asked() {
  if (!asking_.valid()) return {};
  return asking_.get();
}

/// The lines that were read last are asked for, beside the next ones that are read.
Result<void> SeenRun::hand_over() {
  CRAWLSTORE_TRY(await_asked());
  std::swap(lines_, asked_);
  lines_.clear();
  try {
    asking_ = std::async(std::launch::async, [this] { return asker_.ask(asked_); });
  } catch (const std::system_error&) {  // there are no more threads
    return asker_.ask(asked_);
  }
  return {};
}

/// All lines that were read are asked for, and the other thread has ended.
Result<void> SeenRun::settle() {
  CRAWLSTORE_TRY(await_asked());
  std::swap(lines_, asked_);
  lines_.clear();
  return asker_.ask(asked_);
}

/// Without lines on their way, as long as the asker says. Otherwise these come first.
std::optional<std::chrono::nanoseconds> SeenRun::patience() const {
  return is_settled() ? asker_.patience() : std::chrono::nanoseconds(0);
}

Result<void> SeenRun::take_pause() {
  return is_settled() ? asker_.merge(true) : settle();
}

Result<void> SeenRun::take_line(std::string_view line) {
  if (line.empty()) {
    ++counts_.skipped;
    return {};
  }
  if (const auto why = refusal_of(line)) {
    refuse(*why);
    return {};
  }
  const Key16 key = keyer_(line);
  const UrlProblem problem = keyer_.problem();
  if (problem != UrlProblem::kNone) unparsed_.add(place(), line, problem);
  lines_.add(line, key, problem == UrlProblem::kNone);
  return lines_.is_full() ? hand_over() : Result<void>{};
}

/// Nobody takes verdicts any more: the lines that were taken out of the input, and are not asked
/// yet, wait in the file with the others.
void SeenRun::keep_unasked(LineReader& reader) {
  asker_.keep_rest(asked_);
  std::string_view line;
  while (reader.next_at_hand(line)) {
    if (line.empty() || refusal_of(line)) continue;
    lines_.add(line, keyer_(line), true);
  }
  asker_.keep(lines_);
}

Result<void> SeenRun::read(const std::string& path, const StopSignals& stop) {
  const InputFile file(path);
  if (file.descriptor() < 0) {
    input_failure_ = fail_errno(errno, "the input").value();
    return {};
  }
  LineReader reader(file.descriptor(), stop, [this] { return patience(); });
  const InputSize size(file.descriptor());
  std::string_view line;
  while (true) {
    const auto next = reader.next(line);
    if (!next) input_failure_ = next.error();
    if (!next || *next == LineReader::Next::kEnd) return {};
    Result<void> done;
    if (*next == LineReader::Next::kPause) {
      done = take_pause();
    } else {
      ++counts_.lines;
      if (*next == LineReader::Next::kTooLong) {
        refuse("it is longer than 64 MiB");
      } else {
        done = take_line(line);
      }
      if (counts_.lines % kLinesPerProgress == 0) {
        progress_.update(counts_.lines, size.fraction(reader.bytes_read()));
      }
    }
    if (done) continue;
    if (output_failure()) keep_unasked(reader);
    return done;
  }
}

Result<void> SeenRun::answer_inputs(const StopSignals& stop) {
  const std::vector<std::string> standard_input = {"-"};
  for (const std::string& path : options_.inputs.empty() ? standard_input : options_.inputs) {
    if (!options_.inputs.empty()) input_ = path;
    lines_before_input_ = counts_.lines;
    CRAWLSTORE_TRY(read(path, stop));
    if (input_failure_) subject_ = path == "-" ? "standard input" : path;
    if (input_failure_ || stop.requested() != 0) break;
  }
  const auto settled = settle();
  if (!settled && output_failure()) asker_.keep_rest(asked_);
  CRAWLSTORE_TRY(settled);
  return asker_.merge(true);
}

Result<void> SeenRun::run(const StopSignals& stop) {
  Result<void> done = asker_.start();
  if (done) done = answer_inputs(stop);
  counts_.unparsed = keyer_.unparsed_count();
  counts_.dropped = session_.core().status().dropped_count;
  if (const auto failure = output_failure()) {
    subject_ = options_.session.path;
    return tl::unexpected<Error>(*failure);
  }
  if (!done) {
    subject_ = options_.session.path;
    return done;
  }
  if (input_failure_) return tl::unexpected<Error>(*input_failure_);
  return {};
}

}  // namespace crawlstore::cli
