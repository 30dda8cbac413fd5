// SPDX-License-Identifier: Apache-2.0
//
// Two states compared as maps are, and no more read than what changed.
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include <crawlstore/tools/diff.h>
#include <crawlstore/url_seen.h>

#include "drum/memory_store.h"
#include "support/recording_storage.h"

namespace crawlstore::testing {
namespace {

using Bytes = std::vector<std::byte>;
using Content = std::map<Key16, Bytes>;

struct KeyChange {
  Change change{};
  Bytes old_value;
  Bytes new_value;
  bool operator==(const KeyChange&) const = default;
};

/// The differences that diff() told.
struct Told {
  DiffReport report;
  std::map<Key16, KeyChange> keys;
  std::map<std::uint64_t, Change> requests;  // by sequence
  std::vector<SegmentDiff> segments;
  std::vector<BucketDiff> buckets;

  [[nodiscard]] DiffSink sink() {
    DiffSink into;
    into.key = [this](const KeyDiff& key) {
      EXPECT_EQ(key.drum, "keys");
      keys[key.key] = {key.change,
                       {key.old_value.begin(), key.old_value.end()},
                       {key.new_value.begin(), key.new_value.end()}};
    };
    into.request = [this](const RequestDiff& request) {
      requests[request.sequence] = request.change;
    };
    into.segment = [this](const SegmentDiff& segment) { segments.push_back(segment); };
    into.bucket = [this](const BucketDiff& bucket) { buckets.push_back(bucket); };
    return into;
  }
};

Told compare(const Snapshot& older, const Snapshot& newer) {
  Told told;
  told.report = must(diff(older, newer, told.sink()));
  return told;
}

/// A DRUM with values of any length.
struct World {
  explicit World(std::uint32_t bucket_count = 4, std::uint16_t key_bytes = 8,
                 std::int32_t value_bytes = -1) {
    DrumOptions options;
    options.bucket_count = bucket_count;
    options.key_bytes = key_bytes;
    options.partition_keys_max = 1000;
    options.auto_merge = false;
    drum = must(DrumCore::open(*store, "keys", value_bytes, options));
    drum->attach({}, [](std::span<const RawAnswer>) {});
  }
  void update(Key16 key, const Bytes& value = {}) {
    must(drum->submit(RawRequest{DrumOperation::kUpdate, {}, key.head, value, {}, key.tail}));
  }
  /// Random keys and values, merged.
  void merge_random(std::uint64_t seed, std::size_t count, Content& content) {
    std::mt19937_64 random(seed);
    for (std::size_t i = 0; i < count; ++i) {
      const Key16 key(random() % 5000 << 51, key_bytes() == 16 ? random() % 3 : 0);
      const Bytes value(random() % 4, static_cast<std::byte>(random() % 3));
      update(key, value);
      content[key] = value;
    }
    must(drum->merge());
  }
  [[nodiscard]] std::uint16_t key_bytes() const { return drum->key_bytes(); }
  Snapshot snapshot() {
    must(store->commit());
    return must(store->snapshot());
  }

  MemoryStore store;
  std::shared_ptr<DrumCore> drum;
};

std::map<Key16, KeyChange> expected_changes(const Content& older, const Content& newer) {
  std::map<Key16, KeyChange> changes;
  for (const auto& [key, value] : older) {
    const auto place = newer.find(key);
    if (place == newer.end()) {
      changes[key] = {Change::kGone, value, {}};
    } else if (place->second != value) {
      changes[key] = {Change::kChanged, value, place->second};
    }
  }
  for (const auto& [key, value] : newer) {
    if (!older.contains(key)) changes[key] = {Change::kAdded, {}, value};
  }
  return changes;
}

void expect_keys(const Told& told, const Content& older, const Content& newer) {
  const auto expected = expected_changes(older, newer);
  EXPECT_TRUE(told.keys == expected);
  const auto count = [&expected](Change change) {
    return static_cast<std::uint64_t>(
        std::count_if(expected.begin(), expected.end(),
                      [change](const auto& entry) { return entry.second.change == change; }));
  };
  const DrumDiff& drum = told.report.drums.at(0);
  EXPECT_EQ(drum.added_key_count, count(Change::kAdded));
  EXPECT_EQ(drum.gone_key_count, count(Change::kGone));
  EXPECT_EQ(drum.changed_value_count, count(Change::kChanged));
  EXPECT_EQ(drum.old_key_count, older.size());
  EXPECT_EQ(drum.new_key_count, newer.size());
  EXPECT_EQ(told.report.differs(), !expected.empty());
}

TEST(Diff, FindsNothingBetweenAStateAndItself) {
  World world;
  Content content;
  world.merge_random(1, 500, content);
  world.update(7);
  const auto snapshot = world.snapshot();
  const auto told = compare(snapshot, snapshot);
  EXPECT_FALSE(told.report.differs());
  EXPECT_TRUE(told.report.is_same_store);
  EXPECT_TRUE(told.keys.empty() && told.requests.empty() && told.segments.empty());
  EXPECT_EQ(told.report.drums.at(0).old_key_count, content.size());
}

TEST(Diff, ComparesKeysAndValuesWhateverWasSplit) {
  for (const std::uint16_t key_bytes : {std::uint16_t{8}, std::uint16_t{16}}) {
    World world(4, key_bytes);
    Content older;
    world.merge_random(1, 1500, older);
    const auto before = world.snapshot();
    Content newer = older;
    world.merge_random(2, 6000, newer);
    const auto after = world.snapshot();
    ASSERT_GT(must(DrumView::open(after, "keys")).buckets().size(), 4U) << "nothing was split";
    expect_keys(compare(before, after), older, newer);
    expect_keys(compare(after, before), newer, older);
  }
}

TEST(Diff, ComparesStatesThatWentOnApart) {
  // Same uuid, same ids of segments and runs, other content: as two copies of one file.
  World one(4);
  Content older;
  one.merge_random(3, 2000, older);
  for (const std::uint32_t bucket_count : {4U, 8U}) {
    World other(bucket_count);
    Content newer;
    other.merge_random(4, 2000, newer);
    expect_keys(compare(one.snapshot(), other.snapshot()), older, newer);
    World equal(bucket_count);
    Content same;
    equal.merge_random(3, 2000, same);
    EXPECT_TRUE(compare(one.snapshot(), equal.snapshot()).keys.empty());
  }
}

TEST(Diff, ReadsOnlyWhatChanged) {
  World world(64, 8, 0);
  std::mt19937_64 random(5);
  for (int i = 0; i < 40'000; ++i) world.update(random());
  must(world.drum->merge());
  const auto image = [&world] {
    must(world.store->commit());
    return world.store.image();
  };
  const auto before = image();
  world.update(12345);
  must(world.drum->merge());
  const auto after = image();
  const auto snapshot = [](const Bytes& file) {
    return must(Snapshot::open(open_memory_storage(make_memory_file(file), OpenMode::kRead)));
  };
  const auto older = snapshot(before);
  const auto newer = snapshot(after);
  const auto read_before = newer.counters().bytes_read;
  const auto told = compare(older, newer);
  EXPECT_EQ(told.report.drums.at(0).added_key_count, 1U);
  EXPECT_EQ(told.keys.begin()->first, Key16{12345});
  EXPECT_LT(newer.counters().bytes_read - read_before,
            told.report.drums.at(0).new_key_count * 8 / 10);
}

TEST(Diff, TellsRequestsThatCameAndWent) {
  World world(4);
  for (std::uint64_t i = 0; i < 100; ++i) world.update(i << 57);
  const auto first = world.snapshot();
  for (std::uint64_t i = 0; i < 30; ++i) world.update(i);
  const auto second = world.snapshot();
  must(world.drum->merge());
  const auto third = world.snapshot();

  auto told = compare(first, second);
  EXPECT_EQ(told.report.drums.at(0).added_request_count, 30U);
  EXPECT_EQ(told.report.drums.at(0).gone_request_count, 0U);
  EXPECT_EQ(told.requests.size(), 30U);
  ASSERT_EQ(told.buckets.size(), 1U);
  EXPECT_EQ(told.buckets[0].first_key, 0U);
  EXPECT_EQ(told.buckets[0].added_count, 30U);

  told = compare(second, third);
  EXPECT_EQ(told.report.drums.at(0).gone_request_count, 130U);
  EXPECT_EQ(told.report.drums.at(0).added_key_count, 129U);  // 0 came twice
  EXPECT_EQ(told.requests.size(), 130U);
  EXPECT_TRUE(std::all_of(told.requests.begin(), told.requests.end(),
                          [](const auto& entry) { return entry.second == Change::kGone; }));
}

TEST(Diff, ListsSegmentsWithTheirRuns) {
  World world(1);
  world.update(1);
  const auto before = world.snapshot();
  world.update(2);
  const auto after = world.snapshot();
  const auto told = compare(before, after);
  std::map<SegmentKind, SegmentDiff> by_kind;
  for (const auto& segment : told.segments) by_kind[segment.kind] = segment;
  EXPECT_EQ(by_kind.size(), 2U);
  const SegmentDiff& log = by_kind[SegmentKind::kDrumKeyLog];
  EXPECT_EQ(log.change, Change::kChanged);
  EXPECT_GE(log.added_runs.size(), 1U);
  EXPECT_GT(log.new_bytes, 0U);
  EXPECT_EQ(by_kind[SegmentKind::kDrum].gone_runs.size(), 1U);
  EXPECT_EQ(told.report.changed_segment_count, 2U);

  must(world.drum->merge());
  const auto merged = compare(after, world.snapshot());
  EXPECT_EQ(merged.report.added_segment_count, 1U);  // the partition
  EXPECT_EQ(merged.report.gone_segment_count, 1U);   // the log
}

TEST(Diff, TellsAllKeysOfADrumThatOneStateHas) {
  World world(2);
  Content content;
  const auto before = must(world.store->snapshot());
  world.merge_random(6, 300, content);
  const auto after = world.snapshot();
  auto told = compare(before, after);
  EXPECT_TRUE(told.report.drums.at(0).in_new);
  EXPECT_EQ(told.keys.size(), content.size());
  EXPECT_TRUE(told.report.differs());
  told = compare(after, before);
  EXPECT_EQ(told.report.drums.at(0).gone_key_count, content.size());
}

TEST(Diff, ComparesNothingInDrumsOfOtherShapes) {
  World narrow(2, 8, 0);
  World wide(2, 16, 0);
  narrow.update(1);
  wide.update(1);
  const auto told = compare(narrow.snapshot(), wide.snapshot());
  EXPECT_TRUE(told.report.drums.at(0).shape_differs);
  EXPECT_TRUE(told.report.differs());
  EXPECT_TRUE(told.requests.empty());
}

/// Keys of URLs that were hashed with other seeds would all be gone, and as many others added.
TEST(Diff, ComparesNothingInDrumsOfUrlsWithOtherSeeds) {
  const auto snapshot_with = [](std::uint64_t key_seed) {
    const auto file = make_memory_file({}, std::uint64_t{1} << 28);
    auto identity = must(container::make_identity(kFixedTimeUs));
    identity.key_seed = key_seed;
    must(container::write_empty_store(*open_memory_storage(file, OpenMode::kWrite), identity,
                                      kFixedTimeUs));
    MemoryStore store(contents(*file));
    auto seen = must(UrlSeen::open(*store, "urls", {}));
    must(seen.check_update("http://a.org/"));
    must(store->commit());
    return must(store->snapshot());
  };
  const auto found = [&](std::uint64_t old_seed, std::uint64_t new_seed) {
    return must(diff(snapshot_with(old_seed), snapshot_with(new_seed))).drums.at(0);
  };
  EXPECT_FALSE(found(5, 5).differs());
  EXPECT_TRUE(found(5, 6).seed_differs && found(5, 6).differs());
  EXPECT_EQ(found(5, 6).added_request_count, 0U);
}

TEST(Diff, TellsHowFarItIsAndStopsWhenToldTo) {
  World world(4, 8, 0);
  std::mt19937_64 random(7);
  for (int i = 0; i < 100'000; ++i) world.update(random());
  const auto before = world.snapshot();
  must(world.drum->merge());
  const auto after = world.snapshot();
  DiffOptions options;
  std::vector<std::uint64_t> told;
  options.progress = [&told](std::uint64_t done, std::uint64_t total) {
    EXPECT_EQ(total, 200'000U);  // as many requests as keys
    told.push_back(done);
    return true;
  };
  must(diff(before, after, {}, options));
  EXPECT_GE(told.size(), 2U);
  EXPECT_EQ(told.back(), 200'000U);
  options.progress = [](std::uint64_t, std::uint64_t) { return false; };
  EXPECT_EQ(diff(before, after, {}, options).error().code, Errc::kCancelled);
}

TEST(Diff, SaysInWhichStateTheDamageIs) {
  World world(1, 8, 0);
  const auto before = world.snapshot();
  for (std::uint64_t i = 0; i < 2000; ++i) world.update(i << 40);
  must(world.drum->merge());
  must(world.store->commit());
  std::uint64_t offset = 0;
  for (const auto& segment : must(world.store->snapshot()).segments()) {
    if (segment.kind == SegmentKind::kDrumPartition) offset = segment.runs[0].extent.offset_bytes;
  }
  auto image = world.store.image();
  image[offset + 300] ^= std::byte{4};
  const auto after =
      must(Snapshot::open(open_memory_storage(make_memory_file(image), OpenMode::kRead)));
  std::vector<bool> in_new;
  DiffSink sink;
  sink.failed = [&in_new](bool is_new) { in_new.push_back(is_new); };
  for (const auto& result : {diff(before, after, sink), diff(after, before, sink)}) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::kChunkDamaged);
    EXPECT_EQ(result.error().offset, offset);
  }
  EXPECT_EQ(in_new, (std::vector{true, false}));
}

}  // namespace
}  // namespace crawlstore::testing
