// SPDX-License-Identifier: Apache-2.0
#include "cli/seen_asker.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/options.h"
#include "model/format_text.h"

namespace crawlstore::cli {
namespace {

/// Lines after which it is asked whether a bucket is full.
constexpr std::size_t kLinesPerLook = 1024;
/// Bytes of a request beside its URL, about: key, length, operation.
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

/// Bytes of requests that may wait; they take about half of that in the file. They fill the memory,
/// or are more in a large DRUM (about 8 bytes a key), so that merges do not rewrite it often. With
/// --ordered each answer is filed, and held twice in memory for that.
std::uint64_t waiting_bytes_max(std::uint64_t memory_bytes, std::uint64_t key_count, bool ordered) {
  constexpr std::uint64_t kEnough = std::uint64_t{256} << 20;
  const std::uint64_t share = std::min(memory_bytes, kEnough) / (ordered ? 4 : 1);
  return std::max(share, 4 * key_count);
}

}  // namespace

SeenAsker::SeenAsker(const SeenOptions& options, UrlSession& session, model::LineCounts& counts)
    : options_(options),
      session_(session),
      counts_(counts),
      spool_(folder_of(options.session.path), spool_bytes(session.memory_bytes())),
      merge_order_(counts, options.as_json),
      input_order_(
          session.store(), spool_, counts,
          {options.session.drum, batch_lines_max(session.memory_bytes()), options.as_json}) {}

std::optional<Error> SeenAsker::output_failure() const {
  return merge_order_.failure() ? merge_order_.failure() : input_order_.failure();
}

Result<void> SeenAsker::answer_leftovers() {
  DrumCore& core = session_.core();
  const auto sink = [this](std::span<const RawAnswer> answers) { merge_order_.accept(answers); };
  merge_order_.leave_out_checks(options_.operation != DrumOperation::kCheck);
  core.attach({}, sink);
  core.attach(session_.import_consumer(), [](std::span<const RawAnswer>) {});
  CRAWLSTORE_TRY(core.take_results({}, sink));
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

Result<void> SeenAsker::start() {
  CRAWLSTORE_TRY(answer_leftovers());
  if (options_.ordered) {
    ordered_ = true;
    CRAWLSTORE_TRY(input_order_.start_batch());
    session_.core().attach({}, {});
  }
  note_answered(Clock::now());
  return {};
}

void SeenAsker::note_answered(Clock::time_point merge_start) {
  last_merge_ = Clock::now() - merge_start;
  waiting_lines_ = 0;
  waiting_bytes_ = 0;
  waiting_bytes_max_ =
      waiting_bytes_max(session_.memory_bytes(), session_.core().status().key_count, ordered_);
}

Result<void> SeenAsker::merge(bool everything) {
  const auto start = Clock::now();
  CRAWLSTORE_TRY(const auto answered, session_.merge(everything));
  if (!everything && answered == 0) return {};
  if (ordered_ && answered != 0) CRAWLSTORE_TRY(print_batch());
  note_answered(start);
  return {};
}

/// With --ordered a merge keeps its answers in the file, as nobody is attached.
Result<void> SeenAsker::print_batch() {
  CRAWLSTORE_TRY(session_.core().take_results(
      {}, [this](std::span<const RawAnswer> answers) { input_order_.accept(answers); }));
  CRAWLSTORE_TRY(input_order_.check_complete());
  return input_order_.start_batch();
}

/// The one way of a line into the store: a page's URL is remembered before it is asked for,
/// whoever gets the verdict.
Result<void> SeenAsker::submit(const KeyedLines& lines, std::size_t begin, std::size_t end) {
  requests_.clear();
  requests_.reserve(end - begin);
  for (std::size_t i = begin; i < end; ++i) {
    const auto [url, key] = lines[i];
    CRAWLSTORE_TRY(session_.remember_page(url, key));
    requests_.push_back(
        {options_.operation, {}, key.head, {}, std::as_bytes(std::span(url)), key.tail});
  }
  return session_.core().submit(requests_);
}

Result<void> SeenAsker::ask_some(const KeyedLines& lines, std::size_t end) {
  std::uint64_t url_bytes = 0;
  for (std::size_t i = asked_count_; i < end; ++i) {
    const auto [url, key] = lines[i];
    if (ordered_) CRAWLSTORE_TRY(input_order_.add(key.head, url));
    url_bytes += url.size();
  }
  CRAWLSTORE_TRY(submit(lines, asked_count_, end));
  if (waiting_lines_ == 0) first_waiting_ = Clock::now();
  waiting_lines_ += end - asked_count_;
  waiting_bytes_ += url_bytes + (end - asked_count_) * kRequestBytes;
  asked_count_ = end;
  return {};
}

Result<void> SeenAsker::ask(const KeyedLines& lines) {
  asked_count_ = 0;
  count_unparsed(lines);
  while (asked_count_ < lines.size()) {
    const auto room =
        std::min<std::uint64_t>(kLinesPerLook, options_.flush_every.lines - waiting_lines_);
    CRAWLSTORE_TRY(ask_some(lines, std::min<std::size_t>(lines.size(), asked_count_ + room)));
    CRAWLSTORE_TRY(look());
  }
  return {};
}

/// Merges where that is due.
Result<void> SeenAsker::look() {
  const auto& [most_lines, time] = options_.flush_every;
  return merge(waiting_lines_ >= most_lines || waiting_bytes_ >= waiting_bytes_max_ ||
               (ordered_ && input_order_.is_full()) ||
               (time && Clock::now() - first_waiting_ >= *time));
}

std::optional<std::chrono::nanoseconds> SeenAsker::patience() const {
  if (waiting_lines_ == 0) return std::nullopt;
  const std::chrono::nanoseconds waited = Clock::now() - first_waiting_;
  if (options_.flush_every.time) return *options_.flush_every.time - waited;
  const std::chrono::nanoseconds most = kWaitPerMerge * last_merge_;
  return std::min<std::chrono::nanoseconds>(
      kPause, std::max<std::chrono::nanoseconds>(kPause, most) - waited);
}

void SeenAsker::keep_rest(const KeyedLines& lines) {
  if (asked_count_ < lines.size()) (void)submit(lines, asked_count_, lines.size());
}

void SeenAsker::keep(const KeyedLines& lines) {
  if (lines.empty()) return;
  count_unparsed(lines);
  (void)submit(lines, 0, lines.size());
}

void SeenAsker::count_unparsed(const KeyedLines& lines) {
  if (lines.unparsed_count() != 0) session_.core().count_unparsed(lines.unparsed_count());
}

}  // namespace crawlstore::cli
