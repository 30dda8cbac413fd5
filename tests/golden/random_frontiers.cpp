// SPDX-License-Identifier: Apache-2.0
//
// random_frontiers FOLDER SEED COUNT writes files with frontiers of random calls, and the document
// of each, for golden/frontier_replay_test.py.
#include <filesystem>
#include <iostream>
#include <string>

#include <crawlstore/frontier.h>

#include "golden/golden_json.h"
#include "golden/valid_maker.h"
#include "support/bytes.h"
#include "support/random.h"

namespace crawlstore::testing {
namespace {

constexpr std::uint64_t kNow = 1'700'000'000'000;
constexpr std::uint64_t kIds = 150;

class RandomCalls {
 public:
  RandomCalls(Store& store, std::uint64_t seed)
      : store_(store), random_(seed), rewrites_(seed / 2 % 2 != 0) {
    options_.has_own_ids = seed % 2 != 0;
    options_.checkpoint_bytes = seed % 4 == 0 ? 1U << 20U : 500U << random_.below(6);
    options_.default_rule = {.delay_ms = random_.below(4) * 1000,
                             .hard_ms = 0,
                             .burst = static_cast<std::uint32_t>(1 + random_.below(4)),
                             .in_flight_max = static_cast<std::uint32_t>(1 + random_.below(8))};
    open();
  }
  void call() {
    now_ += random_.below(3000);
    switch (random_.below(13)) {
      case 0:
      case 1:
      case 2:
        return put(1 + random_.below(40));
      case 3:
      case 4:
      case 5:
        return take();
      case 6:
        return finish();
      case 7:
        return give_back();
      case 8:
        return change();
      case 9:
        return set_rule();
      case 10:
        return extend();
      case 11:
        return must(store_.commit()), void();
      default:
        return rare();
    }
  }
  void close() { must(frontier_->close()); }

 private:
  void open() { frontier_.emplace(must(Frontier::open(store_, "frontier", options_))); }
  std::string group() { return "host" + std::to_string(random_.below(9)); }
  std::uint64_t time() {
    return random_.below(3) != 0 ? 0 : now_ + random_.below(2) * 500 + random_.below(60'000);
  }
  /// An id that is leased, or mostly not so any more; now and then any.
  std::uint64_t taken_id() {
    return taken_.empty() || random_.below(9) == 0 ? random_.below(kIds)
                                                   : taken_[random_.below(taken_.size())];
  }
  double priority() { return static_cast<double>(random_.below(8)) - 4; }

  void put(std::uint64_t count) {
    std::vector<std::string> texts;
    std::vector<std::optional<std::uint64_t>> ids(count);
    for (auto& id : ids) {
      if (options_.has_own_ids) id = own_id();
      texts.push_back(group());
      const std::uint64_t number = id ? *id : random_.below(1000);
      texts.push_back(std::string(number % 40, 'a') + std::to_string(number));
    }
    std::vector<FrontierItem> items;
    for (std::uint64_t i = 0; i < count; ++i) {
      items.push_back({texts[2 * i], priority(), texts[2 * i + 1], time(), ids[i]});
    }
    (void)frontier_->put(items);  // refused where one is leased, or was
  }
  /// Some ids wait twice, with one body: which of two items of one order and id is taken is open.
  std::uint64_t own_id() { return random_.below(5) == 0 ? random_.below(kIds) : kIds + next_id_++; }
  void take() {
    const auto count = 1 + random_.below(12);
    const auto per_group = static_cast<std::uint32_t>(1 + random_.below(6));
    const std::uint64_t lease_ms = random_.below(4) == 0 ? 0 : random_.below(20'000);
    for (const auto& item : must(frontier_->take(
             {.count = count, .per_group = per_group, .lease_ms = lease_ms, .now_ms = now_}))) {
      taken_.push_back(item.id);
    }
  }
  void finish() {
    std::vector<std::uint64_t> ids;
    for (std::uint64_t i = random_.below(6); i-- != 0;) ids.push_back(taken_id());
    must(frontier_->finish(ids, now_));
  }
  void give_back() {
    std::vector<GivenBack> items;
    for (std::uint64_t i = random_.below(6); i-- != 0;) {
      items.push_back({taken_id(), time(), random_.below(2) == 0});
    }
    must(frontier_->give_back(items, now_));
  }
  void extend() {
    const std::uint64_t until = random_.below(3) == 0 ? 0 : now_ - 3000 + random_.below(20'000);
    must(frontier_->extend(std::vector{taken_id(), taken_id()}, until, now_));
  }
  /// Removes or changes items, many of which wait.
  void change() {
    std::vector<FrontierKey> keys;
    std::vector<FrontierUpdate> updates;
    const std::string at = group();
    const std::uint64_t id_end = kIds + next_id_ + 1;
    for (std::uint64_t i = 0; i < 12; ++i) {
      keys.push_back({at, random_.below(id_end)});
      updates.push_back({{at, random_.below(id_end)}, priority(), time(), {}});
      if (!options_.has_own_ids && random_.below(2) == 0) updates.back().body = "changed";
    }
    if (random_.below(2) == 0) {
      must(frontier_->remove(keys));
    } else {
      (void)frontier_->update(updates);
    }
  }
  void set_rule() {
    const std::uint64_t hard_ms = random_.below(2000);
    must(frontier_->set_rule(
        group(), {.delay_ms = hard_ms + random_.below(2000),
                  .hard_ms = hard_ms,
                  .burst = static_cast<std::uint32_t>(1 + random_.below(4)),
                  .in_flight_max = static_cast<std::uint32_t>(1 + random_.below(4)),
                  .blocked_until_ms = random_.below(3) == 0 ? now_ + random_.below(9000) : 0,
                  .is_active = random_.below(5) != 0}));
  }
  void rare() {
    if (random_.below(3) == 0) {
      must(frontier_->drop_group(group()));
    } else if (rewrites_ && random_.below(3) == 0) {
      must(frontier_->rewrite([&](std::string_view, std::uint64_t, double own) {
        const auto other = random_.below(2) == 0 ? own : priority();
        return random_.below(9) == 0 ? std::nullopt : std::optional(other);
      }));
    } else if (random_.below(2) == 0) {
      now_ += 100'000;
    } else {
      close();
      open();
    }
  }

  Store& store_;
  Random random_;
  bool rewrites_;  // no group is in journals alone after that
  FrontierOptions options_;
  std::optional<Frontier> frontier_;
  std::uint64_t now_ = kNow;
  std::uint64_t next_id_ = 0;
  std::vector<std::uint64_t> taken_;
};

std::vector<std::byte> file_of(std::uint64_t seed) {
  Scratch scratch;
  RandomCalls calls(*scratch.store, seed);
  for (int i = 0; i < 150; ++i) calls.call();
  calls.close();
  return scratch.close();
}

}  // namespace
}  // namespace crawlstore::testing

int main(int argc, char** argv) {
  using namespace crawlstore::testing;
  if (argc != 4) {
    std::cerr << "usage: random_frontiers FOLDER SEED COUNT\n";
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  const std::uint64_t first = std::stoull(argv[2]);
  for (std::uint64_t seed = first; seed < first + std::stoull(argv[3]); ++seed) {
    const auto bytes = file_of(seed);
    const auto document = read_as_json(bytes);
    const std::string name = std::to_string(seed);
    put_file(folder / (name + ".crawl"), bytes);
    if (!document) {
      std::cerr << name << ": " << describe(document.error()) << '\n';
      return 1;
    }
    put_file(folder / (name + ".json"), bytes_of(document->dump(1) + '\n'));
  }
  return 0;
}
