// SPDX-License-Identifier: Apache-2.0
// Thousands of steps of a robot that does what people do, with what it takes of memory;
// CRAWLSTORE_LONG=1 makes it 100,000.
#include <array>
#include <chrono>
#include <cstdlib>
#include <iostream>

#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>
#ifdef __SANITIZE_ADDRESS__
// Debian's g++ has the function, and not its header.
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();
#endif

#include "inspector/inspector_file.h"
#include "inspector/pages_file.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

using inspector::HeadlessShell;

bool is_long_run() {
  return std::getenv("CRAWLSTORE_LONG") != nullptr;
}

/// The bytes that malloc() has given and free() has not taken back.
std::size_t live_bytes() {
#ifdef __SANITIZE_ADDRESS__
  return __sanitizer_get_current_allocated_bytes();
#else
  return mallinfo2().uordblks;
#endif
}

/// The bytes of the process in memory. malloc() keeps some of what was freed: not that.
std::size_t resident_bytes() {
  malloc_trim(0);
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  std::size_t resident_pages = 0;
  file >> pages >> resident_pages;
  return resident_pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// Crawls a web of some hosts again; the web stays as large as it is.
void add_pages(Store& store, std::uint64_t hosts, bool is_merged) {
  PageDb pages = must(PageDb::open(store));
  crawl_web(pages, hosts, 12, kCrawlTimeUs);
  if (is_merged) must(pages.merge());
  must(store.commit());
  must(pages.close());
}

/// Wanders through the inspector; equal seeds, equal steps.
class Wanderer {
 public:
  Wanderer(HeadlessShell& shell, Store& store, std::string path)
      : shell_(shell), store_(store), path_(std::move(path)) {}

  /// Comes back in the end: a larger window or larger letters take more memory, and may.
  void wander(std::size_t steps) {
    for (std::size_t i = 0; i < steps; ++i) step();
    static constexpr std::array<Step, 9> kHome{{
        {"key", "Escape"},
        {"size", "800 500"},
        {"command", "theme_dark"},
        {"key", "Ctrl+-"},
        {"key", "Ctrl+-"},
        {"key", "Ctrl+-"},
        {"key", "Ctrl+-"},
        {"command", "close"},
        {"goto", "start"},
    }};
    if (shell_.app().session().view() == nullptr) open_file(shell_, path_);
    for (const Step& step : kHome) go(step);
    EXPECT_EQ(shell_.app().settings().scale, 1);
  }

 private:
  using Step = std::pair<const char*, const char*>;
  void go(const Step& step) { run_step(shell_, step.first, step.second); }

  void step() {
    // Most steps look; some change what is looked at.
    if (random_.one_in(500)) return add_urls(store_, random_.below(3000), 5);
    if (random_.one_in(1000)) return add_pages(store_, 2 + random_.below(5), random_.one_in(2));
    if (random_.one_in(200)) return open_file(shell_, path_);
    if (random_.one_in(3)) {
      const auto& kinds = inspector::panel_kinds();
      return run_step(shell_, "goto", std::string(kinds[random_.below(kinds.size())].id));
    }
    if (random_.one_in(4)) return click_something();
    static constexpr std::array<Step, 33> kSteps{{
        {"key", "Alt+Left"},
        {"key", "Alt+Right"},
        {"key", "Ctrl+P"},
        {"key", "Escape"},
        {"key", "Down"},
        {"key", "PageDown"},
        {"key", "Home"},
        {"key", "F5"},
        {"key", "F6"},
        {"key", "F7"},
        {"key", "Ctrl+Tab"},
        {"key", "Ctrl+Shift+C"},
        {"type", "kind:log"},
        {"type", "\u65e5\u672c"},
        {"key", "Ctrl+A"},
        {"key", "Delete"},
        {"wheel", "-3"},
        {"wheel", "3"},
        {"advance", "1"},
        {"advance", "61"},
        {"goto", "hex/offset/0x14000"},
        {"size", "200 150"},
        {"size", "800 500"},
        {"key", "Ctrl+="},
        {"key", "Ctrl+-"},
        {"goto", "bucket/urls/1"},
        {"goto", "page/3"},
        {"goto", "pages/page/40"},
        {"goto", "pages/host/b.example"},
        {"goto", "graph/page/5"},
        {"goto", "graph/host/a.example"},
        {"type", "url~/page.[0-9]/"},
        {"command", "go_to http://a.example/page/2"},
    }};
    go(kSteps[random_.below(kSteps.size())]);
  }

  /// Whatever has a label; but the file stays open, and colours and sizes as they are.
  void click_something() {
    const auto& items = shell_.app().probe().items();
    if (items.empty()) return;
    const std::string label = items[random_.below(items.size())].label;
    const bool is_harmless = !label.empty() && !label.starts_with("menu.") &&
                             !label.starts_with("palette") && !label.starts_with("files") &&
                             !label.starts_with("recent");
    if (is_harmless) run_step(shell_, random_.one_in(8) ? "right_click" : "click", label);
  }

  HeadlessShell& shell_;
  Store& store_;
  std::string path_;
  SeededRandom random_;
};

class Soak : public ::testing::Test {
 protected:
  Soak() : store_(*Store::create(path_)) {
    add_urls(store_, 0, 3000);
    add_pages(store_, 6, true);
    std::filesystem::current_path(folder_.path());  // where a click may leave a picture
  }
  ~Soak() override { std::filesystem::current_path(before_); }

  std::filesystem::path before_ = std::filesystem::current_path();
  TemporaryFolder folder_;
  std::string path_ = folder_ / "live.crawl";
  Store store_;
};

// acceptance: 23
TEST_F(Soak, TakesNoMoreMemoryAfterManySteps) {
  HeadlessShell shell({800, 500, {}});
  open_file(shell, path_);
  Wanderer robot(shell, store_, path_);
  // The history, the list of jobs and the log are full by then.
  const std::size_t warm_up = is_long_run() ? 10'000 : 1500;
  const std::size_t steps = is_long_run() ? 100'000 : 1500;
  robot.wander(warm_up);
  const std::size_t live_before = live_bytes();
  const std::size_t resident_before = resident_bytes();
  const auto start = std::chrono::steady_clock::now();
  robot.wander(steps);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const std::size_t resident_after = resident_bytes();
  std::cout << steps << " steps in " << took.count() << " s; resident " << resident_before / 1024
            << " KiB before, " << resident_after / 1024 << " KiB after; of malloc "
            << live_before / 1024 << " and " << live_bytes() / 1024 << " KiB\n";
  constexpr std::size_t kGrowthMax = 5 * 1024 * 1024;
  EXPECT_LT(live_bytes(), live_before + kGrowthMax);
#ifndef __SANITIZE_ADDRESS__
  EXPECT_LT(resident_after, resident_before + kGrowthMax);
#endif
}

}  // namespace
}  // namespace crawlstore::testing
