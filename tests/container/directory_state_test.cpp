// SPDX-License-Identifier: Apache-2.0
#include "container/directory_state.h"

#include <gmock/gmock.h>

#include "container/container_store.h"
#include "container/superblocks.h"
#include "format/endian.h"
#include "format/root_extent.h"

namespace crawlstore::testing {
namespace {

using container::load_directory;
using ::testing::IsNull;
using ::testing::NotNull;

/// A file whose directory is written piece by piece, as right or wrong as a test wants it.
class DirectoryFile {
 public:
  DirectoryFile()
      : storage_(open_memory_storage(make_memory_file(Bytes(512 * kKiB)), OpenMode::kWrite)) {
    superblock_.generation = 4;
    superblock_.high_water_bytes = 512 * kKiB;
    superblock_.features_incompat = 1;
    root.generation = {4};
    root.next_segment_id = 100;
    root.next_run_id = 100;
  }

  /// Puts a piece at the next free place.
  std::uint64_t put(const Bytes& payload, format::ChecksumDomain domain, std::uint64_t& checksum) {
    Bytes piece(payload);
    piece.resize(format::round_up(payload.size(), format::kUnitBytes));
    const std::uint64_t offset = next_offset_;
    next_offset_ += piece.size();
    checksum = format::checksum(piece, format::extent_seed(uuid_, domain, {4}, offset));
    must(storage_->write(offset, piece));
    return offset;
  }

  void add_table(const std::vector<format::SegmentEntry>& segments) {
    const auto payload = format::encode_table(segments);
    format::TableRef ref{0,
                         {4},
                         0,
                         segments.front().id,
                         static_cast<std::uint32_t>(payload.size()),
                         static_cast<std::uint32_t>(segments.size())};
    ref.offset_bytes = put(payload, format::ChecksumDomain::kTable, ref.checksum);
    root.tables.push_back(ref);
  }

  void add_held_table(const std::vector<format::HeldExtent>& entries) {
    const auto payload = format::encode_held_table(entries);
    format::HeldTableRef ref{0,
                             {4},
                             0,
                             static_cast<std::uint32_t>(payload.size()),
                             static_cast<std::uint32_t>(entries.size())};
    ref.offset_bytes = put(payload, format::ChecksumDomain::kHeldTable, ref.checksum);
    root.held_tables.push_back(ref);
  }

  Result<container::DirectoryPtr> load() {
    superblock_.root_offset_bytes = next_offset_;
    const auto piece = format::seal_root(format::encode_root(root), fixed_identity(), superblock_);
    next_offset_ += piece.size();
    must(storage_->write(superblock_.root_offset_bytes, piece));
    return load_directory(*storage_, uuid_, superblock_, {}, container::all_kinds());
  }

  [[nodiscard]] Storage& storage() { return *storage_; }
  [[nodiscard]] format::Superblock& superblock() { return superblock_; }

  format::DirectoryRoot root;

 private:
  std::unique_ptr<Storage> storage_;
  format::Superblock superblock_{};
  Uuid uuid_ = fixed_identity().uuid;
  std::uint64_t next_offset_ = format::kDataStart;
};

/// A run of one unit at 256 KiB + `place` units.
format::RunRef run_at(std::uint64_t place, std::uint64_t run_id) {
  return {256 * kKiB + place * format::kUnitBytes, {2}, {run_id}, 8, 1, 0};
}

format::SegmentEntry drum(std::uint64_t id, const std::string& name, const format::RunRef& run) {
  return {{id}, SegmentKind::kDrum, StorageClass::kBlob, {}, name, {run}};
}

format::SegmentEntry log(std::uint64_t id, std::uint64_t owner, std::vector<format::RunRef> runs) {
  return {{id}, SegmentKind::kDrumKeyLog, StorageClass::kLog, {owner}, "", std::move(runs)};
}

Error error_of(DirectoryFile& file) {
  const auto loaded = file.load();
  return loaded ? Error{} : loaded.error();
}

TEST(Directory, LoadsWhatWasWritten) {
  DirectoryFile file;
  file.add_table({drum(1, "a", run_at(0, 1)), log(2, 1, {run_at(1, 2), run_at(2, 3)})});
  file.add_table({drum(7, "b", run_at(3, 4))});
  file.add_held_table({{{300 * kKiB, 8 * kKiB}, {2}, {4}}});
  const auto directory = must(file.load());
  EXPECT_EQ(directory->segment_count(), 3U);
  EXPECT_EQ(directory->find({2})->runs.size(), 2U);
  EXPECT_EQ(directory->held_tables.front()->entries.size(), 1U);
}

TEST(Directory, FindsSegmentsById) {
  DirectoryFile file;
  file.add_table({drum(3, "a", run_at(0, 1)), drum(5, "b", run_at(1, 2))});
  file.add_table({drum(8, "c", run_at(2, 3))});
  const auto directory = must(file.load());
  for (const std::uint64_t id : {3UL, 5UL, 8UL}) EXPECT_THAT(directory->find({id}), NotNull());
  for (const std::uint64_t id : {0UL, 1UL, 4UL, 6UL, 9UL})
    EXPECT_THAT(directory->find({id}), IsNull());
}

TEST(Directory, FindsSegmentsByKindAndName) {
  DirectoryFile file;
  file.add_table({drum(3, "a", run_at(0, 1)), drum(5, "b", run_at(1, 2))});
  const auto directory = must(file.load());
  EXPECT_EQ(directory->find_named(SegmentKind::kDrum, "b")->id.value, 5U);
  EXPECT_THAT(directory->find_named(SegmentKind::kDrum, "c"), IsNull());
}

TEST(Directory, KnowsWhereTheFurthestExtentEnds) {
  DirectoryFile file;
  file.add_table({drum(1, "a", run_at(5, 1))});
  EXPECT_EQ(must(file.load())->end_bytes(), run_at(5, 1).extent().end_bytes());
  DirectoryFile other;
  other.add_table({drum(1, "a", run_at(5, 1))});
  other.root.held.push_back({{400 * kKiB, 4 * kKiB}, {2}, {4}});
  EXPECT_EQ(must(other.load())->end_bytes(), 404 * kKiB);
}

// spec: format.md#layout rule 3
TEST(Directory, RejectsAFileShorterThanItsHighWater) {
  DirectoryFile file;
  file.superblock().high_water_bytes = 516 * kKiB;
  EXPECT_EQ(error_of(file).code, Errc::kTruncated);
}

// spec: container.md#superblock rule 7
TEST(Directory, RejectsARootOutsideTheData) {
  DirectoryFile file;
  must(file.load());
  auto superblock = file.superblock();
  for (const std::uint64_t offset : {64 * kKiB, 512 * kKiB, 84 * kKiB + 8}) {
    superblock.root_offset_bytes = offset;
    EXPECT_EQ(code_of(load_directory(file.storage(), fixed_identity().uuid, superblock, {},
                                     container::all_kinds())),
              Errc::kDirectoryInvalid);
  }
}

TEST(Directory, ReportsAWrongChecksumAtThePiece) {
  DirectoryFile file;
  file.add_table({drum(1, "a", run_at(0, 1))});
  const std::uint64_t offset = file.root.tables.front().offset_bytes;
  must(file.storage().write(offset + 4000, random_bytes(8, 1)));
  const Error error = error_of(file);
  EXPECT_EQ(error.code, Errc::kDirectoryDamaged);
  EXPECT_EQ(error.offset, offset);
}

// spec: container.md#directory rule 10
TEST(Directory, RejectsOverlappingExtents) {
  DirectoryFile file;
  file.add_table({drum(1, "a", run_at(0, 1)), drum(2, "b", run_at(0, 2))});
  const Error error = error_of(file);
  EXPECT_EQ(error.code, Errc::kDirectoryInvalid);
  EXPECT_EQ(error.offset, run_at(0, 1).offset_bytes);
}

TEST(Directory, RejectsAHeldExtentOverALiveOne) {
  DirectoryFile file;
  file.add_table({drum(1, "a", run_at(0, 1))});
  file.root.held.push_back({{256 * kKiB, 8 * kKiB}, {2}, {4}});
  EXPECT_EQ(error_of(file).code, Errc::kDirectoryInvalid);
}

TEST(Directory, RejectsATableNamedTwice) {
  DirectoryFile file;
  file.add_held_table({{{300 * kKiB, 8 * kKiB}, {2}, {4}}});
  file.root.held_tables.push_back(file.root.held_tables.front());
  EXPECT_EQ(error_of(file).code, Errc::kDirectoryInvalid);
}

// spec: container.md#directory rule 4
TEST(Directory, RejectsIdsThatAreStillToBeGiven) {
  DirectoryFile segment;
  segment.add_table({drum(100, "a", run_at(0, 1))});
  EXPECT_EQ(error_of(segment).code, Errc::kDirectoryInvalid);
  DirectoryFile run;
  run.add_table({drum(1, "a", run_at(0, 100))});
  EXPECT_EQ(error_of(run).code, Errc::kDirectoryInvalid);
}

// spec: container.md#directory rule 6
TEST(Directory, RejectsTablesOutOfOrder) {
  DirectoryFile file;
  file.add_table({drum(1, "a", run_at(0, 1)), drum(9, "b", run_at(1, 2))});
  file.add_table({drum(5, "c", run_at(2, 3))});
  EXPECT_EQ(error_of(file).code, Errc::kDirectoryInvalid);
}

// spec: container.md#directory rule 5
TEST(Directory, RejectsATableUnlikeItsReference) {
  DirectoryFile file;
  file.add_table({drum(1, "a", run_at(0, 1)), drum(2, "b", run_at(1, 2))});
  file.root.tables.front().segment_count = 1;
  EXPECT_EQ(error_of(file).code, Errc::kDirectoryInvalid);
}

// spec: container.md#directory rule 12
TEST(Directory, RejectsAnOwnerThatIsNoDrum) {
  DirectoryFile missing;
  missing.add_table({log(2, 1, {run_at(1, 2)})});
  EXPECT_EQ(error_of(missing).code, Errc::kDirectoryInvalid);
  DirectoryFile other_kind;
  other_kind.add_table({drum(1, "a", run_at(0, 1)), log(2, 1, {}), log(3, 2, {})});
  EXPECT_EQ(error_of(other_kind).code, Errc::kDirectoryInvalid);
}

// spec: container.md#directory rule 13
TEST(Directory, RejectsTwoDrumsOfOneName) {
  DirectoryFile file;
  file.add_table({drum(1, "a", run_at(0, 1))});
  file.add_table({drum(2, "a", run_at(1, 2))});
  EXPECT_EQ(error_of(file).code, Errc::kDirectoryInvalid);
}

// spec: container.md#directory rule 15
TEST(Directory, RejectsARunIdUsedTwice) {
  DirectoryFile file;
  file.add_table({drum(1, "a", run_at(0, 1)), drum(2, "b", run_at(1, 1))});
  EXPECT_EQ(error_of(file).code, Errc::kDirectoryInvalid);
}

// spec: container.md#feature-bits rule 3
TEST(Directory, RejectsSegmentsWithoutTheirFeatureBit) {
  DirectoryFile file;
  file.superblock().features_incompat = 0;
  file.add_table({drum(1, "a", run_at(0, 1))});
  EXPECT_EQ(error_of(file).code, Errc::kDirectoryInvalid);
}

format::SegmentEntry queue(std::uint64_t id, const std::string& name) {
  return {{id}, SegmentKind::kQueue, StorageClass::kBlob, {}, name, {}};
}

TEST(Directory, FindsNamesFromTheFirstQuestionOn) {
  container::Directory directory;
  for (const std::uint64_t id : {1U, 3U}) {
    const auto name = std::to_string(id);
    directory.tables.push_back(std::make_shared<const container::Table>(
        format::TableRef{}, std::vector{drum(id, name, run_at(id, id)), queue(id + 1, name)}));
  }
  for (int i = 0; i < 3; ++i) {
    const auto* const found = directory.find_named(SegmentKind::kQueue, "3");
    ASSERT_THAT(found, NotNull());
    EXPECT_EQ(found->id, SegmentId{4});
    EXPECT_THAT(directory.find_named(SegmentKind::kQueue, "2"), IsNull());
    EXPECT_THAT(directory.find_named(SegmentKind::kPages, "3"), IsNull());
  }
}

/// A generation in which 20,000 queues are opened is asked for as many names.
TEST(Directory, WalksOverItsTablesForTheFirstTwoNamesOnly) {
  const auto table = std::make_shared<const container::Table>(
      format::TableRef{}, std::vector{queue(1, "a"), queue(2, "b")});
  container::Directory directory;
  directory.tables = {table};
  EXPECT_THAT(directory.find_named(SegmentKind::kQueue, "a"), NotNull());
  EXPECT_THAT(directory.find_named(SegmentKind::kQueue, "a"), NotNull());
  directory.tables.clear();  // a walk would find nothing now
  EXPECT_THAT(directory.find_named(SegmentKind::kQueue, "b"), NotNull());
}

TEST(Directory, RefusesUnknownFeaturesBeforeAnythingElse) {
  DirectoryFile file;
  file.superblock().features_incompat = 1 | std::uint64_t{1} << 62U;
  file.superblock().high_water_bytes = 1;
  EXPECT_EQ(error_of(file).code, Errc::kUnknownFeature);
}

}  // namespace
}  // namespace crawlstore::testing
