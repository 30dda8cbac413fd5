// SPDX-License-Identifier: Apache-2.0
// covers: A21, A22, A28, A29, A30, A31
#include <cmath>

#include <gtest/gtest.h>

#include <crawlstore/host_rates.h>

#include "drum/memory_store.h"

namespace crawlstore::testing {
namespace {

/// The example of the seed.
TEST(HostRates, CoolAndCount) {
  auto rates = must(HostRates::make(10, 60));
  for (const std::uint64_t host : {1U, 1U, 2U, 1000U}) rates.add(host, 100);
  EXPECT_DOUBLE_EQ(rates.temperature(1), 2);
  EXPECT_DOUBLE_EQ(rates.temperature(2), 1);
  EXPECT_DOUBLE_EQ(rates.temperature(1000), 1);
  EXPECT_EQ(rates.temperature(3), 0);
  rates.cool(101);
  EXPECT_NEAR(rates.temperature(2), 0.98347145, 1e-8);
  EXPECT_NEAR(rates.temperature(1), 1.966943, 1e-6);
  EXPECT_NEAR(rates.rate(1), 1.966943 / 60, 1e-8);
  rates.cool(50);  // time does not run backwards
  EXPECT_NEAR(rates.temperature(2), 0.98347145, 1e-8);
}

TEST(HostRates, GiveUpTheColdestHostOnly) {
  auto rates = must(HostRates::make(2, 60));
  rates.add(1, 0);
  rates.add(1, 0);
  rates.add(2, 0);
  rates.add(3, 0);  // all are at least 1
  EXPECT_EQ(rates.temperature(3), 0);
  rates.add(3, 1);  // host 2 has cooled below
  EXPECT_EQ(rates.temperature(3), 1);
  EXPECT_EQ(rates.temperature(2), 0);
  EXPECT_NEAR(rates.temperature(1), 2 * std::exp(-1.0 / 60), 1e-12);
}

TEST(HostRates, NeedAHostAndAWindow) {
  EXPECT_EQ(HostRates::make(0, 60).error().code, Errc::kInvalidArgument);
  for (const double window_s : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_EQ(HostRates::make(1, window_s).error().code, Errc::kInvalidArgument);
  }
}

/// A steady crawl shows its rate.
TEST(HostRates, ComeToTheRateOfASteadyCrawl) {
  auto rates = must(HostRates::make(4, 30));
  for (int i = 0; i < 3000; ++i) rates.add(7, i * 0.1);
  EXPECT_NEAR(rates.rate(7), 10, 0.2);
}

}  // namespace
}  // namespace crawlstore::testing
