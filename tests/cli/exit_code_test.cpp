// SPDX-License-Identifier: Apache-2.0
#include "cli/exit_code.h"

#include <gtest/gtest.h>

namespace crawlstore::cli {
namespace {

TEST(ExitCode, IsFourForFilesOfOthersAndOtherVersions) {
  for (const auto code : {Errc::kNotACrawlFile, Errc::kNewerVersion, Errc::kOlderVersion,
                          Errc::kUnknownFeature, Errc::kReadOnlyFeature}) {
    EXPECT_EQ(exit_code(code), 4) << to_string(code);
  }
}

TEST(ExitCode, IsOneWhenTheAnswerIsNo) {
  for (const auto code :
       {Errc::kIdentityDamaged, Errc::kSuperblockDamaged, Errc::kDirectoryDamaged,
        Errc::kDirectoryInvalid, Errc::kChunkDamaged, Errc::kSegmentInvalid, Errc::kTruncated,
        Errc::kNotFound, Errc::kExists, Errc::kUnknownName, Errc::kNoPreviousGeneration}) {
    EXPECT_EQ(exit_code(code), 1) << to_string(code);
  }
}

TEST(ExitCode, IsThreeWhenTheSystemOrSomebodyElseSaysNo) {
  for (const auto code :
       {Errc::kLocked, Errc::kBusyPinned, Errc::kNoLocks, Errc::kReplaced, Errc::kForked,
        Errc::kReadOnly, Errc::kNoSpace, Errc::kIo, Errc::kPermission, Errc::kFileSizeLimit,
        Errc::kOutOfMemory, Errc::kUnsupported, Errc::kPoisoned, Errc::kDispatcherFailed}) {
    EXPECT_EQ(exit_code(code), 3) << to_string(code);
  }
}

TEST(ExitCode, IsTwoForWhatTheCommandLineAsksWrongly) {
  EXPECT_EQ(exit_code(Errc::kInvalidArgument), 2);
  EXPECT_EQ(exit_code(Errc::kTooLarge), 2);
  EXPECT_EQ(exit_code(Errc::kTypeMismatch), 2);
}

}  // namespace
}  // namespace crawlstore::cli
