// SPDX-License-Identifier: Apache-2.0
#include "io/anonymous_array.h"

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

using Numbers = io::AnonymousArray<std::uint32_t>;

void expect_array(Result<Numbers> mapped, std::uint64_t count) {
  ASSERT_TRUE(mapped) << describe(mapped.error());
  const std::span<std::uint32_t> numbers = mapped->span();
  ASSERT_EQ(numbers.size(), count);
  EXPECT_EQ(std::ranges::count(numbers, 0U), static_cast<std::ptrdiff_t>(count));
  std::ranges::fill(numbers, 7U);
  EXPECT_EQ(std::ranges::count(numbers, 7U), static_cast<std::ptrdiff_t>(count));
}

TEST(AnonymousArray, IsZeroAndCanBeWrittenInMemoryAndInAFile) {
  const TemporaryFolder folder;
  for (const std::uint64_t count : {0U, 1U, 1024U, 100'000U}) {
    expect_array(Numbers::map(count), count);
    expect_array(Numbers::map(count, folder.path()), count);
  }
}

TEST(AnonymousArray, LeavesNoNameInTheFolder) {
  const TemporaryFolder folder;
  const auto held = Numbers::map(1024, folder.path());
  ASSERT_TRUE(held);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(AnonymousArray, SaysWhatIsInTheWay) {
  const TemporaryFolder folder;
  EXPECT_EQ(Numbers::map(~std::uint64_t{0}).error().code, Errc::kOutOfMemory);
  const auto code_of = [](std::uint64_t count, const std::string& in) {
    return Numbers::map(count, in).error().code;
  };
  EXPECT_EQ(code_of(1, folder / "none"), Errc::kNotFound);
  const Errc too_large = code_of(std::uint64_t{1} << 55, folder.path());
  EXPECT_TRUE(too_large == Errc::kNoSpace || too_large == Errc::kFileSizeLimit)
      << name_of(too_large);
}

}  // namespace
}  // namespace crawlstore::testing
