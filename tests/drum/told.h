// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The messages to dispatchers, to be compared: for the tests of the recent-keys window.

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <crawlstore/drum_core.h>

#include "drum/memory_store.h"
#include "support/random.h"

namespace crawlstore::testing {

/// Makes small numbers keys of all buckets.
inline constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;

/// The messages to a dispatcher.
struct Told {
  std::uint64_t key = 0;
  std::uint64_t sequence = 0;
  std::string aux;
  ConsumerId consumer;
  DrumOperation operation{};
  bool duplicate = false;
  friend bool operator==(const Told&, const Told&) = default;
};

inline Told told(const RawAnswer& answer) {
  std::string aux;
  for (const std::byte byte : answer.aux) aux.push_back(static_cast<char>(byte));
  return {answer.key, answer.sequence, aux, answer.consumer, answer.operation, answer.duplicate};
}

/// Keys alone, in bulk: what is told, in order.
struct Bulk {
  std::vector<std::pair<std::uint64_t, bool>> answers;
  std::vector<std::uint64_t> sequences;
  DrumStatus status;
  std::uint64_t bytes_written = 0;
};

inline Bulk answer_in_bulk(const DrumOptions& options, std::span<const std::uint64_t> keys) {
  Bulk bulk;
  MemoryStore store;
  auto core = must(DrumCore::open(*store, "keys", 0, options));
  core->attach({}, [&](std::span<const RawAnswer> answers) {
    for (const RawAnswer& answer : answers) {
      bulk.answers.emplace_back(answer.key, answer.duplicate);
      bulk.sequences.push_back(answer.sequence);
    }
  });
  must(core->submit_keys(DrumOperation::kCheckUpdate, keys, {}));
  must(core->merge());
  bulk.status = core->status();
  bulk.bytes_written = store->counters().storage.bytes_written;
  return bulk;
}

/// Half of the requests are of keys that are not older than a few thousand.
inline std::vector<std::uint64_t> recent_stream(std::uint64_t count) {
  Random random(6);
  std::vector<std::uint64_t> keys;
  std::uint64_t fresh = 0;
  while (keys.size() < count) {
    const bool repeats = fresh != 0 && random.below(2) == 0;
    const std::uint64_t back = repeats ? random.below(std::min<std::uint64_t>(fresh, 3000)) : 0;
    keys.push_back((repeats ? fresh - back : ++fresh) * kSpread);
  }
  return keys;
}

}  // namespace crawlstore::testing
