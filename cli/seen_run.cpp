// SPDX-License-Identifier: Apache-2.0
#include "cli/seen_run.h"

#include <algorithm>
#include <cerrno>
#include <span>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/input_file.h"
#include "cli/input_size.h"
#include "cli/options.h"
#include "model/format_text.h"

namespace crawlstore::cli {
namespace {

/// How often it is asked whether a bucket is full.
constexpr std::uint64_t kLinesPerLook = 1024;
constexpr std::uint64_t kRefusalsShown = 5;
/// What a request takes beside its URL, about: key, length, operation.
constexpr std::uint64_t kRequestBytes = 16;
constexpr std::chrono::seconds kPause{1};
/// An input that comes in drops never pauses: lines wait at most so many times as long as the last
/// merge took, so that small merges of a large store do not take all the time.
constexpr int kWaitPerMerge = 20;

std::size_t spool_bytes(std::uint64_t memory_bytes) {
  constexpr std::uint64_t kLow = 256 * 1024;
  constexpr std::uint64_t kHigh = 16 * 1024 * 1024;
  return std::clamp(memory_bytes / 8, kLow, kHigh);
}

std::uint64_t batch_lines_max(std::uint64_t memory_bytes) {
  return std::clamp<std::uint64_t>(memory_bytes / 16, 4096, 1U << 26);
}

/// How many bytes of requests may wait, and take about half of that in the file: what fills the
/// memory, or more in a large DRUM (about 8 bytes a key), so that merges do not rewrite it often.
/// With --ordered each answer is filed, and held twice in memory for that.
std::uint64_t waiting_bytes_max(std::uint64_t memory_bytes, std::uint64_t key_count, bool ordered) {
  constexpr std::uint64_t kEnough = std::uint64_t{256} << 20;
  const std::uint64_t share = std::min(memory_bytes, kEnough) / (ordered ? 4 : 1);
  return std::max(share, 4 * key_count);
}

}  // namespace

SeenRun::SeenRun(const SeenOptions& options, UrlSession& session, UnparsedReport& unparsed)
    : options_(options),
      session_(session),
      unparsed_(unparsed),
      spool_(folder_of(options.session.path), spool_bytes(session.memory_bytes())),
      merge_order_(counts_, options.as_json),
      input_order_(
          session.store(), spool_, counts_,
          {options.session.drum, batch_lines_max(session.memory_bytes()), options.as_json}),
      progress_("seen", model::Unit::kCount, " lines", options.quiet),
      subject_(options.session.path) {}

std::optional<Error> SeenRun::output_failure() const {
  return merge_order_.failure() ? merge_order_.failure() : input_order_.failure();
}

Result<void> SeenRun::answer_leftovers() {
  DrumCore& core = session_.core();
  const auto sink = [this](std::span<const RawAnswer> answers) { merge_order_.accept(answers); };
  merge_order_.leave_out_checks(options_.operation != DrumOperation::kCheck);
  core.attach(0, sink);
  core.attach(session_.import_consumer(), [](std::span<const RawAnswer>) {});
  CRAWLSTORE_TRY(core.take_results(0, sink));
  if (core.status().pending_count != 0) CRAWLSTORE_TRY(merge(true));
  merge_order_.leave_out_checks(false);
  const auto answered = counts_.unique + counts_.duplicate + counts_.updated;
  if (answered != 0 && !options_.quiet) {
    note(fmt::format("{} requests of an interrupted run are answered first",
                     model::format_count(answered)));
  }
  counts_ = {};
  return {};
}

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

void SeenRun::note_answered(Clock::time_point merge_start) {
  last_merge_ = Clock::now() - merge_start;
  waiting_lines_ = 0;
  waiting_bytes_ = 0;
  waiting_bytes_max_ =
      waiting_bytes_max(session_.memory_bytes(), session_.core().status().key_count, ordered_);
}

/// Merges everything, or only when a bucket calls for it, and prints what that answered.
Result<void> SeenRun::merge(bool everything) {
  const auto start = Clock::now();
  CRAWLSTORE_TRY(const auto answered, session_.merge(everything));
  if (!everything && answered == 0) return {};
  if (ordered_ && answered != 0) CRAWLSTORE_TRY(print_batch());
  note_answered(start);
  return {};
}

/// With --ordered a merge keeps its answers in the file, as nobody is attached.
Result<void> SeenRun::print_batch() {
  CRAWLSTORE_TRY(session_.core().take_results(
      0, [this](std::span<const RawAnswer> answers) { input_order_.accept(answers); }));
  CRAWLSTORE_TRY(input_order_.check_complete());
  return input_order_.start_batch();
}

Result<void> SeenRun::submit(std::string_view url, Key16 key) {
  return session_.core().submit(
      {options_.operation, 0, key.head, {}, std::as_bytes(std::span(url)), key.tail});
}

Result<void> SeenRun::ask(std::string_view url) {
  const Key16 key = session_.key_of(url);
  const UrlProblem problem = session_.problem();
  if (problem != UrlProblem::kNone) unparsed_.add(place(), url, problem);
  CRAWLSTORE_TRY(session_.remember_page(url, key));
  if (ordered_) CRAWLSTORE_TRY(input_order_.add(key.head, url));
  CRAWLSTORE_TRY(submit(url, key));
  if (waiting_lines_++ == 0) first_waiting_ = Clock::now();
  waiting_bytes_ += url.size() + kRequestBytes;
  if (waiting_lines_ >= options_.flush_every.lines) return merge(true);
  return ++asked_since_look_ < kLinesPerLook ? Result<void>{} : look();
}

/// Merges where that is due.
Result<void> SeenRun::look() {
  asked_since_look_ = 0;
  const auto& time = options_.flush_every.time;
  return merge(waiting_bytes_ >= waiting_bytes_max_ || (ordered_ && input_order_.is_full()) ||
               (time && Clock::now() - first_waiting_ >= *time));
}

/// How long the next line may keep those that wait from being answered.
std::optional<std::chrono::nanoseconds> SeenRun::patience() const {
  if (waiting_lines_ == 0) return std::nullopt;
  const std::chrono::nanoseconds waited = Clock::now() - first_waiting_;
  if (options_.flush_every.time) return *options_.flush_every.time - waited;
  const std::chrono::nanoseconds most = kWaitPerMerge * last_merge_;
  return std::min<std::chrono::nanoseconds>(
      kPause, std::max<std::chrono::nanoseconds>(kPause, most) - waited);
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
  return ask(line);
}

/// Nobody takes verdicts any more: the lines that were taken out of the input, and are not asked
/// yet, wait in the file with the others.
void SeenRun::keep_unasked(LineReader& reader) {
  std::string_view line;
  while (reader.next_at_hand(line)) {
    if (line.empty() || refusal_of(line)) continue;
    if (!submit(line, session_.key_of(line))) return;
  }
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
      done = merge(true);
    } else {
      ++counts_.lines;
      if (*next == LineReader::Next::kTooLong) {
        refuse("it is longer than 64 MiB");
      } else {
        done = take_line(line);
      }
      if (counts_.lines % kLinesPerLook == 0) {
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
  return merge(true);
}

Result<void> SeenRun::run(const StopSignals& stop) {
  Result<void> done = answer_leftovers();
  if (done && options_.ordered) {
    ordered_ = true;
    done = input_order_.start_batch();
    session_.core().attach(0, {});
  }
  if (done) {
    note_answered(Clock::now());
    done = answer_inputs(stop);
  }
  counts_.unparsed = session_.unparsed_count();
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
