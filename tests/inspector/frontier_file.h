// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A crawl file with frontiers, the same bytes at each run: for pictures and for tests of panels.

#include <cstdint>
#include <string>
#include <vector>

#include <crawlstore/frontier.h>
#include <crawlstore/transaction.h>

#include "inspector/pages_file.h"

namespace crawlstore::testing {

/// The time at which the clock of a HeadlessShell begins, and a crawl of the file has just been.
inline constexpr std::uint64_t kFrontierNowMs = kCrawlTimeUs / 1000;

inline void put_items(Frontier& frontier, const std::string& group, std::uint64_t count,
                      std::uint64_t not_before_ms = 0) {
  std::vector<std::string> bodies;
  for (std::uint64_t i = 0; i < count; ++i) {
    bodies.push_back("http://" + group + "/page/" + std::to_string(i));
  }
  std::vector<FrontierItem> items;
  for (std::uint64_t i = 0; i < count; ++i) {
    items.push_back({group, 1 / static_cast<double>(1 + i), bodies[i],
                     not_before_ms == 0 ? 0 : not_before_ms + 7'000 * i});
  }
  must(frontier.put(items));
}

/// Takes one item of a group, which must be the one with the best item.
inline std::uint64_t take_one(Frontier& frontier, const std::string& group, std::uint64_t now_ms,
                              std::uint64_t lease_ms) {
  const auto taken = must(frontier.take({.count = 1, .lease_ms = lease_ms, .now_ms = now_ms}));
  EXPECT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken.front().group, group);
  return taken.front().id;
}

/// Groups of each kind: due, with a delay, backing off, full, full for ever, blocked, not active,
/// of later items alone, overdue, with nothing.
inline void fill_frontier(Store& store) {
  constexpr std::uint64_t kNow = kFrontierNowMs;
  FrontierOptions options;
  options.default_rule = {.delay_ms = 30'000, .hard_ms = 10'000};
  Frontier frontier = must(Frontier::open(store, "frontier", options));
  const auto put_and_take = [&](const std::string& group, std::uint64_t before_ms,
                                std::uint64_t lease_ms) {
    put_items(frontier, group, 5);
    return take_one(frontier, group, kNow - before_ms, lease_ms);
  };
  const FrontierRule slow{.delay_ms = 120'000, .hard_ms = 120'000};
  must(frontier.set_rule("failing.example", slow));
  put_and_take("overdue.example", 90'000, 88'000);
  must(frontier.give_back(
      std::vector<GivenBack>{{put_and_take("failing.example", 80'000, 60'000), 0, true}},
      kNow - 79'000));
  put_and_take("endless.example", 70'000, 0);
  put_and_take("full.example", 60'000, 95'000);
  must(frontier.finish(std::vector{put_and_take("polite.example", 12'000, 60'000)}, kNow - 11'000));
  must(frontier.finish(std::vector{put_and_take("waited.example", 4'000, 60'000)}, kNow - 3'500));
  put_items(frontier, "a.example", 40);
  put_items(frontier, "later.example", 30, kNow + 25'000);
  put_items(frontier, "blocked.example", 3);
  must(frontier.set_rule("blocked.example", {.blocked_until_ms = kNow + 400'000}));
  put_items(frontier, "stopped.example", 2);
  must(frontier.set_rule("stopped.example", {.is_active = false}));
  must(frontier.set_rule("empty.example", slow));
  must(frontier.close());
  Frontier other = must(Frontier::open(store, "second"));
  put_items(other, "b.example", 2);
  must(other.close());
}

/// Goes on with fill_frontier() in one commit: items that are new, done, given back, taken and
/// changed, groups with another rule.
inline void change_frontier(Store& store) {
  constexpr std::uint64_t kNow = kFrontierNowMs;
  Frontier frontier = must(Frontier::open(store, "frontier"));
  Transaction transaction = must(Transaction::begin(store));
  put_items(frontier, "new.example", 3);
  const auto taken = must(frontier.take({.count = 4, .now_ms = kNow + 40'000}));
  must(frontier.finish(std::vector{taken.at(0).id}, kNow + 41'000));
  must(frontier.give_back(std::vector<GivenBack>{{taken.at(1).id, 0, true}}, kNow + 42'000));
  must(frontier.set_rule("polite.example", {.delay_ms = 60'000, .parent = "10.0.0.1"}));
  constexpr std::uint64_t kOfA = 40;  // in the order of fill_frontier()
  must(frontier.update(std::vector<FrontierUpdate>{{{"a.example", kOfA}, 2}}));
  must(transaction.commit());
  must(frontier.close());
}

/// A file with pages of hosts, of which a.example waits in the frontier; see fill_frontier().
///   is_changed  with change_frontier(), too
inline void write_frontier_file(const std::string& path, bool is_changed = false) {
  MemoryStore store;
  {
    PageDb pages = must(PageDb::open(*store));
    crawl_web(pages, 3, 4, kCrawlTimeUs);
    must(pages.merge());
    must(pages.close());
    fill_frontier(*store);
    if (is_changed) change_frontier(*store);
  }
  write_image(store, path);
}

}  // namespace crawlstore::testing
