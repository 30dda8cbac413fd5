// SPDX-License-Identifier: Apache-2.0
//
// A crawler that fetches over HTTP, many hosts at a time, and keeps all it must remember in a file:
//
//   web_crawl FILE.crawl --user-agent NAME [--resolve-all ADDRESS:PORT] [--delay MS]
//             [--timeout MS] [--round MS] [--retries N] [--pages N] [--robots-wait MS]
//             [--revisits N] [SEED_URL]...
//
// The frontier says which pages may be fetched now, of which hosts; they are leased before the
// first request goes out. What came of them is added to the page database, and their leases end in
// the same commit. Once a round a superstep gives an index to pages that were never seen, and they
// are put into the frontier. So kill -9 at any moment loses no page; those that were leased then
// are fetched again.
//
// Politeness: one request of a host at a time, and `--delay` from the end of one to the next: what
// came of a page is held back for so long, and its host has no other lease meanwhile. A request
// that failed, or was answered by 429 or 5xx, is made again up to `--retries` times, when
// Retry-After or twice the delay has passed, then four times, at most an hour; the frontier
// leaves its host alone for longer, too.
//
// It obeys robots.txt, which it asks each scheme, host and port for before its first page, with
// redirects followed, and once a day; the answers are in the file. The page that is leased waits
// meanwhile. A page that is denied is finished, and known as such. A status of 4xx allows all.
// While the server fails nothing is allowed: it is asked again after `--robots-wait`, and the page
// counts as failed when it was taken more than `--retries` times in vain. A Crawl-delay, up to a
// minute, becomes the rule of its host.
//
// It does not follow a redirect: its target is a page of its own. Pages answered by 404 or 410 are
// gone. With `--revisits` about so many pages a day are fetched again, those whose fetch gains most
// by how often they change; servers send only what was modified since. It then ends when it has
// taken `--pages`, or never.
//
// Addresses of hosts are in the file, too, for an hour, or until a request fails: libcurl does not
// tell how long DNS lets them be kept. `--resolve-all` sends the requests of all hosts to one
// server instead.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <curl/curl.h>
#include <fmt/core.h>

#include <crawlstore/frontier.h>
#include <crawlstore/must.h>
#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/schedule.h>
#include <crawlstore/url.h>

#include "dns_cache.h"
#include "html_links.h"
#include "robots_cache.h"

namespace {

using crawlstore::CrawlEventKind;
using crawlstore::GivenBack;
using crawlstore::must;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kRequests = 64;                     // at once
constexpr std::size_t kBodyBytes = std::size_t{8} << 20;  // of a body; a longer one is a failure
constexpr milliseconds kLongestWait(1000);
constexpr std::uint64_t kLongestRetryMs = 3'600'000;
constexpr std::chrono::hours kRevisitRound(1);  // between looks for pages to be fetched again
constexpr std::int64_t kClockErrorS = 3600;     // by which clocks of servers may be late

void must(CURLMcode code) {
  if (code != CURLM_OK) throw std::runtime_error(curl_multi_strerror(code));
}

struct Options {
  std::string user_agent;
  std::string resolve_all;  // ADDRESS:PORT; empty: by DNS
  std::uint32_t delay_ms = 1000;
  std::uint32_t timeout_ms = 20'000;
  std::uint32_t round_ms = 10'000;  // between supersteps, if there is anything else to do
  std::uint32_t retries = 2;
  std::uint32_t pages = ~std::uint32_t{0};  // are taken, then the crawl pauses
  std::uint32_t robots_wait_ms = 600'000;   // until a server that failed is asked again
  std::uint32_t revisits = 0;               // a day, about; 0: no page is fetched again
  std::vector<std::string> seeds;
};

/// A page that is leased, and what comes of it.
struct Fetch {
  std::uint64_t page;
  std::uint32_t attempt;
  std::string group;
  std::string url;
  std::uint64_t delay_ms{};  ///< from the end of the request to the next of its host
  bool is_of_robots = false;
  std::int64_t fetched_s = 0;  ///< since 1970, the last time; 0: never
  std::string body{};
  curl_slist* address = nullptr;  ///< by DnsCache, of the request that runs
};

/// The next step with a leased page; it is taken when the host may be asked again.
enum class Next : std::uint8_t {
  kVisit,  ///< the page is fetched, now that the robots.txt is known
  kAgain,  ///< it ends, and the page waits until `again_ms`
  kAdd,    ///< it ends, and the page is added as `kind` says
};
struct Outcome {
  Fetch fetch;
  Next next{};
  CrawlEventKind kind = CrawlEventKind::kFailed;
  crawlstore::CrawledPage page{fetch.url};
  std::uint64_t again_ms = 0;
};

/// Called by curl with bytes of a body. Another number than `count` ends the request.
std::size_t receive(const char* bytes, std::size_t, std::size_t count, void* fetch) {
  std::string& body = static_cast<Fetch*>(fetch)->body;
  if (static_cast<Fetch*>(fetch)->is_of_robots && body.size() >= crawlstore::kRobotsBytesMax) {
    return count;  // nobody reads the rest
  }
  if (count > kBodyBytes - body.size()) return 0;
  body.append(bytes, count);
  return count;
}

struct Crawl {
  crawlstore::Store& store;
  const Options& options;
  crawlstore::PageDb pages = must(crawlstore::PageDb::open(store));
  crawlstore::Frontier frontier = must(open_frontier(store, options));
  RobotsCache robots{store};
  std::optional<DnsCache> dns{};               ///< without --resolve-all
  std::optional<crawlstore::PageView> view{};  ///< as the last superstep left it
  std::uint64_t next_page = 0;                 ///< from which on pages are new to the frontier
  std::uint32_t taken_count = 0;
  std::uint32_t round_count = 0;  ///< outcomes since the last superstep
  Clock::time_point round_end{};
  Clock::time_point revisit_round_end{};
  std::map<CURL*, Fetch> running{};
  std::multimap<Clock::time_point, Outcome> outcomes{};  ///< by the time when they are added
  CURLM* curl = curl_multi_init();
  curl_slist* connect_to = nullptr;

  static crawlstore::Result<crawlstore::Frontier> open_frontier(crawlstore::Store& store,
                                                                const Options& options) {
    crawlstore::FrontierOptions made;
    made.pages = "pages";
    made.default_rule = {.delay_ms = options.delay_ms, .hard_ms = options.delay_ms};
    return crawlstore::Frontier::open(store, crawlstore::Frontier::kDefaultName, made);
  }

  /// Fetches until nothing waits, or as many pages as the options say.
  void run() {
    if (must(frontier.give_back_all()) != 0) {  // of a process that was killed: who was asked when?
      std::this_thread::sleep_for(milliseconds(options.delay_ms));
    }
    while (true) {
      add_outcomes();
      const bool is_idle = running.empty() && outcomes.empty();
      if (Clock::now() >= round_end || (is_idle && round_count != 0)) do_superstep();
      const bool takes = taken_count < options.pages;
      if (takes) take_pages();
      if (running.empty() && outcomes.empty() && round_count == 0) {
        if (!takes || frontier.waiting_count() == 0) return;
      }
      wait();
    }
  }

  /// Adds what came of pages whose hosts may be asked again, and ends their leases.
  void add_outcomes() {
    std::vector<std::uint64_t> done;
    while (!outcomes.empty() && outcomes.begin()->first <= Clock::now()) {
      Outcome outcome = std::move(outcomes.extract(outcomes.begin()).mapped());
      const std::uint64_t page = outcome.fetch.page;
      if (outcome.next == Next::kVisit) {
        visit(std::move(outcome.fetch));
      } else if (outcome.next == Next::kAgain) {
        must(frontier.give_back(std::vector<GivenBack>{{page, outcome.again_ms, true}}));
      } else {
        done.push_back(page);
        ++round_count;
        crawlstore::CrawlEvent event = outcome.page.event();
        event.kind = outcome.kind;
        must(pages.add(event));
      }
    }
    must(frontier.finish(done));
  }

  /// Gives indexes to pages that were never seen, commits, and puts them into the frontier.
  void do_superstep() {
    must(pages.merge());
    must(store.commit());
    if (round_count != 0) {
      fmt::print(stderr, "{} outcomes, {} pages wait\n", round_count, frontier.waiting_count());
    }
    const crawlstore::Snapshot snapshot = must(store.snapshot());
    view = must(crawlstore::PageView::open(snapshot));
    if (options.revisits != 0 && Clock::now() >= revisit_round_end) {
      crawlstore::RevisitRule rule;
      rule.fetches_per_day = options.revisits;
      must(put_back(frontier, snapshot, {}, &rule));
      next_page = view->info().page_count;
      revisit_round_end = Clock::now() + kRevisitRound;
    }
    next_page = must(put_pages(frontier, *view, {}, next_page)).next_page;
    round_count = 0;
    round_end = Clock::now() + milliseconds(options.round_ms);
  }

  /// Leases pages and requests them. A lease costs a commit: half of the requests at a time.
  void take_pages() {
    if (running.size() > kRequests / 2) return;
    const std::size_t room =
        std::min<std::size_t>(kRequests - running.size(), options.pages - taken_count);
    for (auto& item :
         must(crawlstore::take_pages(frontier, *view, {.count = room, .lease_ms = 0}))) {
      ++taken_count;
      const crawlstore::PageInfo page = must(view->page(item.id));
      Fetch fetch{item.id, item.attempt, std::move(item.group), std::move(item.body)};
      if (page.crawl_count != 0) fetch.fetched_s = page.last_crawl_us / 1'000'000;
      visit(std::move(fetch));
    }
  }

  /// Requests a page that is leased, or first the robots.txt that tells whether it may.
  void visit(Fetch page) {
    page.delay_ms = options.delay_ms;
    const auto known = robots.find(origin_of(page.url), frontier.now_ms());
    page.is_of_robots = !known;
    if (known && !known->is_known) return put_off(std::move(page), known->expires_ms);
    if (known && !known->rules.allows(page.url)) {
      outcomes.emplace(Clock::now(), Outcome{std::move(page), Next::kAdd, CrawlEventKind::kDenied});
      return;
    }
    if (known) page.delay_ms = std::max(page.delay_ms, known->delay_ms());
    start(std::move(page));
  }

  /// Decides on a page that cannot be fetched before a time.
  void put_off(Fetch page, std::uint64_t until_ms) {
    const Next next = page.attempt > options.retries ? Next::kAdd : Next::kAgain;
    const auto when = Clock::now() + milliseconds(page.delay_ms);
    outcomes.emplace(when, Outcome{.fetch = std::move(page), .next = next, .again_ms = until_ms});
  }

  /// Lets curl work until a request ends, an outcome is to be added, or a page may be fetched.
  void wait() {
    auto longest = std::min<Clock::duration>(kLongestWait, round_end - Clock::now());
    if (!outcomes.empty()) longest = std::min(longest, outcomes.begin()->first - Clock::now());
    if (const auto due_ms = frontier.next_due_ms(); due_ms && running.size() <= kRequests / 2) {
      const std::uint64_t now_ms = frontier.now_ms();
      longest =
          std::min<Clock::duration>(longest, milliseconds(*due_ms - std::min(*due_ms, now_ms)));
    }
    const auto wait_ms =
        std::max<std::int64_t>(1, std::chrono::ceil<milliseconds>(longest).count());
    must(curl_multi_poll(curl, nullptr, 0, static_cast<int>(wait_ms), nullptr));
    int count = 0;
    must(curl_multi_perform(curl, &count));
    while (const CURLMsg* message = curl_multi_info_read(curl, &count)) {
      finish(message->easy_handle, message->data.result);
    }
  }

  void start(Fetch page) {
    CURL* request = curl_easy_init();
    Fetch& fetch = running.emplace(request, std::move(page)).first->second;
    const std::string robots_url = origin_of(fetch.url) + "/robots.txt";
    curl_easy_setopt(request, CURLOPT_URL, (fetch.is_of_robots ? robots_url : fetch.url).c_str());
    curl_easy_setopt(request, CURLOPT_FOLLOWLOCATION, fetch.is_of_robots ? 1L : 0L);
    curl_easy_setopt(request, CURLOPT_MAXREDIRS, 5L);
    curl_easy_setopt(request, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(request, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(request, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(request, CURLOPT_CONNECT_TO, connect_to);
    if (dns) fetch.address = dns->find(origin_of(fetch.url), frontier.now_ms());
    curl_easy_setopt(request, CURLOPT_RESOLVE, fetch.address);
    curl_easy_setopt(request, CURLOPT_USERAGENT, options.user_agent.c_str());
    curl_easy_setopt(request, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(request, CURLOPT_TIMEOUT_MS, static_cast<long>(options.timeout_ms));
    curl_easy_setopt(request, CURLOPT_NOSIGNAL, 1L);
    if (fetch.fetched_s != 0 && !fetch.is_of_robots) {
      curl_easy_setopt(request, CURLOPT_TIMECONDITION, long{CURL_TIMECOND_IFMODSINCE});
      curl_easy_setopt(request, CURLOPT_TIMEVALUE_LARGE,
                       curl_off_t{fetch.fetched_s - kClockErrorS});
    }
    curl_easy_setopt(request, CURLOPT_WRITEFUNCTION, &receive);
    curl_easy_setopt(request, CURLOPT_WRITEDATA, &fetch);
    must(curl_multi_add_handle(curl, request));
  }

  /// The time at which a request that failed for now is made again; 0: it has failed.
  [[nodiscard]] std::uint64_t again_ms(CURL* request, std::uint32_t attempt) const {
    if (attempt > options.retries) return 0;
    curl_off_t retry_after = 0;
    curl_easy_getinfo(request, CURLINFO_RETRY_AFTER, &retry_after);
    const auto asked_ms =
        static_cast<std::uint64_t>(std::clamp<curl_off_t>(retry_after, 0, 3600)) * 1000;
    const std::uint64_t wait_ms = std::uint64_t{options.delay_ms} << std::min(attempt, 10U);
    return frontier.now_ms() + std::min(std::max(asked_ms, wait_ms), kLongestRetryMs);
  }

  void finish(CURL* request, CURLcode code) {
    Fetch fetch = std::move(running.extract(request).mapped());
    if (dns) dns->put(request, code, fetch.address, origin_of(fetch.url), frontier.now_ms());
    curl_slist_free_all(std::exchange(fetch.address, nullptr));
    if (fetch.is_of_robots) {
      add_robots(request, code, std::move(fetch));
    } else {
      add_page(request, code != CURLE_OK, std::move(fetch));
    }
    must(curl_multi_remove_handle(curl, request));
    curl_easy_cleanup(request);
  }

  /// A robots.txt, after which its host is left alone before the page is fetched.
  void add_robots(CURL* request, CURLcode code, Fetch fetch) {
    long status = 0;
    curl_easy_getinfo(request, CURLINFO_RESPONSE_CODE, &status);
    const std::string origin = origin_of(fetch.url);
    if ((code != CURLE_OK && code != CURLE_TOO_MANY_REDIRECTS) || status >= 500) {
      const std::uint64_t expires_ms = frontier.now_ms() + options.robots_wait_ms;
      robots.put_unreachable(origin, expires_ms);
      return put_off(std::move(fetch), expires_ms);
    }
    const std::string text = status < 300 ? std::exchange(fetch.body, {}) : std::string();
    const auto rules = crawlstore::RobotsRules::parse(text, options.user_agent);
    robots.put(origin, rules, frontier.now_ms());
    const std::uint64_t delay_ms =
        std::max<std::uint64_t>(options.delay_ms, RobotsCache::Answer{.rules = rules}.delay_ms());
    if (rules.crawl_delay_ms()) {
      must(frontier.set_rule(fetch.group, {.delay_ms = delay_ms, .hard_ms = delay_ms}));
    }
    fetch.body.clear();
    outcomes.emplace(Clock::now() + milliseconds(delay_ms),
                     Outcome{std::move(fetch), Next::kVisit});
  }

  /// The kind of event that the answer to a request makes.
  [[nodiscard]] static CrawlEventKind kind_of(bool has_failed, long status, bool has_target) {
    if (has_failed) return CrawlEventKind::kFailed;
    if (status == 404 || status == 410) return CrawlEventKind::kGone;
    const bool is_redirect = status == 307 || status == 308 || (status >= 301 && status <= 303);
    if (is_redirect && has_target) return CrawlEventKind::kRedirect;
    if (status == 304) return CrawlEventKind::kUnchanged;
    return status < 300 ? CrawlEventKind::kPage : CrawlEventKind::kFailed;
  }

  /// A page with its links, a redirect with its target, or another outcome of a request.
  void add_page(CURL* request, bool has_failed, Fetch fetch) {
    long status = 0;
    const char* target = nullptr;
    const char* type = nullptr;
    curl_easy_getinfo(request, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(request, CURLINFO_REDIRECT_URL, &target);
    curl_easy_getinfo(request, CURLINFO_CONTENT_TYPE, &type);
    const bool is_unasked = status == 304 && fetch.fetched_s == 0;
    const CrawlEventKind kind = kind_of(has_failed || is_unasked, status, target != nullptr);
    crawlstore::CrawledPage page(fetch.url);
    page.set_http_status(static_cast<std::uint16_t>(status));
    if (kind == CrawlEventKind::kRedirect) page.add_link(target);
    if (kind == CrawlEventKind::kPage) {
      page.set_content_hash(std::hash<std::string>()(fetch.body));
      const auto add_link = [&page](const std::string& url) { page.add_link(url); };
      if (type != nullptr && std::string_view(type).starts_with("text/html")) {
        for_each_link(fetch.url, fetch.body, add_link);
      }
    }
    const bool is_for_now = has_failed || status == 429 || status >= 500;
    const std::uint64_t again = is_for_now ? again_ms(request, fetch.attempt) : 0;
    const auto when = Clock::now() + milliseconds(fetch.delay_ms);
    const Next next = again != 0 ? Next::kAgain : Next::kAdd;
    outcomes.emplace(when, Outcome{std::move(fetch), next, kind, std::move(page), again});
  }
};

/// False: these words are no options, or their values no numbers, or a seed is no URL.
bool parse(const std::vector<std::string>& words, Options& options) {
  const std::map<std::string, std::string*> texts{{"--user-agent", &options.user_agent},
                                                  {"--resolve-all", &options.resolve_all}};
  const std::map<std::string, std::uint32_t*> numbers{
      {"--delay", &options.delay_ms},   {"--timeout", &options.timeout_ms},
      {"--round", &options.round_ms},   {"--retries", &options.retries},
      {"--pages", &options.pages},      {"--robots-wait", &options.robots_wait_ms},
      {"--revisits", &options.revisits}};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto number = numbers.find(words[i]);
    const auto text = texts.find(words[i]);
    if (text != texts.end() && i + 1 < words.size()) {
      *text->second = words[++i];
    } else if (number != numbers.end() && i + 1 < words.size()) {
      const std::string& digits = words[++i];
      const char* const end = digits.data() + digits.size();
      const auto [rest, error] = std::from_chars(digits.data(), end, *number->second);
      if (error != std::errc() || rest != end) return false;
    } else {
      if (!crawlstore::UrlNormalizer().normalize(words[i]).parsed) return false;
      options.seeds.push_back(words[i]);
    }
  }
  return !words.empty() && !options.user_agent.empty();
}

}  // namespace

int main(int argc, char** argv) try {
  Options options;
  if (!parse({argv + 1, argv + argc}, options)) {
    fmt::print(
        stderr,
        "usage: web_crawl FILE.crawl --user-agent NAME [--resolve-all ADDRESS:PORT] "
        "[--delay MS] [--timeout MS] [--round MS] [--retries N] [--pages N] "
        "[--robots-wait MS] [--revisits N] [SEED_URL]...\n"
        "It obeys robots.txt; a server that fails is asked for it again after --robots-wait, "
        "10 minutes.\n");
    return 2;
  }
  curl_global_init(CURL_GLOBAL_DEFAULT);
  crawlstore::Store store = must(crawlstore::Store::open_or_create(argv[1]));
  Crawl crawl{store, options};
  if (options.resolve_all.empty()) {
    crawl.dns.emplace(store);
  } else {
    crawl.connect_to = curl_slist_append(nullptr, ("::" + options.resolve_all).c_str());
  }
  for (const std::string& seed : options.seeds) {
    must(crawl.pages.add({.kind = CrawlEventKind::kKnown, .url = seed}));
  }
  crawl.run();
  const auto kept = crawl.pages.status();
  fmt::print(
      "{} pages are known, {} of them fetched, with {} distinct links between them; {} wait\n",
      kept.page_count, kept.crawled_count, kept.link_count, crawl.frontier.waiting_count());
  curl_slist_free_all(crawl.connect_to);
  curl_multi_cleanup(crawl.curl);
  curl_global_cleanup();
} catch (const std::exception& error) {
  fmt::print(stderr, "web_crawl: {}\n", error.what());
  return 3;
}
