// SPDX-License-Identifier: Apache-2.0

#include <cerrno>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

namespace crawlstore {
namespace {

/// Every number that has a name.
std::set<std::uint16_t> known_codes() {
  std::set<std::uint16_t> codes;
  for (std::uint16_t number = 0; number < 1000; ++number) {
    if (name_of(static_cast<Errc>(number)) != "unknown") codes.insert(number);
  }
  return codes;
}

Error error_at(Errc code, std::uint64_t offset) {
  return {code, 0, {}, offset, "some text"};
}

TEST(Error, NamesEveryCodeOnce) {
  std::set<std::string_view> names;
  std::set<std::string_view> titles;
  for (const std::uint16_t number : known_codes()) {
    EXPECT_TRUE(names.insert(name_of(static_cast<Errc>(number))).second) << number;
    EXPECT_TRUE(titles.insert(to_string(static_cast<Errc>(number))).second) << number;
  }
  EXPECT_TRUE(names.contains("not_a_crawl_file"));
  EXPECT_TRUE(names.contains("cancelled"));
}

TEST(Error, SpellsTheNameAsTheTitleWithoutSpaces) {
  EXPECT_EQ(name_of(Errc::kChunkDamaged), "chunk_damaged");
  EXPECT_EQ(to_string(Errc::kChunkDamaged), "chunk damaged");
}

TEST(Error, ReturnsUnknownForOtherNumbers) {
  EXPECT_EQ(to_string(static_cast<Errc>(9999)), "unknown error");
  EXPECT_EQ(name_of(static_cast<Errc>(9999)), "unknown");
}

TEST(Error, SortsCodesIntoFamilies) {
  EXPECT_EQ(category(Errc::kReadOnlyFeature), ErrorCategory::kFormat);
  EXPECT_EQ(category(Errc::kIdentityDamaged), ErrorCategory::kDamage);
  EXPECT_EQ(category(Errc::kTruncated), ErrorCategory::kDamage);
  EXPECT_EQ(category(Errc::kLocked), ErrorCategory::kConflict);
  EXPECT_EQ(category(Errc::kUnsupported), ErrorCategory::kSystem);
  EXPECT_EQ(category(Errc::kInvalidArgument), ErrorCategory::kCaller);
}

TEST(Error, MapsErrnoToWhatAUserCanActOn) {
  const auto code = [](int number) { return fail_errno(number, "").value().code; };
  EXPECT_EQ(code(ENOSPC), Errc::kNoSpace);
  EXPECT_EQ(code(EDQUOT), Errc::kNoSpace);
  EXPECT_EQ(code(EFBIG), Errc::kFileSizeLimit);
  EXPECT_EQ(code(EROFS), Errc::kPermission);
  EXPECT_EQ(code(EACCES), Errc::kPermission);
  EXPECT_EQ(code(ENOENT), Errc::kNotFound);
  EXPECT_EQ(code(EEXIST), Errc::kExists);
  EXPECT_EQ(code(EISDIR), Errc::kNotACrawlFile);
  EXPECT_EQ(code(ENOMEM), Errc::kOutOfMemory);
  EXPECT_EQ(code(EOPNOTSUPP), Errc::kUnsupported);
  EXPECT_EQ(code(EIO), Errc::kIo);
  EXPECT_EQ(code(EBADF), Errc::kIo);
}

TEST(Error, KeepsTheErrno) {
  EXPECT_EQ(fail_errno(ENOSPC, "").value().system_errno, ENOSPC);
}

TEST(Error, DescribesWhatWhereAndWhy) {
  const std::string prose =
      describe(Error{Errc::kIo, EIO, SegmentId{7}, 0x14000, "cannot read the file"});
  EXPECT_NE(prose.find("input or output failed: cannot read the file"), std::string::npos) << prose;
  EXPECT_NE(prose.find("segment 7"), std::string::npos) << prose;
  EXPECT_NE(prose.find("offset 0x14000"), std::string::npos) << prose;
  EXPECT_NE(prose.find("(Input/output error)"), std::string::npos) << prose;
}

TEST(Error, DescribesWhatToDoForEveryCode) {
  for (const std::uint16_t number : known_codes()) {
    const std::string prose = describe(error_at(static_cast<Errc>(number), 0));
    const std::size_t advice = prose.find("What to do: ");
    ASSERT_NE(advice, std::string::npos) << prose;
    EXPECT_GT(prose.size(), advice + 20) << prose;
  }
}

TEST(Error, OmitsThePlaceWhenThereIsNone) {
  const std::string prose = describe(error_at(Errc::kLocked, Error::kNoOffset));
  EXPECT_EQ(prose.find("offset"), std::string::npos) << prose;
  EXPECT_EQ(prose.find("segment"), std::string::npos) << prose;
}

TEST(Error, SurvivesAnUnknownErrno) {
  EXPECT_NE(describe(Error{Errc::kIo, 98765, {}, 0, ""}).find("unknown errno"), std::string::npos);
}

TEST(Uuid, PrintsGroupsInLowerCase) {
  Uuid uuid = {};
  for (std::size_t index = 0; index < uuid.size(); ++index) {
    uuid[index] = static_cast<std::byte>(index * 17);
  }
  EXPECT_EQ(to_string(uuid), "00112233-4455-6677-8899-aabbccddeeff");
}

TEST(SegmentKind, NamesWhatItKnows) {
  EXPECT_EQ(name_of(SegmentKind::kDrumPartition), "drum_partition");
  EXPECT_EQ(name_of(static_cast<SegmentKind>(60000)), "unknown");
  EXPECT_EQ(name_of(StorageClass::kLog), "log");
  EXPECT_EQ(name_of(static_cast<StorageClass>(200)), "unknown");
}

}  // namespace
}  // namespace crawlstore
