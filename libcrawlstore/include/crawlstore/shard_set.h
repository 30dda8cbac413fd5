// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The files of all shards of a crawl (shard.h), read as one.
///
/// A set has each shard once, and nothing else: a crawl of which a shard is missing is not read.
/// The pages of all shards that are not elsewhere are the pages of the crawl, each of them once.
/// Each file is read at the commit that was its newest when the set was opened. Where shards are
/// written meanwhile, these are commits of different moments.
///
///   std::string problem;
///   auto crawl = ShardSet::open(paths, "pages", &problem);
///   if (!crawl) return say(problem);                                  // names the file
///   auto page = crawl->find("https://example.org/");
///   if (page && *page) crawl->shards()[(*page)->shard].pages.page((*page)->index);
///
/// Ownership: as in crawlstore.hpp, but shards() and counts() live in the set. Threads: any number,
/// of one set too. Errors: also those of PageView. An Error has no room for a path: the words that
/// name the file go to `problem`, where a caller gives one; without an error it stays as it is.
/// Source: spec/shards.md.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/page_view.h>
#include <crawlstore/scores.h>
#include <crawlstore/shard.h>
#include <crawlstore/shard_exchange.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// A file of a set.
struct ShardFile {
  std::string path;  ///< as it was given
  Shard shard{};
  PageView pages;
  ExchangeState state{};  ///< of a file that is alone: that of a shard before its first exchange
  /// Pages that are elsewhere, and whose indexes are below this, were told to their owners in steps
  /// that are complete in all files. 0 where the end of the last such step is no longer kept.
  std::uint64_t told_count = 0;
};

/// Counts of all shards together.
struct ShardSetCounts {
  std::uint64_t page_count = 0;       ///< of the crawl: not elsewhere in their files
  std::uint64_t crawled_count = 0;    ///< of these, crawled at least once
  std::uint64_t elsewhere_count = 0;  ///< pages that files know of other shards
  std::uint64_t link_count = 0;       ///< distinct pairs of pages; each is in one file
  std::uint64_t event_count = 0;      ///< edits that wait in the files, and are not seen
  std::uint64_t least_step = 0;       ///< of the shard that is furthest behind
  std::uint64_t greatest_step = 0;    ///< of the one that is furthest ahead
};

/// A page of the crawl, where its own shard has it.
struct ShardPage {
  std::uint32_t shard = 0;
  std::uint64_t index = 0;
  auto operator<=>(const ShardPage&) const = default;
};

struct ScoredShardPage {
  ShardPage page{};
  double score = 0;
};

class ShardSet {
 public:
  /// Opens the files of all shards, in any order. One path may be a file that is alone.
  ///   problem  gets the words about an error: which file, and what to do
  ///   errors   kInvalidArgument: a shard is missing, or there twice; a file is alone, or of
  ///            another number of shards, another key seed or another normaliser; kUnknownName: a
  ///            file has no page database of this name; as Snapshot::open() and read_exchange()
  ///   cost     that of Snapshot::open() and PageView::open() for each file, all of which stay open
  [[nodiscard]] static Result<ShardSet> open(std::span<const std::string> paths,
                                             std::string_view database = "pages",
                                             std::string* problem = nullptr);

  /// All files, by the index of the shard.
  [[nodiscard]] std::span<const ShardFile> shards() const& { return shards_; }
  std::span<const ShardFile> shards() const&& = delete;  // of a set that is gone
  [[nodiscard]] const ShardSetCounts& counts() const { return counts_; }
  /// Whether shards are more than one step apart. An exchange never leaves them so: one of them is
  /// an older copy, to which the others send their outboxes again.
  [[nodiscard]] bool is_apart() const { return counts_.greatest_step > counts_.least_step + 1; }

  /// Finds a URL in the file of the shard that owns its host; nothing when that has no such page.
  /// Other shards may know it as elsewhere, and not have told its owner yet. The URL is normalised
  /// as the databases name it, as by PageView::find().
  ///   cost  that of PageView::find() of one file, however many there are
  [[nodiscard]] Result<std::optional<ShardPage>> find(std::string_view url) const;
  /// The same of a URL that is taken as it is, as url() of any of the files returned it.
  [[nodiscard]] Result<std::optional<ShardPage>> find_text(std::string_view text) const;

  /// The best `count` pages of the crawl with a score above 0: highest first, ties by shard, then
  /// by index. What an array says of pages that are elsewhere is left out.
  ///   name     of the arrays, one in each file. Scores of pages can be compared across files only
  ///            if one computation made all: arrays are taken for such if they have the same
  ///            scorer, weights, damping, precision and number of iterations, and the same residual
  ///            of each iteration, and those of PageRank and HITS add up to 1. Arrays of one's own
  ///            without residuals are not told apart
  ///   problem  as of open()
  ///   errors   kInvalidArgument: the arrays are of different computations, or not of pages;
  ///            kUnknownName: a file has no array of this name; as ScoreView::top()
  ///   cost     one pass over each array, more where pages that are elsewhere have high scores;
  ///            memory for some times `count` pages, however many files there are
  [[nodiscard]] Result<std::vector<ScoredShardPage>> top(
      std::size_t count, std::string_view name = ScoreView::kDefaultName,
      std::string* problem = nullptr) const;

 private:
  explicit ShardSet(std::vector<ShardFile> shards);

  std::vector<ShardFile> shards_;
  ShardSetCounts counts_;
};

}  // namespace crawlstore
#pragma GCC visibility pop
