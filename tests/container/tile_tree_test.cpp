// SPDX-License-Identifier: Apache-2.0
#include "container/tile_tree.h"

#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>

#include <crawlstore/snapshot.h>
#include <crawlstore/tools/diff.h>
#include <crawlstore/tools/inspect.h>

#include "container/compact.h"
#include "container/copy_store.h"
#include "container/rollback.h"
#include "container/tile_store.h"
#include "support/recording_storage.h"

namespace crawlstore::testing {
namespace {

using container::TileReader;
using container::TileWriter;
using ::testing::HasSubstr;

/// A store with a tiled segment, and what its tiles must hold.
class TiledTest : public ::testing::Test {
 protected:
  TiledTest() : writer_(store_.writer()) {
    pages_ = add_pages(*writer_);
    must(writer_->commit());
  }

  void fill(std::uint64_t count) {
    segment_ = add_tiles(*writer_, pages_, count);
    for (std::uint64_t i = 0; i < count; ++i) seeds_.push_back(i);
    must(writer_->commit());
  }

  /// Gives tiles other seeds, or appends them, in one commit.
  void change(const std::map<std::uint64_t, std::uint64_t>& seeds) {
    auto tiles = must(TileWriter::open(*writer_, segment_));
    for (const auto& [index, seed] : seeds) {
      write_tile(tiles, index, seed);
      seeds_.resize(std::max<std::size_t>(seeds_.size(), index + 1));
      seeds_[index] = seed;
    }
    must(tiles.finish());
    must(writer_->commit());
  }

  void expect_tiles(const TileReader& tiles, const std::vector<std::uint64_t>& seeds) const {
    ASSERT_EQ(tiles.tile_count(), seeds.size());
    EXPECT_EQ(tiles.record_count(), 2 * seeds.size());
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      ASSERT_EQ(tile_of(tiles, i), tile_bytes(seeds[i])) << i;
    }
  }
  void expect_whole() const {
    expect_tiles(tiles_of(store_, segment_), seeds_);
    EXPECT_EQ(text_of(store_.verified()), "");
  }

  [[nodiscard]] const format::SegmentEntry& entry() const {
    return *writer_->directory()->find(segment_);
  }
  /// Runs that the current generation has and `before` does not.
  [[nodiscard]] std::size_t new_runs(const format::SegmentEntry& before) const {
    return static_cast<std::size_t>(
        std::count_if(entry().runs.begin(), entry().runs.end(),
                      [&](const auto& run) { return before.find_run(run.run_id) == nullptr; }));
  }
  /// Flips a byte of a run.
  void damage(const format::RunRef& run) const {
    const auto storage = store_.storage(OpenMode::kWrite);
    Bytes byte = read_bytes(*storage, run.offset_bytes + 9, 1);
    byte[0] ^= std::byte{1};
    must(storage->write(run.offset_bytes + 9, byte));
  }
  [[nodiscard]] std::set<std::uint64_t> live_offsets() const {
    std::set<std::uint64_t> offsets;
    for (const Extent& extent : writer_->directory()->live_extents()) {
      offsets.insert(extent.offset_bytes);
    }
    return offsets;
  }

  ContainerStore store_;
  std::unique_ptr<container::Writer> writer_;
  SegmentId pages_;
  SegmentId segment_;
  std::vector<std::uint64_t> seeds_;
};

// spec: container.md#tiled-segments rule 7
TEST_F(TiledTest, KeepsAnyNumberOfTiles) {
  for (const std::uint64_t count : {1U, 2U, 63U, 64U, 65U, 128U, 129U, 4096U, 4097U, 4200U}) {
    const SegmentId id = add_tiles(*writer_, pages_, count);
    must(writer_->commit());
    const auto tiles = tiles_of(store_, id);
    ASSERT_EQ(tiles.tile_count(), count);
    for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(tile_of(tiles, i), tile_bytes(i));
    EXPECT_EQ(code_of(tiles.tile(count)), Errc::kInvalidArgument);
    writer_->remove(id);
    must(writer_->commit());
  }
}

TEST_F(TiledTest, GrowsTileByTileOverEveryLevel) {
  fill(1);
  for (std::uint64_t i = 1; i < 130; ++i) change({{i, i + 7}});
  expect_whole();
  auto tiles = must(TileWriter::open(*writer_, segment_));
  for (std::uint64_t i = 130; i < 4095; ++i) {
    write_tile(tiles, i, i);
    seeds_.push_back(i);
  }
  must(tiles.finish());
  must(writer_->commit());
  for (std::uint64_t i = 4095; i < 4099; ++i) change({{i, i}});
  expect_whole();
  EXPECT_EQ(entry().runs.size(), 4099U + 65 + 2 + 1);
}

TEST_F(TiledTest, WritesOnlyWhatChangedAndTheNodesAboveIt) {
  fill(4200);  // 66 nodes, 2 above them, the root
  auto before = entry();
  change({{70, 9000}});
  EXPECT_EQ(new_runs(before), 1U + 3);
  before = entry();
  change({{64, 9001}, {65, 9002}, {127, 9003}});
  EXPECT_EQ(new_runs(before), 3U + 3);
  before = entry();
  change({{0, 9004}, {4199, 9005}});
  EXPECT_EQ(new_runs(before), 2U + 2 + 2 + 1);
  before = entry();
  change({{4200, 9006}});
  EXPECT_EQ(new_runs(before), 1U + 3);
  expect_whole();
}

TEST_F(TiledTest, TakesTheLastOfSeveralWritesToATile) {
  fill(3);
  auto tiles = must(TileWriter::open(*writer_, segment_));
  for (std::uint64_t seed = 10; seed < 15; ++seed) write_tile(tiles, 1, seed);
  Bytes payload;
  must(tiles.read(1, payload));
  EXPECT_EQ(payload, tile_bytes(14));
  must(tiles.finish());
  must(writer_->commit());
  seeds_[1] = 14;
  expect_whole();
}

TEST_F(TiledTest, ReadsWhatTheWriterHasNotCommitted) {
  fill(2);
  put_tile(*writer_, segment_, 2, 50);
  put_tile(*writer_, segment_, 0, 51);
  const auto tiles = must(TileWriter::open(*writer_, segment_));
  Bytes payload;
  for (const auto& [index, seed] :
       std::map<std::uint64_t, std::uint64_t>{{0, 51}, {1, 1}, {2, 50}}) {
    must(tiles.read(index, payload));
    EXPECT_EQ(payload, tile_bytes(seed));
  }
  expect_tiles(tiles_of(store_, segment_), {0, 1});
  must(writer_->commit());
  expect_tiles(tiles_of(store_, segment_), {51, 1, 50});
}

TEST_F(TiledTest, GivesBackWhatIsNotPut) {
  fill(70);
  writer_->release(must(writer_->reserve(kMiB)));  // the file does not grow any more
  const std::uint64_t free_bytes = writer_->free_bytes();
  {
    auto tiles = must(TileWriter::open(*writer_, segment_));
    for (std::uint64_t i = 0; i < 5; ++i) write_tile(tiles, i, 99);
    write_tile(tiles, 70, 99);
    EXPECT_EQ(code_of(tiles.write(72, tile_bytes(1), 2)), Errc::kInvalidArgument);
  }
  EXPECT_EQ(writer_->free_bytes(), free_bytes);
  put_tile(*writer_, segment_, 3, 40);
  put_tile(*writer_, segment_, 3, 41);  // gives back the tile and the nodes of the first
  auto tiles = must(TileWriter::open(*writer_, segment_));
  write_tile(tiles, 4, 42);
  must(tiles.finish());
  EXPECT_EQ(free_bytes - writer_->free_bytes(), 4 * format::kUnitBytes);
  writer_->drop_changes();
  EXPECT_EQ(writer_->free_bytes(), free_bytes);
  expect_whole();
}

TEST_F(TiledTest, PutsNothingWithoutAChange) {
  fill(2);
  auto tiles = must(TileWriter::open(*writer_, segment_));
  must(tiles.finish());
  EXPECT_FALSE(writer_->has_changes());
  EXPECT_EQ(code_of(TileWriter::open(*writer_, pages_)), Errc::kUnknownName);
  EXPECT_EQ(code_of(TileWriter::open(*writer_, {77})), Errc::kUnknownName);
  EXPECT_EQ(code_of(TileReader::open(store_.reader(), pages_)), Errc::kUnknownName);
}

TEST_F(TiledTest, KeepsThePlacesOfAGenerationThatIsPinned) {
  fill(200);
  const auto reader = store_.reader();
  const auto pinned = must(TileReader::open(reader, segment_));
  const auto before = seeds_;
  for (std::uint64_t round = 0; round < 12; ++round) {
    change({{round * 16, 1000 + round}, {199 - round, 2000 + round}, {200 + round, round}});
  }
  expect_tiles(pinned, before);
  expect_whole();
}

TEST_F(TiledTest, ReusesThePlacesThatNobodyNeeds) {
  fill(200);
  for (std::uint64_t round = 0; round < 6; ++round) change({{round, 1000 + round}});
  const std::uint64_t size = store_.size_bytes();
  for (std::uint64_t round = 0; round < 300; ++round) change({{round % 200, 2000 + round}});
  EXPECT_EQ(store_.size_bytes(), size);
  expect_whole();
}

TEST_F(TiledTest, IsWhatAModelSaysAfterRandomChanges) {
  fill(1);
  Random random(12);
  for (int round = 0; round < 120; ++round) {
    std::map<std::uint64_t, std::uint64_t> seeds;
    std::uint64_t count = seeds_.size();
    for (std::uint64_t i = random.next() % 20; i > 0; --i) seeds[count++] = random.next() % 1000;
    for (std::uint64_t i = random.next() % 9 + 1; i > 0; --i) {
      seeds[random.next() % seeds_.size()] = random.next() % 1000;
    }
    change(seeds);
    if (round % 10 == 0) {
      writer_.reset();
      writer_ = store_.writer();
    }
    if (round % 7 == 0) expect_whole();
  }
  expect_whole();
  EXPECT_GT(seeds_.size(), 600U);
}

TEST_F(TiledTest, HoldsTheSameInMemoryAsInTheFile) {
  fill(70);
  change({{3, 100}, {70, 101}, {71, 102}});
  const auto reader = store_.reader();
  const auto& loaded = *reader->directory().find(segment_);
  EXPECT_EQ(loaded, entry());
  EXPECT_TRUE(std::is_sorted(loaded.runs.begin(), loaded.runs.end(),
                             [](const auto& a, const auto& b) { return a.run_id < b.run_id; }));
}

TEST_F(TiledTest, RollsBack) {
  fill(100);
  const auto before = seeds_;
  change({{1, 500}, {99, 501}, {100, 502}});
  must(container::rollback(*writer_));
  expect_tiles(tiles_of(store_, segment_), before);
  EXPECT_EQ(text_of(store_.verified()), "");
  seeds_ = before;
  for (std::uint64_t round = 0; round < 8; ++round) change({{round, 600 + round}});
  expect_whole();
}

TEST_F(TiledTest, RollsBackPastADamagedNode) {
  fill(100);
  const auto before = seeds_;
  change({{1, 500}});
  const format::RunRef root = entry().runs.back();
  writer_.reset();
  damage(root);
  EXPECT_EQ(code_of(store_.try_reader()), Errc::kDirectoryDamaged);
  must(container::rollback_damaged(store_.storage(OpenMode::kWrite), fixed_time()));
  expect_tiles(tiles_of(store_, segment_), before);
  writer_ = store_.writer();
  seeds_ = before;
  for (std::uint64_t round = 0; round < 8; ++round) change({{round, 600 + round}});
  expect_whole();
}

TEST_F(TiledTest, FindsDamageInEveryRun) {
  fill(70);
  change({{0, 100}});
  for (std::size_t i = 0; i < entry().runs.size(); ++i) {
    const format::RunRef run = entry().runs[i];
    const bool is_node = std::find(entry().tree_order.begin(), entry().tree_order.begin() + 70,
                                   i) == entry().tree_order.begin() + 70;
    damage(run);
    const auto report = store_.verified();
    ASSERT_FALSE(report.findings.empty()) << i;
    const Error& error = report.findings.front().error;
    EXPECT_EQ(error.code, is_node ? Errc::kDirectoryDamaged : Errc::kChunkDamaged) << i;
    EXPECT_EQ(error.offset, run.offset_bytes);
    EXPECT_EQ(error.segment, segment_);
    damage(run);  // the flip taken back
  }
  EXPECT_EQ(text_of(store_.verified()), "");
}

TEST_F(TiledTest, ReportsADamagedTileWhenItIsTouched) {
  fill(3);
  damage(container::tile_ref(entry(), 1));
  const auto tiles = tiles_of(store_, segment_);
  EXPECT_TRUE(tiles.tile(0));
  EXPECT_EQ(code_of(tiles.tile(1)), Errc::kChunkDamaged);
  Bytes payload;
  EXPECT_EQ(code_of(must(TileWriter::open(*writer_, segment_)).read(1, payload)),
            Errc::kChunkDamaged);
}

// spec: pages.md#record-tiles rule 9
TEST_F(TiledTest, LooksAtTheTilesInDeepVerification) {
  auto tiles = TileWriter::create(*writer_, SegmentKind::kPageRecords, pages_);
  write_tile(tiles, 0, 1, format::kTilePagesMax);
  write_tile(tiles, 1, 2, 100);
  must(tiles.finish());
  must(writer_->commit());
  EXPECT_EQ(text_of(store_.verified_below_pages()), "");
  const auto deep_after = [&](std::uint64_t index, const Bytes& payload, std::uint64_t count) {
    auto changed = must(TileWriter::open(*writer_, tiles.segment()));
    must(changed.write(index, payload, count));
    must(changed.finish());
    must(writer_->commit());
    EXPECT_EQ(text_of(store_.verified()), "");
    return text_of(store_.verified_below_pages());
  };
  EXPECT_THAT(deep_after(2, tile_bytes(3, 5), 5),
              HasSubstr("a record tile is not full, and not the last"));
  EXPECT_THAT(deep_after(1, tile_bytes(3, format::kTilePagesMax), 8000),
              HasSubstr("another number of records than the directory says"));
  EXPECT_THAT(deep_after(1, Bytes(200), format::kTilePagesMax), HasSubstr("magic number"));
}

TEST_F(TiledTest, ShowsItsRunsInSnapshots) {
  fill(70);
  const auto file = std::shared_ptr<Storage>(store_.storage(OpenMode::kRead));
  const auto snapshot = must(Snapshot::open(file, {}));
  const auto segments = snapshot.segments();
  const auto& info = segments.back();
  EXPECT_EQ(info.storage_class, StorageClass::kTiled);
  EXPECT_EQ(info.runs.size(), 70U + 2 + 1);
  EXPECT_EQ(info.record_count(), 140U);
  for (const auto& run : info.runs) EXPECT_TRUE(snapshot.read_run(segment_, run.run_id));
  EXPECT_FALSE(must(diff(snapshot, snapshot)).differs());
}

TEST_F(TiledTest, ShowsTheFieldsOfNodesAndTiles) {
  fill(70);
  const auto storage = store_.storage(OpenMode::kRead);
  const auto names_at = [&](std::uint64_t offset) {
    std::string names;
    for (const auto& field : must(describe_at(*storage, offset))) {
      EXPECT_EQ(field.problem, "") << field.name;
      names += field.name + "@" + std::to_string(field.offset_bytes) + " ";
    }
    return names;
  };
  const std::uint64_t node = entry().runs.back().offset_bytes;
  EXPECT_THAT(names_at(node + 5), HasSubstr("child_count@" + std::to_string(node + 18)));
  EXPECT_THAT(names_at(node + 5), HasSubstr("children[1]@" + std::to_string(node + 72)));
  EXPECT_THAT(names_at(node + 5), HasSubstr("payload_bytes@" + std::to_string(node + 96)));
  const std::uint64_t tile = container::tile_ref(entry(), 65).offset_bytes;
  EXPECT_THAT(names_at(tile), HasSubstr("page_count@" + std::to_string(tile + 8)));
  EXPECT_THAT(names_at(tile), HasSubstr("score@" + std::to_string(tile + 16 + 5 * 16)));
}

TEST_F(TiledTest, DescribesWhatADamagedTreeStillShows) {
  fill(70);
  must(writer_->commit(true));  // both generations have the same tree
  const format::RunRef inner = entry().runs[entry().tree_order[70]];
  damage(inner);
  const auto storage = store_.storage(OpenMode::kRead);
  const auto fields = must(describe_at(*storage, inner.offset_bytes));
  EXPECT_EQ(fields.front().name, "run");
  EXPECT_TRUE(std::any_of(fields.begin(), fields.end(),
                          [](const auto& field) { return !field.problem.empty(); }));
  const auto below = must(describe_at(*storage, container::tile_ref(entry(), 3).offset_bytes));
  EXPECT_EQ(below.front().name, "unknown");
}

TEST_F(TiledTest, SurvivesCopying) {
  fill(100);
  const auto target = make_memory_file({}, 16 * kMiB);
  must(container::copy_generation_to(*store_.reader(),
                                     *open_memory_storage(target, OpenMode::kWrite)));
  const ContainerStore copy(contents(*target));
  expect_tiles(tiles_of(copy, segment_), seeds_);
  EXPECT_EQ(text_of(copy.verified()), "");
}

TEST_F(TiledTest, IsMovedByCompaction) {
  const SegmentId first = add_blob(*writer_, add_drum(*writer_), kMiB, 1);
  fill(300);
  for (std::uint64_t i = 0; i < 300; i += 3) change({{i, i + 5000}});
  writer_->remove(first);
  must(writer_->commit());
  const auto before = entry();
  const auto report = must(container::compact(*writer_, {}));
  EXPECT_LT(report.file_bytes_after, report.file_bytes_before - kMiB / 2);
  std::uint64_t live = format::kDataStart;
  for (const Extent& extent : writer_->directory()->live_extents()) live += extent.length_bytes;
  EXPECT_LE(store_.size_bytes(), live + live / 64 + 32 * kKiB);
  expect_whole();
  for (std::size_t i = 0; i < 300; ++i) {  // the bytes of a tile stay what they are
    EXPECT_EQ(container::tile_ref(entry(), i).run_id, container::tile_ref(before, i).run_id);
    EXPECT_EQ(container::tile_ref(entry(), i).checksum, container::tile_ref(before, i).checksum);
  }
  for (std::uint64_t round = 0; round < 6; ++round) change({{round, 600 + round}});
  expect_whole();
}

TEST_F(TiledTest, StaysWholeWhenCompactionIsStopped) {
  const SegmentId first = add_blob(*writer_, add_drum(*writer_), kMiB, 1);
  fill(300);
  writer_->remove(first);
  must(writer_->commit());
  for (int stop = 0; stop < 400; stop += 37) {
    int left = stop;
    const auto report =
        container::compact(*writer_, [&left](std::uint64_t, std::uint64_t) { return left-- > 0; });
    EXPECT_TRUE(report || report.error().code == Errc::kCancelled);
    expect_whole();
    change({{static_cast<std::uint64_t>(stop) % 300, 7000U + static_cast<std::uint64_t>(stop)}});
  }
  must(container::compact(*writer_, {}));
  expect_whole();
}

/// Calls of `kind` fail one after the other while tiles change and are committed.
void expect_old_generation(CallKind kind, bool evict) {
  for (std::uint64_t nth = 1; nth < 60; ++nth) {
    const ContainerStore store(16 * kMiB);
    SegmentId segment;
    {
      const auto writer = store.writer();
      segment = add_tiles(*writer, add_pages(*writer), 130);
      must(writer->commit());
    }
    Recorder recorder(store.file());
    bool committed = false;
    {
      const auto writer = ContainerStore::writer_on(recorder.open(OpenMode::kWrite));
      must(writer->prepare());
      recorder.inject({.calls = calls(kind), .nth = nth, .evict = evict});
      auto tiles = must(TileWriter::open(*writer, segment));
      const auto changed = [&]() -> Result<void> {
        for (const std::uint64_t index : {3U, 64U, 130U}) {
          CRAWLSTORE_TRY(tiles.write(index, tile_bytes(900 + index), 2));
        }
        CRAWLSTORE_TRY(tiles.finish());
        const auto generation = writer->commit();
        if (!generation) return tl::unexpected<Error>(generation.error());
        return {};
      }();
      const bool injected = recorder.has_injected();
      recorder.stop_injecting();
      committed = changed.has_value();
      EXPECT_NE(committed, injected);
      if (!committed && writer->has_changes() && !writer->poisoned()) {
        committed = writer->commit().has_value();  // the same generation: the nodes are right
        EXPECT_TRUE(committed);
      }
      if (!injected) nth = 60;
    }
    const auto tiles = tiles_of(store, segment);
    const bool is_new = tiles.tile_count() == 131;
    EXPECT_TRUE(is_new || !committed);
    for (std::uint64_t i = 0; i < tiles.tile_count(); ++i) {
      const bool changed = is_new && (i == 3 || i == 64 || i == 130);
      ASSERT_EQ(tile_of(tiles, i), tile_bytes(changed ? 900 + i : i));
    }
    for (const Finding& finding : store.verified().findings) {  // a copy may be torn
      EXPECT_EQ(finding.error.code, Errc::kSuperblockDamaged) << describe(finding.error);
    }
  }
}

TEST(Tiled, StaysWholeWhenWritesFail) {
  expect_old_generation(CallKind::kWrite, false);
}

TEST(Tiled, StaysWholeWhenThereIsNoSpace) {
  expect_old_generation(CallKind::kAllocate, false);
}

TEST(Tiled, StaysWholeWhenSyncsFail) {
  expect_old_generation(CallKind::kSync, false);
  expect_old_generation(CallKind::kSync, true);
}

}  // namespace
}  // namespace crawlstore::testing
