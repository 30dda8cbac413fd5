// SPDX-License-Identifier: Apache-2.0
#include "io/open_descriptor.h"

#include <cerrno>

#include <gtest/gtest.h>
#include <unistd.h>

#include <crawlstore/store.h>
#include <crawlstore/tools/verify.h>

#include "support/child_process.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

TEST(OpenDescriptor, SaysWhatTheSystemSays) {
  EXPECT_EQ(io::open_descriptor("/nowhere/at all", O_RDONLY), -1);
  EXPECT_EQ(errno, ENOENT);
}

TEST(OpenDescriptor, NeverGivesAStandardStream) {
  EXPECT_EQ(run_in_child([] {
              for (int standard = 0; standard < 3; ++standard) ::close(standard);
              const int descriptor = io::open_descriptor("/dev/null", O_RDONLY);
              const bool closes_on_exec = (::fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0;
              return descriptor > 2 && closes_on_exec && ::fcntl(0, F_GETFD) == -1 ? 0 : 1;
            }),
            0);
}

/// The output of a program goes nowhere then, and not into its store.
TEST(OpenDescriptor, KeepsStoresFromWhatIsPrinted) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/x.crawl";
  EXPECT_EQ(run_in_child([&] {
              for (int standard = 0; standard < 3; ++standard) ::close(standard);
              auto store = Store::create(path);
              if (!store) return 1;
              const auto snapshot = store->snapshot();
              if (!snapshot) return 2;
              for (int standard = 0; standard < 3; ++standard) {
                if (::write(standard, "noise", 5) != -1) return 3;
              }
              return store->close() ? 0 : 4;
            }),
            0);
  const auto report = verify(path);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->findings.empty());
}

}  // namespace
}  // namespace crawlstore::testing
