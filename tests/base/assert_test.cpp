// SPDX-License-Identifier: Apache-2.0

#include "base/assert.h"

#include <gtest/gtest.h>

namespace crawlstore {
namespace {

TEST(AssertDeathTest, PrintsExpressionAndPlaceAndAborts) {
  EXPECT_EXIT(CRAWLSTORE_ASSERT(1 + 1 == 3), ::testing::KilledBySignal(SIGABRT),
              "assert_test.cpp:[0-9]+: crawlstore: assertion failed: 1 \\+ 1 == 3");
}

TEST(Assert, TakesExpressionsWithCommas) {
  constexpr auto kSum = [](int a, int b) { return a + b; };
  CRAWLSTORE_ASSERT(kSum(1, 2) == 3);
}

TEST(Assert, EvaluatesItsExpressionOnce) {
  int count = 0;
  CRAWLSTORE_ASSERT(++count == 1);
  EXPECT_EQ(count, 1);
}

#ifdef NDEBUG
TEST(Dcheck, EvaluatesNothingInReleaseBuilds) {
  int count = 0;
  CRAWLSTORE_DCHECK(++count == 1);
  EXPECT_EQ(count, 0);
}
#else
TEST(DcheckDeathTest, AbortsInDebugBuilds) {
  EXPECT_EXIT(CRAWLSTORE_DCHECK(1 == 2), ::testing::KilledBySignal(SIGABRT), "1 == 2");
}
#endif

}  // namespace
}  // namespace crawlstore
