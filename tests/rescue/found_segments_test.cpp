// SPDX-License-Identifier: Apache-2.0
#include "rescue/found_segments.h"

#include <gmock/gmock.h>

#include "container/container_store.h"

namespace crawlstore::testing {
namespace {

using rescue::FoundRun;
using rescue::FoundSegments;
using rescue::PartName;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr SegmentId kOwner{3};
constexpr PartName kOut{{4}, SegmentKind::kOutLinks, kOwner};
constexpr PartName kIn{{5}, SegmentKind::kInLinks, kOwner};
constexpr PartName kGone{{6}, SegmentKind::kGoneLinks, kOwner};
constexpr PartName kEvents{{7}, SegmentKind::kPageEvents, kOwner};

FoundRun run_of(const PartName& part, std::uint64_t id, std::uint64_t first = 0,
                std::uint64_t record_count = 10) {
  return {{part.id, part.kind, part.owner, {id}, first},
          {format::kDataStart + id * format::kUnitBytes, {}, {id}, 8, record_count, 0},
          true};
}

/// Found runs without a file that has them.
struct Found {
  explicit Found(std::vector<FoundRun> runs) : segments(*storage, std::move(runs)) {}

  static std::vector<std::uint64_t> ids_of(const std::vector<format::RunRef>& runs) {
    std::vector<std::uint64_t> ids;
    for (const auto& run : runs) ids.push_back(run.run_id.value);
    return ids;
  }
  [[nodiscard]] std::vector<std::uint64_t> links(const PartName& part, const PartName& other,
                                                 std::uint64_t table) const {
    return ids_of(segments.not_replaced(part, other, {table}));
  }
  [[nodiscard]] std::vector<std::uint64_t> events(std::uint64_t table, std::uint64_t count) const {
    return ids_of(segments.newest(kEvents, {table}, count));
  }

  ContainerStore store;
  std::unique_ptr<Storage> storage = store.storage(OpenMode::kRead);
  FoundSegments segments;
};

TEST(FoundSegments, LeavesOutRunsThatWereJoined) {
  const Found found({run_of(kOut, 10), run_of(kOut, 20), run_of(kOut, 30), run_of(kOut, 40, 20),
                     run_of(kOut, 50)});
  EXPECT_THAT(found.links(kOut, {}, 60), ElementsAre(10, 40, 50));
}

TEST(FoundSegments, FollowsJoinsOfJoinedRuns) {
  const Found found({run_of(kOut, 10), run_of(kOut, 20), run_of(kOut, 30, 10), run_of(kOut, 40),
                     run_of(kOut, 50, 30)});
  EXPECT_THAT(found.links(kOut, {}, 60), ElementsAre(50));
}

TEST(FoundSegments, LeavesOutRunsOfLaterTables) {
  const Found found({run_of(kOut, 10), run_of(kOut, 20), run_of(kOut, 30)});
  EXPECT_THAT(found.links(kOut, {}, 25), ElementsAre(10, 20));
}

TEST(FoundSegments, TakesALaterRunThatWasJoinedOfKnownOnes) {
  const Found found({run_of(kOut, 20), run_of(kOut, 30, 10)});
  EXPECT_THAT(found.links(kOut, {}, 25), ElementsAre(30));
}

TEST(FoundSegments, JoinsInLinksWithGoneLinks) {
  const Found found({run_of(kIn, 10), run_of(kIn, 20), run_of(kGone, 21), run_of(kIn, 30, 20),
                     run_of(kGone, 31, 20)});
  EXPECT_THAT(found.links(kIn, kGone, 40), ElementsAre(10, 30));
  EXPECT_THAT(found.links(kGone, kIn, 40), ElementsAre(31));
}

TEST(FoundSegments, LosesGoneLinksToAJoinOfAll) {
  const Found found({run_of(kIn, 10), run_of(kGone, 11), run_of(kIn, 30, 10)});
  EXPECT_THAT(found.links(kIn, kGone, 40), ElementsAre(30));
  EXPECT_THAT(found.links(kGone, kIn, 40), IsEmpty());
}

TEST(FoundSegments, TakesAsManyOfTheNewestRecordsAsCount) {
  const Found found({run_of(kEvents, 10), run_of(kEvents, 20), run_of(kEvents, 30)});
  EXPECT_THAT(found.events(40, 20), ElementsAre(20, 30));
  EXPECT_THAT(found.events(25, 20), ElementsAre(10, 20));
  EXPECT_THAT(found.events(40, 15), ElementsAre(30));
  EXPECT_THAT(found.events(40, 0), IsEmpty());
}

TEST(FoundSegments, TakesNoRunOfAnotherOwner) {
  FoundRun stranger = run_of(kOut, 10);
  stranger.label.owner = {9};
  const Found found({stranger, run_of(kOut, 20)});
  EXPECT_THAT(found.links(kOut, {}, 30), ElementsAre(20));
}

}  // namespace
}  // namespace crawlstore::testing
