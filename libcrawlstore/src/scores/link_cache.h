// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The links of a graph in the order in which sums over them are fast: a push stream.
///
/// Targets are cut into *stripes*, so that the sums of one stripe stay in the second-level cache,
/// and sources into blocks. The links of a block to a stripe are a *cell*; the cells of a stripe
/// follow one another, so that its links stand in the order (source, target). A link is four bytes:
/// how far its source is from that of the link before it in the cell (14 bits), and which target of
/// the stripe it leads to (18 bits). So who adds up reads links and values forwards, without a
/// branch, and only the sums are touched in random order.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/store.h>

#include "io/anonymous_array.h"
#include "scores/rank_rows.h"

namespace crawlstore::scores {

/// More pages than this no store has: spec/pages.md#pages rule 2.
inline constexpr std::uint64_t kPageCountMax = std::uint64_t{1} << 40;
/// Sums of a stripe of so many bits: 2 MiB.
inline constexpr unsigned kStripeBitsMax = 18;
/// Not less than a block of pages whose sums are added up together: see page_rank.cpp.
inline constexpr unsigned kStripeBitsMin = 12;

struct LinkCacheOptions {
  unsigned threads = 1;
  /// The sums of a stripe, eight bytes a page, should fill the second-level cache. No result
  /// depends on it.
  unsigned stripe_bits = kStripeBitsMax;
  /// Not empty: links lie in a file without a name of this folder, for graphs larger than memory.
  /// They are read forwards.
  std::string folder{};
  /// Called on the calling thread after each of its tasks, in tasks; false stops with kCancelled.
  /// Its exceptions come out of build().
  Progress progress{};
};

/// Ownership: owns its memory, refers to no source. Threads: any number read it.
class LinkCache {
 public:
  /// Bytes that build() takes at most, all in all. A cell has at least one link, so that a graph of
  /// many pages and few links takes little more than its degrees.
  [[nodiscard]] static std::uint64_t memory_bytes(std::uint64_t page_count,
                                                  std::uint64_t link_count,
                                                  const LinkCacheOptions& options = {});

  /// Reads all rows twice: once to count, once to place.
  ///   errors  kTooLarge: more than kPageCountMax pages, or 2^32 links of one page
  ///           kSegmentInvalid: a page or link at or above `page_count`, rows that do not ascend,
  ///           or are not the same the second time; `offset` is the page
  ///           kOutOfMemory, kCancelled, kInvalidArgument (bits), those of the source
  ///   cost    .2 to .4 s for 100 million links with two threads, without what the source takes
  static Result<LinkCache> build(const TableSource& source, std::uint64_t page_count,
                                 const LinkCacheOptions& options = {});

  [[nodiscard]] std::uint64_t page_count() const { return degrees_.size(); }
  [[nodiscard]] std::uint64_t link_count() const { return entries_.size(); }
  /// Links of each page.
  [[nodiscard]] std::span<const std::uint32_t> degrees() const { return degrees_.span(); }

  [[nodiscard]] std::uint64_t stripe_pages() const { return std::uint64_t{1} << stripe_bits_; }
  /// All stripes, those with most links first: in this order threads end at about one time.
  [[nodiscard]] std::span<const std::uint32_t> stripes() const { return longest_first_; }

  /// Adds values[s] to sums[t - first page of the stripe] for each link s -> t to it, sources
  /// ascending: the same bits whatever the size of stripes.
  ///   values  of all pages
  ///   sums    stripe_pages() numbers
  void add_up(std::uint32_t stripe, std::span<const float> values, std::span<double> sums) const;
  void add_up(std::uint32_t stripe, std::span<const double> values, std::span<double> sums) const;

 private:
  friend class LinkCacheBuilder;
  LinkCache() = default;
  template <class Real>
  void add_cells(std::uint32_t stripe, std::span<const Real> values, std::span<double> sums) const;

  struct Cell {
    std::uint64_t first_entry;  // the next cell's is its end
    std::uint64_t block;
  };

  unsigned stripe_bits_ = 0;
  io::AnonymousArray<std::uint32_t> degrees_;
  io::AnonymousArray<std::uint32_t> entries_;
  std::vector<Cell> cells_;                 // by stripe, then block; one more at the end
  std::vector<std::uint64_t> first_cells_;  // of each stripe; one more at the end
  std::vector<std::uint32_t> longest_first_;
};

}  // namespace crawlstore::scores
