// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "container/run.h"
#include "container/store_impl.h"

namespace crawlstore::scores {

/// The arrays of a page database, in the order of their names.
std::vector<format::SegmentEntry> find_arrays(const container::Directory& directory,
                                              SegmentId database);

/// An array that was written, and owns its run until a commit publishes it.
struct WrittenArray {
  format::SegmentEntry entry;
  container::RunPtr run;
};

/// Score arrays that come and go with the next commit, which is that of the transaction under way
/// if there is one. A part of its store without a handle.
/// Threads: all with the store's turn.
class PendingArrays final : public Participant {
 public:
  explicit PendingArrays(std::shared_ptr<StoreImpl> of_store)
      : Participant(std::move(of_store), SegmentKind::kScoreArray) {}
  /// That of a store, which makes it when it is asked for first.
  static PendingArrays& of(StoreImpl& store);

  /// Database and name of an array, and what is there after the commit: nothing, or another one.
  using State = std::map<std::pair<SegmentId, std::string>, std::optional<WrittenArray>>;
  State state;

  /// The array of this name, as the next commit would have it; 0: there is none.
  [[nodiscard]] SegmentId find(SegmentId database, const std::string& array) const;

  [[nodiscard]] bool has_handle() const override { return false; }
  [[nodiscard]] std::string_view name() const override { return {}; }
  Result<void> prepare(CommitScope scope) override;
  void published() override { state.clear(); }
  void dropped() override {}
  void keep_tentative() override {}
  void drop_tentative() override { state.clear(); }
  void close() override { state.clear(); }
};

}  // namespace crawlstore::scores
