// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Random calls of a frontier, beside a model that looks through a list: every answer, and all that
/// a reader sees after each commit, in the same process and in the next one.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/frontier_view.h>
#include <crawlstore/tools/verify.h>

#include "base/inside.h"
#include "container/reader.h"
#include "drum/memory_store.h"
#include "frontier/frontier_model.h"
#include "frontier/item_run.h"
#include "support/seeded.h"

namespace crawlstore::testing {

inline constexpr std::uint64_t kFrontierBegin = 1'000'000'000'000;  // before the wall clock

class FrontierCalls : public ::testing::Test {
 protected:
  static FrontierOptions options() {
    FrontierOptions options;
    options.default_rule = {.delay_ms = 40, .hard_ms = 10, .in_flight_max = 2};
    options.checkpoint_bytes = 3000;
    return options;
  }
  explicit FrontierCalls(bool has_own_ids = false) {
    auto all = options();
    all.has_own_ids = has_own_ids;
    frontier_.emplace(must(Frontier::open(*store_, "f", all)));
  }

  std::string some_key() { return "host" + std::to_string(random_.below(12)); }
  void put() {
    std::vector<std::string> texts;
    std::vector<FrontierItem> items;
    const std::size_t count = random_.below(8);
    for (std::size_t i = 0; i < count; ++i) {
      texts.push_back(some_key());
      texts.push_back(std::string(random_.below(20), static_cast<char>('a' + random_.below(26))));
    }
    for (std::size_t i = 0; i < count; ++i) {
      const double priority = static_cast<double>(random_.below(6)) - 3;
      const std::uint64_t later = random_.one_in(4) ? now_ + random_.below(later_ms_) : 0;
      items.push_back({texts[2 * i], priority, texts[2 * i + 1], later});
    }
    put(items);
  }
  void put(const std::vector<FrontierItem>& items) {
    const std::uint64_t next_id = model_.next_id();
    const auto done = must(frontier_->put(items));
    std::vector<std::size_t> refused;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!model_.put(items[i])) refused.push_back(i);
    }
    EXPECT_EQ(done.first_id, next_id);
    EXPECT_EQ(done.refused, refused);
    refused_count_ += refused.size();
  }
  void take() {
    now_ += random_.below(60);
    TakeOptions options;
    options.count = random_.below(6);
    options.per_group = static_cast<std::uint32_t>(1 + random_.below(3));
    options.lease_ms = random_.one_in(5) ? 0 : 1 + random_.below(200);
    options.now_ms = now_;
    if (random_.one_in(3)) options.order = TakeOrder::kLongestWaiting;
    const std::string key = some_key();
    if (random_.one_in(4)) options.group = key;
    if (random_.one_in(3)) options.groups_max = random_.below(4);
    if (random_.one_in(3)) options.in_flight_max = static_cast<std::uint32_t>(random_.below(3));
    const auto taken = must(frontier_->take(options));
    const auto expected = model_.take(options);
    ASSERT_EQ(taken.size(), expected.size());
    for (std::size_t i = 0; i < taken.size(); ++i) {
      EXPECT_EQ(taken[i].id, expected[i].id);
      EXPECT_EQ(taken[i].group, expected[i].group);
      EXPECT_EQ(taken[i].priority, expected[i].priority);
      EXPECT_EQ(taken[i].body, expected[i].body);
      EXPECT_EQ(taken[i].attempt, expected[i].attempt);
    }
  }
  std::uint64_t some_id() { return random_.below(model_.next_id() + 2); }
  void change() {
    const std::uint64_t id = some_id();
    switch (random_.below(8)) {
      case 6:
        return remove(id);
      case 7:
        return update(id);
      case 0:
      case 1:
        must(frontier_->finish(std::vector{id, some_leased(), id}, now_));
        model_.finish(id, now_);
        return model_.finish(last_leased_, now_);
      case 2: {
        now_ += random_.below(20);
        const GivenBack back{some_leased(), random_.one_in(3) ? now_ + random_.below(99) : 0,
                             random_.one_in(2)};
        must(frontier_->give_back(std::vector{back}, now_));
        return model_.give_back(back, now_);
      }
      case 3: {
        const std::uint64_t until = random_.one_in(4) ? 0 : now_ + random_.below(500) - 50;
        must(frontier_->extend(std::vector{some_leased()}, until, now_));
        return model_.extend(last_leased_, until, now_);
      }
      case 4: {
        return set_rule(random_.one_in(4) ? some_parent() : some_key());
      }
      default: {
        if (!random_.one_in(8)) return;
        const std::string key = some_key();
        must(frontier_->drop_group(key));
        return model_.drop_group(key);
      }
    }
  }
  std::optional<std::uint32_t> some_limit() {
    if (!random_.one_in(3)) return std::nullopt;
    return static_cast<std::uint32_t>(random_.below(60));
  }
  std::string some_parent() { return "address" + std::to_string(random_.below(3)); }
  void set_rule(const std::string& key) {
    const std::uint64_t delay = random_.below(60);
    FrontierRule rule{delay,
                      delay / 2,
                      static_cast<std::uint32_t>(1 + random_.below(3)),
                      static_cast<std::uint32_t>(1 + random_.below(3)),
                      random_.one_in(4) ? now_ + random_.below(90) : 0,
                      !random_.one_in(5),
                      some_limit(),
                      some_limit(),
                      {}};
    if (random_.one_in(2)) rule.parent = random_.one_in(8) ? some_key() : some_parent();
    const auto set = frontier_->set_rule(key, rule);
    EXPECT_EQ(set.has_value(), model_.set_rule(key, rule));
    if (!set) {
      EXPECT_EQ(set.error().code, Errc::kInvalidArgument);
    }
  }
  /// The group of an item, or another one.
  std::string group_of(std::uint64_t id) {
    for (const auto& item : model_.items()) {
      if (item.id == id && !random_.one_in(8)) return item.group;
    }
    return some_key();
  }
  void remove(std::uint64_t id) {
    const std::string key = group_of(id);
    const auto count = must(frontier_->remove(std::vector<FrontierKey>{{key, id}, {key, id}}));
    EXPECT_EQ(count, model_.remove(key, id) ? 1U : 0U);
  }
  void update(std::uint64_t id) {
    const std::string key = group_of(id);
    FrontierUpdate to{{key, id}, static_cast<double>(random_.below(6)) - 3, 0, {}};
    if (random_.one_in(4)) to.not_before_ms = now_ + random_.below(later_ms_);
    if (random_.one_in(2)) to.body = "other";
    EXPECT_EQ(must(frontier_->update(std::vector{to})), model_.update(to) ? 1U : 0U);
  }
  std::uint64_t some_leased() {
    std::vector<std::uint64_t> leased;
    for (const auto& item : model_.items()) {
      if (item.until) leased.push_back(item.id);
    }
    last_leased_ = leased.empty() ? some_id() : leased[random_.below(leased.size())];
    return last_leased_;
  }
  void call() {
    switch (random_.below(5)) {
      case 0:
      case 1:
        return put();
      case 2:
      case 3:
        return take();
      default:
        return change();
    }
  }

  /// Compares the newest generation, as a reader finds it, with a model.
  static void expect_in_file(MemoryStore& store, const FrontierModel& model) {
    const auto snapshot = must(Snapshot::open(open_memory_storage(store.file(), OpenMode::kRead)));
    const auto view = must(FrontierView::open(snapshot, "f"));
    std::vector<FrontierModel::Item> items;
    const auto note = [&items](const FrontierEntry& entry) {
      items.push_back({entry.id, std::string(entry.group), entry.priority, std::string(entry.body),
                       entry.not_before_ms, entry.attempt, entry.until_ms});
      return true;
    };
    must(view.for_each_lease(note));
    EXPECT_EQ(items.size(), view.info().leased_count);
    std::uint64_t group_count = 0;
    view.for_each_group([&](const FrontierGroup& group) {
      must(view.for_each_waiting(group.key, note));
      const auto& expected = model.groups().at(group.key);
      EXPECT_EQ(expected.number, group_count++);
      EXPECT_EQ(group.soft_time_ms, expected.soft);
      EXPECT_EQ(group.hard_time_ms, expected.hard);
      EXPECT_EQ(group.failure_count, expected.failures);
      EXPECT_EQ(group.put_count, expected.put_count);
      EXPECT_EQ(group.finished_count, expected.finished_count);
      EXPECT_EQ(group.rule.value_or(view.info().default_rule), expected.rule);
      return true;
    });
    EXPECT_EQ(group_count, model.groups().size());
    EXPECT_EQ(view.info().group_count, group_count);
    EXPECT_EQ(view.info().clock_ms, model.clock());
    std::ranges::sort(items, {}, &FrontierModel::Item::id);
    EXPECT_EQ(items, model.items());
  }
  /// Compares the frontier, with what no commit has, with the model.
  void expect_live() {
    std::vector<FrontierModel::Item> items;
    std::size_t number = 0;
    for (const FrontierGroup& group : frontier_->groups(0, SIZE_MAX)) {
      const auto& expected = model_.groups().at(group.key);
      EXPECT_EQ(expected.number, number++);
      EXPECT_EQ(group.soft_time_ms, expected.soft);
      EXPECT_EQ(group.finished_count, expected.finished_count);
      std::size_t count = group.waiting_count + group.later_count + group.leased_count;
      must(frontier_->for_each_item(group.key, [&](const FrontierEntry& entry) {
        items.push_back({entry.id, std::string(entry.group), entry.priority,
                         std::string(entry.body), entry.not_before_ms, entry.attempt,
                         entry.until_ms});
        --count;
        return true;
      }));
      EXPECT_EQ(count, 0U);
    }
    EXPECT_EQ(model_.groups().size(), number);
    std::ranges::sort(items, {}, &FrontierModel::Item::id);
    EXPECT_EQ(items, model_.items());
  }
  static std::size_t runs_by_time(MemoryStore& store) {
    const auto snapshot = must(Snapshot::open(open_memory_storage(store.file(), OpenMode::kRead)));
    container::Reader& reader = Inside::of(snapshot);
    std::size_t count = 0;
    reader.directory().for_each_segment([&](const format::SegmentEntry& segment) {
      if (segment.kind != SegmentKind::kFrontierItems) return;
      for (const format::RunRef& run : segment.runs) {
        const auto items = must(frontier::ItemRun::open(
            std::make_shared<const container::Run>(reader.run_reader(segment.id, run))));
        count += items->is_by_time() ? 1 : 0;
      }
    });
    return count;
  }
  std::optional<std::uint64_t> due_in_file() {
    must(store_->commit());
    const auto snapshot = must(Snapshot::open(open_memory_storage(store_.file(), OpenMode::kRead)));
    return must(FrontierView::open(snapshot, "f")).next_due_ms();
  }
  std::size_t item_run_count() {
    const auto snapshot = must(Snapshot::open(open_memory_storage(store_.file(), OpenMode::kRead)));
    for (const SegmentInfo& segment : snapshot.segments()) {
      if (segment.kind == SegmentKind::kFrontierItems) return segment.runs.size();
    }
    return std::size_t{0};
  }
  void expect_whole() {
    VerifyOptions deep;
    deep.level = VerifyLevel::kDeep;
    const auto report = must(verify(*open_memory_storage(store_.file(), OpenMode::kRead), deep));
    for (const Finding& finding : report.findings) ADD_FAILURE() << describe(finding);
  }
  void reopen() {
    must(frontier_->close());
    frontier_.reset();
    store_.reopen();
    frontier_.emplace(must(Frontier::open(*store_, "f", options())));
  }

  SeededRandom random_;
  MemoryStore store_;
  std::optional<Frontier> frontier_;
  FrontierModel model_{options().default_rule};
  std::uint64_t now_ = kFrontierBegin;
  std::uint64_t later_ms_ = 300;
  std::uint64_t last_leased_ = 0;
  std::uint64_t refused_count_ = 0;
};

}  // namespace crawlstore::testing
