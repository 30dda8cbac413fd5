// SPDX-License-Identifier: Apache-2.0
//
// A small crawler on crawlstore. It "fetches" pages from folders of HTML files, each of which
// stands for the web site with a ROOT_URL, and keeps everything it must remember in one file:
//
//   doc_crawl FILE.crawl ROOT_URL FOLDER [ROOT_URL FOLDER]...
//
// Pages and links are in the page database, which looks nothing up one by one: a superstep merges
// all links of a round at once, and pages that were never seen come out with an index. Then
// put_pages() puts them into the frontier, take_pages() leases those to be fetched next, the
// richest in OPIC cash, and finish() ends the leases.
//
// A commit has what a round has fetched and the end of its leases. So a crawl that is killed goes
// on where it was, and fetches again only what no commit has.

#include <exception>
#include <optional>
#include <string>

#include <fmt/core.h>

#include <crawlstore/crawlstore.hpp>

#include "folder_sites.h"

namespace {

using crawlstore::CrawlEventKind;
using crawlstore::must;

constexpr std::uint32_t kRound = 1000;  // pages between two supersteps, at most

struct Crawl {
  crawlstore::Store& store;
  crawlstore::PageDb pages = must(crawlstore::PageDb::open(store));
  crawlstore::Frontier frontier = must(crawlstore::Frontier::open(
      store, "frontier",  // folders need no delay between visits, as servers do
      {.default_rule = {.delay_ms = 0, .hard_ms = 0, .in_flight_max = kRound}, .pages = "pages"}));
  FolderSites sites{};
  std::uint64_t next_page = 0;  // from which on pages are new to the frontier

  /// Begins with the pages of a site. False: it has none.
  bool add_site(const std::string& root_url, const std::string& folder) {
    const auto urls = sites.add(root_url, folder);
    for (const auto& url : urls) must(pages.add({.kind = CrawlEventKind::kKnown, .url = url}));
    return !urls.empty();
  }

  void fetch(const std::string& url) {
    const auto page = sites.fetch(url);
    if (page) return must(pages.add(*page));
    must(pages.add({.kind = CrawlEventKind::kFailed, .url = url}));
  }

  /// Gives indexes to new pages, and fetches the best of all that wait. Returns how many.
  std::size_t do_round() {
    must(pages.merge());
    must(crawlstore::opic(store));
    const auto snapshot = must(store.snapshot());
    const auto view = must(crawlstore::PageView::open(snapshot));
    const auto cash = must(must(crawlstore::ScoreView::open(view, "opic_cash")).doubles());
    const auto cash_of = [&](const crawlstore::PageInfo& page) {
      return sites.file_of(page.url).empty() ? std::nullopt : std::optional(cash[page.index]);
    };
    // Once also what other runs left out, which were not told of this site.
    if (next_page == 0) must(put_back(frontier, snapshot, {.priority_of = cash_of}));
    next_page = must(put_pages(frontier, view, {.priority_of = cash_of}, next_page)).next_page;
    must(frontier.rewrite([&](auto, std::uint64_t page, double) { return cash[page]; }));
    const auto taken = must(take_pages(frontier, view, {.count = kRound, .per_group = kRound}));
    for (const auto& page : taken) {
      fetch(page.body);
      must(frontier.finish({&page.id, 1}));
    }
    must(store.commit());
    return taken.size();
  }
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4 || argc % 2 != 0) {
    fmt::print(stderr, "usage: doc_crawl FILE.crawl ROOT_URL FOLDER [ROOT_URL FOLDER]...\n");
    return 2;
  }
  auto store = must(crawlstore::Store::open_or_create(argv[1]));
  Crawl crawl{store};
  for (int i = 2; i < argc; i += 2) {
    if (crawl.add_site(argv[i], argv[i + 1])) continue;
    fmt::print(stderr, "doc_crawl: {} is no URL of HTTP, or {} has no HTML pages to begin with\n",
               argv[i], argv[i + 1]);
    return 2;
  }
  must(crawl.frontier.give_back_all());  // what a run that was killed has leased
  while (const auto count = crawl.do_round()) {
    fmt::print(stderr, "{} pages fetched, {} wait\n", count, crawl.frontier.waiting_count());
  }
  must(crawl.pages.compact());
  const auto kept = crawl.pages.status();
  fmt::print("{} pages are known, {} of them crawled, with {} distinct links between them\n",
             kept.page_count, kept.crawled_count, kept.link_count);
} catch (const std::exception& error) {
  fmt::print(stderr, "doc_crawl: {}\n", error.what());
  return 3;
}
