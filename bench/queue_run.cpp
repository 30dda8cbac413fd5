// SPDX-License-Identifier: Apache-2.0
#include "queue_run.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <ctime>
#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "queue_crawl.h"

namespace crawlstore::bench {
namespace {

constexpr std::uint64_t kBuildBatch = std::uint64_t{1} << 16;
constexpr std::uint64_t kCommitted = std::uint64_t{1} << 20;  ///< inserted pages of a commit

enum class Input { kRandom, kEqual, kAscending, kDescending, kAbove, kTies };
constexpr std::string_view kInputs[] = {"random",     "equal", "ascending",
                                        "descending", "above", "ties"};

Input parse_input(std::string_view name) {
  const auto* const found = std::find(std::begin(kInputs), std::end(kInputs), name);
  if (found == std::end(kInputs)) fail(fmt::format("no such input: {}", name));
  return static_cast<Input>(found - std::begin(kInputs));
}

class ReturningInput final : public QueueInput {
 public:
  explicit ReturningInput(const QueueOptions& options)
      : input_(parse_input(options.input)),
        page_count_(options.entry_count),
        bits_(std::bit_width(page_count_ | 3)) {}

  QueuedPage first(std::uint64_t i) override {
    return {.page = shuffled(i), .priority = first_priority()};
  }
  void follow(std::vector<QueuedPage>& pages) override {
    for (QueuedPage& page : pages) page.priority = next_priority(page.priority);
  }

 private:
  double first_priority() {
    switch (input_) {
      case Input::kRandom:
      case Input::kAbove:
        return fraction();
      case Input::kTies:
        return 1 / distance();
      default:
        return next_priority(1);
    }
  }
  double next_priority(double before) {
    switch (input_) {
      case Input::kRandom:
        return before - fraction();
      case Input::kEqual:
        return before;
      case Input::kDescending:
        return -++counter_;
      case Input::kAscending:
      case Input::kAbove:
        return ++counter_;
      case Input::kTies:
        return 1 / (std::round(1 / before) + distance());
    }
    fail("an input of another kind");
  }
  double distance() { return static_cast<double>(1 + (random() >> 58)); }
  /// A bijection of the pages: of the next power of two, again until it is one of them.
  [[nodiscard]] std::uint64_t shuffled(std::uint64_t page) const {
    const std::uint64_t mask = (std::uint64_t{1} << bits_) - 1;
    do {
      for (const std::uint64_t factor : {0xBF58476D1CE4E5B9U, 0x94D049BB133111EBU}) {
        page = (page * factor + 1) & mask;
        page ^= page >> (bits_ / 2);
      }
    } while (page >= page_count_);
    return page;
  }

  Input input_;
  std::uint64_t page_count_;
  std::uint64_t bits_;
  double counter_ = 0;  ///< of priorities that ascend or descend
};

constexpr std::string_view kCrawl = "crawl";

std::unique_ptr<QueueInput> make_input(const QueueOptions& options) {
  if (options.input == kCrawl) return std::make_unique<CrawlInput>(options);
  return std::make_unique<ReturningInput>(options);
}

/// Seconds by the clock and of the processor, those of all threads, since it was made.
class Spending {
 public:
  [[nodiscard]] double seconds() const { return watch_.seconds(); }
  [[nodiscard]] double cpu_seconds() const {
    return static_cast<double>(std::clock() - cpu_) / CLOCKS_PER_SEC;
  }

 private:
  Stopwatch watch_;
  std::clock_t cpu_ = std::clock();
};

/// The findings of a run.
struct Outcome {
  double build_seconds = 0;
  double cycle_seconds = 0;
  double cycle_cpu_seconds = 0;
  double worst_cycle_seconds = 0;
  std::uint64_t cycle_count = 0;
  std::uint64_t cycle_written_bytes = 0;  ///< in all of them
  std::uint64_t sum = 0;
};

class QueueRun {
 public:
  QueueRun(const QueueOptions& options, BenchQueue& queue)
      : options_(options), input_(make_input(options)), queue_(queue) {}

  Outcome run() {
    build();
    const std::uint64_t written_bytes = process_usage().written_bytes;
    for (std::uint64_t left = options_.take_count; left > 0;) {
      const std::uint64_t count = std::min(options_.batch, left);
      left -= count;
      cycle(count, left == 0);
    }
    outcome_.cycle_written_bytes = process_usage().written_bytes - written_bytes;
    return outcome_;
  }

 private:
  void build() {
    std::vector<QueuedPage> pages;
    pages.reserve(kBuildBatch);
    for (std::uint64_t i = 0; i < options_.entry_count;) {
      pages.clear();
      const std::uint64_t end = std::min(i + kBuildBatch, options_.entry_count);
      for (; i < end; ++i) pages.push_back(input_->first(i));
      const Stopwatch watch;
      insert(pages, end == options_.entry_count);
      outcome_.build_seconds += watch.seconds();
    }
  }
  void cycle(std::uint64_t count, bool is_last) {
    const Spending taking;
    std::vector<QueuedPage> pages = queue_.take(count);
    double seconds = taking.seconds();
    outcome_.cycle_cpu_seconds += taking.cpu_seconds();
    if (pages.size() != count) fail(fmt::format("{} pages, not {}", pages.size(), count));
    for (const QueuedPage& page : pages) {
      outcome_.sum =
          mix(outcome_.sum ^ mix(page.page ^ std::bit_cast<std::uint64_t>(page.priority)));
    }
    input_->follow(pages);
    const Spending inserting;
    insert(pages, is_last || options_.commits_each_cycle);
    seconds += inserting.seconds();
    outcome_.cycle_cpu_seconds += inserting.cpu_seconds();
    ++outcome_.cycle_count;
    outcome_.cycle_seconds += seconds;
    outcome_.worst_cycle_seconds = std::max(outcome_.worst_cycle_seconds, seconds);
  }
  void insert(std::span<const QueuedPage> pages, bool is_due) {
    queue_.insert(pages);
    uncommitted_ += pages.size();
    if (!is_due && uncommitted_ < kCommitted) return;
    queue_.commit();
    uncommitted_ = 0;
  }

  const QueueOptions& options_;
  std::unique_ptr<QueueInput> input_;
  BenchQueue& queue_;
  Outcome outcome_;
  std::uint64_t uncommitted_ = 0;
};

QueueOptions parse_queue_options(std::span<char*> arguments) {
  if (arguments.size() != 8) fail("usage: PATH ENTRIES TAKE BATCH INPUT MEMORY COMMIT");
  const std::string_view commit = arguments[7];
  if (commit != "million" && commit != "cycle") fail("COMMIT is million or cycle");
  QueueOptions options{.path = arguments[1],
                       .entry_count = parse_number(arguments[2]),
                       .take_count = parse_number(arguments[3]),
                       .batch = parse_number(arguments[4]),
                       .input = arguments[5],
                       .memory_bytes = parse_number(arguments[6]),
                       .commits_each_cycle = commit == "cycle"};
  if (options.batch == 0 || options.batch > options.entry_count) fail("BATCH is 1 to ENTRIES");
  if (options.take_count == 0) fail("TAKE is 0");
  if (std::filesystem::exists(options.path)) fail("there is something at PATH already");
  return options;
}

}  // namespace

int queue_main(
    int argc, char** argv,
    const std::function<std::unique_ptr<BenchQueue>(const QueueOptions& options)>& open) {
  return guarded_main(argv, [&] {
    const auto options = parse_queue_options(std::span(argv, static_cast<std::size_t>(argc)));
    std::unique_ptr<BenchQueue> queue = open(options);
    if (options.input == kCrawl && !queue->is_set()) {
      queue = std::make_unique<LazyQueue>(std::move(queue));
    }
    const Outcome outcome = QueueRun(options, *queue).run();
    const ProcessUsage usage = process_usage();
    const double seconds = outcome.build_seconds + outcome.cycle_seconds;
    nlohmann::ordered_json line = {
        {"bench", "queue"},
        {"store", queue->name()},
        {"input", options.input},
        {"entries", options.entry_count},
        {"take", options.take_count},
        {"batch", options.batch},
        {"commit_each", options.commits_each_cycle ? "cycle" : "million"},
        {"build_seconds", outcome.build_seconds},
        {"cycle_seconds", outcome.cycle_seconds},
        {"cycle_cpu_seconds", outcome.cycle_cpu_seconds},
        {"cycle_count", outcome.cycle_count},
        {"cycle_written_bytes", outcome.cycle_written_bytes},
        {"worst_cycle_seconds", outcome.worst_cycle_seconds},
        {"total_seconds", seconds},
        {"pairs_per_s", static_cast<double>(options.take_count) / outcome.cycle_seconds},
        {"cpu_seconds", usage.cpu_seconds},
        {"written_bytes", usage.written_bytes},
        {"file_bytes", allocated_bytes(options.path)},
        {"peak_rss_bytes", usage.peak_rss_bytes},
        {"sum", fmt::format("{:016x}", outcome.sum)}};
    add_circumstances(line);
    fmt::print("{}\n", line.dump());
  });
}

}  // namespace crawlstore::bench
