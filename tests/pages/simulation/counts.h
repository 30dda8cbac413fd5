// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace crawlstore::testing::simulation {

/// Counts of what simulations did.
struct Counts {
  std::uint64_t looks = 0;
  std::uint64_t looks_at_previous = 0;
  std::uint64_t operations = 0;
  std::uint64_t failures = 0;
  std::uint64_t retries = 0;
  std::uint64_t goings_on = 0;
  std::uint64_t crashes = 0;
  std::uint64_t lost_slots = 0;  ///< that crashes after failed syncs left
  std::uint64_t rollbacks = 0;
  std::uint64_t transactions = 0;
  std::uint64_t arrays = 0;         ///< of scores, set or removed
  std::uint64_t takes = 0;          ///< of a frontier, with something to take
  std::uint64_t item_runs = 0;      ///< that a frontier wrote
  std::uint64_t items_joined = 0;   ///< checkpoints that left fewer runs of items
  std::uint64_t forgotten = 0;      ///< hosts
  std::uint64_t compactions = 0;    ///< of the file
  std::uint64_t links_joined = 0;   ///< by compact()
  std::uint64_t merges_joined = 0;  ///< supersteps that left fewer runs of links
};

}  // namespace crawlstore::testing::simulation
