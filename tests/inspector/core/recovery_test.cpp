// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/recovery.h"

#include <gtest/gtest.h>

#include "inspector/inspector_file.h"

namespace crawlstore::testing {
namespace {

using inspector::Recovery;

TEST(RecoveredPath, StandsBesideTheDamagedFile) {
  EXPECT_EQ(inspector::recovered_path("/a/x.crawl"), "/a/x-recovered.crawl");
  EXPECT_EQ(inspector::recovered_path("/a.b/x"), "/a.b/x-recovered.crawl");
}

TEST(DescribeRecovery, SaysWhatTheNewFileHas) {
  RecoverReport report;
  report.generation = report.newest = {7};
  EXPECT_EQ(describe(Recovery{"x", "/a/y.crawl", report}),
            "y.crawl holds generation 7; nothing was lost");
  report.newest = {9};
  report.losses.resize(2);
  EXPECT_EQ(describe(Recovery{"x", "/a/y.crawl", report}),
            "y.crawl holds generation 7 (the newest was 9), and lacks 2 parts");
  const Error cancelled{Errc::kCancelled, 0, {}, Error::kNoOffset, ""};
  EXPECT_EQ(describe(Recovery{"x", "/a/y.crawl", tl::unexpected<Error>(cancelled)}),
            "there is no y.crawl: stopped");
}

TEST(RecoveryWork, MakesAFileAndTellsOfIt) {
  const TemporaryFolder folder;
  std::shared_ptr<const Recovery> ended;
  inspector::Jobs jobs([] {}, [] { return std::int64_t{0}; });
  jobs.start("recover", "recover",
             inspector::recovery_work(golden("keys_and_pending"), folder / "new.crawl",
                                      [&](auto recovery) { ended = std::move(recovery); }));
  jobs.wait();
  EXPECT_EQ(ended, nullptr) << "told on another thread";
  ASSERT_TRUE(jobs.take_finished());
  ASSERT_NE(ended, nullptr);
  ASSERT_TRUE(ended->report);
  EXPECT_TRUE(ended->report->losses.empty());
  EXPECT_TRUE(std::filesystem::exists(ended->new_path));
}

}  // namespace
}  // namespace crawlstore::testing
