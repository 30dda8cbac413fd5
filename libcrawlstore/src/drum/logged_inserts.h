// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "drum/inserted_keys.h"
#include "drum/open_drum.h"

namespace crawlstore::drum {

/// The keys that logged requests of a DRUM insert, read when they are first asked for. All calls
/// require the mutex; `bucket` is that of the key.
class LoggedInserts {
 public:
  explicit LoggedInserts(const OpenDrum& drum) : drum_(drum) {}

  /// Whether a logged request inserts the key. Those of the transaction count on demand.
  Result<bool> contain(std::size_t bucket, Key16 key, bool in_transaction);
  /// Whether a logged request of the transaction does.
  Result<bool> contain_tentative(std::size_t bucket, Key16 key);
  /// Returns the value of the newest logged request that inserts the key, or nothing.
  Result<std::optional<std::vector<std::byte>>> find(std::size_t bucket, Key16 key,
                                                     bool in_transaction) const;
  /// Forgets the keys of buckets without pending runs.
  void forget_merged();
  void forget_tentative() { tentative_.clear(); }

 private:
  Result<bool> contain(std::vector<LoggedKeys>& all, std::size_t bucket,
                       std::span<const container::RunPtr> runs, Key16 key) const;

  const OpenDrum& drum_;
  std::vector<LoggedKeys> pending_;    // by bucket; or empty
  std::vector<LoggedKeys> tentative_;  // likewise
};

}  // namespace crawlstore::drum
