// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The items of one state of a frontier, group by group, for a comparison with another state.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontier/snapshot_state.h"

namespace crawlstore::frontier {

/// Whether two runs of the same segment have the same content.
bool is_same_run(const format::RunRef& a, const format::RunRef& b);

/// An item as a comparison has it.
struct DiffItem {
  std::uint64_t key = 0;  ///< its id, or the hash of its body: by this it is known
  std::uint64_t id = 0;
  std::uint64_t order = 0;  ///< of its priority
  std::uint64_t time = 0;   ///< before which it is not to be taken, or at which its lease ends
  std::uint64_t body_hash = 0;
  const Body* held = nullptr;  ///< nullptr: it is in a run, and was never taken
  std::uint64_t number = 0;    ///< in this run
  std::uint32_t attempt = 0;
  std::uint8_t run = 0;  ///< of WaitingRuns::all(); behind them of LaterItems::runs()
  bool is_leased = false;
};

/// Told how many items were read; its failure ends the reading.
using Advance = std::function<Result<void>(std::uint64_t count)>;

/// Threads: one at a time. Memory: 16 bytes an item that is leased, or whose time has not come and
/// that is not left out, and a block of each run.
class GroupItems {
 public:
  struct How {
    bool by_body = false;
    std::uint64_t clock = 0;  ///< times that have come by then are 0
  };
  /// `of` lives as long as this.
  GroupItems(const SnapshotState& of, How how);

  [[nodiscard]] const State& state() const { return of_.state; }
  /// From now on items of runs that both have, and that wait in both, are left out. The other one
  /// is of the same frontier of the same store, and lives as long as this.
  void skip_runs_of(const GroupItems& other);
  /// Lists the items whose time has not come. Called before read().
  ///   errors  of damage
  Result<void> list_later();
  /// All items of a group that are not left out, in no order.
  ///   is_same_number  the group has the same number in the other state, so that items may be
  ///                   left out
  ///   errors          of damage; those of `advance`
  Result<void> read(std::uint32_t group, bool is_same_number, const Advance& advance,
                    std::vector<DiffItem>& out);
  /// errors  of damage
  [[nodiscard]] Result<std::string> body(const DiffItem& item);

 private:
  struct OpenBlock {
    std::optional<std::size_t> number;
    format::ItemBlock content;
  };
  /// An item of a run by time.
  struct LaterPlace {
    std::uint32_t group = 0;
    std::uint8_t run = 0;
    std::uint64_t number = 0;
  };

  Result<void> add_held(const Item& item, std::uint64_t time, bool is_leased,
                        std::vector<DiffItem>& out);
  Result<void> add_range(std::size_t run, const format::ItemRange& range,
                         std::vector<DiffItem>& out);
  Result<void> add_stored(std::size_t run, std::uint64_t number, std::vector<DiffItem>& out);
  [[nodiscard]] bool has_gone(std::uint32_t group) const;
  [[nodiscard]] const ItemRun& run_at(std::size_t run) const;
  Result<const format::ItemBlock*> block_at(std::size_t run, std::size_t number);

  const SnapshotState& of_;
  How how_;
  const GroupItems* other_ = nullptr;
  std::vector<std::optional<std::size_t>> shared_;  // of each run its number in the other state
  std::vector<OpenBlock> blocks_;                   // of each run the one that was read last
  std::vector<std::pair<std::uint32_t, const LaterItem*>> later_;  // by group
  std::vector<LaterPlace> stored_later_;                           // by group
  std::vector<std::pair<std::uint32_t, const Lease*>> leases_;     // by group
};

}  // namespace crawlstore::frontier
