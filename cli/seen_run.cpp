// SPDX-License-Identifier: Apache-2.0
#include "cli/seen_run.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/console.h"
#include "cli/input_size.h"
#include "cli/options.h"
#include "model/format_text.h"

namespace crawlstore::cli {
namespace {

/// How often it is asked whether a bucket is full.
constexpr std::uint64_t kLinesPerLook = 1024;
constexpr std::uint64_t kRefusalsShown = 5;

std::size_t spool_bytes(std::uint64_t memory_bytes) {
  constexpr std::uint64_t kLow = 256 * 1024;
  constexpr std::uint64_t kHigh = 16 * 1024 * 1024;
  return std::clamp(memory_bytes / 8, kLow, kHigh);
}

std::uint64_t batch_lines_max(std::uint64_t memory_bytes) {
  return std::clamp<std::uint64_t>(memory_bytes / 16, 4096, 1U << 26);
}

}  // namespace

SeenRun::SeenRun(const SeenOptions& options, UrlSession& session)
    : options_(options),
      session_(session),
      spool_(folder_of(options.session.path), spool_bytes(session.memory_bytes())),
      merge_order_(session.store(), spool_, counts_, options.as_json),
      input_order_(
          session.store(), spool_, counts_,
          {options.session.drum, batch_lines_max(session.memory_bytes()), options.as_json}) {}

Result<void> SeenRun::answer_leftovers() {
  DrumCore& core = session_.core();
  const auto sink = [this](std::span<const RawAnswer> answers) { merge_order_.accept(answers); };
  core.attach(0, sink);
  core.attach(session_.import_consumer(), [](std::span<const RawAnswer>) {});
  const auto taken = core.take_results(0, sink);
  if (!taken) {
    merge_order_.abandon();
    return tl::unexpected<Error>(merge_order_.failure().value_or(taken.error()));
  }
  CRAWLSTORE_TRY(merge_order_.finish());
  if (core.status().pending_count != 0) CRAWLSTORE_TRY(merge(true));
  const auto answered = counts_.unique + counts_.duplicate + counts_.updated;
  if (answered != 0 && !options_.quiet) {
    note(fmt::format("{} requests of an interrupted run are answered first",
                     model::format_count(answered)));
  }
  counts_ = {};
  return {};
}

void SeenRun::tell_refused(const char* why) {
  if (++counts_.refused > kRefusalsShown) return;
  note(fmt::format("line {} refused: {}", counts_.lines, why));
}

bool SeenRun::is_refused(std::string_view url) {
  if (options_.as_json) return false;
  if (url.find('\t') != std::string_view::npos) {
    tell_refused("it holds a TAB (--json takes it)");
    return true;
  }
  if (url.find('\r') != std::string_view::npos) {
    tell_refused("it holds a carriage return (--json takes it)");
    return true;
  }
  return false;
}

Result<void> SeenRun::merge(bool everything) {
  const auto answered = session_.merge(everything);
  if (!answered) {
    if (ordered_) {
      input_order_.abandon();
    } else {
      merge_order_.abandon();
    }
    return tl::unexpected<Error>(merge_order_.failure().value_or(answered.error()));
  }
  if (*answered == 0) return {};
  if (!ordered_) return merge_order_.finish();
  CRAWLSTORE_TRY(input_order_.finish());
  return input_order_.start_batch();
}

Result<void> SeenRun::ask(std::string_view url) {
  const Key16 key = session_.key_of(url);
  if (ordered_) CRAWLSTORE_TRY(input_order_.add(key.head, url));
  const RawRequest request{
      options_.operation, 0, key.head, {}, std::as_bytes(std::span(url)), key.tail};
  CRAWLSTORE_TRY(session_.core().submit(request));
  if (++asked_since_look_ < kLinesPerLook) return {};
  asked_since_look_ = 0;
  return merge(ordered_ && input_order_.is_full());
}

Result<void> SeenRun::take_line(std::string_view line) {
  if (line.empty()) {
    ++counts_.skipped;
    return {};
  }
  return is_refused(line) ? Result<void>{} : ask(line);
}

Result<void> SeenRun::run(const StopSignals& stop) {
  CRAWLSTORE_TRY(answer_leftovers());
  if (options_.ordered) {
    ordered_ = true;
    CRAWLSTORE_TRY(input_order_.start_batch());
    session_.core().attach(
        0, [this](std::span<const RawAnswer> answers) { input_order_.accept(answers); });
  }
  LineReader reader(STDIN_FILENO, stop);
  ProgressBar progress("seen", model::Unit::kCount, " lines", options_.quiet);
  const InputSize size(STDIN_FILENO);
  std::string_view line;
  while (true) {
    CRAWLSTORE_TRY(const auto next, reader.next(line));
    if (next == LineReader::Next::kEnd) break;
    ++counts_.lines;
    if (next == LineReader::Next::kTooLong) {
      tell_refused("it is longer than 64 MiB");
    } else {
      CRAWLSTORE_TRY(take_line(line));
    }
    if (counts_.lines % kLinesPerLook == 0) {
      progress.update(counts_.lines, size.fraction(reader.bytes_read()));
    }
  }
  CRAWLSTORE_TRY(merge(true));
  counts_.unparsed = session_.unparsed_count();
  counts_.dropped = session_.core().status().dropped_count;
  return {};
}

}  // namespace crawlstore::cli
