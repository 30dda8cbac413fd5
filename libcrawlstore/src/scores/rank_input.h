// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The parts of a page database that scorers read.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/page_view.h>
#include <crawlstore/ranking.h>

#include "scores/link_cache.h"
#include "scores/owner_graph.h"
#include "scores/shard_sums.h"

namespace crawlstore::scores {

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Progress of the work before the first iteration. `progress` outlives it.
Progress as_progress(const RankProgress& progress);

/// errors kInvalidArgument: an array could not tell of so many
Result<void> check_iterations(std::uint32_t max_iterations);

/// All cores for 0.
unsigned threads_of(unsigned thread_count);

/// By page, 1, or 0 for one that was forgotten; empty: none was.
///   errors  kInvalidArgument: all were; of damage
Result<std::vector<float>> living_pages(const PageView& pages);

/// The scores that crawls gave the pages, when links or teleports can go by them.
///   errors  kInvalidArgument: one is negative, `offset` being its page; all are 0, of all shards;
///           of damage, and of `shards`
Result<std::vector<float>> content_scores(const PageView& pages, ShardSums* shards = nullptr);

/// Names an array of scores.
struct ArrayKey {
  std::string_view name;
  Scorer scorer{};
  ScoreSubject subject = ScoreSubject::kPage;
};
/// The scores of this array, where they can be begun with; else nothing.
std::vector<float> scores_before(const PageView& pages, const ArrayKey& key);
/// The same where all shards have them; else nothing. errors of `shards`
Result<std::vector<float>> scores_before(const PageView& pages, const ArrayKey& key,
                                         ShardSums* shards);

enum class Direction : std::uint8_t {
  kOut,  ///< from a page to those that it links to
  kIn,   ///< from a page to those that link to it
};

/// The way in which links are read. `progress` is called with iteration 0.
struct LinkInput {
  Direction direction = Direction::kOut;
  unsigned threads = 1;
  const std::string& folder;  ///< as of LinkCacheOptions
  const RankProgress& progress;
};
/// All links between pages. errors  as LinkCache::build()
Result<LinkCache> read_links(const PageView& pages, const LinkInput& input);
/// Those between owners.
Result<LinkCache> read_links(const OwnerGraph& owners, const LinkInput& input);

/// OwnerGraph::build(), with iteration 0 for progress.
Result<std::unique_ptr<const OwnerGraph>> read_owners(const PageView& pages, ScoreSubject subject,
                                                      const RankProgress& progress);

/// The folder for links and scores that take `memory_bytes`: `folder`, if empty that for temporary
/// files; nowhere (empty), if `memory_max` has room for them. 0 is three quarters of the machine's
/// memory.
std::string folder_for(std::uint64_t memory_bytes, std::uint64_t memory_max,
                       const std::string& folder);

}  // namespace crawlstore::scores
