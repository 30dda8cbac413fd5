// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <crawlstore/must.h>

namespace crawlstore {
namespace {

TEST(Must, ReturnsTheValue) {
  EXPECT_EQ(*must(Result<std::unique_ptr<int>>(std::make_unique<int>(7))), 7);
  must(Result<void>{});
}

TEST(Must, ThrowsWhatWentWrongAndWhatToDo) {
  const Error error{Errc::kNotACrawlFile, 0, {}, Error::kNoOffset, "no magic"};
  std::string told;
  try {
    must(Result<int>(tl::unexpected<Error>(error)));
  } catch (const std::runtime_error& failure) {
    told = failure.what();
  }
  EXPECT_EQ(told, describe(error));
}

}  // namespace
}  // namespace crawlstore
