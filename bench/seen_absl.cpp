// SPDX-License-Identifier: Apache-2.0
//
// The bound in RAM: absl::flat_hash_set (with values: flat_hash_map) on the URL-seen stream. No
// file, nothing survives; each request is answered at once. Tuned: room for all keys is reserved
// (growing on the way has 0.85 of the rate and takes 1.5 times the memory), and the slot of the
// request 16 further on is prefetched. PATH is not used.

#include <algorithm>
#include <array>
#include <string>

#include <absl/base/config.h>
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "seen_run.h"

namespace crawlstore::bench {
namespace {

constexpr std::uint64_t kAtOnce = 4096;
constexpr std::uint64_t kAhead = 16;

using KeySet = absl::flat_hash_set<std::uint64_t>;
using KeyMap = absl::flat_hash_map<std::uint64_t, std::uint64_t>;

struct KeyRequests {
  std::array<std::uint64_t, kAtOnce> keys{};
  void load(SeenRun& run, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) keys[i] = run.next_key();
  }
  [[nodiscard]] std::uint64_t key(std::uint64_t i) const { return keys[i]; }
  [[nodiscard]] std::uint64_t print(std::uint64_t i) const { return fingerprint(keys[i]); }
  [[nodiscard]] bool insert(KeySet& set, std::uint64_t i) const {
    return set.insert(keys[i]).second;
  }
};

struct AuxRequests {
  std::array<SeenRequest, kAtOnce> requests{};
  void load(SeenRun& run, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) requests[i] = run.next_request();
  }
  [[nodiscard]] std::uint64_t key(std::uint64_t i) const { return requests[i].key; }
  [[nodiscard]] std::uint64_t print(std::uint64_t i) const {
    return fingerprint(requests[i].key, requests[i].value, requests[i].aux_text());
  }
  [[nodiscard]] bool insert(KeyMap& map, std::uint64_t i) const {
    return map.insert_or_assign(requests[i].key, requests[i].value).second;
  }
};

std::uint64_t value_in(const KeySet&, KeySet::const_iterator) {
  return 0;
}
std::uint64_t value_in(const KeyMap&, KeyMap::const_iterator place) {
  return place->second;
}

template <class Table, class Requests>
void measure(const SeenOptions& options) {
  Table table;
  table.reserve(options.operations / 4 + options.operations / 64);
  Requests requests;
  SeenRun run(options);
  run.start();
  while (const std::uint64_t count = run.take(kAtOnce)) {
    requests.load(run, count);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (i + kAhead < count) table.prefetch(requests.key(i + kAhead));
      const bool is_unique = requests.insert(table, i);
      run.answers().add(is_unique, requests.print(i));
    }
    run.step();
  }
  run.finish();
  run.verify_lookups([&](std::uint64_t key) -> std::optional<std::uint64_t> {
    const auto place = table.find(key);
    if (place == table.end()) return std::nullopt;
    return value_in(table, place);
  });
  run.print({"absl::flat_hash_set", fmt::format("{}", ABSL_LTS_RELEASE_VERSION),
             "in RAM, room for all keys reserved, prefetch", 0},
            nlohmann::ordered_json::object());
}

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  using namespace crawlstore::bench;
  return guarded_main(argv, [&] {
    const SeenOptions options = parse_options(std::span(argv, static_cast<std::size_t>(argc)));
    if (options.has_aux) {
      measure<KeyMap, AuxRequests>(options);
    } else {
      measure<KeySet, KeyRequests>(options);
    }
  });
}
