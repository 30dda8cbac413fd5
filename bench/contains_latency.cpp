// SPDX-License-Identifier: Apache-2.0
//
// How long contains() takes against how much waits: contains_latency [FILE [KEYS]].
//
// Ten million keys are merged. Then so many bytes of requests of fresh keys wait, 8 bytes each: in
// arrays (the writer's process), then committed to logs (the writer's process, and a DrumView of
// another one's kind). Keys are looked up one by one: a quarter each of those that are merged, that
// wait, and half of those that are nowhere, in random order. `first` is the time of all look-ups
// that were slower than a millisecond together: they make the sorted lists.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include <crawlstore/drum.h>

#include "seen_stream.h"

namespace crawlstore::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kLookUps = 100'000;
constexpr std::uint64_t kAbsent = std::uint64_t{1} << 40;  // no fresh request has such an id

template <class T>
T must(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "{}\n", describe(result.error()));
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

double microseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

struct World {
  std::uint64_t merged = 0;
  std::uint64_t pending = 0;
};

/// contains(key) for a mix of keys, timed; answers are compared with what is known.
template <class Contains>
void measure(const World& world, std::string_view where, const Contains& contains) {
  std::vector<double> times;
  double first = 0;
  std::uint64_t state = 1;
  for (std::uint64_t i = 0; i < kLookUps; ++i) {
    const std::uint64_t random = mix(state++);
    const std::uint64_t among = world.merged + world.pending;
    std::uint64_t id = kAbsent + random % among;
    if (i % 4 == 0) id = random % world.merged;
    if (i % 4 == 1 && world.pending != 0) id = world.merged + random % world.pending;
    const std::uint64_t key = key_of(id);
    const auto start = Clock::now();
    const bool found = contains(key);
    times.push_back(microseconds(Clock::now() - start));
    if (found != (id < among)) {
      fmt::print(stderr, "contains() is wrong about id {}\n", id);
      std::exit(1);
    }
    if (times.back() > 1000) first += times.back();
  }
  std::sort(times.begin(), times.end());
  const auto at = [&times](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
  };
  fmt::print("{:>12} {:>9.1f} {:>9.2f} {:>9.2f} {:>9.2f} {:>11.1f}\n", where,
             static_cast<double>(world.pending) * 8 / 1048576, at(0.5), at(0.99), at(0.999),
             first / 1000);
}

void submit(Drum<std::uint64_t>& drum, std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < count; ++i) {
    keys.push_back(key_of(first + i));
    if (keys.size() < 4096 && i + 1 < count) continue;
    must(drum.check_update(keys));
    keys.clear();
  }
}

void run(const std::string& path, std::uint64_t merged) {
  fmt::print("{:>12} {:>9} {:>9} {:>9} {:>9} {:>11}\n", "waiting in", "MiB", "median us", "99 % us",
             "99.9 % us", "first ms");
  for (const std::uint64_t mib : {0U, 1U, 8U, 64U, 256U}) {
    std::remove(path.c_str());
    auto store = must(Store::create(path));
    DrumOptions options;
    options.expected_keys = merged;
    options.memory_bytes = std::uint64_t{512} << 20;
    auto drum = must(Drum<std::uint64_t>::open(store, "urls", options));
    NullDispatcher nobody;
    drum.attach(nobody);
    submit(drum, 0, merged);
    must(drum.merge());
    const World world{merged, mib << 17};
    submit(drum, merged, world.pending);
    measure(world, "arrays", [&](std::uint64_t key) { return must(drum.contains(key)); });
    must(store.commit());
    measure(world, "logs", [&](std::uint64_t key) { return must(drum.contains(key)); });
    const DrumView view = must(DrumView::open(must(store.snapshot()), "urls"));
    measure(world, "logs, view", [&](std::uint64_t key) { return must(view.contains(key)); });
    must(drum.close());
    must(store.close());
  }
  std::remove(path.c_str());
}

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "contains_latency.crawl";
  const std::uint64_t keys = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10'000'000;
  if (argc > 3 || keys == 0 || keys > (std::uint64_t{1} << 32)) {
    fmt::print(stderr, "usage: {} [FILE [KEYS]]\n", argv[0]);
    return 2;
  }
  crawlstore::bench::run(path, keys);
}
