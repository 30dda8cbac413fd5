// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The frontier of the simulation: calls that a writer makes of it, what they have to return, and
/// what a generation shows of it.

#include <cstdint>
#include <string>
#include <vector>

#include <crawlstore/frontier.h>
#include <crawlstore/frontier_view.h>

#include "frontier/frontier_model.h"
#include "support/random.h"

namespace crawlstore::testing::simulation {

/// Options with which checkpoints are frequent, so that items go into runs.
FrontierOptions frontier_options();

/// A call of a frontier, and what it has to return.
struct FrontierChange {
  enum class Kind : std::uint8_t {
    kPut,
    kTake,
    kFinish,
    kGiveBack,
    kExtend,
    kSetRule,
    kRemove,
    kUpdate,
    kDropGroup
  };
  Kind kind = Kind::kPut;
  std::vector<FrontierModel::Item> items;  ///< as much of each as the call tells
  TakeOptions take{};
  FrontierRule rule{};
  std::uint64_t later_ms = 0;              ///< the time of the call after the one before
  std::uint64_t until_ms = 0;              ///< by kExtend, after the time of the call; not 0
  bool is_failure = false;                 ///< of kGiveBack
  std::uint64_t now_ms = 0;                ///< of the call
  std::vector<FrontierModel::Item> taken;  ///< by kTake
  std::uint64_t result = 0;                ///< the first id, or items that are done
};

/// Any call but kTake, which commits outside of a transaction.
FrontierChange random_frontier_change(Random& random, const FrontierModel& frontier);
FrontierChange random_take(Random& random);

/// Changes the model, and notes what the call has to return.
void apply(FrontierChange& change, FrontierModel& frontier);
/// The same with a frontier. A failure of the test if it returns something else.
Result<void> call(const FrontierChange& change, Frontier& frontier);

/// All that is known of a frontier: groups, those of their items that wait, leases, and items whose
/// time has not come.
std::string bytes_of(const FrontierModel& frontier);
/// The same of a generation.
std::string frontier_of(const Snapshot& snapshot);

/// Runs of items of a generation, after so many steps.
struct ItemRuns {
  std::uint64_t step_count = 0;
  std::size_t count = 0;
};
ItemRuns item_runs_of(const Snapshot& snapshot);

}  // namespace crawlstore::testing::simulation
