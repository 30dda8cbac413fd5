// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <crawlstore/values.h>

#include "container/run.h"
#include "container/store_impl.h"
#include "values/stored_values.h"

namespace crawlstore::values {

/// The small values of a store as the next commit will have them, which is that of the transaction
/// under way if there is one. A part of its store without a handle.
/// Threads: all with the store's turn.
class PendingValues final : public Participant {
 public:
  PendingValues(std::shared_ptr<StoreImpl> of_store, SmallValues of_file)
      : Participant(std::move(of_store), SegmentKind::kValues), state_{std::move(of_file), false} {}
  /// That of a store, which reads the file when it is asked for first.
  static Result<PendingValues*> of(StoreImpl& store);

  [[nodiscard]] const SmallValues& all() const { return state_.values; }
  /// errors  kSegmentInvalid
  [[nodiscard]] Result<Shard> shard() const { return shard_in(state_.values); }
  /// Names and lengths are right. Nothing changes where the value is there already.
  void set(std::string_view name, std::span<const std::byte> bytes);
  /// Whether there was a value of the name.
  bool remove(std::string_view name);

  [[nodiscard]] bool has_handle() const override { return false; }
  [[nodiscard]] std::string_view name() const override { return {}; }
  Result<void> prepare(CommitScope scope) override;
  void published() override;
  void dropped() override;
  void keep_tentative() override { before_.reset(); }
  void drop_tentative() override;
  void close() override;

 private:
  struct State {
    SmallValues values;
    bool is_changed = false;  ///< since the last commit
  };

  SmallValues& begin_change();

  State state_;
  std::optional<State> before_;  // as it was when the transaction under way changed it first
  bool is_in_commit_ = false;
  container::RunPtr run_;  // of the commit under way
};

/// Store::set() for a name that is reserved, of a value that is not too long.
Result<void> set_reserved(const std::shared_ptr<StoreImpl>& store, std::string_view name,
                          std::span<const std::byte> bytes);

}  // namespace crawlstore::values
