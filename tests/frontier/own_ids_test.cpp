// SPDX-License-Identifier: Apache-2.0
//
// Frontiers whose items have ids of the caller's.
#include <set>

#include "frontier/frontier_calls.h"

namespace crawlstore::testing {
namespace {

class OwnIds : public FrontierCalls {
 protected:
  OwnIds() : FrontierCalls(true) {}
};

/// Ids come again when they wait no more, as those of pages do.
TEST_F(OwnIds, AreThoseOfTheCaller) {
  for (int round = 0; round < 300 && !HasFailure(); ++round) {
    std::set<std::uint64_t> used;
    for (const auto& item : model_.items()) used.insert(item.id);
    std::vector<std::string> keys;
    std::vector<FrontierItem> items;
    for (int i = 0; i < 12; ++i) keys.push_back(some_key());
    for (const std::string& key : keys) {
      const std::uint64_t id = random_.below(500);
      if (!used.insert(id).second) continue;
      items.push_back({key, static_cast<double>(random_.below(50)), {}, 0, id});
    }
    must(frontier_->put(items));
    for (const FrontierItem& item : items) model_.put(item);
    take();
    change();
    change();
    if (random_.one_in(4)) must(store_->commit());
    if (random_.one_in(20)) reopen();
  }
  must(store_->commit());
  expect_in_file(store_, model_);
  expect_whole();
}

TEST_F(OwnIds, AreRefusedWhereTheyAreNotWanted) {
  const auto code = [](Frontier& frontier, const FrontierItem& item) {
    const auto put = frontier.put(std::vector{item});
    return put ? Errc{} : put.error().code;
  };
  EXPECT_EQ(code(*frontier_, {"a"}), Errc::kInvalidArgument);
  EXPECT_EQ(code(*frontier_, {"a", 0, {}, 0, std::uint64_t{1} << 63}), Errc::kInvalidArgument);
  EXPECT_EQ(code(*frontier_, {"a", 0, {}, 0, 7}), Errc{});
  EXPECT_EQ(must(frontier_->take({.now_ms = now_})).size(), 1U);
  EXPECT_EQ(code(*frontier_, {"a", 0, {}, 0, 7}), Errc::kInvalidArgument) << "it is leased";
  auto given = must(Frontier::open(*store_, "given", options()));
  EXPECT_EQ(code(given, {"a", 0, {}, 0, 7}), Errc::kInvalidArgument);
  must(given.put(std::vector<FrontierItem>{{"a"}}));
  must(given.close());
  auto own = options();
  own.has_own_ids = true;
  EXPECT_EQ(Frontier::open(*store_, "given", own).error().code, Errc::kInvalidArgument);
}

/// A caller that puts what waits gets it twice, and harms nothing else.
TEST_F(OwnIds, ThatWaitTwiceDoNoHarm) {
  for (int round = 0; round < 200 && !HasFailure(); ++round) {
    for (int i = 0; i < 20; ++i) {
      const std::string key = some_key();
      const std::uint64_t later = random_.one_in(4) ? now_ + random_.below(200) : 0;
      const FrontierItem item{key,
                              static_cast<double>(random_.below(4)),
                              {},
                              later,
                              random_.below(round % 2 == 0 ? 100 : 5)};
      (void)frontier_->put(std::vector{item});  // refused when its item was taken
    }
    now_ += 20;
    const auto taken = must(frontier_->take({10, 4, 100, now_}));
    std::set<std::uint64_t> ids;
    for (const TakenItem& item : taken) EXPECT_TRUE(ids.insert(item.id).second);
    if (!taken.empty()) must(frontier_->finish(std::vector{taken[0].id}, now_));
    if (taken.size() > 1) {
      must(frontier_->give_back(std::vector<GivenBack>{{taken[1].id, now_ + 30, true}}, now_));
    }
    must(frontier_->remove(std::vector<FrontierKey>{{some_key(), random_.below(100)}}));
    const std::string key = some_key();
    const FrontierUpdate to{{key, random_.below(5)}, 1, 0, {}};
    must(frontier_->update(std::vector{to}));
    if (random_.one_in(20)) reopen();
  }
  must(store_->commit());
  expect_whole();
}

}  // namespace
}  // namespace crawlstore::testing
