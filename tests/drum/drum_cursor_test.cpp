// SPDX-License-Identifier: Apache-2.0
//
// Windows into a DRUM show what a pass over all of it shows.
#include <future>
#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <crawlstore/tools/drum_cursor.h>

#include "drum/memory_store.h"
#include "format/key_block.h"
#include "support/recording_storage.h"

namespace crawlstore::testing {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// A DRUM and what is in it.
struct World {
  explicit World(std::int32_t value_bytes, std::uint16_t key_bytes = 8) {
    DrumOptions options;
    options.bucket_count = 8;
    options.key_bytes = key_bytes;
    options.auto_merge = false;
    drum = must(DrumCore::open(*store, "keys", value_bytes, options));
    drum->attach({}, [](std::span<const RawAnswer>) {});
  }
  void update(Key16 key, const Bytes& value = {}, const Bytes& aux = {},
              DrumOperation operation = DrumOperation::kCheckUpdate) {
    must(drum->submit(RawRequest{operation, {}, key.head, value, aux, key.tail}));
  }
  void merge() { must(drum->merge()); }
  DrumView view() {
    must(store->commit());
    return drum_view(*store, "keys");
  }

  MemoryStore store;
  std::shared_ptr<DrumCore> drum;
};

std::vector<KeyRow> all_keys(const DrumView& view) {
  std::vector<KeyRow> rows;
  must(view.for_each_key([&](Key16 key, std::span<const std::byte> value) {
    rows.push_back({rows.size(), key, {value.begin(), value.end()}, value.size(), {}, 0});
    return true;
  }));
  return rows;
}

void expect_equal(const KeyRow& row, const KeyRow& expected) {
  EXPECT_EQ(row.row, expected.row);
  EXPECT_EQ(row.key, expected.key);
  EXPECT_EQ(row.value, expected.value);
  EXPECT_EQ(row.value_bytes, expected.value_bytes);
}

/// Windows of odd lengths, from the first key to behind the last one.
void expect_windows(const DrumView& view) {
  const auto expected = all_keys(view);
  ASSERT_EQ(expected.size(), view.info().key_count);
  std::size_t seen = 0;
  for (const std::size_t length : {1U, 511U, 700U, 3U, 5000U}) {
    for (const auto& row : must(keys_at(view, seen, length))) {
      ASSERT_LT(seen, expected.size());
      expect_equal(row, expected[seen++]);
    }
  }
  EXPECT_EQ(seen, expected.size());
  EXPECT_TRUE(must(keys_at(view, seen, 10)).empty());
  EXPECT_TRUE(must(keys_at(view, ~std::uint64_t{0}, 10)).empty());
  EXPECT_TRUE(must(keys_at(view, 0, 0)).empty());
  for (std::size_t i = 0; i < expected.size(); i += 37) {
    EXPECT_EQ(must(row_of(view, expected[i].key)), i);
  }
}

TEST(DrumCursor, ShowsKeysInWindows) {
  World world(0);
  std::mt19937_64 random(1);
  // The lowest and the highest bucket stay empty.
  for (int i = 0; i < 5000; ++i) world.update((random() >> 1) + (std::uint64_t{1} << 62));
  world.merge();
  expect_windows(world.view());
}

TEST(DrumCursor, ShowsWideKeysThatShareTheirHeads) {
  World world(0, 16);
  std::mt19937_64 random(2);
  for (int i = 0; i < 3000; ++i) world.update({random() % 3 << 62, random() % 2000});
  world.merge();
  expect_windows(world.view());
}

TEST(DrumCursor, ShowsValuesOfAnyLength) {
  World world(-1);
  std::mt19937_64 random(3);
  for (int i = 0; i < 2000; ++i) world.update(random(), Bytes(random() % 40, std::byte{7}));
  world.merge();
  expect_windows(world.view());
}

TEST(DrumCursor, CutsLongValuesAndTellsTheirLength) {
  World world(-1);
  world.update(1, Bytes(10'000, std::byte{1}));
  world.update(2, Bytes(3, std::byte{2}));
  world.merge();
  const auto rows = must(keys_at(world.view(), 0, 2));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].value, Bytes(kRowBytesMax, std::byte{1}));
  EXPECT_EQ(rows[0].value_bytes, 10'000U);
  EXPECT_EQ(rows[1].value, Bytes(3, std::byte{2}));
}

TEST(DrumCursor, FindsTheRowOfTheNextKey) {
  World world(0);
  EXPECT_EQ(must(row_of(world.view(), 5)), 0U);
  for (const std::uint64_t key : {10ULL, 20ULL, 1ULL << 62, ~0ULL}) world.update(key);
  world.merge();
  const auto view = world.view();
  const std::map<std::uint64_t, std::uint64_t> expected{
      {0, 0}, {10, 0}, {11, 1}, {20, 1}, {21, 2}, {1ULL << 63, 3}, {~0ULL, 3}};
  for (const auto& [key, row] : expected) EXPECT_EQ(must(row_of(view, key)), row) << key;
  EXPECT_EQ(must(row_of(view, Key16{10, 1})), 1U);
  EXPECT_EQ(must(row_of(view, Key16{~0ULL, 1})), 4U);
}

TEST(DrumCursor, TellsWhichBlockHoldsAKey) {
  World world(4);
  for (std::uint64_t key = 1; key <= 1300; ++key) world.update(key * 3, Bytes(4, std::byte{9}));
  world.merge();
  const auto view = world.view();
  const auto file = contents(*world.store.file());
  for (const std::uint64_t row : {0U, 511U, 512U, 1299U}) {
    const auto found = must(keys_at(view, row, 1)).at(0);
    EXPECT_EQ(found.partition, view.buckets().front().partition);
    const auto block =
        must(format::parse_key_block(std::span(file).subspan(found.block_offset_bytes), 4));
    format::BlockNumbers keys{};
    must(format::decode_keys(block, keys));
    EXPECT_EQ(keys[row % 512], found.key.head);
  }
}

/// The bytes that a snapshot on `file` fetches for what `use` does.
template <class Use>
std::uint64_t fetched_by(const std::shared_ptr<MemoryFile>& file, const Use& use) {
  Recorder recorder(file);
  std::uint64_t fetched = 0;
  const auto view =
      must(DrumView::open(must(Snapshot::open(recorder.open(OpenMode::kRead))), "keys"));
  recorder.set_hook([&](CallKind kind, Extent extent) {
    if (kind == CallKind::kPrefetch) fetched += extent.length_bytes;
  });
  use(view);
  return fetched;
}

TEST(DrumCursor, ReadsTheBlocksItShowsOnly) {
  World world(0);
  std::mt19937_64 random(4);
  for (int i = 0; i < 1'000'000; ++i) world.update(random());
  world.merge();
  ASSERT_GT(world.view().info().partition_bytes, 5'000'000U);
  const auto fetched = fetched_by(world.store.file(), [](const DrumView& view) {
    EXPECT_EQ(must(keys_at(view, 500'000, 100)).size(), 100U);
    EXPECT_GT(must(row_of(view, std::uint64_t{1} << 61)), 0U);
  });
  EXPECT_LE(fetched, 16U * 65536);
}

std::vector<std::vector<PendingRow>> all_pending(const DrumView& view) {
  std::vector<std::vector<PendingRow>> rows(view.buckets().size());
  must(view.for_each_pending(
      [&](std::uint64_t bucket, const RawRequest& request, std::uint64_t sequence) {
        PendingRow row;
        row.row = rows[bucket].size();
        row.sequence = sequence;
        row.operation = request.operation;
        row.consumer = request.consumer;
        row.key = {request.key, request.key_tail};
        row.value.assign(request.value.begin(), request.value.end());
        row.aux.assign(request.aux.begin(), request.aux.end());
        rows[bucket].push_back(row);
        return true;
      }));
  return rows;
}

void expect_equal(const PendingRow& row, const PendingRow& expected) {
  EXPECT_EQ(row.row, expected.row);
  EXPECT_EQ(row.sequence, expected.sequence);
  EXPECT_EQ(row.operation, expected.operation);
  EXPECT_EQ(row.consumer, expected.consumer);
  EXPECT_EQ(row.key, expected.key);
  EXPECT_EQ(row.value, expected.value);
  EXPECT_EQ(row.value_bytes, expected.value.size());
  EXPECT_EQ(row.aux_bytes, expected.aux.size());
  const auto aux = std::span(expected.aux).first(std::min(expected.aux.size(), kRowBytesMax));
  EXPECT_EQ(row.aux, Bytes(aux.begin(), aux.end()));
}

/// Each bucket's requests, one by one and in windows.
void expect_pending_windows(const DrumView& view) {
  const auto expected = all_pending(view);
  for (std::size_t b = 0; b < expected.size(); ++b) {
    std::size_t seen = 0;
    for (const std::size_t length : {1U, 130U, 2U, 10'000U}) {
      for (const auto& row : must(pending_at(view, b, seen, length))) {
        ASSERT_LT(seen, expected[b].size());
        expect_equal(row, expected[b][seen++]);
      }
    }
    EXPECT_EQ(seen, expected[b].size());
    EXPECT_EQ(seen, view.buckets()[b].pending_count);
    EXPECT_TRUE(must(pending_at(view, b, seen, 10)).empty());
  }
}

/// Three commits of requests, so that logs have three runs.
void submit_pending(World& world, std::size_t aux_bytes_max, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto consumer = must(world.drum->consumer("other"));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 1500; ++i) {
      const auto operation = static_cast<DrumOperation>(random() % 3);
      Bytes value;
      if (operation != DrumOperation::kCheck) value.resize(random() % 9, std::byte{0x55});
      std::string aux;
      const std::size_t length = aux_bytes_max == 0 ? 0 : random() % aux_bytes_max;
      while (aux.size() < length) aux += "http://" + std::to_string(random() % 1000) + "/";
      must(world.drum->submit(RawRequest{operation, i % 7 == 0 ? consumer : ConsumerId{}, random(),
                                         value, bytes_of(aux), 0}));
    }
    must(world.store->commit());
  }
}

TEST(DrumCursor, ShowsRequestsInWindows) {
  World world(-1);
  submit_pending(world, 0, 5);
  expect_pending_windows(world.view());
}

TEST(DrumCursor, ShowsCompressedAuxiliaries) {
  World world(-1);
  submit_pending(world, 6000, 6);
  const auto view = world.view();
  ASSERT_LT(view.info().pending_bytes, 4500U * 2500) << "not compressed";
  expect_pending_windows(view);
}

TEST(DrumCursor, ShowsAuxiliariesOfOneLength) {
  World world(2);
  for (std::uint64_t i = 0; i < 3000; ++i) {
    world.update(i << 50, Bytes(2, std::byte{1}), Bytes(60, static_cast<std::byte>(i)));
  }
  expect_pending_windows(world.view());
}

TEST(DrumCursor, NamesTheRunOfARequest) {
  World world(-1);
  submit_pending(world, 10, 7);
  const auto view = world.view();
  const auto log = view.buckets()[3].key_log;
  std::vector<RunInfo> runs;
  for (const auto& segment : must(world.store->snapshot()).segments()) {
    if (segment.id == log) runs = segment.runs;
  }
  ASSERT_EQ(runs.size(), 3U);
  std::uint64_t row = 0;
  for (const auto& run : runs) {
    const auto first = must(pending_at(view, 3, row, 1)).at(0);
    EXPECT_EQ(first.run, run.run_id);
    EXPECT_EQ(first.index, 0U);
    EXPECT_EQ(first.run_offset_bytes, run.extent.offset_bytes);
    row += run.record_count;
  }
}

TEST(DrumCursor, RefusesABucketThatIsNotThere) {
  World world(0);
  const auto rows = pending_at(world.view(), 8, 0, 1);
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().code, Errc::kInvalidArgument);
}

TEST(DrumCursor, FindsAKeyInPartitionAndLog) {
  World world(1);
  const std::uint64_t key = std::uint64_t{5} << 61;
  world.update(key, {std::byte{1}});
  world.update(key + 1, {std::byte{1}});
  world.merge();
  world.update(key + 2, {std::byte{2}});
  world.update(key, {std::byte{3}}, bytes_of("first"));
  world.update(key, {std::byte{4}}, bytes_of("second"));
  const auto place = must(find_key(world.view(), key));
  EXPECT_EQ(place.bucket, 5U);
  ASSERT_TRUE(place.stored && place.pending);
  EXPECT_EQ(place.stored->row, 0U);
  EXPECT_EQ(place.stored->value, Bytes{std::byte{1}});
  EXPECT_EQ(place.pending_count, 2U);
  EXPECT_EQ(place.pending->row, 1U);
  EXPECT_EQ(place.pending->aux, bytes_of("first"));
  EXPECT_EQ(place.pending->operation, DrumOperation::kCheckUpdate);
}

TEST(DrumCursor, SaysThatAKeyIsNowhere) {
  World world(0);
  world.update(10);
  world.update(std::uint64_t{1} << 61);
  world.merge();
  const auto view = world.view();
  for (const std::uint64_t key : {11ULL, (1ULL << 61) - 1, ~0ULL}) {
    const auto place = must(find_key(view, key));
    EXPECT_EQ(place.bucket, key >> 61);
    EXPECT_FALSE(place.stored || place.pending);
  }
}

TEST(DrumCursor, MakesNobodyWaitForARead) {
  World world(0);
  world.update(1);
  world.merge();
  world.update(2);
  must(world.store->commit());
  Recorder recorder(world.store.file());
  const auto view =
      must(DrumView::open(must(Snapshot::open(recorder.open(OpenMode::kRead))), "keys"));
  std::promise<void> reads;
  std::promise<void> go_on;
  recorder.set_hook(
      [&, done = go_on.get_future().share(), first = true](CallKind kind, Extent) mutable {
        if (kind != CallKind::kRead || !std::exchange(first, false)) return;
        reads.set_value();
        done.wait();
      });
  auto slow = std::async(std::launch::async, [&] { return must(view.contains(2)); });
  reads.get_future().wait();
  auto fast = std::async(std::launch::async, [&] { return must(keys_at(view, 0, 1)).size(); });
  EXPECT_EQ(fast.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  go_on.set_value();
  EXPECT_TRUE(slow.get());
  EXPECT_EQ(fast.get(), 1U);
}

}  // namespace
}  // namespace crawlstore::testing
