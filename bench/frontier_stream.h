// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Items for frontiers, the same for all: item i is a function of i alone.
///
/// Its group is drawn by Zipf's law, the k-th with a weight of 1 / k^s, where s gives the first
/// group a twentieth of all items (or 1.0 where there are fewer than 40 groups); or all groups have
/// the same weight. Its priority is
/// one of 2^24 fractions, drawn uniformly. Its body has 5 bytes, a number, or up to 115, a URL of
/// words that ends with that number in 9 digits.
///
/// Threads: any number, which only read.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace crawlstore::bench {

enum class GroupSizes { kZipf, kEven };

class FrontierStream {
 public:
  FrontierStream(std::uint64_t group_count, std::size_t body_bytes,
                 GroupSizes sizes = GroupSizes::kZipf);

  [[nodiscard]] std::size_t group_count() const { return reach_.size(); }
  [[nodiscard]] std::uint32_t group(std::uint64_t item) const;
  [[nodiscard]] static double priority(std::uint64_t item);
  [[nodiscard]] static std::string group_key(std::uint32_t group);
  /// Replaces the text by the body of an item.
  void write_body(std::uint64_t item, std::string& text) const;

 private:
  std::vector<double> reach_;  ///< by group: the weights up to it, of 1 in all
  std::size_t body_bytes_;
};

}  // namespace crawlstore::bench
