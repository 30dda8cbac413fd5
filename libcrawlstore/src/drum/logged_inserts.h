// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "drum/inserted_keys.h"
#include "drum/open_drum.h"

namespace crawlstore::drum {

/// The keys that logged requests of a DRUM insert, read when they are first asked for.
/// `bucket` is that of the key.
class LoggedInserts {
 public:
  explicit LoggedInserts(const OpenDrum& drum) : drum_(drum) {}

  /// Whether a logged request inserts the key. Those of the transaction count on demand.
  Result<bool> contain(std::size_t bucket, Key16 key, bool in_transaction)
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  /// Whether a logged request of the transaction does.
  Result<bool> contain_tentative(std::size_t bucket, Key16 key)
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  /// Returns the value of the newest logged request that inserts the key, or nothing.
  Result<std::optional<std::vector<std::byte>>> find(std::size_t bucket, Key16 key,
                                                     bool in_transaction) const
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  /// Forgets the keys of buckets without pending runs.
  void forget_merged() CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  void forget_tentative() { tentative_.clear(); }

 private:
  const OpenDrum& drum_;
  std::vector<LoggedKeys> pending_;    // by bucket; or empty
  std::vector<LoggedKeys> tentative_;  // likewise
};

}  // namespace crawlstore::drum
