// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/health.h"

#include <gtest/gtest.h>

#include "drum/memory_store.h"

namespace crawlstore::testing {
namespace {

using inspector::Checked;
using inspector::Health;

Error damage(std::uint64_t segment, std::uint64_t offset, Errc code = Errc::kChunkDamaged) {
  Error error;
  error.code = code;
  error.segment = {segment};
  error.offset = offset;
  error.text = "the checksum of a chunk does not match";
  return error;
}

Checked check(VerifyLevel level, const std::vector<Error>& found, bool is_partial = false) {
  Checked checked;
  checked.level = level;
  checked.is_partial = is_partial;
  checked.report.checked_bytes = 1000;
  for (const Error& error : found) {
    checked.report.findings.push_back({FindingKind::kDamaged, {7}, error});
  }
  return checked;
}

model::FileView file(const std::vector<std::uint64_t>& segments = {}) {
  model::FileView view;
  view.info.file_bytes = 12'000;
  view.info.free_bytes = 2000;
  view.info.generation = {7};
  for (const std::uint64_t id : segments) view.segments.emplace_back().id = {id};
  return view;
}

TEST(Health, IsNotKnownBeforeACheck) {
  Health health;
  health.look(file());
  EXPECT_EQ(health.verdict(), "not checked yet");
  EXPECT_EQ(health.short_verdict(), "not checked");
  EXPECT_FALSE(health.is_whole());
  EXPECT_FALSE(health.is_damaged());
}

TEST(Health, IsWholeWhereAQuickCheckSeesAllBytes) {
  Health health;
  health.look(file());
  Checked checked = check(VerifyLevel::kQuick, {});
  checked.report.checked_bytes = 10'000;
  health.take(std::move(checked));
  EXPECT_TRUE(health.is_whole());
}

TEST(Health, HasAProblemWhereTheFileIsLost) {
  Health health;
  health.look(file());
  health.take(check(VerifyLevel::kNormal, {}));
  model::FileView gone = file();
  gone.problem = Error{Errc::kNotFound, 0, {}, Error::kNoOffset, "no such file or folder"};
  health.look(gone);
  EXPECT_EQ(health.verdict(), "LOST");
  EXPECT_EQ(health.short_verdict(), "1 problem");
  EXPECT_TRUE(health.is_damaged());
  gone.problem->code = Errc::kLocked;
  health.look(gone);
  EXPECT_TRUE(health.is_whole()) << "somebody else has it for a moment";
  health.look(file());
  EXPECT_TRUE(health.is_whole()) << "it is back";
}

TEST(Health, ForgetsWhatTwoCommitsHaveReplaced) {
  Health health;
  model::FileView view = file();
  view.snapshot = testing::must(MemoryStore()->snapshot());
  health.look(view);
  Checked checked = check(VerifyLevel::kNormal, {damage(3, 4096)});
  checked.report.findings.push_back(
      {FindingKind::kReducedRedundancy, {6}, damage(0, 16384, Errc::kSuperblockDamaged)});
  health.take(std::move(checked));
  for (const std::uint64_t generation : {8U, 9U}) {
    EXPECT_EQ(health.problems().size(), 2U) << generation;
    view.info.generation = {generation};
    health.look(view);
  }
  EXPECT_EQ(health.problems().size(), 1U) << "both slots are new";
}

TEST(Health, SaysWhichShareWasChecked) {
  Health health;
  health.look(file());
  health.take(check(VerifyLevel::kQuick, {}));
  EXPECT_FALSE(health.is_whole());
  EXPECT_EQ(health.short_verdict(), "no problems, 10.0 % checked");
  EXPECT_EQ(health.share_text(),
            "superblocks and directories were checked, 10.0 % of the bytes in use");
  health.take(check(VerifyLevel::kNormal, {}, true));
  EXPECT_FALSE(health.is_whole());
  EXPECT_EQ(health.verdict(), "nothing found so far");
  health.take(check(VerifyLevel::kNormal, {}));
  EXPECT_TRUE(health.is_whole());
  EXPECT_EQ(health.verdict(), "whole");
  EXPECT_EQ(health.short_verdict(), "no problems");
}

TEST(Health, CountsWhatPanelsMeetAtOnceAndOnce) {
  Health health;
  health.look(file());
  health.take(check(VerifyLevel::kQuick, {}));
  const std::uint64_t before = health.number();
  EXPECT_TRUE(health.meet(damage(3, 0x1000)));
  EXPECT_FALSE(health.meet(damage(3, 0x1000)));
  EXPECT_TRUE(health.meet(damage(3, 0x2000)));
  EXPECT_GT(health.number(), before);
  EXPECT_EQ(health.verdict(), "DAMAGED");
  EXPECT_EQ(health.short_verdict(), "2 problems");
  // The check finds one of them; the same damage is not two problems.
  health.take(check(VerifyLevel::kNormal, {damage(3, 0x1000)}));
  EXPECT_EQ(health.problems().size(), 1U);
  EXPECT_FALSE(health.meet(damage(3, 0x1000)));
}

TEST(Health, KeepsNothingThatSaysNothingOfTheBytes) {
  Health health;
  for (const Errc code : {Errc::kCancelled, Errc::kLocked, Errc::kUnknownName, Errc::kNotFound,
                          Errc::kInvalidArgument, Errc::kClosed}) {
    EXPECT_FALSE(health.meet(damage(0, Error::kNoOffset, code)));
  }
  EXPECT_FALSE(health.is_damaged());
}

TEST(Health, IsMendedOnlyByACheckThatLooked) {
  Health health;
  health.meet(damage(3, 0x1000));
  health.meet(damage(3, 0x2000, Errc::kSegmentInvalid));
  health.take(check(VerifyLevel::kQuick, {}));
  EXPECT_EQ(health.problems().size(), 2U);
  health.take(check(VerifyLevel::kNormal, {}, true));
  EXPECT_EQ(health.problems().size(), 2U);
  health.take(check(VerifyLevel::kNormal, {}));
  ASSERT_EQ(health.problems().size(), 1U);
  EXPECT_EQ(health.problems()[0].error.code, Errc::kSegmentInvalid);
  health.take(check(VerifyLevel::kDeep, {}));
  EXPECT_TRUE(health.is_whole());
}

TEST(Health, TellsWhatTheLookAtTheFileSaid) {
  Health health;
  health.take(check(VerifyLevel::kNormal, {}));
  model::FileView view = file();
  view.problem = damage(0, Error::kNoOffset, Errc::kTruncated);
  view.pages_problem = damage(4, 0x3000);
  health.look(view);
  EXPECT_EQ(health.short_verdict(), "2 problems");
  EXPECT_TRUE(health.is_damaged());
  health.look(file());
  EXPECT_TRUE(health.is_whole());
}

TEST(Health, IsBoundedWhateverPanelsMeet) {
  Health health;
  for (std::uint64_t i = 0; i < 20'000; ++i) health.meet(damage(3, i));
  EXPECT_EQ(health.problems().size(), 10'000U);
}

}  // namespace
}  // namespace crawlstore::testing
