// SPDX-License-Identifier: Apache-2.0
#include "scores/rank_input.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <numeric>
#include <system_error>
#include <thread>

#include <unistd.h>

#include "base/inside.h"
#include "format/score_array.h"
#include "pages/page_view_impl.h"
#include "scores/rank_rows.h"

namespace crawlstore::scores {
namespace {

/// The links of a database that has none.
class NoRows final : public TableSource {
 public:
  [[nodiscard]] Result<std::unique_ptr<Rows>> open(std::uint64_t) const override {
    class Nothing final : public Rows {
      Result<bool> next() override { return false; }
    };
    return std::make_unique<Nothing>();
  }
};

LinkCacheOptions cache_options(const LinkInput& input) {
  LinkCacheOptions options;
  options.threads = input.threads;
  options.folder = input.folder;
  options.progress = as_progress(input.progress);
  return options;
}

/// Bytes that links and scores may take by default: three quarters of the machine's memory.
std::uint64_t usual_memory_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes) / 4 * 3;
}

}  // namespace

Progress as_progress(const RankProgress& progress) {
  if (!progress) return {};
  return [&progress](std::uint64_t, std::uint64_t) { return progress(0, 0); };
}

Result<void> check_iterations(std::uint32_t max_iterations) {
  if (max_iterations <= format::kScoreIterationsMax) return {};
  return fail(Errc::kInvalidArgument, "more iterations are allowed than an array can tell of");
}

unsigned threads_of(unsigned thread_count) {
  return thread_count != 0 ? thread_count : std::max(1U, std::thread::hardware_concurrency());
}

Result<std::vector<float>> living_pages(const PageView& pages) {
  std::vector<float> living;
  const PageView::Impl& inside = Inside::of(pages);
  if (!inside.keys || inside.keys->count() >= inside.table.page_count) return living;
  CRAWLSTORE_TRY(const auto hosts, inside.hosts());
  living.reserve(hosts.size());
  for (const std::uint64_t host : hosts) living.push_back(host != 0 ? 1.0F : 0.0F);
  if (std::ranges::find(living, 1.0F) == living.end()) {
    return fail(Errc::kInvalidArgument, "all pages were forgotten");
  }
  return living;
}

Result<std::vector<float>> content_scores(const PageView& pages, ShardSums* shards) {
  CRAWLSTORE_TRY(auto weights, pages.scores());
  const auto negative = std::ranges::find_if(weights, [](float weight) { return weight < 0; });
  if (negative != weights.end()) {
    return fail(Errc::kInvalidArgument,
                "a page's content score is negative (its index is the offset), so that no link "
                "or teleport can go by it",
                static_cast<std::uint64_t>(negative - weights.begin()));
  }
  double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  CRAWLSTORE_TRY(sum, over_shards(shards, sum));
  if (sum == 0) {
    return fail(Errc::kInvalidArgument, "no page has a content score to go by");
  }
  return weights;
}

std::vector<float> scores_before(const PageView& pages, const ArrayKey& key) {
  const auto before = ScoreView::open(pages, key.name);
  // Without a start it takes longer, and that is all: also where an array is damaged.
  if (!before || before->info().scorer != key.scorer || before->info().subject != key.subject ||
      !(before->info().sum > 0)) {
    return {};
  }
  const auto taken = [](const auto& values) {
    const auto bytes = std::as_bytes(values);
    const auto codec = sizeof(values[0]) == sizeof(double) ? format::ScoreCodec::kFloat64
                                                           : format::ScoreCodec::kFloat32;
    const bool are_scores = format::add_scores(0, codec, bytes).has_value();
    return are_scores ? std::vector<float>(values.begin(), values.end()) : std::vector<float>();
  };
  if (before->info().has_doubles) {
    const auto values = before->doubles();
    return values ? taken(*values) : std::vector<float>();
  }
  const auto values = before->floats();
  return values ? taken(*values) : std::vector<float>();
}

Result<std::vector<float>> scores_before(const PageView& pages, const ArrayKey& key,
                                         ShardSums* shards) {
  auto scores = scores_before(pages, key);
  if (shards == nullptr) return scores;
  const bool has_scores = !scores.empty() || pages.info().page_count == 0;
  CRAWLSTORE_TRY(const double lacking, shards->add_up(has_scores ? 0 : 1));
  if (lacking > 0) scores.clear();
  return scores;
}

Result<LinkCache> read_links(const PageView& pages, const LinkInput& input) {
  const auto& links = Inside::of(pages).links;
  const LinkCacheOptions options = cache_options(input);
  const std::uint64_t page_count = pages.info().page_count;
  if (!links) return LinkCache::build(NoRows(), page_count, options);
  if (input.direction == Direction::kIn) {
    return LinkCache::build(InRows(*links), page_count, options);
  }
  return LinkCache::build(OutRows(*links), page_count, options);
}

Result<LinkCache> read_links(const OwnerGraph& owners, const LinkInput& input) {
  return LinkCache::build(owners, owners.first_pages().size(), cache_options(input));
}

Result<std::unique_ptr<const OwnerGraph>> read_owners(const PageView& pages, ScoreSubject subject,
                                                      const RankProgress& progress) {
  return OwnerGraph::build(pages, subject, as_progress(progress));
}

std::string folder_for(std::uint64_t memory_bytes, std::uint64_t memory_max,
                       const std::string& folder) {
  if (memory_bytes <= (memory_max != 0 ? memory_max : usual_memory_bytes())) return {};
  if (!folder.empty()) return folder;
  std::error_code none;
  const auto temporary = std::filesystem::temp_directory_path(none);
  return none ? "/tmp" : temporary.string();
}

}  // namespace crawlstore::scores
