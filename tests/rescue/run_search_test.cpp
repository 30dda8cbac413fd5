// SPDX-License-Identifier: Apache-2.0
#include "rescue/run_search.h"

#include <gmock/gmock.h>

#include "container/container_store.h"
#include "format/endian.h"

namespace crawlstore::testing {
namespace {

using rescue::find_runs;
using rescue::FoundRun;
using rescue::kIdsMax;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const rescue::Advance kGoOn = [](std::uint64_t) -> Result<void> { return {}; };
constexpr SegmentId kDrum{7};
constexpr SegmentId kPartition{8};

std::vector<RunId> ids_of(const std::vector<FoundRun>& runs) {
  std::vector<RunId> ids;
  for (const FoundRun& run : runs) ids.push_back(run.run.run_id);
  return ids;
}

/// Runs that no directory names, each in the place that the test says.
class LooseRuns {
 public:
  format::RunRef write(std::uint64_t run, std::uint64_t unit, std::size_t length) {
    const auto payload = random_bytes(length, run);
    const format::RunLabel label{kPartition, SegmentKind::kDrumPartition, kDrum, {run}};
    return must(container::write_run_at(
        *writer_, label, payload, 1,
        {format::kDataStart + unit * format::kUnitBytes, format::extent_bytes(length)}));
  }
  void write_bytes(std::uint64_t offset, const Bytes& bytes) {
    must(writer_->write(offset, bytes));
  }
  [[nodiscard]] std::vector<FoundRun> find(const std::vector<Extent>& taken = {},
                                           std::uint64_t next_run_id = kIdsMax) const {
    return must(find_runs(*store_.storage(OpenMode::kRead), fixed_identity().uuid, taken,
                          next_run_id, kGoOn));
  }
  [[nodiscard]] const ContainerStore& store() const { return store_; }

 private:
  ContainerStore store_;
  std::unique_ptr<container::Writer> writer_ = store_.writer();
};

TEST(RunSearch, KnowsTheStoreOfARun) {
  LooseRuns runs;
  runs.write(5, 0, 4000);
  Uuid other = fixed_identity().uuid;
  other[3] ^= std::byte{1};
  EXPECT_THAT(must(find_runs(*runs.store().storage(OpenMode::kRead), other, {}, kIdsMax, kGoOn)),
              IsEmpty());
  EXPECT_THAT(ids_of(runs.find()), ElementsAre(RunId{5}));
}

TEST(RunSearch, LeavesOutRunsOfLaterGenerations) {
  LooseRuns runs;
  runs.write(5, 0, 4000);
  runs.write(6, 4, 4000);
  EXPECT_THAT(ids_of(runs.find({}, 6)), ElementsAre(RunId{5}));
}

TEST(RunSearch, RefusesAnEndWithAnyByteTurned) {
  LooseRuns runs;
  const auto run = runs.write(5, 0, 4000);
  const std::uint64_t end = run.extent().end_bytes();
  const auto bytes = runs.store().bytes();
  for (std::uint64_t place = end - sizeof(format::RunEnd); place < end; ++place) {
    runs.write_bytes(place, {bytes[place] ^ std::byte{0x40}});
    EXPECT_THAT(runs.find(), IsEmpty()) << end - place;
    runs.write_bytes(place, {bytes[place]});
  }
  EXPECT_THAT(ids_of(runs.find()), ElementsAre(RunId{5}));
}

TEST(RunSearch, KeepsAWholeRunBeforeANewerOneInItsPlace) {
  LooseRuns runs;
  runs.write(9, 0, 30'000);
  runs.write(5, 2, 3000);  // moved into the room of the other one
  EXPECT_THAT(ids_of(runs.find()), ElementsAre(RunId{5}));
}

TEST(RunSearch, KeepsADamagedRunThatNothingOverlaps) {
  LooseRuns runs;
  const auto run = runs.write(9, 0, 30'000);
  runs.write_bytes(run.offset_bytes, {std::byte{0}, std::byte{0}});
  const auto found = runs.find();
  EXPECT_THAT(ids_of(found), ElementsAre(RunId{9}));
  EXPECT_FALSE(found.front().is_whole);
}

TEST(RunSearch, KeepsTheWholeOneOfTwoCopies) {
  LooseRuns runs;
  const auto old = runs.write(9, 0, 9000);
  const auto moved = runs.write(9, 8, 9000);
  runs.write_bytes(old.offset_bytes, {std::byte{0}, std::byte{0}});
  const auto found = runs.find();
  ASSERT_THAT(ids_of(found), ElementsAre(RunId{9}));
  EXPECT_EQ(found.front().run.offset_bytes, moved.offset_bytes);
}

/// Each unit says that it is the end of a run as long as all before it.
TEST(RunSearch, EndsSoonWhereEachUnitClaimsALongRun) {
  LooseRuns runs;
  constexpr std::uint64_t kUnits = 4096;
  for (std::uint64_t unit = 0; unit < kUnits; ++unit) {
    Bytes bytes(format::kUnitBytes);
    const format::RunLabel label{kPartition, SegmentKind::kDrumPartition, kDrum, {unit + 1}};
    const auto end = format::run_end(label, unit * format::kUnitBytes + 8, 1);
    format::store_struct(bytes.data() + bytes.size() - sizeof end, end);
    runs.write_bytes(format::kDataStart + unit * format::kUnitBytes, bytes);
  }
  EXPECT_THAT(runs.find(), IsEmpty());
}

}  // namespace
}  // namespace crawlstore::testing
