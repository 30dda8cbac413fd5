// SPDX-License-Identifier: Apache-2.0
//
// A crawl over shards, and PageRank of it: shards_run FOLDER WEB SHARDS [folders] [waiting].
//
// WEB is STEM of STEM.adj.zst and STEM.urls.zst, or a number of pages, which are made. With
// `folders` each folder is a host; with `waiting` URLs that others sent are fetched before they are
// pages (CrawlOptions). Shards are threads of this process, which sleep while they wait. They crawl
// whole levels of links, from ShardWeb::seeds() on, until there is nothing new, and exchange after
// each. One shard is an ordinary file. It leaves its scores in FOLDER; those that run later tell
// how far they are from it. Times are those of the processor, of all threads.

#include <algorithm>
#include <cctype>
#include <cmath>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "rank_graphs.h"
#include "seen_run.h"
#include "shards_crawl.h"

namespace crawlstore::bench {
namespace {

constexpr std::size_t kSeedCount = 500;
constexpr double kNoScore = -1;

using Shards = std::vector<std::unique_ptr<ShardCrawl>>;

/// Runs the work of each shard in a thread of its own. Returns the processor time of all.
double on_all(const Shards& shards, Meeting& meeting,
              const std::function<void(ShardCrawl&)>& work) {
  const double start = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
  std::mutex mutex;
  std::exception_ptr first;
  std::vector<std::thread> threads;
  for (const auto& shard : shards) {
    threads.emplace_back([&, one = shard.get()] {
      try {
        work(*one);
      } catch (const std::exception&) {
        const std::lock_guard lock(mutex);
        if (!first) first = std::current_exception();
        meeting.give_up();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
  return cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
}

void add_crawl(nlohmann::ordered_json& line, const Shards& shards) {
  CrawlCosts costs;
  CrawlSums sums;
  for (const auto& shard : shards) {
    costs += shard->costs();
    sums.levels = shard->sums().levels;
    sums.urls_sent += shard->sums().urls_sent;
    sums.bytes_sent += shard->sums().bytes_sent;
    sums.urls_new += shard->sums().urls_new;
  }
  line["levels"] = sums.levels;
  line["urls_sent"] = sums.urls_sent;
  line["urls_new"] = sums.urls_new;
  line["bytes_sent"] = sums.bytes_sent;
  line["open_cpu_seconds"] = costs.open;
  line["merge_received_cpu_seconds"] = costs.merge_received;
  line["read_cpu_seconds"] = costs.read;
  line["add_cpu_seconds"] = costs.add;
  line["merge_cpu_seconds"] = costs.merge;
  line["exchange_cpu_seconds"] = costs.exchange;
  line["outbox_cpu_seconds"] = costs.outbox;
  line["receive_cpu_seconds"] = costs.receive;
  line["note_cpu_seconds"] = costs.note;
  line["carry_cpu_seconds"] = costs.carry;
}

void add_found(nlohmann::ordered_json& line, const Shards& shards) {
  Found found;
  for (const auto& shard : shards) found += shard->look();
  line["pages"] = found.pages;
  line["crawled"] = found.crawled;
  line["links"] = found.links;
  line["page_hash"] = fmt::format("{:016x}", found.page_hash);
  line["link_hash"] = fmt::format("{:016x}", found.link_hash);
  line["crossing"] = found.crossing;
  line["crossing_raw_bytes"] = found.crossing_raw;
  line["crossing_bytes"] = found.crossing_bytes;
  line["elsewhere"] = found.elsewhere;
  line["elsewhere_raw_bytes"] = found.elsewhere_raw;
}

void add_rank(nlohmann::ordered_json& line, const Shards& shards) {
  const RankSums& first = shards.front()->rank_sums();
  std::uint64_t bytes = 0;
  double thread_seconds = 0;
  for (const auto& shard : shards) {
    bytes += shard->rank_sums().bytes;
    thread_seconds += shard->rank_sums().cpu_seconds;
  }
  const double count = first.iterations;
  line["iterations"] = first.iterations + 1;
  line["iteration_cpu_seconds"] = first.process_cpu_seconds / count;
  line["iteration_threads_cpu_seconds"] = thread_seconds / count;
  line["iteration_bytes"] = static_cast<double>(bytes) / count;
}

/// The distance of scores to those of one file, which leaves them.
void add_distance(nlohmann::ordered_json& line, const ShardWeb& web, const Shards& shards,
                  const std::string& reference) {
  std::vector<double> scores(web.page_count(), kNoScore);
  for (const auto& shard : shards) shard->add_scores(scores);
  if (shards.size() == 1) write_scores(reference, scores);
  const std::vector<double> expected = read_scores(reference);
  if (expected.size() != scores.size()) fail("there are no scores of one file in FOLDER");
  double distance = 0;
  std::uint64_t equal = 0;
  for (std::size_t page = 0; page < scores.size(); ++page) {
    distance += std::abs(scores[page] - expected[page]);
    if (scores[page] == expected[page]) ++equal;
  }
  line["l1_distance"] = distance;
  line["equal_scores"] = equal;
}

ShardWeb open_web(const std::string& name, bool by_folder) {
  if (std::isdigit(static_cast<unsigned char>(name.front())) != 0) {
    return ShardWeb::make(parse_number(name));
  }
  return ShardWeb::read(name, by_folder);
}

void run(const std::filesystem::path& folder, const ShardWeb& web, std::uint32_t shard_count,
         bool takes_waiting) {
  Meeting meeting(shard_count);
  Shards shards;
  std::vector<std::filesystem::path> paths;
  for (std::uint32_t i = 0; i < shard_count; ++i) {
    paths.push_back(folder / fmt::format("{}of{}.crawl", i, shard_count));
    shards.push_back(
        std::make_unique<ShardCrawl>(web, meeting, paths.back(), Shard{i, shard_count}));
  }
  nlohmann::ordered_json line = {{"bench", "shards"},
                                 {"store", fmt::format("crawlstore, {} shards", shard_count)},
                                 {"shards", shard_count},
                                 {"hosts", web.host_count()}};
  line["crawl_cpu_seconds"] = on_all(shards, meeting, [&](ShardCrawl& shard) {
    shard.crawl({kSeedCount, takes_waiting});
  });
  add_crawl(line, shards);
  line["rank_cpu_seconds"] = on_all(shards, meeting, [](ShardCrawl& shard) { shard.rank(); });
  add_rank(line, shards);
  add_found(line, shards);
  add_distance(line, web, shards, folder / "reference");
  shards.clear();
  std::uint64_t file_bytes = 0;
  for (const auto& path : paths) {
    file_bytes += allocated_bytes(path);
    std::filesystem::remove(path);
  }
  line["file_bytes"] = file_bytes;
  line["peak_rss_bytes"] = process_usage().peak_rss_bytes;
  add_circumstances(line);
  fmt::print("{}\n", line.dump());
}

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  using namespace crawlstore::bench;
  return guarded_main(argv, [&] {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.size() < 3 || words[1].empty()) fail("usage: FOLDER WEB SHARDS [folders] [waiting]");
    const auto has = [&](std::string_view word) {
      return std::find(words.begin() + 3, words.end(), word) != words.end();
    };
    const std::uint64_t shard_count = parse_number(words[2]);
    if (shard_count == 0 || shard_count > crawlstore::kShardsMax) fail("SHARDS is 1 to 4096");
    run(words[0], open_web(words[1], has("folders")), static_cast<std::uint32_t>(shard_count),
        has("waiting"));
  });
}
