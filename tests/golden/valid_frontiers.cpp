// SPDX-License-Identifier: Apache-2.0
//
// The valid golden files with frontiers.
#include <string>

#include <crawlstore/frontier.h>

#include "valid_maker.h"

namespace crawlstore::testing {
namespace {

constexpr std::uint64_t kNow = 4'000'000'000'000;
constexpr std::uint64_t kLater = kNow + 600'000;

class Hosts {
 public:
  explicit Hosts(Store& store) : frontier(must(Frontier::open(store, "frontier", options()))) {}

  Frontier frontier;

  /// Items at random hosts, each ninth for later; or all for later.
  void put(std::uint64_t count, bool is_later = false) {
    const std::size_t first = hosts_.size();
    std::vector<std::string> urls;
    for (std::uint64_t i = 0; i < count; ++i) {
      hosts_.push_back("host" + std::to_string(mix(i) % 17) + ".test");
      urls.push_back("https://" + hosts_.back() + "/" + std::to_string(mix(i + count) % 1000));
    }
    std::vector<FrontierItem> items;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t time = is_later ? kLater : i % 9 == 0 ? kNow : 0;
      items.push_back({hosts_[first + i], static_cast<double>(mix(i) % 64) / 8, urls[i],
                       time == 0 ? 0 : time + 1000 * i});
    }
    must(frontier.put(items));
  }
  /// Removes the first item that waits, from an id on, and changes the next one.
  void remove_and_change(std::uint64_t id, std::uint64_t not_before_ms) {
    while (must(frontier.remove(std::vector{key(id++)})) == 0) {
    }
    const auto change = [&] {
      return std::vector<FrontierUpdate>{{key(id++), 4, not_before_ms, "changed"}};
    };
    while (must(frontier.update(change())) == 0) {
    }
  }

 private:
  static FrontierOptions options() {
    FrontierOptions options;
    options.default_rule = {.delay_ms = 2000, .hard_ms = 500, .burst = 2, .in_flight_max = 3};
    options.checkpoint_bytes = 4000;
    return options;
  }
  [[nodiscard]] FrontierKey key(std::uint64_t id) const { return {hosts_[id], id}; }

  std::vector<std::string> hosts_;  // of items, by id
};

/// Two frontiers: one with runs by group and by time, pieces and journals behind them, in which
/// there is something of everything, and one that is empty.
std::vector<std::byte> frontiers_file() {
  Scratch scratch;
  Hosts hosts(*scratch.store);
  Frontier& frontier = hosts.frontier;
  hosts.put(90);
  must(frontier.set_rule("host3.test", {.delay_ms = 9000, .hard_ms = 9000, .is_active = false}));
  const auto taken = must(frontier.take({.count = 12, .per_group = 2, .now_ms = kNow}));
  must(frontier.finish(std::vector{taken[0].id, taken[3].id}));
  must(frontier.give_back(std::vector<GivenBack>{{taken[1].id, kNow + 60'000, true}, {taken[2].id}},
                          kNow + 500));
  hosts.put(30);
  must(scratch.store->commit());
  hosts.put(120, true);  // ids from 120 on
  must(scratch.store->commit());
  hosts.remove_and_change(11, kLater + 7000);  // of the run by group
  hosts.remove_and_change(131, 0);             // of the run by time
  must(frontier.take({.count = 24, .per_group = 3, .now_ms = kLater + 3000}));
  hosts.put(130);
  must(scratch.store->commit());
  hosts.remove_and_change(21, 0);
  hosts.remove_and_change(141, kLater + 9000);
  must(frontier.take({.count = 5, .lease_ms = 0, .now_ms = kLater + 7000}));
  const auto last = must(frontier.take({.count = 4, .per_group = 2, .now_ms = kLater + 8000}));
  must(frontier.extend(std::vector{last[0].id}, kLater + 900'000));
  must(frontier.give_back(std::vector<GivenBack>{{last[1].id, 0, true}}, kLater + 8500));
  must(frontier.drop_group("host5.test"));
  FrontierOptions of_pages;
  of_pages.pages = "pages";
  must(must(Frontier::open(*scratch.store, "empty", of_pages)).close());
  must(frontier.close());
  return scratch.close();
}

}  // namespace

void add_valid_frontiers(std::vector<GoldenFile>& files) {
  files.push_back({"frontiers", frontiers_file()});
}

}  // namespace crawlstore::testing
