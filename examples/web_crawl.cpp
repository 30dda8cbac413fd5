// SPDX-License-Identifier: Apache-2.0
//
// A crawler that fetches over HTTP, many hosts at a time, and keeps all it must remember in a file:
//
//   web_crawl FILE.crawl --user-agent NAME [OPTION]... [SEED_URL]...
//
// The options are in `web_crawl --help`.
//
// The frontier says which pages may be fetched now, of which hosts; they are leased before the
// first request goes out. Their results are added to the page database, and their leases end in the
// same commit. Once a round a superstep gives an index to pages that were never seen, and they are
// put into the frontier. So kill -9 at any moment loses no page; those that were leased then are
// fetched again.
//
// Politeness: one request of a host at a time, and `--delay` from the end of one to the next: what
// came of a page is held back for so long, and its host has no other lease meanwhile. A request
// that failed, or was answered by 429 or 5xx, is made again, as often as `--retries` says, when
// Retry-After or twice the delay has passed, then four times, at most an hour; the frontier leaves
// its host alone for longer, too.
//
// It asks each scheme, host and port for its robots.txt before the first page and once a day; the
// page that is leased waits meanwhile. While the server fails nothing is allowed; 4xx allows all. A
// Crawl-delay, up to a minute, becomes the rule of its host.
//
// It does not follow a redirect: its target is a page of its own. Pages answered by 404 or 410 are
// gone. With `--revisits` those are fetched again whose fetch gains most by how often they change.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <crawlstore/frontier.h>
#include <crawlstore/must.h>
#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/schedule.h>
#include <crawlstore/url.h>

#include "http_page.h"
#include "http_request.h"
#include "robots_cache.h"

namespace {

using crawlstore::CrawlEventKind;
using crawlstore::must;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kRequests = 64;  // at once
constexpr std::uint64_t kLongestRetryMs = 3'600'000;
constexpr std::chrono::hours kRevisitRound(1);  // between looks for pages to be fetched again
constexpr std::int64_t kClockErrorS = 3600;     // by which clocks of servers may be late

struct Options {
  std::string file;
  std::vector<std::string> seeds{};
  HttpClient::Options http{};
  std::uint32_t delay_ms = 1000;
  std::uint32_t round_ms = 10'000;
  std::uint32_t retries = 2;
  std::uint32_t pages = ~std::uint32_t{0};
  std::uint32_t robots_wait_ms = 600'000;
  std::uint32_t revisits = 0;
};

/// A page that is leased.
struct Leased {
  std::uint64_t page;
  std::uint32_t attempt;
  std::string group;
  std::string url;
  std::int64_t fetched_s = 0;  ///< since 1970, the last time; 0: never
};

struct Crawl {
  crawlstore::Store& store;
  const Options& options;
  crawlstore::PageDb pages = must(crawlstore::PageDb::open(store));
  crawlstore::Frontier frontier = must(crawlstore::Frontier::open(
      store, "frontier",
      {.default_rule = {.delay_ms = options.delay_ms, .hard_ms = options.delay_ms},
       .pages = "pages"}));
  RobotsCache robots{store};
  HttpClient http{store, options.http};
  std::optional<crawlstore::PageView> view{};  ///< as the last superstep left it
  std::uint64_t next_page = 0;                 ///< from which on pages are new to the frontier
  std::uint32_t taken_count = 0;
  std::uint32_t round_count = 0;  ///< outcomes since the last superstep
  Clock::time_point round_end{};
  Clock::time_point revisit_round_end{};
  std::multimap<Clock::time_point, std::function<void()>> later{};  ///< with pages that are leased

  /// Fetches until nothing waits, or as many pages as the options say.
  void run() {
    if (must(frontier.give_back_all()) != 0) {  // of a process that was killed: who was asked when?
      std::this_thread::sleep_for(milliseconds(options.delay_ms));
    }
    while (true) {
      while (!later.empty() && later.begin()->first <= Clock::now()) {
        later.extract(later.begin()).mapped()();
      }
      const bool is_idle = http.count() == 0 && later.empty();
      if (Clock::now() >= round_end || (is_idle && round_count != 0)) do_superstep();
      const bool takes = taken_count < options.pages;
      if (takes) take_pages();
      const bool has_ended = http.count() == 0 && later.empty() && round_count == 0;
      if (has_ended && (!takes || frontier.waiting_count() == 0)) return;
      http.wait(longest_wait());
    }
  }

  /// Returns the time until something is to be done, or a page may be fetched; at least 1 ms.
  [[nodiscard]] milliseconds longest_wait() const {
    auto longest = std::min<Clock::duration>(std::chrono::seconds(1), round_end - Clock::now());
    if (!later.empty()) longest = std::min(longest, later.begin()->first - Clock::now());
    if (const auto due_ms = frontier.next_due_ms(); due_ms && http.count() <= kRequests / 2) {
      const std::uint64_t now_ms = std::min(*due_ms, frontier.now_ms());
      longest = std::min<Clock::duration>(longest, milliseconds(*due_ms - now_ms));
    }
    return std::max(milliseconds(1), std::chrono::ceil<milliseconds>(longest));
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
      const crawlstore::RevisitRule rule{.fetches_per_day = double(options.revisits)};
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
    if (http.count() > kRequests / 2) return;
    const auto room = std::min<std::size_t>(kRequests - http.count(), options.pages - taken_count);
    const crawlstore::TakeOptions most{.count = room, .lease_ms = 0};
    for (const auto& item : must(crawlstore::take_pages(frontier, *view, most))) {
      ++taken_count;
      const crawlstore::PageInfo page = must(view->page(item.id));
      visit({item.id, item.attempt, item.group, item.body,
             page.crawl_count == 0 ? 0 : page.last_crawl_us / 1'000'000});
    }
  }

  /// Requests a page, or first the robots.txt that tells whether it may.
  void visit(const Leased& page) {
    const auto known = robots.find(origin_of(page.url), frontier.now_ms());
    if (!known) {
      HttpRequest request{.url = origin_of(page.url) + "/robots.txt", .follows_redirects = true};
      request.cut_bytes = crawlstore::kRobotsBytesMax;
      http.start(request, [=, this](const HttpAnswer& answer) { add_robots(page, answer); });
    } else if (!known->is_known) {
      put_off(page, known->expires_ms);
    } else if (!known->rules.allows(page.url)) {
      add(page, {.kind = CrawlEventKind::kDenied, .url = page.url});
    } else {
      const std::int64_t since_s = page.fetched_s == 0 ? 0 : page.fetched_s - kClockErrorS;
      const std::uint64_t delay_ms = std::max<std::uint64_t>(options.delay_ms, known->delay_ms());
      const auto done = [=, this](const HttpAnswer& answer) { add_page(page, answer, delay_ms); };
      http.start({.url = page.url, .modified_since_s = since_s}, done);
    }
  }

  /// Does something with a leased page when its host may be asked again.
  void plan(std::uint64_t delay_ms, std::function<void()> what) {
    later.emplace(Clock::now() + milliseconds(delay_ms), std::move(what));
  }

  /// Adds what came of a page, and ends its lease.
  void add(const Leased& page, const crawlstore::CrawlEvent& event) {
    must(pages.add(event));
    must(frontier.finish({&page.page, 1}));
    ++round_count;
  }

  /// Ends the lease of a page that failed for now, which waits until a time.
  void give_back(const Leased& page, std::uint64_t until_ms) {
    must(frontier.give_back(std::vector<crawlstore::GivenBack>{{page.page, until_ms, true}}));
  }

  /// Decides on a page whose robots.txt cannot be had before a time.
  void put_off(const Leased& page, std::uint64_t until_ms) {
    plan(options.delay_ms, [this, page, until_ms] {
      if (page.attempt <= options.retries) return give_back(page, until_ms);
      add(page, {.kind = CrawlEventKind::kFailed, .url = page.url});
    });
  }

  /// Keeps a robots.txt, after which its host is left alone before the page is fetched.
  void add_robots(const Leased& page, const HttpAnswer& answer) {
    const std::string origin = origin_of(page.url);
    const std::uint64_t now_ms = frontier.now_ms();
    if (answer.has_failed || answer.status >= 500) {
      robots.put_unreachable(origin, now_ms + options.robots_wait_ms);
      return put_off(page, now_ms + options.robots_wait_ms);
    }
    const auto rules = crawlstore::RobotsRules::parse(
        answer.status < 300 ? answer.body : std::string(), options.http.user_agent);
    robots.put(origin, rules, now_ms);
    const std::uint64_t delay_ms =
        std::max<std::uint64_t>(options.delay_ms, RobotsCache::Answer{.rules = rules}.delay_ms());
    if (rules.crawl_delay_ms()) {
      must(frontier.set_rule(page.group, {.delay_ms = delay_ms, .hard_ms = delay_ms}));
    }
    plan(delay_ms, [this, page] { visit(page); });
  }

  /// Decides on a page by its answer; one that failed for now is fetched again.
  void add_page(const Leased& page, const HttpAnswer& answer, std::uint64_t delay_ms) {
    const bool is_for_now = answer.has_failed || answer.status == 429 || answer.status >= 500;
    if (is_for_now && page.attempt <= options.retries) {
      const std::uint64_t wait_ms = std::uint64_t{options.delay_ms} << std::min(page.attempt, 10U);
      const std::uint64_t until_ms =
          frontier.now_ms() + std::min(std::max(answer.retry_after_ms, wait_ms), kLongestRetryMs);
      return plan(delay_ms, [this, page, until_ms] { give_back(page, until_ms); });
    }
    const bool is_unasked = answer.status == 304 && page.fetched_s == 0;
    const auto kind = is_unasked ? CrawlEventKind::kFailed : kind_of(answer);
    plan(delay_ms, [this, page, kind, crawled = page_of(page.url, answer)] {
      crawlstore::CrawlEvent event = crawled.event();
      event.kind = kind;
      add(page, event);
    });
  }
};

/// Adds the options, with the values that they have, to a command line.
void add_options(CLI::App& app, Options& options) {
  constexpr auto kLast = CLI::MultiOptionPolicy::TakeLast;
  const auto check_url = [](const std::string& text) {
    const bool is_url = crawlstore::UrlNormalizer().normalize(text).parsed;
    return is_url ? std::string() : text + " is no URL";
  };
  app.add_option("FILE", options.file, "the crawl file, made if there is none")->required();
  app.add_option("SEED_URL", options.seeds, "pages to begin with")->check(check_url);
  app.option_defaults()->multi_option_policy(kLast)->always_capture_default();
  app.add_option("--user-agent", options.http.user_agent, "its name, also in robots.txt")
      ->required();
  app.add_option("--resolve-all", options.http.resolve_all,
                 "ADDRESS:PORT of a server that stands for all hosts, instead of DNS");
  app.add_option("--delay", options.delay_ms, "ms between requests of a host");
  app.add_option("--timeout", options.http.timeout_ms, "ms that a request may take");
  app.add_option("--round", options.round_ms, "ms between supersteps, if there is more to do");
  app.add_option("--retries", options.retries,
                 "times that a request is made again when it failed for now");
  app.add_option("--pages", options.pages, "pages that are taken before the crawl pauses");
  app.add_option("--robots-wait", options.robots_wait_ms,
                 "ms until a server that failed is asked for its robots.txt again");
  app.add_option("--revisits", options.revisits,
                 "pages a day, about, that are fetched again; then only --pages ends");
}

}  // namespace

int main(int argc, char** argv) try {
  Options options;
  CLI::App app("Crawls over HTTP, politely, from many hosts at a time.", "web_crawl");
  add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  crawlstore::Store store = must(crawlstore::Store::open_or_create(options.file));
  Crawl crawl{store, options};
  for (const std::string& seed : options.seeds) {
    must(crawl.pages.add({.kind = CrawlEventKind::kKnown, .url = seed}));
  }
  crawl.run();
  const auto kept = crawl.pages.status();
  fmt::print(
      "{} pages are known, {} of them fetched, with {} distinct links between them; {} wait\n",
      kept.page_count, kept.crawled_count, kept.link_count, crawl.frontier.waiting_count());
} catch (const std::exception& error) {
  fmt::print(stderr, "web_crawl: {}\n", error.what());
  return 3;
}
