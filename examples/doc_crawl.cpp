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

#include <charconv>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <crawlstore/frontier.h>
#include <crawlstore/must.h>
#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/ranking.h>
#include <crawlstore/schedule.h>
#include <crawlstore/url.h>

#include "html_links.h"

namespace {

using crawlstore::CrawlEventKind;
using crawlstore::must;
namespace fs = std::filesystem;

constexpr std::uint32_t kRound = 1000;  // pages between two supersteps, at most

/// The path of a URL as names of files have it: %20 is a space.
std::string without_escapes(std::string path) {
  for (std::size_t i = 0; i + 2 < path.size(); ++i) {
    unsigned char byte = 0;
    const char* const end = &path[i] + 3;
    const bool is_escape = path[i] == '%' && std::from_chars(end - 2, end, byte, 16).ptr == end;
    if (is_escape) path.replace(i, 3, 1, static_cast<char>(byte));
  }
  return path;
}

struct Crawl {
  crawlstore::Store& store;
  crawlstore::PageDb pages = must(crawlstore::PageDb::open(store));
  crawlstore::Frontier frontier = must(crawlstore::Frontier::open(
      store, "frontier",  // folders need no delay between visits, as servers do
      {.default_rule = {.delay_ms = 0, .hard_ms = 0, .in_flight_max = kRound}, .pages = "pages"}));
  std::map<std::string, fs::path> folders{};  // by their root URLs, which end with '/'
  std::uint64_t next_page = 0;                // from which on pages are new to the frontier

  /// The HTML file behind a URL, or an empty path when it leads outside all sites.
  [[nodiscard]] fs::path file_of(const std::string& url) const {
    for (const auto& [root_url, folder] : folders) {
      if (!url.starts_with(root_url)) continue;
      const auto path = without_escapes(url.substr(0, url.find('?')).substr(root_url.size()));
      if (path.starts_with('/') || path.find("..") != std::string::npos) return {};
      std::error_code too_long;
      fs::path file = folder / path;
      if (fs::is_directory(file, too_long)) file /= "index.html";
      const auto extension = file.extension();
      if (extension == ".html" || extension == ".htm" || extension == ".xhtml") return file;
    }
    return {};
  }

  /// Begins with the HTML files of the folder and the index pages one below. False: it has none.
  bool add_site(const std::string& root_url, const fs::path& folder) {
    folders[root_url] = folder;
    bool has_pages = false;
    for (const auto& entry : fs::directory_iterator(folder)) {
      std::string url = root_url + entry.path().filename().string();
      if (entry.is_directory()) url += "/index.html";
      if (!fs::exists(file_of(url))) continue;
      must(pages.add({.kind = CrawlEventKind::kKnown, .url = url}));
      has_pages = true;
    }
    return has_pages;
  }

  void fetch(const std::string& url) {
    std::ifstream file(file_of(url), std::ios::binary);
    if (!file) return must(pages.add({.kind = CrawlEventKind::kFailed, .url = url}));
    const std::string html(std::istreambuf_iterator<char>(file), {});
    crawlstore::CrawledPage page(url);
    page.set_content_hash(std::hash<std::string>()(html));
    for_each_link(url, html, [&page](const std::string& link) { page.add_link(link); });
    must(pages.add(page));
  }

  /// Gives indexes to new pages, and fetches the best of all that wait. Returns how many.
  std::size_t do_round() {
    must(pages.merge());
    must(crawlstore::opic(store));
    const auto snapshot = must(store.snapshot());
    const auto view = must(crawlstore::PageView::open(snapshot));
    const auto cash = must(must(crawlstore::ScoreView::open(view, "opic_cash")).doubles());
    const auto cash_of = [&](const crawlstore::PageInfo& page) {
      return file_of(page.url).empty() ? std::nullopt : std::optional(cash[page.index]);
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
    crawlstore::UrlNormalizer normalizer;
    const auto url = normalizer.normalize(argv[i]);
    const std::string root = std::string(url.text) + (url.text.ends_with('/') ? "" : "/");
    const bool is_http = url.parsed && root.starts_with("http");
    if (is_http && crawl.add_site(root, argv[i + 1])) continue;
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
