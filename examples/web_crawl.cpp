// SPDX-License-Identifier: Apache-2.0
//
// A crawler that fetches over HTTP, many hosts at a time, and keeps all it must remember in a file:
//
//   web_crawl FILE.crawl [--resolve-all ADDRESS:PORT] [--delay MS] [--timeout MS] [--round MS]
//             [--pages N] [SEED_URL]...
//
// A round is a superstep and a transaction. The superstep merges all links of the round before, and
// gives an index to pages that were never seen. The transaction puts these into the queue, those
// nearest to a seed first, takes pages out of it, fetches them, adds what came to the page
// database, and puts back what had no turn. Its commit is the acknowledgement: until then nothing
// of it is in the file. So kill -9 at any moment loses no page, and of those that were fetched only
// the pages of the last round are fetched again.
//
// Politeness: one request of a host at a time, and `--delay` from the end of one to the next. Pages
// of a host that is not due wait in memory until the round ends, then go back to the queue, a link
// deeper than before: a host with a million pages must not keep all others away.
//
// What is left out: robots.txt, which whoever crawls sites of others has to obey; a second try of
// what failed; a second visit. `--resolve-all` sends the requests of all hosts to one server.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <curl/curl.h>
#include <fmt/core.h>

#include <crawlstore/must.h>
#include <crawlstore/page_key.h>
#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/queue.h>
#include <crawlstore/transaction.h>
#include <crawlstore/url.h>

#include "html_links.h"

namespace {

using crawlstore::CrawlEventKind;
using crawlstore::must;
using crawlstore::QueuedPage;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kRequests = 64;                     // at once
constexpr std::size_t kBodyBytes = std::size_t{8} << 20;  // of a body; a longer one is a failure
constexpr std::size_t kTakenPages = 1000;                 // by one look into the queue
constexpr std::size_t kRoundPages = 20'000;               // that wait in memory

void must(CURLMcode code) {
  if (code != CURLM_OK) throw std::runtime_error(curl_multi_strerror(code));
}

struct Options {
  std::string resolve_all;  // ADDRESS:PORT; empty: by DNS
  std::uint32_t delay_ms = 1000;
  std::uint32_t timeout_ms = 20'000;
  std::uint32_t round_ms = 10'000;  // and one delay: then no request of a round begins any more
  std::uint32_t pages = ~std::uint32_t{0};  // requests, then the crawl pauses
  std::vector<std::string> seeds;
};

/// A page that was taken from the queue, and what came of it.
struct Fetch {
  QueuedPage page;
  std::string url;
  struct Host* host;
  std::string body{};
};

struct Host {
  Clock::time_point due;        // no request begins earlier
  std::deque<Fetch> waiting{};  // for their turn, in the order of the queue
};

/// Called by curl with bytes of a body. Another number than `count` ends the request.
std::size_t receive(const char* bytes, std::size_t, std::size_t count, void* fetch) {
  std::string& body = static_cast<Fetch*>(fetch)->body;
  if (count > kBodyBytes - body.size()) return 0;
  body.append(bytes, count);
  return count;
}

struct Crawl {
  crawlstore::Store& store;
  const Options& options;
  crawlstore::PageDb pages = must(crawlstore::PageDb::open(store));
  crawlstore::Queue queue = must(crawlstore::Queue::open(store));
  /// A queue of one number, which is so committed with the other one: pages below it were put into
  /// that one, or need not be.
  crawlstore::Queue mark = must(crawlstore::Queue::open(store, "queued_until"));
  std::uint64_t queued_until = 0;  ///< this number
  std::uint32_t request_count = 0;
  /// What a process before this one asked of a host nobody knows: all hosts are due after a delay.
  Clock::time_point first_due = Clock::now() + milliseconds(options.delay_ms);
  std::unordered_map<std::string, Host> hosts{};    ///< that have pages here, or are not due
  std::multimap<Clock::time_point, Host*> turns{};  ///< of hosts with pages and without a request
  std::map<CURL*, Fetch> running{};
  CURLM* curl = curl_multi_init();
  curl_slist* connect_to = nullptr;

  void queue_new_pages(const crawlstore::PageView& view) {
    std::vector<QueuedPage> found;
    const auto look = [&found](const crawlstore::PageInfo& page) {
      const bool is_web = page.url.starts_with("http://") || page.url.starts_with("https://");
      if (is_web && page.state == crawlstore::PageState::kKnown) {
        found.push_back({page.index, -static_cast<double>(page.depth)});
      }
      return true;
    };
    must(view.for_each_page(look, queued_until));
    must(queue.insert(found));
    queued_until = view.info().page_count;
    must(mark.clear());
    must(mark.insert(std::vector<QueuedPage>{{queued_until, 0}}));
  }

  /// Takes pages until there are hosts enough to be asked at once.
  void take_pages(const crawlstore::PageView& view) {
    for (std::size_t n = 0; turns.size() < kRequests && n < kRoundPages; n += kTakenPages) {
      for (const QueuedPage& page : must(queue.take(kTakenPages))) {
        std::string url = must(view.url(page.page));
        Host& host = hosts.try_emplace(crawlstore::url_host(url), Host{first_due}).first->second;
        if (host.waiting.empty()) turns.emplace(host.due, &host);
        host.waiting.push_back({page, std::move(url), &host});
      }
    }
  }

  /// Begins requests until `end`, and returns when all have ended.
  void fetch_until(Clock::time_point end) {
    while (true) {
      const auto now = Clock::now();
      const bool has_turn = now < end && !turns.empty() && request_count < options.pages;
      if (!has_turn && running.empty()) return;
      const bool may_start = has_turn && running.size() < kRequests;
      if (may_start && turns.begin()->first <= now) {
        start(*turns.begin()->second);
        turns.erase(turns.begin());
        continue;
      }
      Clock::duration wait = std::chrono::seconds(1);
      if (may_start) wait = std::min(wait, turns.begin()->first - now);
      const auto wait_ms = std::chrono::ceil<milliseconds>(wait).count();
      must(curl_multi_poll(curl, nullptr, 0, static_cast<int>(wait_ms), nullptr));
      int count = 0;
      must(curl_multi_perform(curl, &count));
      while (const CURLMsg* message = curl_multi_info_read(curl, &count)) {
        finish(message->easy_handle, message->data.result != CURLE_OK);
      }
    }
  }

  /// Requests the first page that waits of a host.
  void start(Host& host) {
    CURL* request = curl_easy_init();
    Fetch& fetch = running.emplace(request, std::move(host.waiting.front())).first->second;
    host.waiting.pop_front();
    ++request_count;
    curl_easy_setopt(request, CURLOPT_URL, fetch.url.c_str());
    curl_easy_setopt(request, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(request, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(request, CURLOPT_CONNECT_TO, connect_to);
    curl_easy_setopt(request, CURLOPT_USERAGENT, "crawlstore-web_crawl/0.1");
    curl_easy_setopt(request, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(request, CURLOPT_TIMEOUT_MS, static_cast<long>(options.timeout_ms));
    curl_easy_setopt(request, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(request, CURLOPT_WRITEFUNCTION, &receive);
    curl_easy_setopt(request, CURLOPT_WRITEDATA, &fetch);
    must(curl_multi_add_handle(curl, request));
  }

  /// Adds a failure, or a page with its links; that of a redirect leads to its target.
  void finish(CURL* request, bool has_failed) {
    const Fetch fetch = std::move(running.extract(request).mapped());
    long status = 0;
    const char* target = nullptr;
    const char* type = nullptr;
    curl_easy_getinfo(request, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(request, CURLINFO_REDIRECT_URL, &target);
    curl_easy_getinfo(request, CURLINFO_CONTENT_TYPE, &type);
    if (has_failed || status >= 400) {
      must(pages.add({.kind = CrawlEventKind::kFailed, .url = fetch.url}));
    } else {
      crawlstore::CrawledPage page(fetch.url);
      page.set_content_hash(std::hash<std::string>()(fetch.body));
      const auto add_link = [&page](const std::string& url) { page.add_link(url); };
      if (target != nullptr) {
        add_link(target);
      } else if (type != nullptr && std::string_view(type).starts_with("text/html")) {
        for_each_link(fetch.url, fetch.body, add_link);
      }
      must(pages.add(page));
    }
    must(curl_multi_remove_handle(curl, request));
    curl_easy_cleanup(request);
    fetch.host->due = Clock::now() + milliseconds(options.delay_ms);
    if (!fetch.host->waiting.empty()) turns.emplace(fetch.host->due, fetch.host);
  }

  /// What had no turn goes back to the queue; hosts that may be asked at once are forgotten.
  void put_back() {
    std::vector<QueuedPage> rest;
    for (auto& [name, host] : hosts) {
      for (const Fetch& fetch : host.waiting) {
        rest.push_back({fetch.page.page, fetch.page.priority - 1});
      }
      host.waiting.clear();
    }
    must(queue.insert(rest));
    turns.clear();
    std::erase_if(hosts, [now = Clock::now()](const auto& host) { return host.second.due <= now; });
  }

  /// Fetches the best pages that are known. Returns how many were requested.
  std::uint32_t do_round() {
    must(pages.merge());
    const auto view = must(crawlstore::PageView::open(must(store.snapshot())));
    const std::uint32_t before = request_count;
    auto round = must(crawlstore::Transaction::begin(store));
    queue_new_pages(view);
    take_pages(view);
    fetch_until(Clock::now() + milliseconds(options.round_ms) + milliseconds(options.delay_ms));
    put_back();
    must(round.commit());
    return request_count - before;
  }
};

/// False: these words are no options, or their values no numbers, or a seed is no URL.
bool parse(const std::vector<std::string>& words, Options& options) {
  const std::map<std::string, std::uint32_t*> numbers{{"--delay", &options.delay_ms},
                                                      {"--timeout", &options.timeout_ms},
                                                      {"--round", &options.round_ms},
                                                      {"--pages", &options.pages}};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto number = numbers.find(words[i]);
    if (words[i] == "--resolve-all" && i + 1 < words.size()) {
      options.resolve_all = words[++i];
    } else if (number != numbers.end() && i + 1 < words.size()) {
      const std::string& text = words[++i];
      const char* const end = text.data() + text.size();
      const auto [rest, error] = std::from_chars(text.data(), end, *number->second);
      if (error != std::errc() || rest != end) return false;
    } else {
      if (!crawlstore::UrlNormalizer().normalize(words[i]).parsed) return false;
      options.seeds.push_back(words[i]);
    }
  }
  return !words.empty();
}

}  // namespace

int main(int argc, char** argv) try {
  Options options;
  if (!parse({argv + 1, argv + argc}, options)) {
    fmt::print(stderr,
               "usage: web_crawl FILE.crawl [--resolve-all ADDRESS:PORT] [--delay MS] "
               "[--timeout MS] [--round MS] [--pages N] [SEED_URL]...\n");
    return 2;
  }
  curl_global_init(CURL_GLOBAL_DEFAULT);
  crawlstore::Store store = must(crawlstore::Store::open_or_create(argv[1]));
  Crawl crawl{store, options};
  if (!options.resolve_all.empty()) {
    crawl.connect_to = curl_slist_append(nullptr, ("::" + options.resolve_all).c_str());
  }
  for (const QueuedPage& mark : must(crawl.mark.take(1))) {
    crawl.queued_until = mark.page;
    must(crawl.mark.insert(std::vector<QueuedPage>{mark}));
  }
  for (const std::string& seed : options.seeds) {
    must(crawl.pages.add({.kind = CrawlEventKind::kKnown, .url = seed}));
  }
  while (const auto count = crawl.do_round()) {
    fmt::print(stderr, "{} requests, {} pages wait\n", count, crawl.queue.count());
  }
  const auto kept = crawl.pages.status();
  fmt::print(
      "{} pages are known, {} of them fetched, with {} distinct links between them; {} wait\n",
      kept.page_count, kept.crawled_count, kept.link_count, crawl.queue.count());
  curl_slist_free_all(crawl.connect_to);
  curl_multi_cleanup(crawl.curl);
  curl_global_cleanup();
} catch (const std::exception& error) {
  fmt::print(stderr, "web_crawl: {}\n", error.what());
  return 3;
}
