// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crawlstore/frontier.h>

#include "container/store_impl.h"
#include "frontier/check_call.h"
#include "frontier/frontier_clock.h"
#include "frontier/take_calls.h"
#include "frontier/version.h"

namespace crawlstore {

/// Invariant: `state` is that of `committed` and the steps of `steps` behind it. An error may leave
/// a step half made; then it is made anew of both.
struct Frontier::Impl final : Participant {
  Impl(std::shared_ptr<StoreImpl> of_store, std::string_view of_name,
       const FrontierOptions& of_options)
      : Participant(std::move(of_store), SegmentKind::kFrontier),
        own_name(of_name),
        options(of_options),
        state(frontier::group_rule(of_options.default_rule)) {
    empty.table.default_rule = frontier::group_rule(options.default_rule);
    empty.table.has_own_ids = options.has_own_ids || !options.pages.empty();
    empty.table.pages = options.pages;
  }

  /// The caller's: that close() is called on, which has the turn, or that is no more.
  enum class Handle : std::uint8_t { kOpen, kClosing, kGone };

  const std::string own_name;
  const FrontierOptions options;
  SegmentId id;
  frontier::Version empty;  // of a frontier that no generation has
  frontier::State state;
  frontier::StepLog steps;                     // that no commit has
  std::optional<frontier::Version> committed;  // nothing: the file does not have the frontier
  std::optional<frontier::Written> in_commit;  // published by the commit under way, or to come
  frontier::VersionWriter::Join join;          // of runs of items, under way; or nullptr
  std::optional<frontier::StepLog::Mark>
      before;  // of the transaction under way, since it touched this
  std::optional<frontier::FrontierClock> clock;
  std::atomic<Handle> handle = Handle::kOpen;
  frontier::TakeCalls take_calls;  // outside of transactions

  Result<void> load(const format::SegmentEntry& entry);
  Result<frontier::StoredState> read_committed();
  template <class Work>
  auto change(const Work& work) -> decltype(work());
  template <class Work>
  auto change_all(const Work& work) -> decltype(work());
  Result<void> step(const format::Step& step);
  Result<void> undo(frontier::StepLog::Mark mark);
  Result<void> set_clock(std::optional<std::uint64_t> now_ms);
  Result<std::uint32_t> group_of(std::optional<std::uint32_t> known, std::string_view key);
  [[nodiscard]] const frontier::Version& last_version() const {
    return committed ? *committed : empty;
  }

  Result<void> prepare(CommitScope scope) override;
  void published() override;
  void dropped() override;
  void keep_tentative() override { before.reset(); }
  void drop_tentative() override;
  void close() override;
  [[nodiscard]] std::string_view name() const override { return own_name; }
};

/// Calls work() as part of the transaction under way, if there is one.
template <class Work>
auto Frontier::Impl::change(const Work& work) -> decltype(work()) {
  CRAWLSTORE_TRY(store->check_outside());
  const std::lock_guard turn(store->turn);
  CRAWLSTORE_TRY(store->check_open());
  const std::lock_guard lock(mutex);
  if (closed) return fail(Errc::kClosed, "the frontier has been closed");
  CRAWLSTORE_TRY(store->writer->check_not_poisoned());
  CRAWLSTORE_TRY(store->writer->storage().check_process());
  return store->change([&]() -> decltype(work()) {
    if (store->in_transaction() && !before) before = steps.mark();
    return work();
  });
}

/// The same; after an error nothing has changed.
template <class Work>
auto Frontier::Impl::change_all(const Work& work) -> decltype(work()) {
  return change([&]() -> decltype(work()) {
    const frontier::StepLog::Mark mark = steps.mark();
    auto done = work();
    if (!done && !undo(mark)) store->writer->poison();
    return done;
  });
}

}  // namespace crawlstore
