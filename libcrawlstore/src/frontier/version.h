// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "container/run.h"
#include "container/writer.h"
#include "format/frontier_table.h"
#include "frontier/item_join.h"
#include "frontier/item_run_writer.h"
#include "frontier/rewrite_items.h"
#include "frontier/state.h"
#include "frontier/step_log.h"
#include "frontier/stored_frontier.h"

namespace crawlstore::frontier {

/// The content that a generation has of a frontier, or will have: a value.
struct Version {
  format::FrontierTable table;
  std::vector<container::RunPtr> groups;    ///< ascending, as all
  std::vector<ItemRunPtr> items;            ///< those of table.runs
  std::vector<container::RunPtr> pieces;    ///< in the order of their groups
  std::vector<container::RunPtr> journals;  ///< in the order of their steps
  std::uint32_t stored_group_count = 0;     ///< in `groups`
  std::uint64_t piece_bytes = 0;
  std::uint64_t journal_bytes = 0;
};

/// A version that was written, and how it has the items of its state.
struct Written {
  Version version;
  bool is_checkpoint = false;  ///< then State::rearrange() follows when it is published
  StoredItems items{};         ///< of a checkpoint
  SegmentId gone{};            ///< of items: there is no run any more
  container::RunPtr table{};   ///< put() has written it
  bool ends_join = false;
  std::vector<RunId> next_join{};  ///< runs that are to be joined bit by bit
};

/// Writes versions of one frontier. Threads: one at a time, with the turn of the store.
class VersionWriter {
 public:
  using Join = std::unique_ptr<ItemJoin>;

  /// join  that is under way, or nullptr
  VersionWriter(container::Writer& writer, SegmentId frontier, std::uint64_t checkpoint_bytes,
                Join& join)
      : writer_(writer), frontier_(frontier), checkpoint_bytes_(checkpoint_bytes), join_(join) {}

  /// Writes the steps that came since `before`, whose state is `state` now, as journals; joins them
  /// when there are many. When they have become longer than the pieces it makes a checkpoint: items
  /// in memory become runs, if they are many; runs are joined, if they are, in one go if
  /// they are short, else bit by bit; and all groups are written as pieces. Nothing is in the
  /// directory yet.
  ///   state    reads bodies into memory where a checkpoint may end their runs
  ///   rewrite  makes it a checkpoint, in which items that were never taken get other orders
  ///   is_checkpoint  makes it one, too, where there are groups
  ///   errors   of the storage, of damage, of `rewrite`: the runs that were written give their
  ///            places back
  Result<Written> write(const Version& before, StepLog& steps, State& state,
                        const RewriteItem* rewrite = nullptr, bool is_checkpoint = false);
  /// Puts the segments of a version, under this name, into the changes of the writer.
  Result<void> put(Written& written, std::string_view name);

 private:
  Result<void> write_journals(Version& next, StepLog& steps);
  Result<void> join_journals(Version& next);
  Result<void> write_checkpoint(Written& next, State& state, const RewriteItem* rewrite);
  Result<void> rewrite_items(Written& next, const State& state, const RewriteItem& rewrite);
  Result<void> write_items(Written& next, const State& state);
  [[nodiscard]] bool fills_run(const ItemRunWriter::Size& size) const;
  Result<void> write_later_items(Written& next, const State& state);
  Result<void> advance_join(std::uint64_t item_count, const Version& version);
  Result<void> end_join(Written& next);
  [[nodiscard]] bool begins_join(Written& next, const std::vector<std::size_t>& chosen) const;
  template <class Run>
  Result<void> join_items(Written& next, std::vector<Run>& runs);
  template <class Add>
  Result<ItemRunPtr> add_run(Written& next, const ItemRunWriter::Size& size, const Add& add,
                             bool may_repeat = true);
  Result<void> write_pieces(Written& next, const State& state);
  Result<void> write_groups(Version& next, const State& state);
  Result<container::RunPtr> write_run(SegmentId& segment, SegmentKind kind,
                                      std::span<const std::byte> payload, std::uint64_t count);
  format::RunLabel new_run(SegmentId& segment, SegmentKind kind);
  void put_log(SegmentId segment, SegmentKind kind, const std::vector<container::RunPtr>& runs);

  container::Writer& writer_;
  SegmentId frontier_;
  std::uint64_t checkpoint_bytes_;
  Join& join_;
};

}  // namespace crawlstore::frontier
