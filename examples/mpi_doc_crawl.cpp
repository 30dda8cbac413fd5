// SPDX-License-Identifier: Apache-2.0
//
// A crawl on many machines: doc_crawl over shards, one file for each rank of MPI. It fetches pages
// from folders of HTML files, each of which stands for the web site with a ROOT_URL:
//
//   mpirun -np 4 mpi_doc_crawl PREFIX ROOT_URL FOLDER [ROOT_URL FOLDER]...
//
// Rank I of N has the file PREFIX-IofN.crawl, and fetches the pages of its hosts alone. A step is a
// level of links: all pages that were known when it began. Then exchange_step() tells each rank
// which of its pages others have found. A crawl that was killed goes on where it was.

#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <mpi.h>

#include <crawlstore/must.h>
#include <crawlstore/page_view.h>
#include <crawlstore/shard_exchange.h>

#include "folder_sites.h"
#include "mpi/mpi_peers.h"

namespace {

using crawlstore::must;

std::uint64_t over_ranks(std::uint64_t number, MPI_Op operation) {
  MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_UINT64_T, operation, MPI_COMM_WORLD);
  return number;
}

/// Opens the file of a shard. Those that are made have the key seed of the first one.
crawlstore::Store open_store(const std::string& path, const crawlstore::Shard& shard) {
  std::optional<crawlstore::Store> store;
  if (std::filesystem::exists(path)) {
    store = must(crawlstore::Store::open(path));
  } else if (shard.index == 0) {
    store = must(create_shard(path, shard));
  }
  crawlstore::CreateOptions options;
  options.key_seed = over_ranks(shard.index == 0 ? store->key_seed() : 0, MPI_MAX);
  return store ? std::move(*store) : must(create_shard(path, shard, options));
}

/// Fetches the pages of this shard that are known. Returns how many.
std::uint64_t fetch_level(crawlstore::Store& store, crawlstore::PageDb& pages,
                          const FolderSites& sites) {
  must(pages.merge());
  std::uint64_t count = 0;
  const auto view = must(crawlstore::PageView::open(must(store.snapshot())));
  must(view.for_each_page([&](const crawlstore::PageInfo& page) {
    if (page.state != crawlstore::PageState::kKnown) return true;
    const auto fetched = sites.fetch(page.url);
    if (fetched) must(pages.add(*fetched));
    count += fetched ? 1 : 0;
    return true;
  }));
  return count;
}

void crawl(const std::string& prefix, const FolderSites& sites,
           const std::vector<std::string>& seeds) {
  crawlstore::mpi::MpiPeers peers(MPI_COMM_WORLD);
  const crawlstore::Shard shard{static_cast<std::uint32_t>(peers.rank()),
                                static_cast<std::uint32_t>(peers.size())};
  const std::string path = fmt::format("{}-{}of{}.crawl", prefix, shard.index, shard.count);
  auto store = open_store(path, shard);
  auto pages = must(crawlstore::PageDb::open(store));
  for (const auto& url : seeds) {  // of all shards: those of others are left to them
    must(pages.add({.kind = crawlstore::CrawlEventKind::kKnown, .url = url}));
  }
  std::uint64_t count = 1;
  while (count != 0) {
    const auto state = must(read_exchange(must(store.snapshot())));
    // One that is further, as another one was killed, waits for it.
    const bool is_least = over_ranks(state.step, MPI_MIN) == state.step;
    count = is_least && !state.has_ended ? fetch_level(store, pages, sites) : 0;
    const auto report = must(exchange_step(store, pages, peers));
    count = over_ranks(count + report.received.new_count, MPI_SUM);
    if (shard.index == 0) fmt::print(stderr, "step {}: {} pages\n", report.step, count);
  }
  must(pages.compact());
  const auto kept = pages.status();
  const auto page_count = over_ranks(kept.page_count - kept.elsewhere_count, MPI_SUM);
  const auto crawled_count = over_ranks(kept.crawled_count, MPI_SUM);
  const auto link_count = over_ranks(kept.link_count, MPI_SUM);
  if (shard.index != 0) return;
  fmt::print("{} pages are known, {} of them crawled, with {} distinct links between them\n",
             page_count, crawled_count, link_count);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4 || argc % 2 != 0) {
    fmt::print(stderr, "usage: mpi_doc_crawl PREFIX ROOT_URL FOLDER [ROOT_URL FOLDER]...\n");
    return 2;
  }
  FolderSites sites;
  std::vector<std::string> seeds;
  for (int i = 2; i < argc; i += 2) {
    const auto urls = sites.add(argv[i], argv[i + 1]);
    seeds.insert(seeds.end(), urls.begin(), urls.end());
  }
  if (seeds.empty()) {
    fmt::print(stderr, "mpi_doc_crawl: no folder has HTML pages to begin with\n");
    return 2;
  }
  MPI_Init(&argc, &argv);
  int rank_count = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  if (rank_count == 1) {
    fmt::print(stderr, "mpi_doc_crawl: start two ranks or more (mpirun -np 2); else doc_crawl\n");
    MPI_Finalize();
    return 2;
  }
  crawl(argv[1], sites, seeds);
  MPI_Finalize();
} catch (const std::exception& error) {
  fmt::print(stderr, "mpi_doc_crawl: {}\n", error.what());
  MPI_Abort(MPI_COMM_WORLD, 3);
}
