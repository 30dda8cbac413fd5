// SPDX-License-Identifier: Apache-2.0
#include "container/open_parts.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "container/store_impl.h"

namespace crawlstore {
namespace {

using ::testing::ElementsAre;

/// Counts how often its name is looked at.
class NamedPart final : public Participant {
 public:
  NamedPart(SegmentKind of_kind, std::string of_name, std::uint64_t& look_count)
      : Participant(nullptr, of_kind), name_(std::move(of_name)), look_count_(look_count) {}

  [[nodiscard]] std::string_view name() const override {
    ++look_count_;
    return name_;
  }
  Result<void> prepare(CommitScope /*scope*/) override { return {}; }
  void published() override {}
  void dropped() override {}
  void keep_tentative() override {}
  void drop_tentative() override {}
  void close() override {}

 private:
  std::string name_;
  std::uint64_t& look_count_;
};

struct OpenPartsTest : ::testing::Test {
  std::uint64_t look_count = 0;
  NamedPart queue{SegmentKind::kQueue, "a", look_count};
  NamedPart drum{SegmentKind::kDrum, "a", look_count};
  NamedPart other{SegmentKind::kQueue, "b", look_count};
  OpenParts parts;

  [[nodiscard]] std::vector<Participant*> in_order() const { return {parts.begin(), parts.end()}; }
};

TEST_F(OpenPartsTest, FindsPartsByKindAndName) {
  for (Participant* part : {&other, &queue, &drum}) parts.insert(part);
  EXPECT_EQ(parts.find(SegmentKind::kQueue, "a"), &queue);
  EXPECT_EQ(parts.find(SegmentKind::kDrum, "a"), &drum);
  EXPECT_EQ(parts.find(SegmentKind::kDrum, "b"), nullptr);
  EXPECT_EQ(parts.find(SegmentKind::kPages, "a"), nullptr);
}

TEST_F(OpenPartsTest, KeepsTheOrderInWhichPartsCame) {
  for (Participant* part : {&other, &queue, &drum}) parts.insert(part);
  EXPECT_THAT(in_order(), ElementsAre(&other, &queue, &drum));
  parts.erase(&other);
  parts.insert(&other);
  EXPECT_THAT(in_order(), ElementsAre(&queue, &drum, &other));
}

TEST_F(OpenPartsTest, GivesTheNameOfAPartThatLeftToAnother) {
  NamedPart next(SegmentKind::kQueue, "a", look_count);
  parts.insert(&queue);
  parts.erase(&queue);
  EXPECT_TRUE(parts.empty());
  parts.insert(&next);
  parts.erase(&queue);  // which is not there: no effect
  EXPECT_EQ(parts.find(SegmentKind::kQueue, "a"), &next);
  parts.clear();
  EXPECT_EQ(parts.find(SegmentKind::kQueue, "a"), nullptr);
}

/// A comparison with each part that is open would be 500,000 looks.
TEST_F(OpenPartsTest, LooksAtEachNameAFewTimesHoweverManyThereAre) {
  constexpr std::uint64_t kPartCount = 1000;
  std::vector<std::unique_ptr<NamedPart>> many;
  for (std::uint64_t i = 0; i < kPartCount; ++i) {
    const std::string name = "host " + std::to_string(i);
    many.push_back(std::make_unique<NamedPart>(SegmentKind::kQueue, name, look_count));
    EXPECT_EQ(parts.find(SegmentKind::kQueue, name), nullptr);
    parts.insert(many.back().get());
  }
  for (const auto& part : many) parts.erase(part.get());
  EXPECT_LE(look_count, 4 * kPartCount);
  EXPECT_TRUE(parts.empty());
}

}  // namespace
}  // namespace crawlstore
