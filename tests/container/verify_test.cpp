// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <crawlstore/tools/verify.h>

#include "container/container_store.h"
#include "container/superblocks.h"
#include "container/verify_findings.h"
#include "format/run_end.h"
#include "support/recording_storage.h"

namespace crawlstore::testing {
namespace {

using format::kSuperblockOffsets;
using ::testing::Each;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Generation 3 (slot 1) and 2 (slot 0) share one blob; each has one of its own.
class VerifyTest : public ::testing::Test {
 protected:
  VerifyTest() {
    const auto writer = store_.writer();
    const SegmentId drum = add_drum(*writer);
    shared_ = add_blob(*writer, drum, 40 * kKiB, 1);
    changed_ = add_blob(*writer, drum, 40 * kKiB, 2);
    must(writer->commit());
    replace_blob(*writer, changed_, 40 * kKiB, 3);
    must(writer->commit());
  }

  void flip(std::uint64_t offset, std::byte mask = std::byte{4}) const {
    const auto storage = store_.storage(OpenMode::kWrite);
    Bytes byte = read_bytes(*storage, offset, 1);
    byte[0] ^= mask;
    must(storage->write(offset, byte));
  }
  void write_with_unknown_feature(format::Superblock superblock, std::uint32_t slot) {
    superblock.features_incompat |= std::uint64_t{1} << 62U;
    const auto storage = store_.storage(OpenMode::kWrite);
    for (const std::uint32_t copy : {0U, 1U}) {
      must(container::write_superblock(*storage, superblock, fixed_identity().uuid, slot, copy));
    }
  }

  [[nodiscard]] container::DirectoryPtr directory(bool previous) const {
    container::ReaderOptions options;
    options.previous = previous;
    const std::shared_ptr<const container::Reader> reader = store_.reader(options);
    return {reader, &reader->directory()};
  }
  [[nodiscard]] static std::uint64_t place(const container::Directory& directory, SegmentId id) {
    return directory.find(id)->runs.front().offset_bytes;
  }
  /// The one finding.
  [[nodiscard]] Finding finding(VerifyLevel level = VerifyLevel::kNormal) const {
    const auto report = store_.verified(level);
    EXPECT_THAT(report.findings, SizeIs(1)) << text_of(report);
    return report.findings.empty() ? Finding{} : report.findings.front();
  }

  ContainerStore store_;
  SegmentId shared_;
  SegmentId changed_;
};

TEST_F(VerifyTest, TellsItsSinkWhatItFoundBeforeItWasStopped) {
  flip(place(*directory(false), shared_));
  std::vector<Finding> told;
  VerifyOptions options;
  options.sink = [&told](const Finding& finding) { told.push_back(finding); };
  // The finding is made before the last bytes are counted.
  options.progress = [&told](std::uint64_t, std::uint64_t) { return told.empty(); };
  const auto storage = store_.storage(OpenMode::kRead);
  const auto report = verify(*storage, options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Errc::kCancelled);
  ASSERT_THAT(told, ::testing::Not(IsEmpty()));
  EXPECT_EQ(told.front().error.code, Errc::kChunkDamaged);
}

TEST_F(VerifyTest, FindsNothingInAWholeFile) {
  for (const auto level : {VerifyLevel::kQuick, VerifyLevel::kNormal}) {
    const auto report = store_.verified(level);
    EXPECT_EQ(text_of(report), "");
    EXPECT_EQ(report.generations, 2U);
  }
}

TEST_F(VerifyTest, FindsNothingInAFreshFile) {
  const ContainerStore fresh;
  const auto report = fresh.verified(VerifyLevel::kDeep);
  EXPECT_EQ(text_of(report), "");
  EXPECT_EQ(report.generations, 1U);
  EXPECT_EQ(report.checked_bytes, fresh.size_bytes());
}

TEST_F(VerifyTest, CountsWhatItChecked) {
  const auto report = store_.verified();
  EXPECT_EQ(report.checked_segments, 3U);
  std::set<Extent> extents;
  for (const bool previous : {false, true}) {
    for (const Extent& extent : directory(previous)->live_extents()) extents.insert(extent);
  }
  std::uint64_t bytes = format::kDataStart;
  for (const Extent& extent : extents) bytes += extent.length_bytes;
  EXPECT_EQ(report.checked_bytes, bytes);
}

TEST_F(VerifyTest, WritesNothing) {
  const auto storage = store_.storage(OpenMode::kWrite);
  must(verify(*storage, {}));
  EXPECT_EQ(storage->counters().write_count + storage->counters().sync_count, 0U);
}

TEST_F(VerifyTest, LeavesNoPinBehind) {
  const auto storage = store_.storage(OpenMode::kRead);
  must(verify(*storage, {}));
  EXPECT_THAT(must(storage->pinned({0}, {100})), IsEmpty());
}

// spec: format.md#identity rule 1
TEST_F(VerifyTest, RefusesWhatIsNotACrawlFile) {
  flip(0);
  EXPECT_EQ(code_of(verify(*store_.storage(OpenMode::kRead), {})), Errc::kNotACrawlFile);
}

// spec: format.md#identity rule 5
TEST_F(VerifyTest, ReportsADamagedIdentity) {
  flip(20);
  EXPECT_EQ(finding().kind, FindingKind::kDamaged);
  EXPECT_EQ(finding().error.code, Errc::kIdentityDamaged);
}

// spec: format.md#layout rule 2
TEST_F(VerifyTest, ReportsEachGapThatIsNotZero) {
  for (const std::uint64_t offset :
       {4 * kKiB, 16 * kKiB - 1, 20 * kKiB, 48 * kKiB - 1, 68 * kKiB, 80 * kKiB - 1}) {
    flip(offset);
    EXPECT_EQ(finding(VerifyLevel::kQuick).kind, FindingKind::kDamaged);
    EXPECT_EQ(finding(VerifyLevel::kQuick).error.offset, offset);
    flip(offset);
  }
}

TEST_F(VerifyTest, ReportsOneTornCopyAsReducedRedundancy) {
  for (const auto& slot : kSuperblockOffsets) {
    for (const std::uint64_t offset : slot) {
      flip(offset + 40);
      EXPECT_EQ(finding().kind, FindingKind::kReducedRedundancy);
      EXPECT_EQ(finding().error.code, Errc::kSuperblockDamaged);
      EXPECT_EQ(finding().error.offset, offset);
      EXPECT_THAT(describe(finding()), ::testing::EndsWith("and the next writer replaces it."));
      flip(offset + 40);
    }
  }
}

// spec: container.md#superblock states
TEST_F(VerifyTest, ReportsASlotWithoutAValidCopyAsDamage) {
  for (const std::uint64_t offset : kSuperblockOffsets[0]) flip(offset + 40);
  const auto report = store_.verified();
  EXPECT_THAT(report.findings, SizeIs(2));
  EXPECT_THAT(report.findings, Each(Field(&Finding::kind, FindingKind::kDamaged)));
  EXPECT_EQ(report.generations, 1U);
}

TEST_F(VerifyTest, ReportsNoWholeCopyAsDamage) {
  for (const auto& slot : kSuperblockOffsets) {
    for (const std::uint64_t offset : slot) flip(offset + 40);
  }
  const auto report = store_.verified();
  EXPECT_THAT(report.findings, SizeIs(4));
  EXPECT_THAT(report.findings, Each(Field(&Finding::kind, FindingKind::kDamaged)));
}

TEST_F(VerifyTest, ReportsAnEmptySlotAsDamageButNotATombstone) {
  const auto storage = store_.storage(OpenMode::kWrite);
  for (const std::uint64_t offset : kSuperblockOffsets[0]) {
    must(storage->write(offset, Bytes(4 * kKiB)));
  }
  EXPECT_TRUE(store_.verified().damaged());
  must(container::write_tombstone(*storage, fixed_identity().uuid, 2));
  EXPECT_EQ(text_of(store_.verified()), "");
}

TEST_F(VerifyTest, ReportsATornFirstCommitAsReducedRedundancy) {
  store_ = ContainerStore();
  EXPECT_EQ(text_of(store_.verified()), "");
  must(store_.storage(OpenMode::kWrite)->write(kSuperblockOffsets[0][0], random_bytes(100, 1)));
  EXPECT_EQ(finding().kind, FindingKind::kReducedRedundancy);
}

TEST_F(VerifyTest, ReportsOneClearedCopyOfASlotInUse) {
  must(store_.storage(OpenMode::kWrite)->write(kSuperblockOffsets[1][1], Bytes(4 * kKiB)));
  EXPECT_EQ(finding().kind, FindingKind::kReducedRedundancy);
}

TEST_F(VerifyTest, ReportsAnOlderCopy) {
  auto older = directory(false)->superblock;
  older.generation = 1;
  must(container::write_superblock(*store_.storage(OpenMode::kWrite), older, fixed_identity().uuid,
                                   1, 1));
  EXPECT_EQ(finding().kind, FindingKind::kReducedRedundancy);
  EXPECT_EQ(finding().error.offset, kSuperblockOffsets[1][1]);
  EXPECT_THAT(describe(finding()), ::testing::EndsWith("and the next writer replaces it."));
}

TEST_F(VerifyTest, ReportsASlotThatCannotBeReadAsDamage) {
  Recorder recorder(store_.file());
  const auto storage = recorder.open(OpenMode::kRead);
  for (const std::uint64_t offset : kSuperblockOffsets[1]) flip(offset + 40);
  recorder.set_hook([&](CallKind kind, Extent extent) {
    if (kind != CallKind::kRead || extent.offset_bytes != kSuperblockOffsets[1][0]) return;
    recorder.inject({.calls = calls(CallKind::kRead), .nth = 1});
  });
  const auto report = must(verify(*storage, {}));
  EXPECT_TRUE(report.damaged()) << text_of(report);
}

TEST_F(VerifyTest, ReportsADamagedDirectory) {
  flip(directory(false)->tables.front()->ref.offset_bytes + 20);
  const Finding found = finding(VerifyLevel::kQuick);
  EXPECT_EQ(found.kind, FindingKind::kDamaged);
  EXPECT_EQ(found.error.code, Errc::kDirectoryDamaged);
  EXPECT_EQ(found.generation.value, 3U);
}

TEST_F(VerifyTest, ReportsADamagedPreviousDirectoryAsReducedRedundancy) {
  flip(directory(true)->tables.front()->ref.offset_bytes + 20);
  EXPECT_EQ(finding(VerifyLevel::kQuick).kind, FindingKind::kReducedRedundancy);
  EXPECT_EQ(finding(VerifyLevel::kQuick).generation.value, 2U);
  EXPECT_THAT(describe(finding()), ::testing::EndsWith("and the next writer replaces it."));
}

TEST_F(VerifyTest, ReportsADamagedChunkWithItsSegment) {
  const std::uint64_t offset = place(*directory(false), changed_);
  flip(offset + 1000);
  EXPECT_EQ(finding().kind, FindingKind::kDamaged);
  EXPECT_EQ(finding().error.code, Errc::kChunkDamaged);
  EXPECT_EQ(finding().error.segment, changed_);
  EXPECT_EQ(finding().error.offset, offset);
}

TEST_F(VerifyTest, ReportsAChunkOfThePreviousGenerationAsReducedRedundancy) {
  flip(place(*directory(true), changed_) + 1000);
  EXPECT_EQ(finding().kind, FindingKind::kReducedRedundancy);
}

TEST_F(VerifyTest, ReportsASharedChunkOnce) {
  ASSERT_EQ(place(*directory(true), shared_), place(*directory(false), shared_));
  flip(place(*directory(false), shared_));
  EXPECT_EQ(finding().kind, FindingKind::kDamaged);
}

TEST_F(VerifyTest, ReadsDataOnlyWhenAsked) {
  flip(place(*directory(false), changed_) + 1000);
  EXPECT_THAT(store_.verified(VerifyLevel::kQuick).findings, IsEmpty());
}

TEST_F(VerifyTest, ReportsAFileThatIsTooShort) {
  const std::uint64_t end = directory(false)->superblock.high_water_bytes;
  must(store_.storage(OpenMode::kWrite)->truncate(end - 1));
  const auto report = store_.verified();
  EXPECT_TRUE(report.damaged());
  EXPECT_EQ(report.findings.front().error.code, Errc::kTruncated);
}

TEST_F(VerifyTest, ReportsWhereReadingFails) {
  Recorder recorder(store_.file());
  const std::uint64_t offset = place(*directory(false), changed_);
  recorder.set_hook([&](CallKind kind, Extent extent) {
    if (kind == CallKind::kRead && extent.offset_bytes == offset) {
      recorder.inject({.calls = calls(CallKind::kRead), .nth = 1});
    }
  });
  const auto report = must(verify(*recorder.open(OpenMode::kRead), {}));
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].error.code, Errc::kIo);
  EXPECT_EQ(report.findings[0].error.offset, offset);
}

TEST_F(VerifyTest, RefusesUnknownFeatures) {
  write_with_unknown_feature(directory(false)->superblock, 1);
  EXPECT_EQ(code_of(verify(*store_.storage(OpenMode::kRead), {})), Errc::kUnknownFeature);
}

TEST_F(VerifyTest, ReportsUnknownFeaturesOfThePreviousGenerationAlone) {
  write_with_unknown_feature(directory(true)->superblock, 0);
  EXPECT_EQ(finding().kind, FindingKind::kReducedRedundancy);
  EXPECT_EQ(finding().error.code, Errc::kUnknownFeature);
}

TEST_F(VerifyTest, StopsWhenTold) {
  VerifyOptions options;
  options.progress = [](std::uint64_t done, std::uint64_t) { return done < 100 * kKiB; };
  EXPECT_EQ(code_of(verify(*store_.storage(OpenMode::kRead), options)), Errc::kCancelled);
}

TEST_F(VerifyTest, TellsHowFarItIs) {
  std::vector<std::uint64_t> steps;
  VerifyOptions options;
  options.level = VerifyLevel::kNormal;
  options.progress = [&steps](std::uint64_t done, std::uint64_t total) {
    EXPECT_LE(done, total);
    steps.push_back(done);
    return true;
  };
  must(verify(*store_.storage(OpenMode::kRead), options));
  EXPECT_TRUE(std::is_sorted(steps.begin(), steps.end()));
  EXPECT_GE(steps.size(), 3U);
}

TEST_F(VerifyTest, FindsWhatTheNextCommitWouldOverwrite) {
#if !defined(CRAWLSTORE_MUTANTS)
  GTEST_SKIP() << "the commit policy cannot be changed in this build";
#endif
  auto policy = container::CommitPolicy{};
  policy.list_retired_runs = false;
  const ContainerStore other;
  auto options = fixed_time();
  options.policy = policy;
  const auto careless = other.writer(options);
  const SegmentId blob = add_blob(*careless, add_drum(*careless), 64, 1);
  must(careless->commit());
  replace_blob(*careless, blob, 64, 2);
  must(careless->commit());
  const auto report = other.verified(VerifyLevel::kQuick);
  ASSERT_THAT(report.findings, SizeIs(1)) << text_of(report);
  EXPECT_EQ(report.findings[0].kind, FindingKind::kReducedRedundancy);
  EXPECT_EQ(report.findings[0].error.code, Errc::kDirectoryInvalid);
}

TEST_F(VerifyTest, FindsNothingBesideABusyWriter) {
  const auto writer = store_.writer();
  Recorder recorder(store_.file());
  std::uint64_t seed = 10;
  recorder.set_hook([&](CallKind kind, Extent) {
    if (kind != CallKind::kRead || seed > 60) return;
    replace_blob(*writer, changed_, 40 * kKiB, ++seed);
    must(writer->commit());
  });
  EXPECT_EQ(text_of(must(verify(*recorder.open(OpenMode::kRead), {}))), "");
}

TEST(DescribeFinding, SaysWhatIsLostWithASegmentOfItsKind) {
  const auto advice = [](SegmentKind kind, const char* text) {
    const Error error{Errc::kChunkDamaged, 0, {7}, 4096, text};
    const std::string prose = describe(Finding{FindingKind::kDamaged, {3}, error, kind});
    return prose.substr(prose.find("What to do: "));
  };
  EXPECT_NE(advice(SegmentKind::kScoreArray, "").find("compute them again"), std::string::npos);
  EXPECT_NE(advice(SegmentKind::kDrumPartition, "").find("all other keys"), std::string::npos);
  EXPECT_EQ(advice({}, "").find("all other keys"), std::string::npos);
  for (const auto& kind : container::all_kinds().all()) {
    EXPECT_NE(advice(kind.rule.kind, "").find("crawlstore recover FILE NEW"), std::string::npos);
    EXPECT_NE(advice(kind.rule.kind, container::kPaddingText).find("nothing is lost"),
              std::string::npos);
    EXPECT_NE(advice(kind.rule.kind, format::kRunEndText).find("nothing is lost"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace crawlstore::testing
