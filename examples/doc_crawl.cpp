// SPDX-License-Identifier: Apache-2.0
//
// A small crawler on crawlstore. It "fetches" pages from folders of HTML files that stand for web
// sites, breadth-first through their own links, and keeps everything it must remember in one file:
//
//   doc_crawl FILE.crawl ROOT_URL FOLDER [ROOT_URL FOLDER]...
//
// ROOT_URL is the URL that FOLDER stands for. Pages and links are in the page database, which looks
// nothing up one by one: a superstep after each round merges all links of the round at once, and
// pages that were never seen come out with an index. What to fetch next is in the queue, the
// richest in OPIC cash first, by what is known of the links so far.
//
// A round takes pages from the queue and adds what was fetched to the database in one transaction.
// So a crawl that is killed goes on where it was: what it took comes again, and is fetched no
// second time once it was committed.

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/queue.h>
#include <crawlstore/ranking.h>
#include <crawlstore/scores.h>
#include <crawlstore/transaction.h>
#include <crawlstore/url.h>

#include "html_links.h"

namespace {

using crawlstore::CrawlEvent;
using crawlstore::PageInfo;
using crawlstore::PageState;
using crawlstore::QueuedPage;
using crawlstore::Result;

/// Pages that are fetched before their links are looked at.
constexpr std::size_t kRoundPages = 1000;

/// A folder that stands for a web site.
struct Site {
  std::string root_url;  // ends with '/'
  std::filesystem::path folder;
};

/// Ends the program when an operation failed, saying what to do.
template <class T>
T must(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "doc_crawl: {}\n", crawlstore::describe(result.error()));
    std::exit(3);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

bool is_html(const std::filesystem::path& file) {
  const auto extension = file.extension();
  return extension == ".html" || extension == ".htm" || extension == ".xhtml";
}

/// The bytes that the escapes of a normal URL stand for in the name of a file.
std::string without_escapes(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    const char* const digits = text.data() + i + 1;
    const bool is_escape = text[i] == '%' && text.size() - i > 2 &&
                           std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    bytes += is_escape ? static_cast<char>(byte) : text[i];
    if (is_escape) i += 2;
  }
  return bytes;
}

/// The file behind a URL, or an empty path when it leads outside all sites.
std::filesystem::path file_of(std::string_view url, const std::vector<Site>& sites) {
  url = url.substr(0, url.find_first_of("?#"));
  for (const Site& site : sites) {
    if (!url.starts_with(site.root_url)) continue;
    const std::string path = without_escapes(url.substr(site.root_url.size()));
    if (path.starts_with('/') || path.find("..") != std::string::npos) return {};
    auto file = site.folder / path;
    std::error_code too_long;
    return std::filesystem::is_directory(file, too_long) ? file / "index.html" : file;
  }
  return {};
}

std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Crawl {
  const std::vector<Site>& sites;
  crawlstore::Store& store;
  crawlstore::PageDb pages = must(crawlstore::PageDb::open(store));
  crawlstore::Queue queue = must(crawlstore::Queue::open(store));
  std::uint64_t queued_until = 0;  ///< pages below it were put into the queue, or need not be

  void add(crawlstore::CrawlEventKind kind, const std::string& url) {
    must(pages.add(CrawlEvent{.kind = kind, .url = url, .content_hash = {}, .links = {}}));
  }

  /// The pages to begin with: the HTML files of a site's top folder and the index pages one below.
  void add_seeds() {
    for (const Site& site : sites) {
      for (const auto& entry : std::filesystem::directory_iterator(site.folder)) {
        const std::string url = site.root_url + entry.path().filename().string();
        if (is_html(entry.path())) add(crawlstore::CrawlEventKind::kKnown, url);
        std::error_code error;
        if (std::filesystem::exists(entry.path() / "index.html", error)) {
          add(crawlstore::CrawlEventKind::kKnown, url + "/index.html");
        }
      }
    }
  }

  void fetch(const std::string& url) {
    const auto file = file_of(url, sites);
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) {
      add(crawlstore::CrawlEventKind::kFailed, url);
      return;
    }
    const std::string html = read_file(file);
    crawlstore::CrawledPage page(url);
    page.set_content_hash(std::hash<std::string>()(html));
    for_each_link(url, html, [&page](const std::string& link) { page.add_link(link); });
    must(pages.add(page));
  }

  /// All pages of the sites that were never fetched. Whatever waits already gets its new cash.
  void queue_new_pages(const crawlstore::PageView& view) {
    const auto cash = must(must(crawlstore::ScoreView::open(view, "opic_cash")).doubles());
    std::vector<QueuedPage> waiting;
    for (std::uint64_t page = 0; page < queued_until; ++page) waiting.push_back({page, cash[page]});
    must(queue.update(waiting));
    std::vector<QueuedPage> found;
    const auto look = [&](const PageInfo& page) {
      if (page.state == PageState::kKnown && is_html(file_of(page.url, sites))) {
        found.push_back({page.index, cash[page.index]});
      }
      return true;
    };
    must(view.for_each_page(look, queued_until));
    must(queue.insert(found));
    queued_until = cash.size();
  }

  /// Fetches the best pages that are known. Returns how many.
  std::size_t do_round() {
    must(pages.merge());
    must(crawlstore::opic(store));
    const auto view = must(crawlstore::PageView::open(must(store.snapshot())));
    queue_new_pages(view);
    auto round = must(crawlstore::Transaction::begin(store));
    const auto next = must(queue.take(kRoundPages));
    for (const QueuedPage& page : next) fetch(must(view.url(page.page)));
    must(round.commit());
    return next.size();
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argc % 2 != 0) {
    fmt::print(stderr, "usage: doc_crawl FILE.crawl ROOT_URL FOLDER [ROOT_URL FOLDER]...\n");
    return 2;
  }
  std::vector<Site> sites;
  for (int i = 2; i < argc; i += 2) {
    std::string root = argv[i];
    if (!root.ends_with('/')) root += '/';
    sites.push_back({std::move(root), argv[i + 1]});
    if (!std::filesystem::is_directory(sites.back().folder)) {
      fmt::print(stderr, "doc_crawl: {} is not a folder\n", argv[i + 1]);
      return 2;
    }
  }

  crawlstore::Store store = must(crawlstore::Store::open_or_create(argv[1]));
  Crawl crawl{sites, store};
  crawl.add_seeds();
  must(crawl.pages.merge());
  if (crawl.pages.status().page_count == 0) {
    fmt::print(stderr, "doc_crawl: no folder has HTML pages to begin with\n");
    return 2;
  }
  std::size_t count = crawl.do_round();
  for (int round = 1; count != 0; ++round, count = crawl.do_round()) {
    fmt::print(stderr, "round {:2}: {} pages, {} wait\n", round, count, crawl.queue.count());
  }
  const auto kept = crawl.pages.status();
  fmt::print("{} pages are known, {} of them crawled, with {} distinct links between them\n",
             kept.page_count, kept.crawled_count, kept.link_count);
  must(crawl.pages.compact());
  must(crawl.queue.close());
  must(crawl.pages.close());
  must(store.close());
  return 0;
}
