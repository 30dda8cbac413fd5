// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Frontiers of one generation, for reading: who waits, who is being fetched until when, and when a
/// group may be visited next. Bytes: spec/frontier.md#frontiers.
///
///   CRAWLSTORE_TRY(const auto snapshot, Snapshot::open("crawl.crawl"));
///   CRAWLSTORE_TRY(const auto view, FrontierView::open(snapshot));
///   view.for_each_lease([](const FrontierEntry& entry) { return print(entry.body); });

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/frontier.h>
#include <crawlstore/snapshot.h>

#pragma GCC visibility push(default)
namespace crawlstore {

struct FrontierInfo {
  SegmentId id;
  std::string name;
  bool has_own_ids = false;  ///< given by whoever puts
  std::string pages{};       ///< the page database whose pages are its items; empty: none
  std::uint64_t group_count = 0;
  std::uint64_t waiting_count = 0;
  std::uint64_t leased_count = 0;
  std::uint64_t clock_ms = 0;         ///< of the last call that had one
  std::int64_t commit_time_us = 0;    ///< the wall clock at the last commit of the store
  std::uint64_t step_count = 0;       ///< that were ever made
  std::size_t run_count = 0;          ///< in the file
  std::uint64_t allocated_bytes = 0;  ///< checksums and padding included
  FrontierRule default_rule{};
  std::size_t item_run_count = 0;  ///< of these runs, those of items

  /// The time with which a Frontier would begin that is opened when the wall clock shows `wall_us`.
  [[nodiscard]] std::uint64_t time_at_ms(std::int64_t wall_us) const;
};

/// A frontier of one generation: any process, beside the writer. Ownership: as in
/// crawlstore.hpp.
/// Threads: any number. Memory: as Frontier.
class FrontierView {
 public:
  /// All frontiers, by name. errors  of damage
  [[nodiscard]] static Result<std::vector<FrontierInfo>> list(const Snapshot& snapshot);
  /// errors  kUnknownName: the generation has no frontier of this name; of damage
  /// cost    as Frontier::open()
  [[nodiscard]] static Result<FrontierView> open(const Snapshot& snapshot,
                                                 std::string_view name = Frontier::kDefaultName);

  [[nodiscard]] const FrontierInfo& info() const;
  /// Groups in the order in which they came, until the visitor returns false.
  using VisitGroup = std::function<bool(const FrontierGroup& group)>;
  void for_each_group(const VisitGroup& visit) const;
  /// nothing: there is no group of this key
  [[nodiscard]] std::optional<FrontierGroup> group(std::string_view key) const;
  /// Items of a group that wait, the first to leave first and those that are not due at last, until
  /// the visitor returns false. Texts are valid during the call.
  ///   errors  of damage, here and below: bodies are read when it is their turn
  [[nodiscard]] Result<void> for_each_waiting(std::string_view group,
                                              const VisitEntry& visit) const;
  /// Items that are leased, those whose lease ends first in front.
  [[nodiscard]] Result<void> for_each_lease(const VisitEntry& visit) const;
  /// Items whose time has not come, those of the lowest time in front.
  [[nodiscard]] Result<void> for_each_later(const VisitEntry& visit) const;
  /// All items that wait or are leased, in no order. Keys of groups live as long as the view.
  ///   cost    reads all runs of items, and nothing in another order than they lie
  [[nodiscard]] Result<void> for_each_key(
      const std::function<void(const FrontierKey& item)>& visit) const;
  [[nodiscard]] std::optional<std::uint64_t> next_due_ms() const;  ///< as Frontier::next_due_ms()

  struct Impl;

 private:
  explicit FrontierView(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace crawlstore
#pragma GCC visibility pop
