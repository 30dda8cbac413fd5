// SPDX-License-Identifier: Apache-2.0
//
// A frontier whose piece, the only one, has a damaged chunk: recover() keeps the groups in front of
// it, as they are in the whole file. The oracle reads the steps of the whole piece.
#include <gtest/gtest.h>

#include <crawlstore/tools/recover.h>

#include "base/inside.h"
#include "container/reader.h"
#include "drum/memory_store.h"
#include "format/step_run.h"
#include "rescue/known_frontier.h"
#include "support/seeded.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

constexpr std::uint64_t kBegin = 4'000'000'000'000;  // behind the wall clock
constexpr std::uint64_t kChunkBytes = 65'536;
constexpr std::size_t kGroups = 400;
constexpr std::size_t kItems = 4000;

/// The key of a group, which is put into in the order of numbers.
std::string key_of(std::size_t group) {
  return "host" + std::to_string(1000 + group);
}

/// A frontier with items in runs, a piece of several chunks with all kinds of steps, and a journal.
class PieceMaker {
 public:
  explicit PieceMaker(bool has_own_ids) : has_own_ids_(has_own_ids) {
    FrontierOptions options;
    options.default_rule = {.delay_ms = 40, .hard_ms = 10, .in_flight_max = 20};
    options.checkpoint_bytes = 8'000;
    options.has_own_ids = has_own_ids;
    frontier_.emplace(must(Frontier::open(*store_, "f", options)));
    put_all();
    must(store_->commit());
    work(kBegin + 1000, 2500);
    must(store_->commit());
    work(kBegin + 60'000, 60);
    put(kGroups, kItems);
    must(store_->commit());
    frontier_.reset();
    must(store_->close());
  }
  [[nodiscard]] std::vector<std::byte> image() const { return store_.image(); }

 private:
  void put_all() {
    for (std::size_t i = 0; i < kItems; ++i) put(i % kGroups, i);
  }
  void put(std::size_t group, std::size_t number) {
    const std::string key = key_of(group);
    const std::string body(100 + random_.below(300), static_cast<char>('a' + number % 26));
    const std::uint64_t later = number % 8 == 0 ? kBegin + 10'000 + random_.below(1'000'000) : 0;
    FrontierItem item{key, static_cast<double>(random_.below(100)), body, later};
    if (has_own_ids_) item.id = number * 7;
    must(frontier_->put(std::vector{item}));
  }
  /// Takes items, and ends most of them one way or another; changes some that wait.
  void work(std::uint64_t now, std::size_t count) {
    const auto taken =
        must(frontier_->take({.count = count, .per_group = 8, .lease_ms = 500'000, .now_ms = now}));
    EXPECT_EQ(taken.size(), count);
    std::vector<std::uint64_t> done;
    std::vector<GivenBack> back;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (i % 9 == 0) done.push_back(taken[i].id);
      if (i % 3 == 1) back.push_back({taken[i].id, i % 2 == 0 ? 0 : now + 500'000, i % 4 == 0});
    }
    must(frontier_->finish(done, now + 10));
    must(frontier_->give_back(back, now + 20));
    for (int i = 0; i < 40; ++i) {
      const std::size_t number = random_.below(kItems / 8) * 8;
      const std::string key = key_of(number % kGroups);
      must(frontier_->set_rule(key, {.delay_ms = 77, .hard_ms = 7, .in_flight_max = 30}));
      const FrontierKey item{key, number * (has_own_ids_ ? 7 : 1)};
      if (i % 2 == 0) must(frontier_->remove(std::vector{item}));
      must(frontier_->update(std::vector<FrontierUpdate>{{item, 50, 0, "other"}}));
    }
  }

  bool has_own_ids_;
  Random random_{test_seed()};
  MemoryStore store_;
  std::optional<Frontier> frontier_;
};

class RepairPieces : public ::testing::TestWithParam<bool> {
 protected:
  RepairPieces() : image_(PieceMaker(GetParam()).image()) {
    write_file(folder_ / "x", image_);
    whole_.emplace(folder_ / "x");
    read_piece();
  }

  /// The group of the last step that lies wholly in the first bytes of the piece.
  [[nodiscard]] std::uint32_t last_group_in(std::uint64_t bytes) const {
    auto steps = must(format::StepReader::open(payload_));
    format::StepWriter writer(steps.run());
    std::uint32_t group = 0;
    for (format::Step step; must(steps.next(step));) {
      writer.append(step);
      if (writer.payload_bytes() > bytes) return group;
      std::visit(
          [&group](const auto& one) {
            if constexpr (requires { one.group; }) group = one.group;
          },
          step);
    }
    return group;
  }
  std::vector<Loss> recover_with(std::uint64_t place) {
    auto bytes = image_;
    bytes[piece_.offset_bytes + place] ^= std::byte{1};
    write_file(folder_ / "x", bytes);
    std::filesystem::remove(folder_ / "new");
    return must(recover(folder_ / "x", folder_ / "new")).losses;
  }
  /// The whole frontier without the groups of the piece from `end` on.
  [[nodiscard]] Content content_below(std::uint32_t end) const {
    Content content = *whole_;
    const auto is_lost = [end](const std::string& key) {
      return key >= key_of(end) && key < key_of(kGroups);
    };
    std::erase_if(content.groups, [&](const auto& of) { return is_lost(of.first); });
    std::erase_if(content.items, [&](const auto& of) { return is_lost(of.second.group); });
    return content;
  }

  TemporaryFolder folder_;
  std::vector<std::byte> image_;
  std::optional<Content> whole_;
  format::RunRef piece_;
  std::vector<std::byte> payload_;  // of the piece

 private:
  void read_piece() {
    const auto snapshot = must(Snapshot::open(folder_ / "x"));
    auto& reader = Inside::of(snapshot);
    reader.directory().for_each_segment([&](const format::SegmentEntry& entry) {
      if (entry.kind != SegmentKind::kFrontierSteps) return;
      ASSERT_GE(entry.runs.size(), 2U) << "a piece, and journals behind it";
      piece_ = entry.runs.front();
      const auto name = container::run_name(reader.identity(), entry.id, piece_.run_id);
      must(container::read_run(*reader.storage(), name, piece_, payload_));
    });
    const auto run = must(format::StepReader::open(payload_)).run();
    EXPECT_EQ(run, format::piece_of(0, kGroups, run.first_step)) << "of all groups";
  }
};

TEST_P(RepairPieces, KeepTheGroupsInFrontOfTheDamage) {
  ASSERT_GT(payload_.size(), 5 * kChunkBytes);
  std::uint32_t last_end = 0;
  for (std::uint64_t at = 0; at < payload_.size(); at += kChunkBytes) {
    const auto losses = recover_with(at + 7);
    const std::uint32_t end = at == 0 ? 0 : last_group_in(at);
    EXPECT_GE(end, last_end);
    last_end = end;
    const Content expected = content_below(end);
    const Content found(folder_ / "new");
    EXPECT_EQ(found.groups, expected.groups) << at;
    EXPECT_EQ(found.items, expected.items) << at;
    EXPECT_EQ(found.clock, expected.clock) << at;
    ASSERT_EQ(losses.size(), 1U) << at;
    EXPECT_EQ(losses[0].part, LostPart::kItems);
    EXPECT_EQ(losses[0].count, whole_->items.size() - found.items.size()) << at;
    EXPECT_EQ(losses[0].error.offset, piece_.offset_bytes);
  }
  EXPECT_GT(last_end, kGroups * 3 / 4);
}

/// Every kind of step is there that a piece may have, so that none is passed over untested.
TEST_P(RepairPieces, HaveAllKindsOfSteps) {
  std::set<std::size_t> kinds;
  auto steps = must(format::StepReader::open(payload_));
  for (format::Step step; must(steps.next(step));) kinds.insert(step.index());
  EXPECT_EQ(kinds.size(), 9U);
}

INSTANTIATE_TEST_SUITE_P(All, RepairPieces, ::testing::Bool());

}  // namespace
}  // namespace crawlstore::testing
