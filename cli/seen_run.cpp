// SPDX-License-Identifier: Apache-2.0
#include "cli/seen_run.h"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/input_size.h"
#include "model/format_text.h"

namespace crawlstore::cli {
namespace {

constexpr std::uint64_t kLinesPerProgress = 1024;
constexpr std::uint64_t kRefusalsShown = 5;

}  // namespace

SeenRun::SeenRun(const SeenOptions& options, UrlSession& session, UnparsedReport& unparsed,
                 LookedInputs looked)
    : options_(options),
      session_(session),
      unparsed_(unparsed),
      looked_(std::move(looked)),
      keyer_(session.keyer()),
      progress_("seen", model::Unit::kCount, "lines", options.quiet),
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

/// Counts the line, and adds it to those that are asked for next unless it is empty or refused.
void SeenRun::add_line(std::string_view line) {
  ++counts_.lines;
  if (line.empty()) {
    ++counts_.skipped;
    return;
  }
  if (const auto why = refusal_of(line)) {
    refuse(*why);
    return;
  }
  const Key16 key = keyer_(line);
  const UrlProblem problem = keyer_.problem();
  if (problem != UrlProblem::kNone) unparsed_.add(place(), line, problem);
  lines_.add(line, key, problem == UrlProblem::kNone);
}

Result<void> SeenRun::take_line(std::string_view line) {
  add_line(line);
  return lines_.is_full() ? hand_over() : Result<void>{};
}

/// Adds the lines that were taken out of the input already, which nobody can read again.
void SeenRun::take_at_hand(LineReader& reader) {
  std::string_view line;
  while (reader.next_at_hand(line)) add_line(line);
}

/// After the output failed: leaves all lines that were read and are not answered in the file.
void SeenRun::keep_unasked() {
  asker_.keep_rest(asked_);
  asker_.keep(lines_);
}

Result<void> SeenRun::read(const std::string& path, const StopSignals& stop) {
  const auto input =
      looked_.first ? std::move(looked_.first) : std::make_unique<OpenInput>(path, stop);
  if (input->descriptor() < 0) {
    input_failure_ = fail_errno(input->open_errno(), "the input").value();
    return {};
  }
  LineReader reader(std::move(input->bytes()), [this] { return patience(); });
  const InputSize size(input->descriptor());
  std::string_view line;
  while (true) {
    const auto next = reader.next(line);
    if (!next) input_failure_ = next.error();
    if (!next || *next == LineReader::Next::kEnd) return {};
    if (*next == LineReader::Next::kRefused) {
      ++counts_.refused_inputs;
      note_refused_input(path, reader.refusal());
      return {};
    }
    Result<void> done;
    if (*next == LineReader::Next::kPause) {
      done = take_pause();
    } else {
      if (*next == LineReader::Next::kTooLong) {
        ++counts_.lines;
        refuse("it is longer than 64 MiB");
      } else {
        done = take_line(line);
      }
      if (counts_.lines % kLinesPerProgress == 0) {
        progress_.update(counts_.lines, size.fraction(reader.bytes_read()));
      }
    }
    if (done) continue;
    if (output_failure()) take_at_hand(reader);
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
  CRAWLSTORE_TRY(settle());
  return asker_.merge(true);
}

Result<void> SeenRun::run(const StopSignals& stop) {
  Result<void> done = asker_.start();
  if (done) done = answer_inputs(stop);
  if (output_failure()) keep_unasked();
  counts_.unparsed = keyer_.unparsed_count();
  counts_.refused_inputs += looked_.refused_count;
  counts_.dropped = session_.core().status().dropped_count;
  if (const auto failure = output_failure()) {
    subject_ = options_.session.path;
    return tl::unexpected<Error>(*failure);
  }
  if (!done) {
    subject_ = options_.session.path;
    return done;
  }
  if (!input_failure_) return {};
  is_of_input_ = true;
  return tl::unexpected<Error>(*input_failure_);
}

}  // namespace crawlstore::cli
