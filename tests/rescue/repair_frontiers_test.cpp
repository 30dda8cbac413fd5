// SPDX-License-Identifier: Apache-2.0
//
// A frontier with a byte turned, here and there: what recover() makes of it has nothing that was
// not there, and lacks what the losses say.
#include <map>

#include <gtest/gtest.h>

#include <crawlstore/tools/recover.h>
#include <crawlstore/tools/verify.h>

#include "drum/memory_store.h"
#include "rescue/known_frontier.h"
#include "support/seeded.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

constexpr std::uint64_t kBegin = 1'000'000'000'000;  // before the wall clock
constexpr std::size_t kItems = 20'000;
constexpr std::size_t kGroups = 300;
constexpr std::size_t kKeyBytes = 1500;
constexpr std::uint64_t kChunkBytes = 65'536;

/// Makes a frontier with items in two runs at least, and some steps behind them.
class MadeFrontier {
 public:
  explicit MadeFrontier(bool has_own_ids) : has_own_ids_(has_own_ids) {
    FrontierOptions options;
    options.default_rule = {.delay_ms = 40, .hard_ms = 10, .in_flight_max = 3};
    options.checkpoint_bytes = 100'000;
    options.has_own_ids = has_own_ids;
    frontier_.emplace(must(Frontier::open(*store_, "f", options)));
    put(kItems / 2, kGroups / 3 * 2);
    work(kBegin, 400);
    put(kItems / 2, kGroups);
    must(store_->commit());
    work(kBegin + 100'000, 150);
    put(20, kGroups);
    must(store_->commit());
    frontier_.reset();
    must(store_->close());
  }
  [[nodiscard]] std::vector<std::byte> image() const { return store_.image(); }

 private:
  /// Long keys: they need several chunks. Those of a frontier with own ids can be compressed.
  [[nodiscard]] std::string key_of(std::uint64_t number) const {
    Random random(number);
    std::string key = "host" + std::to_string(number) + '.';
    const std::size_t random_count = has_own_ids_ ? 800 : kKeyBytes;
    while (key.size() < kKeyBytes) {
      key.push_back(key.size() < random_count ? static_cast<char>(random.below(256)) : 'x');
    }
    return key;
  }

  void put(std::size_t count, std::size_t group_count) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count; ++i) {
      texts.push_back(key_of(random_.below(group_count)));
      std::string body;
      for (std::size_t k = 20 + random_.below(60); k != 0; --k) {
        body.push_back(static_cast<char>(random_.below(256)));
      }
      texts.push_back(body);
    }
    std::vector<FrontierItem> items;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t later = random_.below(8) == 0 ? kBegin + random_.below(1'000'000) : 0;
      items.push_back(
          {texts[2 * i], static_cast<double>(random_.below(100)), texts[2 * i + 1], later});
      if (has_own_ids_) items.back().id = next_id_++ * 7;
    }
    must(frontier_->put(items));
  }
  /// Takes items, and ends most of them one way or another; changes some that wait.
  void work(std::uint64_t now, std::size_t count) {
    const auto taken =
        must(frontier_->take({.count = count, .per_group = 3, .lease_ms = 500'000, .now_ms = now}));
    EXPECT_GT(taken.size(), count / 2);
    std::vector<std::uint64_t> done;
    std::vector<GivenBack> back;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (i % 3 == 0) done.push_back(taken[i].id);
      if (i % 5 == 1) back.push_back({taken[i].id, i % 2 == 0 ? 0 : now + 5000, i % 4 == 0});
    }
    must(frontier_->finish(done, now + 10));
    must(frontier_->give_back(back, now + 20));
    must(frontier_->extend(std::vector{taken.back().id}, now + 900'000, now + 30));
    must(frontier_->set_rule(key_of(random_.below(kGroups)), {.delay_ms = 77, .hard_ms = 7}));
    must(frontier_->drop_group(key_of(random_.below(kGroups))));
    for (int i = 0; i < 60; ++i) {
      const std::string key = key_of(random_.below(kGroups));
      const std::uint64_t id = random_.below(kItems) * (has_own_ids_ ? 7 : 1);
      must(frontier_->remove(std::vector<FrontierKey>{{key, id}}));
      must(frontier_->update(std::vector<FrontierUpdate>{{{key, id + 7}, 50, 0, "other"}}));
    }
  }

  bool has_own_ids_;
  std::uint64_t next_id_ = 0;
  Random random_{test_seed()};
  MemoryStore store_;
  std::optional<Frontier> frontier_;
};

class RepairFrontiers : public ::testing::TestWithParam<bool> {
 protected:
  RepairFrontiers() : image_(MadeFrontier(GetParam()).image()) {
    write_file(folder_ / "x", image_);
    content_.emplace(folder_ / "x");
    const auto snapshot = must(Snapshot::open(folder_ / "x"));
    for (const auto& segment : snapshot.segments()) segments_[segment.kind] = segment;
  }

  /// Recovers the file with a byte turned at each of these places. Returns how many items the new
  /// file lacks; nothing: it has no frontier.
  std::optional<std::uint64_t> lost_with(const std::vector<std::uint64_t>& places) {
    auto bytes = image_;
    for (const std::uint64_t place : places) bytes[place] ^= std::byte{1};
    write_file(folder_ / "x", bytes);
    const std::string path = folder_ / "new";
    std::filesystem::remove(path);
    const auto report = must(recover(folder_ / "x", path));
    std::uint64_t told = 0;
    for (const Loss& loss : report.losses) {
      if (loss.part == LostPart::kFrontier) return std::nullopt;
      EXPECT_EQ(loss.part, LostPart::kItems);
      EXPECT_EQ(loss.name, "f");
      told += loss.count;
    }
    const Content& found = found_.emplace(path);
    check_part(found);
    const std::uint64_t lost = content_->items.size() - found.items.size();
    EXPECT_EQ(told, lost);
    check_use(path, found);
    return lost;
  }
  /// Items that visits of the journal may have taken, 50 of three items each: all of them may, once
  /// items that have come out of a run by time are lost; of another run a chunk has some 45 of 300
  /// groups, by far not 20 of those visited. With own ids the n-th such visit may have taken 3 * n.
  static std::uint64_t in_doubt(const RunInfo& run) {
    const std::uint64_t visits = run.record_count < kItems / 8 ? 50 : 20;
    return GetParam() ? 3 * visits * (visits + 1) / 2 : 3 * visits;
  }
  /// Checks that what is there was there.
  void check_part(const Content& found) const {
    EXPECT_EQ(found.clock, content_->clock);
    for (const auto& [id, item] : found.items) {
      const auto whole = content_->items.find(id);
      ASSERT_NE(whole, content_->items.end()) << id;
      EXPECT_EQ(whole->second, item) << id;
    }
    for (const auto& [key, of] : found.groups) EXPECT_TRUE(content_->groups.contains(key)) << key;
  }
  /// The new file can be worked with.
  static void check_use(const std::string& path, const Content& found) {
    auto store = must(Store::open(path));
    {
      auto frontier = must(Frontier::open(store, "f"));
      const auto taken = must(frontier.take({.count = 50, .now_ms = kBegin + 200'000}));
      EXPECT_GE(taken.size(), std::min<std::size_t>(50, found.items.size() / 1000));
      for (const auto& item : taken) EXPECT_EQ(found.items.at(item.id).body, item.body);
    }
    must(store.close());
  }

  TemporaryFolder folder_;
  std::vector<std::byte> image_;
  std::optional<Content> content_;
  std::optional<Content> found_;  // of the new file
  std::map<SegmentKind, SegmentInfo> segments_;
};

TEST_P(RepairFrontiers, KeepsAllThatIsWhole) {
  EXPECT_EQ(lost_with({}), 0U);
  EXPECT_GE(segments_[SegmentKind::kFrontierItems].runs.size(), 2U);
  EXPECT_EQ(found_->groups, content_->groups);
}

/// But for the last ones, in which the directory lies.
TEST_P(RepairFrontiers, LosesTheItemsOfAChunk) {
  for (const RunInfo& run : segments_[SegmentKind::kFrontierItems].runs) {
    const double bytes_an_item =
        static_cast<double>(run.payload_bytes) / static_cast<double>(run.record_count);
    const auto most = static_cast<std::uint64_t>(1.2 * (kChunkBytes + 8192) / bytes_an_item);
    for (std::uint64_t at = 0; at + kChunkBytes + 8192 < run.payload_bytes; at += kChunkBytes) {
      const auto lost = lost_with({run.extent.offset_bytes + at});
      ASSERT_TRUE(lost) << at;
      EXPECT_LE(*lost, most + in_doubt(run)) << at;
    }
  }
}

/// A visit may have taken items of the run: then others that may have been taken go, too.
TEST_P(RepairFrontiers, LosesARunWithoutItsDirectory) {
  const bool has_own_ids = GetParam();
  for (const RunInfo& run : segments_[SegmentKind::kFrontierItems].runs) {
    const auto lost = lost_with({run.extent.offset_bytes + run.payload_bytes - 1});
    ASSERT_TRUE(lost);
    EXPECT_LE(*lost, run.record_count / (has_own_ids ? 4 : 50) + run.record_count + in_doubt(run));
  }
}

TEST_P(RepairFrontiers, LosesGroupsWithoutKeys) {
  const auto& runs = segments_[SegmentKind::kFrontierGroups].runs;
  ASSERT_EQ(runs.size(), 2U);
  for (const RunInfo& run : runs) {
    ASSERT_GT(run.payload_bytes, kChunkBytes);
    for (std::uint64_t at = 50; at < run.payload_bytes; at += kChunkBytes) {
      ASSERT_TRUE(lost_with({run.extent.offset_bytes + at}));
      const std::uint64_t lost_count = content_->groups.size() - found_->groups.size();
      EXPECT_GT(lost_count, 0U);
      // The lengths of the keys are in the first chunk. A block has as many bytes as a chunk.
      const std::uint64_t most = 3 * kChunkBytes / kKeyBytes + 2;
      EXPECT_LE(lost_count, at == 50 ? run.record_count : most);
      for (const auto& [key, of] : found_->groups) EXPECT_EQ(of, content_->groups.at(key)) << key;
      for (const auto& [id, item] : content_->items) {
        EXPECT_EQ(found_->items.contains(id), found_->groups.contains(item.group)) << id;
      }
    }
  }
}

TEST_P(RepairFrontiers, LosesGroupsWithTheirState) {
  const RunInfo& piece = segments_[SegmentKind::kFrontierSteps].runs.front();
  EXPECT_TRUE(lost_with({piece.extent.offset_bytes + piece.payload_bytes - 8}));
}

TEST_P(RepairFrontiers, SurvivesDamageOfMany) {
  Random random(test_seed());
  std::vector<std::uint64_t> places;
  for (const auto kind : {SegmentKind::kFrontierItems, SegmentKind::kFrontierGroups}) {
    for (const RunInfo& run : segments_[kind].runs) {
      places.push_back(run.extent.offset_bytes + random.below(run.payload_bytes));
      lost_with(places);
    }
  }
}

class RepairLimits : public ::testing::Test {
 protected:
  static constexpr std::size_t kFull = 40;  // items that are put into each group: its limit

  static std::string key_of(std::size_t group) { return "host" + std::to_string(group); }
  /// Groups that are full, of each of which an item was removed.
  static std::vector<std::byte> image_of_full_groups() {
    MemoryStore store;
    Random random(test_seed());
    std::optional<Frontier> frontier(must(Frontier::open(
        *store, "f", {.default_rule = {.put_max = kFull}, .checkpoint_bytes = 100'000})));
    for (std::size_t group = 0; group < 100; ++group) {
      std::vector<std::string> bodies(kFull, std::string(100, ' '));
      for (std::string& body : bodies) {
        for (char& letter : body) letter = static_cast<char>(random.below(256));
      }
      const std::string key = key_of(group);
      std::vector<FrontierItem> items;
      for (const std::string& body : bodies) items.push_back({key, 1, body});
      EXPECT_TRUE(must(frontier->put(items)).refused.empty());
      must(frontier->remove(std::vector<FrontierKey>{{key_of(group), group * kFull}}));
    }
    must(store->commit());
    frontier.reset();
    must(store->close());
    return store.image();
  }
  /// Recovers the file with a byte turned in the first run of items, behind a chunk.
  std::vector<Loss> lose_items() {
    auto image = image_of_full_groups();
    write_file(folder_ / "x", image);
    for (const auto& segment : must(Snapshot::open(folder_ / "x")).segments()) {
      if (segment.kind != SegmentKind::kFrontierItems) continue;
      image[segment.runs.front().extent.offset_bytes + kChunkBytes] ^= std::byte{1};
    }
    write_file(folder_ / "x", image);
    return must(recover(folder_ / "x", folder_ / "new")).losses;
  }
  /// Puts into a group what it takes. Returns how many items these were.
  static std::size_t fill(Frontier& frontier, const std::string& key) {
    return kFull -
           must(frontier.put(std::vector<FrontierItem>(kFull, {key, 1, "again"}))).refused.size();
  }

  TemporaryFolder folder_;
};

/// Removed items stay counted.
TEST_F(RepairLimits, LetWhatIsLostBePutAgain) {
  const auto losses = lose_items();
  ASSERT_EQ(losses.size(), 1U);
  ASSERT_EQ(losses[0].part, LostPart::kItems);
  std::map<std::string, std::size_t> kept;
  for (const auto& [id, item] : Content(folder_ / "new").items) ++kept[item.group];
  std::size_t put_count = 0;
  auto store = must(Store::open(folder_ / "new"));
  {
    auto frontier = must(Frontier::open(store, "f"));
    for (std::size_t group = 0; group < 100; ++group) {
      const std::size_t count = fill(frontier, key_of(group));
      EXPECT_EQ(count, kFull - 1 - kept[key_of(group)]) << group;
      put_count += count;
    }
  }
  must(store.close());
  EXPECT_EQ(put_count, losses[0].count);
  EXPECT_GT(put_count, 0U);
}

INSTANTIATE_TEST_SUITE_P(All, RepairFrontiers, ::testing::Bool());

}  // namespace
}  // namespace crawlstore::testing
