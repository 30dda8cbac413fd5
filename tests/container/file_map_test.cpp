// SPDX-License-Identifier: Apache-2.0
#include <map>

#include <gmock/gmock.h>

#include <crawlstore/tools/file_map.h>

#include "container/container_store.h"

namespace crawlstore::testing {
namespace {

Snapshot snapshot_of(const Bytes& file, const SnapshotOptions& options = {}) {
  return must(
      Snapshot::open(open_memory_storage(make_memory_file(file), OpenMode::kRead), options));
}

/// The map, of which every byte of the file is told once.
std::vector<ExtentInfo> map_of(const Snapshot& snapshot) {
  auto map = must(extents(snapshot));
  std::uint64_t end = 0;
  for (const ExtentInfo& info : map) {
    EXPECT_EQ(info.extent.offset_bytes, end);
    EXPECT_GT(info.extent.length_bytes, 0U);
    end = info.extent.end_bytes();
  }
  EXPECT_EQ(end, must(snapshot.info()).file_bytes);
  return map;
}

std::map<ExtentUse, std::uint64_t> bytes_by_use(const std::vector<ExtentInfo>& map) {
  std::map<ExtentUse, std::uint64_t> bytes;
  for (const ExtentInfo& info : map) bytes[info.use] += info.extent.length_bytes;
  return bytes;
}

/// Blobs that came and went, so that there are held and free extents.
Bytes busy_file() {
  const ContainerStore store;
  const auto writer = store.writer();
  const auto drum = add_drum(*writer);
  std::vector<SegmentId> blobs;
  for (std::uint64_t i = 0; i < 300; ++i) blobs.push_back(add_blob(*writer, drum, 8000, i));
  must(writer->commit());
  const auto pin = store.reader();
  for (std::size_t i = 0; i < 300; i += 3) replace_blob(*writer, blobs[i], 8000, 1000 + i);
  must(writer->commit());
  for (std::size_t i = 0; i < 60; i += 3) replace_blob(*writer, blobs[i], 20'000, 2000 + i);
  must(writer->commit());
  return store.bytes();
}

TEST(FileMap, TellsTheHeadOfEveryFile) {
  const auto map = map_of(snapshot_of(ContainerStore().bytes()));
  ASSERT_EQ(map.size(), 11U);
  EXPECT_EQ(map[0].use, ExtentUse::kIdentity);
  EXPECT_EQ(map[1].use, ExtentUse::kZeros);
  EXPECT_EQ(map[4].use, ExtentUse::kSuperblock);
  EXPECT_EQ(map[4].slot, 1);
  EXPECT_EQ(map[4].copy, 0);
  EXPECT_EQ(map[4].extent, (Extent{32 * kKiB, 4 * kKiB}));
  EXPECT_EQ(map[10].use, ExtentUse::kRoot);
  EXPECT_EQ(map[10].born, Generation{1});
}

TEST(FileMap, AgreesWithTheSums) {
  const auto snapshot = snapshot_of(busy_file());
  const auto info = must(snapshot.info());
  auto bytes = bytes_by_use(map_of(snapshot));
  EXPECT_GT(info.held_bytes, 0U);
  EXPECT_EQ(bytes[ExtentUse::kHeld], info.held_bytes);
  EXPECT_EQ(bytes[ExtentUse::kRoot] + bytes[ExtentUse::kTable] + bytes[ExtentUse::kHeldTable],
            info.directory_bytes);
  EXPECT_EQ(bytes[ExtentUse::kRun] + info.directory_bytes, info.live_bytes);
  EXPECT_EQ(bytes[ExtentUse::kFree] + bytes[ExtentUse::kBehind], info.free_bytes);
}

TEST(FileMap, NamesEveryRun) {
  const auto snapshot = snapshot_of(busy_file());
  std::map<std::uint64_t, ExtentInfo> runs;
  for (const ExtentInfo& info : map_of(snapshot)) {
    if (info.use == ExtentUse::kRun) runs[info.run.value] = info;
  }
  std::size_t count = 0;
  for (const SegmentInfo& segment : snapshot.segments()) {
    for (const RunInfo& run : segment.runs) {
      const ExtentInfo& info = runs.at(run.run_id.value);
      EXPECT_EQ(info.segment, segment.id);
      EXPECT_EQ(info.kind, segment.kind);
      EXPECT_EQ(info.extent, run.extent);
      EXPECT_EQ(info.born, run.born);
      ++count;
    }
  }
  EXPECT_EQ(runs.size(), count);
}

TEST(FileMap, TellsSinceWhenAnExtentIsHeld) {
  const auto snapshot = snapshot_of(busy_file());
  std::map<std::uint64_t, HeldInfo> held;
  for (const HeldInfo& info : snapshot.held()) held[info.extent.offset_bytes] = info;
  std::size_t count = 0;
  for (const ExtentInfo& info : map_of(snapshot)) {
    if (info.use != ExtentUse::kHeld) continue;
    EXPECT_EQ(info.born, held.at(info.extent.offset_bytes).born);
    EXPECT_EQ(info.retired, held.at(info.extent.offset_bytes).retired);
    ++count;
  }
  EXPECT_EQ(count, held.size());
}

TEST(FileMap, TellsWhatLiesBehindTheHighWaterMark) {
  auto file = busy_file();
  const auto high_water = must(snapshot_of(file).info()).high_water_bytes;
  file.resize(high_water + 12'345);
  const auto map = map_of(snapshot_of(file));
  EXPECT_EQ(map.back().use, ExtentUse::kBehind);
  EXPECT_EQ(map.back().extent, (Extent{high_water, 12'345}));
}

TEST(FileMap, CoversThePreviousGenerationToo) {
  SnapshotOptions previous;
  previous.previous = true;
  const auto snapshot = snapshot_of(busy_file(), previous);
  auto bytes = bytes_by_use(map_of(snapshot));
  EXPECT_EQ(bytes[ExtentUse::kRun] + must(snapshot.info()).directory_bytes,
            must(snapshot.info()).live_bytes);
}

TEST(FileMap, StopsWhereTheFileIsCut) {
  const ContainerStore store(busy_file());
  const auto snapshot = must(Snapshot::open(store.storage(OpenMode::kRead)));
  for (const std::uint64_t length : {2 * kMiB, 60 * kKiB, 100 * kKiB + 1, 0 * kKiB}) {
    must(store.storage(OpenMode::kWrite)->truncate(std::min(length, store.size_bytes())));
    map_of(snapshot);
  }
}

}  // namespace
}  // namespace crawlstore::testing
