// SPDX-License-Identifier: Apache-2.0
//
// The cost of compaction for a crawl that goes on: compact_beside FILE [PAGES [ROUNDS]].
//
// Makes a store of PAGES pages (default 1,000,000) of the made-up crawl, and forgets the pages of
// half of the hosts, so that much of the file is free. Each run has a copy of it:
//
//   join and compact  PageDb::compact() and Store::compact(), once, with nobody beside
//   alone             a thread crawls an eighth of the pages more and asks DRUM "urls" for their
//                     URLs, with a commit after each 2,000 pages
//   beside            the same, while another thread calls Store::compact() again and again
//   joining           the same, while another thread calls PageDb::compact(), once
//
// The last three take turns, ROUNDS times (default 3). A line of JSON a run: seconds; waits for
// commits, the median, the 99th percentile and the longest; the length of the file before, at the
// peak and at the end.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/core.h>

#include <crawlstore/pages.h>
#include <crawlstore/url_seen.h>

#include "pages_stream.h"
#include "seen_run.h"

namespace crawlstore::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::uint64_t kPagesPerCommit = 2000;
constexpr std::uint64_t kMemoryBytes = std::uint64_t{64} << 20;

template <class T>
T must(Result<T> result) {
  if (!result) fail(describe(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The crawl, page by page.
class Crawler {
 public:
  explicit Crawler(Store& store)
      : store_(store), pages_(open_pages(store)), seen_(must(UrlSeen::open(store))) {}

  void crawl(std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t page = first; page < end; ++page) {
      stream_.links_of(page, row_);
      CrawledPage crawled(url_of(page), static_cast<std::int64_t>(1 + page));
      for (const std::uint64_t target : row_) crawled.add_link(url_of(target));
      must(pages_.add(crawled));
      must(seen_.check_update(url_of(page)));
      if (page % kPagesPerCommit != 0) continue;
      const auto start = Clock::now();
      must(store_.commit());
      waits_.push_back(seconds_since(start));
      note_length();
    }
  }
  void forget_half() {
    must(pages_.forget([](std::string_view url) {
      return std::hash<std::string_view>()(url.substr(0, url.find('/', 8))) % 2 == 0;
    }));
  }
  void join() {
    must(pages_.compact([this](auto, auto) {
      note_length();
      return true;
    }));
    note_length();
  }
  void note_length() {
    const std::uint64_t now = store_.file_bytes();
    std::uint64_t peak = peak_bytes_;
    while (peak < now && !peak_bytes_.compare_exchange_weak(peak, now)) continue;
  }
  [[nodiscard]] std::uint64_t peak_bytes() const { return peak_bytes_; }
  /// Ascending.
  [[nodiscard]] std::vector<double> waits() const {
    auto waits = waits_;
    std::sort(waits.begin(), waits.end());
    return waits;
  }

 private:
  static PageDb open_pages(Store& store) {
    PagesOptions options;
    options.memory_bytes = kMemoryBytes;
    return must(PageDb::open(store, PageDb::kDefaultName, options));
  }
  std::string url_of(std::uint64_t page) {
    std::string url;
    stream_.append_url(page, url);
    return url;
  }

  Store& store_;
  PageDb pages_;
  UrlSeen seen_;
  PagesStream stream_;
  std::vector<std::uint64_t> row_;
  std::vector<double> waits_;
  std::atomic<std::uint64_t> peak_bytes_{0};
};

void make(const std::string& path, std::uint64_t pages) {
  std::filesystem::remove(path);
  auto store = must(Store::create(path));
  {
    Crawler crawler(store);
    crawler.crawl(0, pages);
    crawler.forget_half();
  }
  must(store.close());
}

enum class Mode { kAlone, kBeside, kJoining };
constexpr std::array<const char*, 3> kModeNames = {"alone", "beside", "joining"};

void run(const std::string& from, std::uint64_t pages, Mode mode) {
  const std::string path = from + ".run";
  std::filesystem::copy_file(from, path, std::filesystem::copy_options::overwrite_existing);
  auto store = must(Store::open(path));
  const std::uint64_t before = store.file_bytes();
  std::uint64_t moved = 0;
  std::uint64_t calls = 0;
  double seconds = 0;
  {
    Crawler crawler(store);
    std::atomic<bool> is_over{false};
    std::thread compactor([&] {
      if (mode == Mode::kJoining) crawler.join();
      while (mode == Mode::kBeside && !is_over) {
        moved += must(store.compact([&](auto, auto) {
                   crawler.note_length();
                   return true;
                 })).moved_bytes;
        ++calls;
      }
    });
    const auto start = Clock::now();
    crawler.crawl(pages, pages + pages / 8);
    seconds = seconds_since(start);
    is_over = true;
    compactor.join();
    const auto waits = crawler.waits();
    fmt::print(
        "{{\"mode\":\"{}\",\"pages\":{},\"crawl_s\":{:.2f},\"commits\":{},"
        "\"wait_p50_ms\":{:.1f},\"wait_p99_ms\":{:.1f},\"wait_max_ms\":{:.1f},"
        "\"before_mb\":{:.1f},\"peak_mb\":{:.1f},\"end_mb\":{:.1f},\"moved_mb\":{:.1f},"
        "\"compactions\":{}}}\n",
        kModeNames[static_cast<std::size_t>(mode)], pages / 8, seconds, waits.size(),
        1e3 * waits[waits.size() / 2], 1e3 * waits[waits.size() * 99 / 100], 1e3 * waits.back(),
        static_cast<double>(before) * 1e-6, static_cast<double>(crawler.peak_bytes()) * 1e-6,
        static_cast<double>(store.file_bytes()) * 1e-6, static_cast<double>(moved) * 1e-6, calls);
    std::fflush(stdout);
  }
  must(store.close());
  std::filesystem::remove(path);
}

/// Joins and compacts with nobody beside, as `crawlstore compact` does.
void run_whole(const std::string& from) {
  const std::string path = from + ".run";
  std::filesystem::copy_file(from, path, std::filesystem::copy_options::overwrite_existing);
  auto store = must(Store::open(path));
  const std::uint64_t before = store.file_bytes();
  const auto start = Clock::now();
  std::uint64_t peak = 0;
  {
    Crawler crawler(store);
    crawler.join();
    must(store.compact([&](auto, auto) {
      crawler.note_length();
      return true;
    }));
    peak = crawler.peak_bytes();
  }
  fmt::print(
      "{{\"mode\":\"join and compact\",\"seconds\":{:.2f},\"before_mb\":{:.1f},"
      "\"peak_mb\":{:.1f},\"end_mb\":{:.1f}}}\n",
      seconds_since(start), static_cast<double>(before) * 1e-6, static_cast<double>(peak) * 1e-6,
      static_cast<double>(store.file_bytes()) * 1e-6);
  must(store.close());
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace crawlstore::bench

int main(int argc, char** argv) {
  using namespace crawlstore::bench;  // NOLINT(google-build-using-namespace)
  return guarded_main(argv, [&] {
    if (argc < 2 || argc > 4) fail("usage: compact_beside FILE [PAGES [ROUNDS]]");
    const std::uint64_t pages = argc > 2 ? parse_number(argv[2]) : 1'000'000;
    const std::uint64_t rounds = argc > 3 ? parse_number(argv[3]) : 3;
    make(argv[1], pages);
    run_whole(argv[1]);
    for (std::uint64_t round = 0; round < rounds; ++round) {
      for (std::uint64_t turn = 0; turn < kModeNames.size(); ++turn) {
        run(argv[1], pages, static_cast<Mode>((round + turn) % kModeNames.size()));
      }
    }
    std::filesystem::remove(argv[1]);
  });
}
