// SPDX-License-Identifier: Apache-2.0
//
// The URL-seen stream: one operation is one check_update; with probability 0.25 the key is fresh,
// otherwise one seen before, drawn uniformly over the history. Keys are hashes of ids. Prints one
// JSON line. The number of unique answers is compared with the number of fresh keys; a difference
// is an error.
//
//   seen_driver FILE OPERATIONS [--memory MIB] [--buckets N] [--window N]

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include <crawlstore/drum.h>

namespace {

using crawlstore::Drum;
using Clock = std::chrono::steady_clock;

struct Settings {
  std::string path;
  std::uint64_t operations = 0;
  std::uint64_t memory_mib = 64;
  std::uint32_t buckets = 64;
  std::uint64_t window = 0;
};

[[noreturn]] void fail(const std::string& text) {
  fmt::print(stderr, "seen_driver: {}\n", text);
  std::exit(1);
}

template <class T>
T must(crawlstore::Result<T> result) {
  if (!result) fail(crawlstore::describe(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// Stafford's mix 13: a bijection, so that distinct ids are distinct keys.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

class Stream {
 public:
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    const std::uint64_t random = mix(state_);
    const bool is_fresh = fresh_ == 0 || (random & 3) == 0;
    const auto scaled = static_cast<unsigned __int128>(random) * fresh_;
    const std::uint64_t id = is_fresh ? fresh_++ : static_cast<std::uint64_t>(scaled >> 64);
    return mix(id + 0x5851F42D4C957F2DU);
  }
  [[nodiscard]] std::uint64_t fresh() const { return fresh_; }

 private:
  std::uint64_t state_ = 1;
  std::uint64_t fresh_ = 0;
};

struct Counter {
  std::uint64_t unique = 0;
  std::uint64_t duplicate = 0;
  void unique_key_update(const Drum<std::uint64_t>::AnswerType&) { ++unique; }
  void duplicate_key_update(const Drum<std::uint64_t>::AnswerType&) { ++duplicate; }
};

Settings parse(int argc, char** argv) {
  if (argc < 3)
    fail("usage: seen_driver FILE OPERATIONS [--memory MIB] [--buckets N] [--window N]");
  Settings settings;
  settings.path = argv[1];
  settings.operations = std::strtoull(argv[2], nullptr, 10);
  for (int i = 3; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    const std::uint64_t value = std::strtoull(argv[i + 1], nullptr, 10);
    if (option == "--memory") {
      settings.memory_mib = value;
    } else if (option == "--buckets") {
      settings.buckets = static_cast<std::uint32_t>(value);
    } else if (option == "--window") {
      settings.window = value;
    } else {
      fail("unknown option " + std::string(option));
    }
  }
  if (settings.window == 0) settings.window = settings.operations / 10;
  return settings;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// What the driver itself costs, without a store: subtract it to see the store alone.
double generator_seconds(std::uint64_t operations) {
  Stream stream;
  std::uint64_t sum = 0;
  const auto start = Clock::now();
  for (std::uint64_t i = 0; i < operations; ++i) sum += stream.next();
  const double seconds = seconds_since(start);
  return sum == 0 ? 0 : seconds;  // the sum is never 0; it keeps the loop alive
}

void run(const Settings& settings) {
  std::remove(settings.path.c_str());
  auto store = must(crawlstore::Store::create(settings.path));
  crawlstore::DrumOptions options;
  options.memory_bytes = settings.memory_mib << 20;
  options.bucket_count = settings.buckets;
  auto drum = must(Drum<std::uint64_t>::open(store, "urls", options));
  Counter counter;
  drum.attach(counter);

  Stream stream;
  std::vector<double> window_rates;
  std::vector<std::uint64_t> batch;
  const auto start = Clock::now();
  auto window_start = start;
  for (std::uint64_t done = 0; done < settings.operations;) {
    batch.clear();
    const std::uint64_t room = settings.window - done % settings.window;
    const std::uint64_t count = std::min<std::uint64_t>({4096, room, settings.operations - done});
    for (std::uint64_t i = 0; i < count; ++i) batch.push_back(stream.next());
    must(drum.check_update(batch));
    done += count;
    if (done == settings.operations) must(drum.synchronize());
    if (done % settings.window == 0 || done == settings.operations) {
      window_rates.push_back(static_cast<double>(settings.window) / seconds_since(window_start));
      window_start = Clock::now();
    }
  }
  const double seconds = seconds_since(start);
  if (counter.unique != stream.fresh() ||
      counter.unique + counter.duplicate != settings.operations) {
    fail("the answers are wrong");
  }

  const auto counters = store.counters();
  const auto drums = must(must(store.snapshot()).drums());
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto operations = static_cast<double>(settings.operations);
  const nlohmann::ordered_json line{
      {"bench", "url_seen"},
      {"operations", settings.operations},
      {"unique", counter.unique},
      {"seconds", seconds},
      {"generator_seconds", generator_seconds(settings.operations)},
      {"ops_per_s", operations / seconds},
      {"first_window_ops_per_s", window_rates.front()},
      {"last_window_ops_per_s", window_rates.back()},
      {"bytes_per_key", drums.front().bytes_per_key()},
      {"bytes_written_per_op", static_cast<double>(counters.bytes_written) / operations},
      {"bytes_read_per_op", static_cast<double>(counters.bytes_read) / operations},
      {"seeks_per_op",
       static_cast<double>(counters.read_seek_count + counters.write_seek_count) / operations},
      {"syncs", counters.sync_count},
      {"merges", drums.front().merge_count},
      {"file_bytes", store.file_bytes()},
      {"peak_rss_bytes", static_cast<std::uint64_t>(usage.ru_maxrss) * 1024},
      {"memory_mib", settings.memory_mib},
      {"buckets", drum.status().bucket_count}};
  fmt::print("{}\n", line.dump());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    std::fputs(error.what(), stderr);
    return 1;
  }
}
