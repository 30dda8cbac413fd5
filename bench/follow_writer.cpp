// SPDX-License-Identifier: Apache-2.0
//
// Measures what an inspector that follows costs a writer: follow_writer FILE [ROUNDS [SECONDS]].
//
// A writer takes requests as fast as it can, commits after each 900,000 (about 20 times a second on
// the machine of README.md), merges as it does on its own, and stops after SECONDS; keys are drawn
// from four million, so the repository stops growing. Each round has three runs, on files made
// anew, the order turning from round to round:
//
//   alone    nobody looks
//   watched  the inspector without a window shows the buckets and follows, a look each quarter of a
//            second as in a window; it pins what it shows, as while somebody touches the window
//   left     the same when nobody has touched it for a minute: each generation is pinned only while
//            it is read
//
// A line of JSON a run, then one a mode with medians, and their ratios to those alone. `lag`: from
// the end of each commit until its generation, or a later one, was drawn. Processor time a request
// says more than the clock on a busy machine, but it too grows when cores are shared.

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <crawlstore/drum.h>

// tidy: inside, the inspector is what is measured
#include "inspector/shell/headless_shell.h"
#include "seen_stream.h"

namespace crawlstore::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr std::uint64_t kKeyCount = 4'000'000;
constexpr std::size_t kKeysPerCall = 1000;
constexpr std::uint64_t kKeysPerCommit = 900'000;
constexpr std::uint64_t kMemoryBytes = std::uint64_t{16} << 20;
constexpr auto kLookEvery = std::chrono::milliseconds(250);
constexpr std::size_t kGenerationsMax = 1 << 20;

template <class T>
T must(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "follow_writer: {}\n", describe(result.error()));
    std::_Exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

enum class Mode : std::uint8_t { kAlone, kWatched, kLeft };
constexpr std::array<std::string_view, 3> kModes{"alone", "watched", "left"};

/// The messages of the two processes to the one that started them, and to each other.
struct Shared {
  std::atomic<bool> is_over{false};
  std::atomic<std::uint64_t> generation{0};  // whose time is known
  std::atomic<std::int64_t> committed_ns[kGenerationsMax];
  // The writer's.
  std::uint64_t request_count = 0;
  std::uint64_t commit_count = 0;
  double seconds = 0;
  double writer_cpu_seconds = 0;
  std::uint64_t file_bytes_max = 0;
  // The inspector's.
  std::uint64_t look_count = 0;
  double inspector_cpu_seconds = 0;
  std::uint64_t lag_count = 0;
  double lag_ms[kGenerationsMax];
};

std::int64_t now_ns() {
  return Clock::now().time_since_epoch().count();
}

void note_commits(Shared& shared, std::uint64_t newest) {
  for (std::uint64_t g = shared.generation + 1; g <= newest && g < kGenerationsMax; ++g) {
    shared.committed_ns[g] = now_ns();
  }
  shared.generation = newest;
}

void write(Shared& shared, const std::string& path, double seconds) {
  Store store = must(Store::open(path));
  DrumOptions options;  // so small that logs call for merges every second or so
  options.memory_bytes = kMemoryBytes;
  options.bucket_count = 16;
  auto drum = must(Drum<std::uint64_t>::open(store, "keys", options));
  NullDispatcher nobody;
  drum.attach(nobody);
  std::vector<std::uint64_t> keys(kKeysPerCall);
  std::uint64_t state = 1;
  const auto start = Clock::now();
  const double cpu_start = processor_seconds();
  while (Seconds(Clock::now() - start).count() < seconds) {
    for (auto& key : keys) key = key_of(mix(state++) % kKeyCount);
    must(drum.check_update(keys));
    shared.request_count += keys.size();
    if (shared.request_count % kKeysPerCommit == 0) {
      must(store.commit());
      ++shared.commit_count;
      shared.file_bytes_max =
          std::max<std::uint64_t>(shared.file_bytes_max, std::filesystem::file_size(path));
    }
    note_commits(shared, store.generation().value);  // merges commit as well
  }
  shared.seconds = Seconds(Clock::now() - start).count();
  shared.writer_cpu_seconds = processor_seconds() - cpu_start;
  shared.is_over = true;
}

void follow(Shared& shared, const std::string& path, Mode mode) {
  inspector::HeadlessShell shell({});
  const auto step = [&shell](const char* verb, const std::string& argument) {
    const std::string problem = shell.run_step({0, verb, argument});
    if (problem.empty()) return;
    fmt::print(stderr, "follow_writer: {}: {}\n", verb, problem);
    std::_Exit(1);
  };
  step("open", path);
  step("goto", "buckets");
  if (mode == Mode::kLeft) step("advance", "61");
  const double cpu_start = processor_seconds();
  std::uint64_t shown = shell.app().session().view()->info.generation.value;
  for (auto next = Clock::now(); !shared.is_over;) {
    next += kLookEvery;
    std::this_thread::sleep_until(next);
    step("advance", "0.25");
    ++shared.look_count;
    const std::uint64_t newest =
        std::min(shell.app().session().view()->info.generation.value, shared.generation.load());
    for (; shown < newest; ++shown) {
      const auto lag_ns = now_ns() - shared.committed_ns[shown + 1];
      shared.lag_ms[shared.lag_count++] = static_cast<double>(lag_ns) * 1e-6;
    }
  }
  shared.inspector_cpu_seconds = processor_seconds() - cpu_start;
}

template <class Work>
::pid_t start(const Work& work) {
  const ::pid_t child = ::fork();
  if (child != 0) return child;
  work();
  std::_Exit(0);
}

void wait_for(::pid_t child) {
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0) std::exit(1);
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const auto place = static_cast<std::size_t>(share * static_cast<double>(values.size()));
  return values[std::min(values.size() - 1, place)];
}

struct Run {
  double requests_per_second = 0;
  double cpu_per_million = 0;
  double file_mib = 0;
  std::vector<double> lags;
};

/// Shared memory that is zeros, as all of Shared begins.
Shared& make_shared_page() {
  void* const place = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) std::exit(1);
  return *static_cast<Shared*>(place);
}

Run run(const std::string& path, double seconds, Mode mode) {
  std::filesystem::remove(path);
  {
    Store store = must(Store::create(path));
    must(store.commit());
  }
  Shared& shared = make_shared_page();
  const bool is_followed = mode != Mode::kAlone;
  const ::pid_t follower = is_followed ? start([&] { follow(shared, path, mode); }) : 0;
  const ::pid_t writer = start([&] { write(shared, path, seconds); });
  wait_for(writer);
  if (is_followed) wait_for(follower);
  Run result;
  const double millions = static_cast<double>(shared.request_count) * 1e-6;
  result.requests_per_second = millions * 1e6 / shared.seconds;
  result.cpu_per_million = shared.writer_cpu_seconds / millions;
  result.file_mib = static_cast<double>(shared.file_bytes_max) / (1 << 20);
  result.lags.assign(shared.lag_ms, shared.lag_ms + shared.lag_count);
  fmt::print(
      "{{\"mode\":\"{}\",\"requests_per_s\":{:.0f},\"commits_per_s\":{:.1f},"
      "\"writer_cpu_s_per_million\":{:.4f},\"file_mib_max\":{:.1f},\"looks\":{},"
      "\"inspector_cpu_share\":{:.4f},\"lag_ms_p50\":{:.0f},\"lag_ms_max\":{:.0f}}}\n",
      kModes[static_cast<std::size_t>(mode)], result.requests_per_second,
      static_cast<double>(shared.commit_count) / shared.seconds, result.cpu_per_million,
      result.file_mib, shared.look_count, shared.inspector_cpu_seconds / shared.seconds,
      percentile(result.lags, 0.5), percentile(result.lags, 1));
  std::fflush(stdout);
  ::munmap(&shared, sizeof(Shared));
  return result;
}

template <class Number>
double median(const std::vector<Run>& runs, const Number& number) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const Run& run : runs) values.push_back(number(run));
  return percentile(std::move(values), 0.5);
}

double rate(const Run& run) {
  return run.requests_per_second;
}

/// The work of each round in this mode over that of the writer alone. They stand beside each other,
/// so the other load of the machine counts less.
double median_of_rounds(const std::vector<Run>& alone, const std::vector<Run>& others) {
  std::vector<double> ratios;
  ratios.reserve(alone.size());
  for (std::size_t i = 0; i < alone.size(); ++i) ratios.push_back(rate(others[i]) / rate(alone[i]));
  return percentile(std::move(ratios), 0.5);
}

void compare(const std::string& path, int rounds, double seconds) {
  std::array<std::vector<Run>, 3> runs;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 3; ++i) {
      const auto mode = static_cast<std::size_t>((round + i) % 3);
      runs[mode].push_back(run(path, seconds, static_cast<Mode>(mode)));
    }
  }
  std::filesystem::remove(path);
  for (std::size_t mode = 0; mode < runs.size(); ++mode) {
    std::vector<double> lags;
    for (const Run& one : runs[mode]) lags.insert(lags.end(), one.lags.begin(), one.lags.end());
    const auto cpu = [](const Run& one) { return one.cpu_per_million; };
    const auto size = [](const Run& one) { return one.file_mib; };
    fmt::print(
        "{{\"median_of\":\"{}\",\"rounds\":{},\"requests_per_s\":{:.0f},\"ratio\":{:.4f},"
        "\"ratio_in_rounds\":{:.4f},\"cpu_ratio\":{:.4f},\"file_mib_max\":{:.1f},"
        "\"commits_shown\":{},\"lag_ms_p50\":{:.0f},\"lag_ms_p95\":{:.0f},"
        "\"lag_ms_max\":{:.0f}}}\n",
        kModes[mode], rounds, median(runs[mode], rate),
        median(runs[mode], rate) / median(runs[0], rate), median_of_rounds(runs[0], runs[mode]),
        median(runs[mode], cpu) / median(runs[0], cpu), median(runs[mode], size), lags.size(),
        percentile(lags, 0.5), percentile(lags, 0.95), percentile(lags, 1));
  }
}

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    fmt::print(stderr, "follow_writer FILE [ROUNDS [SECONDS]]\n");
    return 2;
  }
  const std::span<char* const> words(argv, static_cast<std::size_t>(argc));
  const auto number = [](std::string_view text) {
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  const int rounds = argc > 2 ? number(words[2]) : 5;
  const int seconds = argc > 3 ? number(words[3]) : 10;
  if (rounds < 1 || seconds < 1 || std::filesystem::exists(words[1])) {
    fmt::print(stderr, "follow_writer: the file must not exist; ROUNDS and SECONDS are positive\n");
    return 2;
  }
  crawlstore::bench::compare(words[1], rounds, seconds);
  return 0;
}
