// SPDX-License-Identifier: Apache-2.0
//
// A small crawler on crawlstore. It "fetches" pages from folders of HTML files that stand for web
// sites, breadth-first through their own links, and keeps everything it must remember in one file:
//
//   doc_crawl FILE.crawl ROOT_URL FOLDER [ROOT_URL FOLDER]...
//
// ROOT_URL is the URL that FOLDER stands for. The whole trick of a DRUM is visible here: links are
// not looked up one by one but submitted by the thousand, and each merge answers them all with one
// sequential pass; the unique ones come back, with their URL, to be fetched next.
//
// Two DRUMs share the file. "urls" remembers every URL ever linked; what is unique there goes to
// "frontier", whose own unique answers are fetched, and the links found go back to "urls". Each
// dispatcher submits to the other DRUM inside the transaction that answers its request: a URL is
// "seen" and "queued", or "fetched" and its links submitted, in one commit. So a crawl that is
// killed goes on where it was, and fetches no page twice that it had finished. What was fetched
// goes to the page database of the file in the same way, with its links; a superstep after each
// round makes it pages that can be looked at: crawlstore pages FILE, crawlstore links FILE URL.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <gumbo.h>
#include <uriparser/Uri.h>

#include <crawlstore/drum.h>
#include <crawlstore/pages.h>
#include <crawlstore/url_seen.h>

namespace {

using crawlstore::NoValue;
using crawlstore::Result;
using Frontier = crawlstore::Drum<std::uint64_t, NoValue, std::string>;

/// A folder that stands for a web site.
struct Site {
  std::string root_url;  // ends with '/'
  std::filesystem::path folder;
};

struct Counts {
  std::size_t pages = 0;
  std::size_t links = 0;
  std::size_t missing = 0;
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

/// The file behind a URL, or an empty path when it leads outside all sites.
std::filesystem::path file_of(std::string_view url, const std::vector<Site>& sites) {
  url = url.substr(0, url.find_first_of("?#"));
  for (const Site& site : sites) {
    if (!url.starts_with(site.root_url)) continue;
    std::string path(url.substr(site.root_url.size()));
    uriUnescapeInPlaceA(path.data());
    path.resize(std::char_traits<char>::length(path.c_str()));
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

/// The absolute URL that `reference` means on the page `base`; empty when it is not a URL.
std::string resolve(const std::string& base, const std::string& reference) {
  UriUriA base_uri;
  UriUriA relative;
  UriUriA absolute;
  std::string text;
  if (uriParseSingleUriA(&base_uri, base.c_str(), nullptr) != URI_SUCCESS) return text;
  if (uriParseSingleUriA(&relative, reference.c_str(), nullptr) == URI_SUCCESS) {
    if (uriAddBaseUriA(&absolute, &relative, &base_uri) == URI_SUCCESS) {
      int length = 0;
      uriToStringCharsRequiredA(&absolute, &length);
      text.resize(static_cast<std::size_t>(length) + 1);
      uriToStringA(text.data(), &absolute, length + 1, nullptr);
      text.resize(static_cast<std::size_t>(length));
      uriFreeUriMembersA(&absolute);
    }
    uriFreeUriMembersA(&relative);
  }
  uriFreeUriMembersA(&base_uri);
  return text;
}

/// Calls `visit` with the absolute URL of every <a href> of the page.
template <class Visit>
void for_each_link(const std::string& page_url, const std::string& html, Visit&& visit) {
  const auto free_output = [](GumboOutput* output) {
    gumbo_destroy_output(&kGumboDefaultOptions, output);
  };
  const std::unique_ptr<GumboOutput, decltype(free_output)> output(
      gumbo_parse_with_options(&kGumboDefaultOptions, html.data(), html.size()), free_output);
  std::vector<const GumboNode*> nodes{output->root};
  while (!nodes.empty()) {
    const GumboNode* node = nodes.back();
    nodes.pop_back();
    if (node->type != GUMBO_NODE_ELEMENT) continue;
    const auto& element = node->v.element;
    if (element.tag == GUMBO_TAG_A) {
      if (const auto* href = gumbo_get_attribute(&element.attributes, "href")) {
        if (std::string url = resolve(page_url, href->value); !url.empty()) visit(url);
      }
    }
    for (unsigned i = element.children.length; i-- > 0;) {
      nodes.push_back(static_cast<const GumboNode*>(element.children.data[i]));
    }
  }
}

/// Answers of "urls": what was never seen is queued.
struct QueueUnique {
  const std::vector<Site>& sites;
  Frontier& frontier;

  void unique_key_update(const crawlstore::UrlSeen::Answers::AnswerType& answer) {
    if (is_html(file_of(answer.aux, sites))) {
      must(frontier.check_update(answer.key.head, {}, std::string(answer.aux)));
    }
  }
};

/// Answers of "frontier": what was never queued is fetched, and its links are asked about.
struct FetchUnique {
  const std::vector<Site>& sites;
  crawlstore::UrlSeen& seen;
  crawlstore::PageDb& pages;
  Counts& counts;

  void unique_key_update(const Frontier::AnswerType& answer) {
    const auto file = file_of(answer.aux, sites);
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) {
      ++counts.missing;
      crawlstore::CrawlEvent failed;
      failed.kind = crawlstore::CrawlEventKind::kFailed;
      failed.url = answer.aux;
      must(pages.add(failed));
      return;
    }
    ++counts.pages;
    const std::string html = read_file(file);
    crawlstore::CrawledPage page(answer.aux);
    page.set_content_hash(std::hash<std::string>()(html));
    for_each_link(answer.aux, html, [this, &page](const std::string& link) {
      ++counts.links;
      must(seen.check_update(link));
      page.add_link(link);
    });
    must(pages.add(page));
  }
};

/// The pages to begin with: the HTML files of a site's top folder and the index pages one below.
void submit_seeds(const std::vector<Site>& sites, crawlstore::UrlSeen& seen) {
  for (const Site& site : sites) {
    for (const auto& entry : std::filesystem::directory_iterator(site.folder)) {
      const std::string name = entry.path().filename().string();
      if (is_html(entry.path())) must(seen.check_update(site.root_url + name));
      std::error_code error;
      if (std::filesystem::exists(entry.path() / "index.html", error)) {
        must(seen.check_update(site.root_url + name + "/index.html"));
      }
    }
  }
}

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
  auto seen = must(crawlstore::UrlSeen::open(store));
  auto frontier = must(Frontier::open(store, "frontier"));
  auto pages = must(crawlstore::PageDb::open(store));
  Counts counts;
  QueueUnique queue{sites, frontier};
  FetchUnique fetcher{sites, seen, pages, counts};
  seen.drum().attach(queue);
  frontier.attach(fetcher);

  submit_seeds(sites, seen);
  for (int round = 1;; ++round) {
    must(seen.drum().merge());
    const auto report = must(frontier.merge());
    must(pages.merge());
    if (report.unique_count == 0) break;
    fmt::print(stderr, "round {:2}: {} pages\n", round, report.unique_count);
  }
  fmt::print("{} pages, {} links, {} distinct URLs, {} missing pages\n", counts.pages, counts.links,
             seen.drum().status().key_count, counts.missing);
  const auto kept = pages.status();
  fmt::print("{} pages are known, {} of them crawled, with {} distinct links between them\n",
             kept.page_count, kept.crawled_count, kept.link_count);
  must(pages.compact());
  must(pages.close());
  must(seen.drum().close());
  must(frontier.close());
  must(store.close());
  return 0;
}
