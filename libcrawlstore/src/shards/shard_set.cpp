// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <crawlstore/page_key.h>
#include <crawlstore/shard_set.h>
#include <crawlstore/url.h>
#include <crawlstore/values.h>

#include "values/exchange_record.h"

namespace crawlstore {
namespace {

/// A file that was opened, and may not be one of a whole crawl.
struct SetCandidate {
  ShardFile file;
  std::uint64_t key_seed = 0;
  values::ExchangeRecord record;
};

tl::unexpected<Error> fail_with_words(std::string* problem, const Error& error, std::string words) {
  if (problem != nullptr) *problem = std::move(words);
  return tl::unexpected<Error>(error);
}

/// Returns the error of a file as it is, and says which file it is of.
tl::unexpected<Error> fail_in_file(std::string* problem, const std::string& path,
                                   const Error& error) {
  return fail_with_words(problem, error, path + ": " + describe(error));
}

/// Returns numbers of shards as a list: "1, 4 and 7 more".
std::string shards_listed(std::span<const std::uint32_t> shards) {
  constexpr std::size_t kShownMax = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(shards.size(), kShownMax); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shards[i]);
  }
  if (shards.size() <= kShownMax) return text;
  return text + " and " + std::to_string(shards.size() - kShownMax) + " more";
}

Result<SetCandidate> open_candidate(const std::string& path, std::string_view database) {
  CRAWLSTORE_TRY(const auto snapshot, Snapshot::open(path));
  CRAWLSTORE_TRY(const Shard shard, read_shard(snapshot));
  CRAWLSTORE_TRY(auto pages, PageView::open(snapshot, database));
  SetCandidate candidate{{path, shard, std::move(pages), {}, 0}, snapshot.key_seed(), {}};
  if (shard.is_alone()) return candidate;
  CRAWLSTORE_TRY(candidate.file.state, read_exchange(snapshot, database));
  CRAWLSTORE_TRY(const auto values, read_values(snapshot));
  const auto found = values.find(values::exchange_value_name(database));
  if (found == values.end()) return candidate;
  CRAWLSTORE_TRY(candidate.record, values::parse_exchange(found->second, shard.count));
  return candidate;
}

std::string alone_problem(const std::string& path) {
  return path + ": no shard, but a crawl of its own: leave it out, or read it alone";
}

/// Says why a file cannot be of the crawl of the first one; empty: it can.
std::string misfit(const SetCandidate& candidate, const SetCandidate& first) {
  const std::string& path = candidate.file.path;
  const std::string& first_path = first.file.path;
  const Shard& shard = candidate.file.shard;
  if (shard.count != first.file.shard.count) {
    if (shard.is_alone()) return alone_problem(path);
    if (first.file.shard.is_alone()) return alone_problem(first_path);
    return path + ": of " + std::to_string(shard.count) + " shards, but " + first_path + " is of " +
           std::to_string(first.file.shard.count) + ": give the files of one crawl";
  }
  if (candidate.key_seed != first.key_seed) {
    return path + ": another key seed than " + first_path +
           ", so not of the same crawl: give the files of one crawl";
  }
  if (candidate.file.pages.info().normalizer != first.file.pages.info().normalizer) {
    return path + ": URLs are normalised by other rules than in " + first_path +
           ": give the files of one crawl, or choose another page database";
  }
  return {};
}

/// Says why files are no whole crawl, and what to do; empty: they are.
std::string set_problem(std::span<const SetCandidate> candidates) {
  if (candidates.empty()) return "no file: give those of all shards";
  const SetCandidate& first = candidates.front();
  const std::uint32_t count = first.file.shard.count;
  std::vector<const SetCandidate*> by_shard(count);
  for (const SetCandidate& candidate : candidates) {
    if (std::string text = misfit(candidate, first); !text.empty()) return text;
    const SetCandidate*& place = by_shard[candidate.file.shard.index];
    if (place != nullptr && count == 1) return alone_problem(candidate.file.path);
    if (place != nullptr) {
      return candidate.file.path + ": shard " + std::to_string(candidate.file.shard.index) +
             " is " + place->file.path + " already: give one file of each shard";
    }
    place = &candidate;
  }
  std::vector<std::uint32_t> absent;
  for (std::uint32_t shard = 0; shard < count; ++shard) {
    if (by_shard[shard] == nullptr) absent.push_back(shard);
  }
  if (absent.empty()) return {};
  return std::to_string(absent.size()) + " of " + std::to_string(count) +
         " shards missing: " + shards_listed(absent) + ": give their files, too";
}

/// Returns how many pages there were when a step ended; 0: it has not ended, or that is not kept.
std::uint64_t count_at_end(const values::ExchangeRecord& record, std::uint64_t step) {
  const std::uint64_t newest = record.newest_end();
  if (step == 0 || step > newest || newest - step >= record.ends.size()) return 0;
  return record.ends[record.ends.size() - 1 - static_cast<std::size_t>(newest - step)];
}

/// Says what two arrays have of different computations; nullptr: nothing.
const char* computation_difference(const ScoresInfo& one, const ScoresInfo& other) {
  if (one.scorer != other.scorer) return "scorers";
  if (one.is_content_weighted != other.is_content_weighted ||
      one.is_personalised != other.is_personalised) {
    return "weights";
  }
  if (one.damping != other.damping) return "damping";
  if (one.precision != other.precision) return "precision";
  return one.iteration_count != other.iteration_count ? "numbers of iterations" : nullptr;
}

/// Whether the scores of all shards add up to 1, as those of PageRank and HITS do. Where links
/// change nothing, computations of different pages have the same residuals.
bool is_of_one_sum(std::span<const ScoreView> arrays) {
  constexpr double kRounding = 1e-3;
  double sum = 0;
  for (const ScoreView& array : arrays) {
    const Scorer scorer = array.info().scorer;
    const bool adds_up = scorer == Scorer::kPageRank || scorer == Scorer::kHitsAuthority ||
                         scorer == Scorer::kHitsHub;
    if (!adds_up) return true;
    sum += array.info().sum;
  }
  return std::abs(sum - 1) <= kRounding;
}

/// Opens the array of each file; `problem` says why they cannot be compared.
Result<std::vector<ScoreView>> open_arrays(std::span<const ShardFile> files, std::string_view name,
                                           std::string* problem) {
  const std::string quoted = "`" + std::string(name) + "`";
  std::vector<ScoreView> arrays;
  std::vector<double> first_residuals;
  std::vector<std::uint32_t> others;
  const char* difference = nullptr;
  for (const ShardFile& file : files) {
    auto array = ScoreView::open(file.pages, name);
    if (!array && array.error().code == Errc::kUnknownName) {
      return fail_with_words(problem, array.error(),
                             file.path + ": no scores " + quoted +
                                 ": compute them of all shards together, or choose others");
    }
    if (!array) return fail_in_file(problem, file.path, array.error());
    if (array->info().subject != ScoreSubject::kPage) {
      const Error error = fail(Errc::kInvalidArgument, "the scores are not of pages").value();
      return fail_with_words(problem, error,
                             file.path + ": the scores " + quoted +
                                 " are of hosts or domains: choose scores of pages");
    }
    auto residuals = array->residuals();
    if (!residuals) return fail_in_file(problem, file.path, residuals.error());
    if (arrays.empty()) first_residuals = *residuals;
    arrays.push_back(std::move(*array));
    const char* here = computation_difference(arrays.back().info(), arrays.front().info());
    if (here == nullptr && *residuals != first_residuals) here = "residuals";
    if (here == nullptr) continue;
    if (difference == nullptr) difference = here;
    others.push_back(file.shard.index);
  }
  if (others.empty() && !is_of_one_sum(arrays)) {
    difference = "sum of all shards";
    others.push_back(files.back().shard.index);
  }
  if (others.empty()) return arrays;
  const Error error =
      fail(Errc::kInvalidArgument, "the scores of the shards are of different computations")
          .value();
  return fail_with_words(problem, error,
                         "the scores " + quoted + " of shards " + shards_listed(others) +
                             " are of another computation than those of shard 0 (other " +
                             difference + "): compute them together again");
}

/// Returns the best pages of one file that are its own.
Result<std::vector<ScoredShardPage>> best_own(const ShardFile& file, const ScoreView& scores,
                                              std::size_t count) {
  std::vector<ScoredShardPage> own;
  for (std::size_t asked = count;; asked = asked > ~std::size_t{0} / 2 ? asked : asked * 2) {
    CRAWLSTORE_TRY(const auto best, scores.top(asked));
    own.clear();
    for (const ScoredPage& page : best) {
      if (own.size() == count) break;
      CRAWLSTORE_TRY(const auto state, file.pages.state(page.index));
      if (state == PageState::kElsewhere) continue;
      own.push_back({{file.shard.index, page.index}, page.score});
    }
    if (own.size() == count || best.size() < asked) return own;
  }
}

}  // namespace

ShardSet::ShardSet(std::vector<ShardFile> shards) : shards_(std::move(shards)) {
  counts_.least_step = shards_.front().state.step;
  for (const ShardFile& file : shards_) {
    const PagesInfo& info = file.pages.info();
    counts_.page_count += info.page_count - info.elsewhere_count;
    counts_.crawled_count += info.crawled_count;
    counts_.elsewhere_count += info.elsewhere_count;
    counts_.link_count += info.link_count;
    counts_.event_count += info.event_count;
    counts_.least_step = std::min(counts_.least_step, file.state.step);
    counts_.greatest_step = std::max(counts_.greatest_step, file.state.step);
  }
}

Result<ShardSet> ShardSet::open(std::span<const std::string> paths, std::string_view database,
                                std::string* problem) {
  std::vector<SetCandidate> candidates;
  for (const std::string& path : paths) {
    auto candidate = open_candidate(path, database);
    if (!candidate) return fail_in_file(problem, path, candidate.error());
    candidates.push_back(std::move(*candidate));
  }
  if (std::string words = set_problem(candidates); !words.empty()) {
    const Error error =
        fail(Errc::kInvalidArgument, "the files are not those of all shards of one crawl").value();
    return fail_with_words(problem, error, std::move(words));
  }
  const auto step_of = [](const SetCandidate& candidate) { return candidate.file.state.step; };
  std::ranges::sort(candidates, {}, [](const SetCandidate& one) { return one.file.shard.index; });
  const std::uint64_t complete = step_of(*std::ranges::min_element(candidates, {}, step_of)) - 1;
  std::vector<ShardFile> files;
  for (SetCandidate& candidate : candidates) {
    candidate.file.told_count =
        std::min(count_at_end(candidate.record, complete), candidate.file.pages.info().page_count);
    files.push_back(std::move(candidate.file));
  }
  return ShardSet(std::move(files));
}

Result<std::optional<ShardPage>> ShardSet::find(std::string_view url) const {
  auto normalizer = UrlNormalizer::to_find(shards_.front().pages.info().normalizer);
  return find_text(normalizer.normalize(url).text);
}

Result<std::optional<ShardPage>> ShardSet::find_text(std::string_view text) const {
  const std::uint32_t owner = shard_of(url_host(text), static_cast<std::uint32_t>(shards_.size()));
  CRAWLSTORE_TRY(const auto index, shards_[owner].pages.find_text(text));
  return index ? std::optional(ShardPage{owner, *index}) : std::nullopt;
}

Result<std::vector<ScoredShardPage>> ShardSet::top(std::size_t count, std::string_view name,
                                                   std::string* problem) const {
  CRAWLSTORE_TRY(const auto arrays, open_arrays(shards_, name, problem));
  std::vector<ScoredShardPage> best;
  for (const ShardFile& file : shards_) {
    auto own = best_own(file, arrays[file.shard.index], count);
    if (!own) return fail_in_file(problem, file.path, own.error());
    // Equal scores stay in the order of their shards.
    std::vector<ScoredShardPage> merged;
    merged.reserve(best.size() + own->size());
    std::ranges::merge(best, *own, std::back_inserter(merged), std::ranges::greater(),
                       &ScoredShardPage::score, &ScoredShardPage::score);
    merged.resize(std::min(merged.size(), count));
    best = std::move(merged);
  }
  return best;
}

}  // namespace crawlstore
