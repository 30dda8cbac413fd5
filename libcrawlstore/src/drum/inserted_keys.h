// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

namespace crawlstore::drum {

/// The keys of the updates and check_updates among some requests, sorted: what will be there when
/// they are merged.
class InsertedKeys {
 public:
  /// Those of a key run. errors kSegmentInvalid
  static Result<InsertedKeys> of_run(std::span<const std::byte> payload);

  /// cost: O(log n)
  [[nodiscard]] bool contains(Key16 key) const;

 private:
  std::vector<std::uint64_t> keys_;
  std::vector<Key16> wide_keys_;  // of 16-byte keys: keys_ is empty then
};

/// The lists of the runs of key logs, each made when it is first asked for: 8 or 16 bytes a
/// key.
class InsertedKeysOfRuns {
 public:
  /// Does a run hold such a request of the key? read(): its payload, verified.
  template <class Read>
  Result<bool> contain(RunId run, Key16 key, const Read& read) {
    auto known = lists_.find(run);
    if (known == lists_.end()) {
      const Result<std::vector<std::byte>> payload = read();
      if (!payload) return tl::unexpected<Error>(payload.error());
      CRAWLSTORE_TRY(auto list, InsertedKeys::of_run(*payload));
      known = lists_.emplace(run, std::move(list)).first;
    }
    return known->second.contains(key);
  }
  void forget(RunId run) { lists_.erase(run); }

 private:
  std::map<RunId, InsertedKeys> lists_;
};

}  // namespace crawlstore::drum
