// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The other shards of a crawl, as a computation over links needs them: which pages are whose, and
/// how sums and values of pages elsewhere get to where they belong.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <crawlstore/page_view.h>
#include <crawlstore/shard_scores.h>

namespace crawlstore::scores {

/// Threads: one. All shards call the same members in the same order.
class ShardSums {
 public:
  /// Agrees with the others which numbers belong to which pages.
  ///   asked    what is computed; the same in all shards, as `options` are
  ///   errors kInvalidArgument: shards that do not belong together; of damage, and of `peers`
  ///   cost   reads all keys, and a URL of each host that has pages elsewhere; sends 16 bytes for
  ///          each page elsewhere
  static Result<ShardSums> agree(const PageView& pages, ShardPeers& peers, std::string_view asked,
                                 std::span<const double> options);

  /// Pages of all shards, each once.
  [[nodiscard]] std::uint64_t page_count() const { return page_count_; }
  /// A number of the generations that all shards read: another one for each computation behind one
  /// that a shard has stored.
  [[nodiscard]] double computation() const { return computation_; }
  /// The report of the computation, which has ended.
  [[nodiscard]] ShardRanks with(RankedPages ranked) const {
    return {std::move(ranked), page_count_, elsewhere_count_, unknown_count_, sent_bytes_};
  }
  /// By page of this shard, 1, or 0 for those that are elsewhere, or were forgotten.
  [[nodiscard]] const std::vector<float>& own() const { return own_; }

  /// Replaces numbers by their sums over all shards, added in the order of shards.
  Result<void> add_up(std::span<double> numbers);
  Result<double> add_up(double number);
  /// Returns whether all shards say the same number.
  Result<bool> is_same(double number);

  /// Gives the sums of pages elsewhere to their owners, adds what comes to the own pages, and sets
  /// those of pages elsewhere to 0. Returns, over all shards, `beside` and the sums of pages that
  /// nobody knows.
  template <class Real>
  Result<double> bring(std::span<Real> sums, double beside);

  /// Sets the values of pages elsewhere to those that their owners have, unknown ones to 0.
  template <class Real>
  Result<void> fetch(std::span<Real> values);
  /// Sets the values of pages elsewhere to 0.
  template <class Real>
  void clear(std::span<Real> values) const;

 private:
  explicit ShardSums(ShardPeers& peers) : peers_(&peers) {}
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

  Result<void> greet(const PageView& pages, std::string_view asked,
                     std::span<const double> options);
  Result<void> find_elsewhere(const PageView& pages);
  Result<void> find_asked(const PageView& pages);
  Result<void> find_unknown();
  Result<void> exchange();

  ShardPeers* peers_;
  std::uint32_t index_ = 0;
  double computation_ = 0;
  std::uint64_t page_count_ = 0;
  std::uint64_t elsewhere_count_ = 0;
  std::uint64_t unknown_count_ = 0;
  std::uint64_t sent_bytes_ = 0;
  std::vector<float> own_;
  std::vector<std::vector<std::uint64_t>> elsewhere_;  // by owner, in the order of keys
  std::vector<std::vector<std::uint64_t>> asked_;      // by shard, own pages in its order
  std::vector<std::uint64_t> unknown_;                 // of those elsewhere
  std::vector<ShardPeers::Bytes> to_;
  std::vector<ShardPeers::Bytes> from_;
};

/// The sum of the numbers of all shards; the number itself of a file that is alone.
inline Result<double> over_shards(ShardSums* shards, double number) {
  if (shards == nullptr) return number;
  return shards->add_up(number);
}

}  // namespace crawlstore::scores
