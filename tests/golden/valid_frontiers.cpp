// SPDX-License-Identifier: Apache-2.0
//
// The valid golden files with frontiers.
#include <crawlstore/frontier.h>

#include "valid_maker.h"

namespace crawlstore::testing {
namespace {

constexpr std::uint64_t kNow = 4'000'000'000'000;

/// Two frontiers: one with a checkpoint and journals behind it, in which there is something of
/// everything, and one that is empty.
std::vector<std::byte> frontiers_file() {
  Scratch scratch;
  FrontierOptions options;
  options.default_rule = {.delay_ms = 2000, .hard_ms = 500, .burst = 2, .in_flight_max = 3};
  options.checkpoint_bytes = 4000;
  auto frontier = must(Frontier::open(*scratch.store, "frontier", options));
  const auto put = [&](std::uint64_t count) {
    std::vector<std::string> texts;
    for (std::uint64_t i = 0; i < count; ++i) {
      texts.push_back("host" + std::to_string(mix(i) % 17) + ".test");
      texts.push_back("https://" + texts.back() + "/" + std::to_string(mix(i + count) % 1000));
    }
    std::vector<FrontierItem> items;
    for (std::uint64_t i = 0; i < count; ++i) {
      items.push_back({texts[2 * i], static_cast<double>(mix(i) % 64) / 8, texts[2 * i + 1],
                       i % 9 == 0 ? kNow + 1000 * i : 0});
    }
    must(frontier.put(items));
  };
  put(90);
  must(frontier.set_rule("host3.test", {.delay_ms = 9000, .hard_ms = 9000, .is_active = false}));
  const auto taken = must(frontier.take({.count = 12, .per_group = 2, .now_ms = kNow}));
  must(frontier.finish(std::vector{taken[0].id, taken[3].id}));
  must(frontier.give_back(std::vector<GivenBack>{{taken[1].id, kNow + 60'000, true}, {taken[2].id}},
                          kNow + 500));
  put(30);
  must(scratch.store->commit());
  must(frontier.take({.count = 5, .lease_ms = 0, .now_ms = kNow + 3000}));
  must(frontier.extend(std::vector{taken[4].id}, kNow + 900'000));
  must(frontier.drop_group("host5.test"));
  must(must(Frontier::open(*scratch.store, "empty")).close());
  must(frontier.close());
  return scratch.close();
}

}  // namespace

void add_valid_frontiers(std::vector<GoldenFile>& files) {
  files.push_back({"frontiers", frontiers_file()});
}

}  // namespace crawlstore::testing
