// SPDX-License-Identifier: Apache-2.0
//
// A small crawler on crawlstore. It "fetches" pages from folders of HTML files, each of which
// stands for the web site with a ROOT_URL, and keeps everything it must remember in one file:
//
//   doc_crawl FILE.crawl ROOT_URL FOLDER [ROOT_URL FOLDER]...
//
// Pages and links are in the page database, which looks nothing up one by one: a superstep merges
// all links of a round at once, and pages that were never seen come out with an index. What to
// fetch next is in the queue, the richest in OPIC cash first, by what is known of links so far.
//
// A round takes pages from the queue and adds what was fetched to the database in one transaction.
// So a crawl that is killed goes on where it was, and fetches again only what no commit has.

#include <charconv>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <crawlstore/must.h>
#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/queue.h>
#include <crawlstore/ranking.h>
#include <crawlstore/transaction.h>

#include "html_links.h"

namespace {

using crawlstore::CrawlEventKind;
using crawlstore::must;
namespace fs = std::filesystem;

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
  crawlstore::Queue queue = must(crawlstore::Queue::open(store));
  std::map<std::string, fs::path> folders{};  // by their root URLs, which end with '/'

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

  /// Pages that were never fetched, by their cash: new ones, and those that wait, as it grows.
  void queue_pages(const crawlstore::PageView& view) {
    const auto cash = must(must(crawlstore::ScoreView::open(view, "opic_cash")).doubles());
    std::vector<crawlstore::QueuedPage> found;
    must(view.for_each_page([&](const crawlstore::PageInfo& page) {
      if (page.state == crawlstore::PageState::kKnown && !file_of(page.url).empty()) {
        found.push_back({page.index, cash[page.index]});
      }
      return true;
    }));
    must(queue.insert(found));
  }

  /// Fetches the best pages that are known. Returns how many.
  std::size_t do_round() {
    must(pages.merge());
    must(crawlstore::opic(store));
    const auto view = must(crawlstore::PageView::open(must(store.snapshot())));
    auto round = must(crawlstore::Transaction::begin(store));
    queue_pages(view);
    const auto next = must(queue.take(1000));
    for (const auto& page : next) fetch(must(view.url(page.page)));
    must(round.commit());
    return next.size();
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
    const std::string url = argv[i];
    if (crawl.add_site(url.ends_with('/') ? url : url + '/', argv[i + 1])) continue;
    fmt::print(stderr, "doc_crawl: {} has no HTML pages to begin with\n", argv[i + 1]);
    return 2;
  }
  while (const auto count = crawl.do_round()) {
    fmt::print(stderr, "{} pages fetched, {} wait\n", count, crawl.queue.count());
  }
  must(crawl.pages.compact());
  const auto kept = crawl.pages.status();
  fmt::print("{} pages are known, {} of them crawled, with {} distinct links between them\n",
             kept.page_count, kept.crawled_count, kept.link_count);
} catch (const std::exception& error) {
  fmt::print(stderr, "doc_crawl: {}\n", error.what());
  return 3;
}
