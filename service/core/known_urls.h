// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <crawlstore/drum.h>
#include <crawlstore/store.h>

#include "service/core/url_record.h"

namespace crawlstore::service {

/// The URLs that a crawl knows, and what is counted of its queues: a DRUM. A URL has an empty value
/// while it waits or is leased, and its record once it is completed.
/// Threads: one at a time. Memory: `memory_bytes`, and 80 bytes for each queue that was looked at
/// since the last commit, or for up to kCountsKept queues.
class KnownUrls {
 public:
  /// errors  as Drum::open()
  static Result<KnownUrls> open(Store& store, std::string_view crawl, std::uint64_t memory_bytes);
  /// The name of the DRUM of a crawl.
  static std::string name_of(std::string_view crawl) { return "known:" + std::string(crawl); }

  /// Remembers a URL that waits. Returns whether it is new.
  [[nodiscard]] Result<bool> insert(Key16 key) { return drum_.insert(key); }
  [[nodiscard]] Result<bool> contains(Key16 key) const { return drum_.contains(key); }
  /// nothing: it is not known; empty: it waits or is leased
  [[nodiscard]] Result<std::optional<std::string>> find(Key16 key) const { return drum_.find(key); }
  /// Sets what find() returns.
  [[nodiscard]] Result<void> set(Key16 key, const std::string& value) {
    return drum_.update(key, value);
  }

  /// Returns what was counted: with queue_key() of a queue, with kCrawlKey of the crawl.
  [[nodiscard]] Result<Counts> counts(Key16 key);
  void set_counts(Key16 key, const Counts& counts);
  /// Writes what set_counts() changed, for the commit to come.
  [[nodiscard]] Result<void> write_counts();
  /// Forgets it: the transaction was dropped.
  void forget_counts();

  /// Merges if much waits. Outside of transactions.
  [[nodiscard]] Result<void> merge_if_full();
  /// Merges all, so that a snapshot has it.
  [[nodiscard]] Result<void> merge();
  using ShouldDrop = std::function<bool(Key16 key, std::string_view value)>;
  /// Forgets keys from the head `first` to `last`, and commits all that waits in the store. Outside
  /// of transactions.
  [[nodiscard]] Result<void> drop(std::uint64_t first, std::uint64_t last,
                                  const ShouldDrop& should_drop);
  [[nodiscard]] Result<void> close() { return drum_.close(); }

 private:
  explicit KnownUrls(Drum<Key16, std::string> drum) : drum_(std::move(drum)) {}

  static constexpr std::size_t kCountsKept = std::size_t{1} << 14;
  struct CountsOfQueue {
    Counts counts{};
    bool is_changed = false;  // since they were written
  };

  Drum<Key16, std::string> drum_;
  std::unordered_map<std::uint64_t, CountsOfQueue> counts_;  // by heads
  std::vector<std::uint64_t> changed_;                       // their heads
};

}  // namespace crawlstore::service
