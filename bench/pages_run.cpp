// SPDX-License-Identifier: Apache-2.0
#include "pages_run.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <span>

#include <fmt/core.h>

#include "pages_stream.h"
#include "seen_stream.h"

namespace crawlstore::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMillion = 1000 * 1000;
constexpr std::uint64_t kMarks[] = {kMillion, 2 * kMillion, 5 * kMillion, 10 * kMillion};
constexpr std::int64_t kFirstCrawlUs = 1'600'000'000'000'000;

constexpr std::string_view kUsage =
    "PATH PAGES [OPTION]...\n"
    "\n"
    "Puts a made-up crawl of PAGES pages into a new store at PATH, looks up random pages, "
    "compares\n"
    "them with the crawl and prints a line of JSON. The store stays; one that is there already is\n"
    "replaced.\n"
    "\n"
    "  --memory SIZE    what the store may take for itself (default 512MiB; sets no limit)\n"
    "  --stop SECONDS   no new pages after that time\n"
    "  --lookups N      random pages looked up afterwards (default 20000)\n";

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

PagesRunOptions parse(std::span<char*> arguments, std::span<const OwnOption> own) {
  if (arguments.size() == 2 && std::string_view(arguments[1]) == "--help") {
    fmt::print("usage: {} {}", arguments[0], kUsage);
    for (const auto& [name, place] : own) fmt::print("  {} N (default {})\n", name, *place);
    std::exit(0);
  }
  if (arguments.size() < 3 || arguments.size() % 2 == 0) fail("see --help");
  PagesRunOptions options;
  options.path = arguments[1];
  options.pages = parse_number(arguments[2]);
  options.memory_bytes = std::uint64_t{512} << 20;
  for (std::size_t i = 3; i < arguments.size(); i += 2) {
    const std::string_view name = arguments[i];
    const std::uint64_t number = parse_number(arguments[i + 1]);
    const auto found = std::find_if(own.begin(), own.end(),
                                    [&](const OwnOption& option) { return option.first == name; });
    if (name == "--memory") {
      options.memory_bytes = number;
    } else if (name == "--stop") {
      options.stop_seconds = static_cast<double>(number);
    } else if (name == "--lookups") {
      options.lookups = number;
    } else if (found != own.end()) {
      *found->second = number;
    } else {
      fail(fmt::format("not understood: {} (see --help)", name));
    }
  }
  if (options.pages == 0) fail("PAGES is 0");
  return options;
}

/// The crawl, page by page, as events.
class Crawl {
 public:
  /// Valid until the next call.
  const CrawlEvent& next() {
    stream_.links_of(page_, row_);
    text_.clear();
    ends_.clear();
    stream_.append_url(page_, text_);
    ends_.push_back(text_.size());
    for (const std::uint64_t target : row_) {
      stream_.append_url(target, text_);
      ends_.push_back(text_.size());
    }
    links_.clear();
    for (std::size_t i = 0; i < row_.size(); ++i) {
      links_.push_back({text_part(ends_[i], ends_[i + 1]), 0, 0.25F});
    }
    hash_ = mix(page_);
    event_ = {};
    event_.url = text_part(0, ends_[0]);
    event_.time_us = kFirstCrawlUs + static_cast<std::int64_t>(page_) * 1000;
    event_.score = 0.5F;
    event_.content_hash = std::as_bytes(std::span(&hash_, 1));
    event_.links = links_;
    ++page_;
    link_count_ += row_.size();
    url_bytes_ += text_.size();
    return event_;
  }
  [[nodiscard]] std::uint64_t page_count() const { return page_; }
  [[nodiscard]] std::uint64_t link_count() const { return link_count_; }
  /// The bytes of URLs of pages and links, counted as often as they were named.
  [[nodiscard]] std::uint64_t url_bytes() const { return url_bytes_; }
  [[nodiscard]] PagesStream& stream() { return stream_; }

 private:
  [[nodiscard]] std::string_view text_part(std::size_t begin, std::size_t end) const {
    return std::string_view(text_).substr(begin, end - begin);
  }

  PagesStream stream_;
  CrawlEvent event_;
  std::vector<std::uint64_t> row_;
  std::vector<EventLink> links_;
  std::vector<std::size_t> ends_;
  std::string text_;
  std::uint64_t hash_ = 0;
  std::uint64_t page_ = 0;
  std::uint64_t link_count_ = 0;
  std::uint64_t url_bytes_ = 0;
};

/// The time that making the crawl costs, without a store: subtract it to see the store alone.
double generator_seconds(std::uint64_t pages) {
  Crawl crawl;
  const double before = process_usage().cpu_seconds;
  while (crawl.page_count() < pages) crawl.next();
  return process_usage().cpu_seconds - before;
}

/// The progress of the build, for whoever watches, and for the line of JSON.
class Progress {
 public:
  explicit Progress(Clock::time_point start)
      : start_(start), cpu_before_(process_usage().cpu_seconds) {}

  void show(const Crawl& crawl, std::uint64_t steps) {
    const double seconds = seconds_since(start_);
    if (seconds < shown_ + 2) return;
    shown_ = seconds;
    fmt::print(stderr, "\r{:8.2f} M pages {:8.1f} M links {:6.0f} s {:4} steps",
               static_cast<double>(crawl.page_count()) / 1e6,
               static_cast<double>(crawl.link_count()) / 1e6, seconds, steps);
    std::fflush(stderr);
  }
  void note(const Crawl& crawl, std::uint64_t steps) {
    readings_.push_back({{"pages", crawl.page_count()},
                         {"links", crawl.link_count()},
                         {"seconds", seconds_since(start_)},
                         {"cpu_seconds", process_usage().cpu_seconds - cpu_before_},
                         {"steps", steps}});
  }
  void end_line() const {
    if (shown_ > 0) fmt::print(stderr, "\n");
  }
  [[nodiscard]] const Json& readings() const { return readings_; }

 private:
  Clock::time_point start_;
  double cpu_before_;
  double shown_ = 0;
  Json readings_ = Json::array();
};

Json build(PagesStore& store, Crawl& crawl, const PagesRunOptions& options) {
  const ProcessUsage before = process_usage();
  const auto start = Clock::now();
  Progress progress(start);
  while (crawl.page_count() < options.pages) {
    store.add(crawl.next());
    if (std::count(std::begin(kMarks), std::end(kMarks), crawl.page_count()) != 0) {
      progress.note(crawl, store.step_count());
    }
    if (crawl.page_count() % 1024 != 0) continue;
    progress.show(crawl, store.step_count());
    if (options.stop_seconds > 0 && seconds_since(start) >= options.stop_seconds) break;
  }
  store.finish();
  const double seconds = seconds_since(start);
  progress.note(crawl, store.step_count());
  progress.end_line();
  const ProcessUsage after = process_usage();
  const auto pages = static_cast<double>(crawl.page_count());
  const auto links = static_cast<double>(crawl.link_count());
  return {{"bench", "pages"},
          {"store", store.name()},
          {"tuning", store.tuning()},
          {"memory_bytes", options.memory_bytes},
          {"pages", crawl.page_count()},
          {"pages_asked", options.pages},
          {"links", crawl.link_count()},
          {"known_pages", PagesStream::known_pages(crawl.page_count())},
          {"named_url_bytes", crawl.url_bytes()},
          {"seconds", seconds},
          {"cpu_seconds", after.cpu_seconds - before.cpu_seconds},
          {"pages_per_s", pages / seconds},
          {"links_per_s", links / seconds},
          {"steps", store.step_count()},
          {"readings", progress.readings()},
          {"read_bytes", after.read_bytes - before.read_bytes},
          {"written_bytes", after.written_bytes - before.written_bytes},
          {"peak_rss_bytes", after.peak_rss_bytes}};
}

/// Times of calls, in microseconds.
class Latencies {
 public:
  template <class Call>
  auto time(const Call& call) {
    const auto start = Clock::now();
    struct Note {
      std::vector<double>& times;
      Clock::time_point start;
      ~Note() { times.push_back(seconds_since(start) * 1e6); }
    } note{times_, start};
    return call();
  }
  [[nodiscard]] Json summary() {
    if (times_.empty()) return nullptr;
    std::sort(times_.begin(), times_.end());
    const auto at = [this](std::size_t percent) {
      return times_[std::min(times_.size() - 1, times_.size() * percent / 100)];
    };
    return {{"p50_us", at(50)}, {"p99_us", at(99)}};
  }

 private:
  std::vector<double> times_;
};

/// Page number `draw` of those that are looked up: drawn uniformly from those that were crawled.
std::uint64_t drawn_page(const Crawl& crawl, std::uint64_t draw) {
  return mix(draw + 4711) % crawl.page_count();
}

/// Pages must have the links that the stream gave them. Indexes are given by the store, so each
/// target is looked up.
void check_links(PagesStore& store, Crawl& crawl, std::uint64_t count) {
  std::string url;
  std::vector<std::uint64_t> links;
  std::vector<std::uint64_t> expected;
  const auto index_of = [&](std::uint64_t page) {
    url.clear();
    crawl.stream().append_url(page, url);
    return store.find(url).index;
  };
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t page = drawn_page(crawl, i);
    crawl.stream().links_of(page, expected);
    std::transform(expected.begin(), expected.end(), expected.begin(), index_of);
    std::sort(expected.begin(), expected.end());
    store.out_links(index_of(page), links);
    std::sort(links.begin(), links.end());
    if (links != expected) fail(fmt::format("the links of page {} are others", page));
  }
}

/// Looks up pages that were crawled.
Json look_up(PagesStore& store, Crawl& crawl, std::uint64_t count) {
  Latencies page;
  Latencies out;
  Latencies in;
  std::string url;
  std::vector<std::uint64_t> links;
  std::vector<std::uint64_t> expected;
  std::uint64_t in_link_count = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t wanted = drawn_page(crawl, i);
    url.clear();
    crawl.stream().append_url(wanted, url);
    crawl.stream().links_of(wanted, expected);
    const FoundPage found = page.time([&] { return store.find(url); });
    out.time([&] { store.out_links(found.index, links); });
    if (found.crawl_count != 1 || found.url != url || links.size() != expected.size()) {
      fail(fmt::format("page {} is not as it was crawled", wanted));
    }
    if (!in.time([&] { return store.in_links(found.index, links); })) in = {};
    in_link_count += links.size();
  }
  check_links(store, crawl, (count + 9) / 10);  // last: it brings pages into the caches
  return {{"lookups", count},
          {"find_page", page.summary()},
          {"out_links", out.summary()},
          {"in_links", in.summary()},
          {"in_links_found", in_link_count}};
}

void run_driver(std::span<char*> arguments, const OpenPagesStore& open,
                std::span<const OwnOption> own) {
  const PagesRunOptions options = parse(arguments, own);
  Crawl crawl;
  const auto store = open(options);
  Json line = build(*store, crawl, options);
  line.update(look_up(*store, crawl, options.lookups));
  line.update(store->figures());
  line["file_bytes"] = allocated_bytes(options.path);
  line["generator_seconds"] = generator_seconds(crawl.page_count());
  add_circumstances(line);
  fmt::print("{}\n", line.dump());
}

}  // namespace

int pages_main(int argc, char** argv, const OpenPagesStore& open, std::span<const OwnOption> own) {
  return guarded_main(
      argv, [&] { run_driver(std::span(argv, static_cast<std::size_t>(argc)), open, own); });
}

}  // namespace crawlstore::bench
