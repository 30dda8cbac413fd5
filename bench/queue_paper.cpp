// SPDX-License-Identifier: Apache-2.0
//
// The cost of the paper's queues, in comparisons and blocks, alone and side by side:
//
//   queue_paper cycles ENGINE ENTRIES R PERCENT   one queue; so much of it in memory, 0 = no disk
//   queue_paper queues ENGINE ENTRIES R T         T queues: balance of their work, errors of rank
//   queue_paper time ENGINE ENTRIES R T           T queues in T threads
//
// A cycle takes R entries and inserts them again, later by a random number from all of the range
// that the first ones have. Each of T queues gives R/T and gets R/T of them, at random. Cycles are
// counted once a tenth of the entries was taken, until another tenth was, and five at least.
#include <algorithm>
#include <barrier>
#include <ctime>
#include <numeric>
#include <set>
#include <thread>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "paper_ahead.h"
#include "seen_run.h"

namespace crawlstore::bench {
namespace {

using Entries = std::vector<PaperEntry>;

struct Run {
  std::string what;
  std::string engine;
  std::uint64_t entry_count = 0;
  std::uint64_t r = 0;
  std::uint64_t number = 0;  ///< PERCENT or T
  double effort = 0;

  [[nodiscard]] std::uint64_t cycles(std::uint64_t least) const {
    return std::max<std::uint64_t>(entry_count / 10 / r, least);
  }
};

class Stream {
 public:
  explicit Stream(std::uint64_t seed) : state_(mix(seed)) {}
  std::uint64_t next() { return mix(state_ += 0x9E3779B97F4A7C15U); }
  /// The next page of the build.
  PaperEntry first() { return {.order = next() >> 24, .page = page_++}; }
  void renew(Entries& entries) {
    for (PaperEntry& entry : entries) entry.order += next() >> 24;
  }
  void shuffle(Entries& entries) {
    for (std::size_t i = entries.size(); i > 1; --i) std::swap(entries[i - 1], entries[next() % i]);
  }

 private:
  std::uint64_t state_;
  std::uint64_t page_ = 0;
};

void build(PaperQueue& queue, Stream& stream, std::uint64_t count) {
  constexpr std::uint64_t kBatch = 1 << 16;
  for (Entries entries; count > 0; count -= entries.size()) {
    entries.resize(std::min(count, kBatch));
    std::ranges::generate(entries, [&] { return stream.first(); });
    queue.insert_many(entries);
  }
}

/// Work of a queue since the last time.
struct Meter {
  PaperWork before;
  PaperWork since(const PaperWork& now) {
    const PaperWork found = {.comparisons = now.comparisons - before.comparisons,
                             .block_reads = now.block_reads - before.block_reads,
                             .block_writes = now.block_writes - before.block_writes};
    before = now;
    return found;
  }
};

void run_cycles(const Run& run, nlohmann::ordered_json& line) {
  const std::uint64_t blocks = run.entry_count * run.number / 100 / kBlockEntries;
  const auto queue = make_paper_queue(run.engine, {.entry_max = run.entry_count,
                                                   .chunk = run.r,
                                                   .memory_blocks = blocks,
                                                   .seed = 1,
                                                   .effort = run.effort});
  Stream stream(1);
  build(*queue, stream, run.entry_count);
  PaperWork extracts;
  PaperWork inserts;
  Meter meter;
  Entries entries;
  const std::uint64_t warm = run.cycles(2);
  const std::uint64_t cycles = run.cycles(5);
  for (std::uint64_t i = 0; i < warm + cycles; ++i) {
    if (i == warm) extracts = inserts = {};
    for (const bool is_insert : {false, true}) {
      if (is_insert) {
        stream.renew(entries);
        queue->insert_many(entries);
      } else {
        entries = queue->extract_top(run.r);
      }
      const PaperWork work = meter.since(queue->work());
      PaperWork& sum = is_insert ? inserts : extracts;
      sum.comparisons += work.comparisons;
      sum.block_reads += work.block_reads;
      sum.block_writes += work.block_writes;
    }
  }
  const auto keys = static_cast<double>(cycles * run.r);
  const auto count = static_cast<double>(cycles);
  const auto reads = static_cast<double>(extracts.block_reads + inserts.block_reads);
  const auto writes = static_cast<double>(extracts.block_writes + inserts.block_writes);
  line.update({{"memory_percent", run.number},
               {"cycles", cycles},
               {"extract_comparisons", static_cast<double>(extracts.comparisons) / keys},
               {"insert_comparisons", static_cast<double>(inserts.comparisons) / keys},
               {"block_reads_a_cycle", reads / count},
               {"block_writes_a_cycle", writes / count}});
}

/// Work of T queues, cycle by cycle.
class Balance {
 public:
  explicit Balance(std::size_t queue_count) : sums_(queue_count) {}
  /// `serial`: work of one thread for which all wait.
  void add(const std::vector<std::uint64_t>& work, std::uint64_t serial = 0) {
    most_ += serial + *std::ranges::max_element(work);
    std::ranges::transform(sums_, work, sums_.begin(), std::plus<>());
  }
  /// Mean over maximum: of each cycle, as if all waited for the slowest, and of all cycles.
  void print(nlohmann::ordered_json& line, const std::string& name, double keys) const {
    const std::uint64_t sum = std::accumulate(sums_.begin(), sums_.end(), std::uint64_t{0});
    const double mean = static_cast<double>(sum) / static_cast<double>(sums_.size());
    line[name + "_efficiency"] = mean / static_cast<double>(most_);
    line[name + "_efficiency_of_sums"] =
        mean / static_cast<double>(*std::ranges::max_element(sums_));
    line[name + "_comparisons"] = static_cast<double>(sum) / keys;
  }

 private:
  std::vector<std::uint64_t> sums_;
  std::uint64_t most_ = 0;
};

/// The entries in all queues, to find the ranks of those that were taken.
class Ranks {
 public:
  void insert(Entries entries) {
    std::ranges::sort(entries);
    all_.insert(entries.begin(), entries.end());
  }
  /// Removes what was taken; of the others, and those before them, counts the ranks.
  void take(const Entries& taken) {
    const std::set<PaperEntry> wanted(taken.begin(), taken.end());
    std::size_t rank = 0;
    std::size_t found = 0;
    for (auto next = all_.begin(); found < wanted.size(); ++rank) {
      if (wanted.count(*next) == 0) {
        ++next;
        continue;
      }
      next = all_.erase(next);
      ++found;
      if (rank < wanted.size()) continue;
      const std::size_t distance = rank - wanted.size() + 1;
      ++wrong_;
      distance_sum_ += static_cast<double>(distance);
      distance_max_ = std::max(distance_max_, distance);
    }
    taken_ += wanted.size();
    if (taken_ == wanted.size()) first_ = share();
  }
  void print(nlohmann::ordered_json& line) const {
    line["not_among_top"] = share();
    line["not_among_top_at_first"] = first_;
    line["mean_displacement"] = wrong_ == 0 ? 0 : distance_sum_ / static_cast<double>(wrong_);
    line["worst_displacement"] = distance_max_;
  }

 private:
  [[nodiscard]] double share() const {
    return static_cast<double>(wrong_) / static_cast<double>(taken_);
  }

  std::set<PaperEntry> all_;
  double first_ = 0;
  std::size_t taken_ = 0;
  std::size_t wrong_ = 0;
  double distance_sum_ = 0;
  std::size_t distance_max_ = 0;
};

std::vector<std::unique_ptr<PaperQueue>> make_queues(const Run& run) {
  if (run.number == 0 || run.r % run.number != 0) fail("T is no divisor of R");
  std::vector<std::unique_ptr<PaperQueue>> queues;
  for (std::uint64_t i = 0; i < run.number; ++i) {
    queues.push_back(make_paper_queue(run.engine == "exact" ? "ahead" : run.engine,
                                      {.entry_max = run.entry_count,
                                       .chunk = run.r / run.number,
                                       .seed = mix(i + 1),
                                       .effort = run.effort}));
  }
  return queues;
}

void run_queues(const Run& run, nlohmann::ordered_json& line) {
  const auto queues = make_queues(run);
  const std::size_t share = run.r / run.number;
  std::vector<PaperAheadQueue*> ahead;
  ahead.reserve(queues.size());
  for (const auto& queue : queues) ahead.push_back(dynamic_cast<PaperAheadQueue*>(queue.get()));
  Stream stream(1);
  std::vector<Meter> meters(queues.size());
  std::vector<std::uint64_t> work(queues.size());
  Ranks ranks;
  const auto deal = [&](const Entries& entries) {
    const std::size_t length = entries.size() / queues.size();
    for (std::size_t i = 0; i < queues.size(); ++i) {
      queues[i]->insert_many(std::span(entries).subspan(i * length, length));
      work[i] = meters[i].since(queues[i]->work()).comparisons;
    }
    ranks.insert(entries);
  };
  Entries entries(run.entry_count / run.r * run.r);
  std::ranges::generate(entries, [&] { return stream.first(); });
  deal(entries);

  Balance extracts(queues.size());
  Balance inserts(queues.size());
  const std::uint64_t warm = run.cycles(5);
  for (std::uint64_t i = 0; i < 2 * warm; ++i) {
    if (i == warm) extracts = inserts = Balance(queues.size());
    std::vector<Entries> taken;
    std::uint64_t serial = 0;
    if (run.engine == "exact") {
      taken = extract_exact(ahead, run.r, serial);
    } else {
      for (const auto& queue : queues) taken.push_back(queue->extract_top(share));
    }
    entries.clear();
    for (std::size_t q = 0; q < queues.size(); ++q) {
      work[q] = meters[q].since(queues[q]->work()).comparisons;
      entries.insert(entries.end(), taken[q].begin(), taken[q].end());
    }
    extracts.add(work, serial);
    ranks.take(entries);
    stream.renew(entries);
    stream.shuffle(entries);
    deal(entries);
    inserts.add(work);
  }
  line.update({{"queues", run.number}, {"cycles", warm}});
  extracts.print(line, "extract", static_cast<double>(warm * run.r));
  inserts.print(line, "insert", static_cast<double>(warm * run.r));
  ranks.print(line);
}

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Runs like the paper's program: each queue gets again what it gave. Threads wait for each other
/// after each cycle.
void run_time(const Run& run, nlohmann::ordered_json& line) {
  const auto queues = make_queues(run);
  std::barrier meet(static_cast<std::ptrdiff_t>(queues.size()));
  std::vector<double> cpu(queues.size());
  double seconds = 0;
  const std::uint64_t warm = run.cycles(5);
  const auto work = [&](std::size_t q) {
    Stream stream(q + 1);
    build(*queues[q], stream, run.entry_count / run.number);
    Stopwatch watch;
    for (std::uint64_t i = 0; i < 2 * warm; ++i) {
      if (i == warm) {
        cpu[q] = -thread_seconds();
        watch = {};
      }
      Entries entries = queues[q]->extract_top(run.r / run.number);
      stream.renew(entries);
      queues[q]->insert_many(entries);
      if (i + 1 == 2 * warm) cpu[q] += thread_seconds();
      meet.arrive_and_wait();
    }
    if (q == 0) seconds = watch.seconds();
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t q = 0; q < queues.size(); ++q) threads.emplace_back(work, q);
  }
  line.update({{"threads", run.number},
               {"cycles", warm},
               {"wall_us_a_cycle", 1e6 * seconds / static_cast<double>(warm)},
               {"cpu_us_a_cycle_of_the_slowest",
                1e6 * *std::ranges::max_element(cpu) / static_cast<double>(warm)}});
}

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  using namespace crawlstore::bench;
  return guarded_main(argv, [&] {
    if (argc < 6 || argc > 7) fail("usage: cycles|queues|time ENGINE ENTRIES R PERCENT|T [EFFORT]");
    const Run run = {.what = argv[1],
                     .engine = argv[2],
                     .entry_count = parse_number(argv[3]),
                     .r = parse_number(argv[4]),
                     .number = parse_number(argv[5]),
                     .effort = argc == 7 ? std::stod(argv[6]) : PaperOptions{}.effort};
    if (run.r == 0 || run.r > run.entry_count) fail("R is 1 to ENTRIES");
    nlohmann::ordered_json line = {{"bench", "paper"},
                                   {"part", run.what},
                                   {"engine", run.engine},
                                   {"entries", run.entry_count},
                                   {"r", run.r}};
    if (run.what == "cycles") {
      run_cycles(run, line);
    } else if (run.what == "queues") {
      run_queues(run, line);
    } else if (run.what == "time") {
      run_time(run, line);
    } else {
      fail("no such run: " + run.what);
    }
    add_circumstances(line);
    fmt::print("{}\n", line.dump());
  });
}
