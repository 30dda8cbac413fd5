// SPDX-License-Identifier: Apache-2.0
//
// The findings of deep verification on the payload of a link run, and the way it is shown.
#include "links/link_content.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <crawlstore/tools/inspect.h>

#include "container/container_store.h"
#include "container/description.h"
#include "format/endian.h"
#include "format/link_samples.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

using ::testing::Contains;

Result<container::RunContentPtr> checked(const Bytes& payload) {
  const Bytes exact(payload.begin(), payload.end());  // at the end of its memory
  return links::check_link_run(container::payload_in_memory(exact),
                               [](std::uint64_t) { return Result<void>{}; });
}

std::string verdict(const Bytes& payload) {
  const auto content = checked(payload);
  return content ? "accepted" : content.error().text;
}

const std::vector<Rows>& sample() {
  static const std::vector<Rows> kBlocks{
      {{10, {11, 12}}, {11, {}}}, {{20, {3}}}, {{30, {}}, {31, {2, 90}}}};
  return kBlocks;
}

/// The sample with its footer changed.
std::string verdict_after(const std::function<void(format::LinkRunFooter&)>& change) {
  Bytes run = link_run(sample());
  std::byte* const place = run.data() + run.size() - sizeof(format::LinkRunFooter);
  auto footer = format::load_struct<format::LinkRunFooter>(place);
  change(footer);
  format::store_struct(place, footer);
  return verdict(run);
}

TEST(LinkContent, SaysWhatARunHolds) {
  const auto checked_run = must(checked(link_run(sample())));
  const auto& content = dynamic_cast<const links::LinkContent&>(*checked_run);
  EXPECT_EQ(content.record_count, 5u);
  EXPECT_EQ(content.page_min, 10u);
  EXPECT_EQ(content.page_max, 31u);
  EXPECT_EQ(content.target_max, 90u);
}

TEST(LinkContent, AcceptsRandomGraphs) {
  SeededRandom random;
  for (int round = 0; round < 50; ++round) {
    std::vector<Rows> blocks;
    for (std::uint64_t first = 0; blocks.size() < 20; first += 1'000) {
      blocks.push_back(random_rows(random, 1 + random.below(100), first, 1'000));
    }
    EXPECT_EQ(verdict(link_run(blocks)), "accepted");
  }
}

// spec: links.md#link-runs rule 7
TEST(LinkContent, RejectsTotalsThatAreNotThoseOfTheBlocks) {
  constexpr auto kCounts =
      "the blocks of a link run hold other numbers of rows or links than its footer";
  EXPECT_EQ(verdict_after([](auto& f) { ++f.row_count; }), kCounts);
  EXPECT_EQ(verdict_after([](auto& f) { --f.link_count; }), kCounts);
  constexpr auto kHighest = "the last page or highest link of a link run is not that of its footer";
  EXPECT_EQ(verdict_after([](auto& f) { ++f.last_page; }), kHighest);
  EXPECT_EQ(verdict_after([](auto& f) { --f.target_max; }), kHighest);
}

// spec: links.md#link-runs rule 7
TEST(LinkContent, RejectsPagesThatDoNotAscendFromBlockToBlock) {
  EXPECT_EQ(verdict(link_run({{{10, {}}, {25, {}}}, {{20, {}}}})),
            "the pages of a link run do not ascend from block to block");
}

// spec: links.md#link-runs rule 7
TEST(LinkContent, RejectsAnIndexOfOtherPages) {
  const Bytes run = link_run(sample());
  const std::size_t second = run.size() - sizeof(format::LinkRunFooter) - 2 * 16;
  Bytes changed = run;
  format::store(changed.data() + second, std::uint64_t{21});
  EXPECT_EQ(verdict(changed), "the first page of a block is not the one the index says");
}

// spec: links.md#link-runs rule 6
TEST(LinkContent, RejectsBlocksThatEndElsewhere) {
  Bytes run = link_run(sample());
  const std::size_t third = run.size() - sizeof(format::LinkRunFooter) - 16 + 8;
  const auto offset = format::load<std::uint64_t>(run.data() + third);
  format::store(run.data() + third, offset + 8);
  EXPECT_EQ(verdict(run), "a block of a link run does not end where the index says");
}

// spec: links.md#link-block rule 4
// spec: links.md#short-numbers rule 1
TEST(LinkContent, RejectsBlocksThatAreNotTheShortest) {
  // Page 3 links to 4: one byte of data for the degree, one for the link.
  Bytes run = link_run({{{3, {4}}}});
  constexpr std::size_t kSelectors = sizeof(format::LinkBlockHeader);
  ASSERT_EQ(run[kSelectors + 1], std::byte{1});
  run[kSelectors + 1] = std::byte{2};  // two bytes: 2 0
  run[16] = std::byte{3};              // data_bytes
  EXPECT_EQ(verdict(run), "a link block is not the shortest for its rows");
  // The same in plain numbers.
  Bytes plain = link_run({{{3, {format::kPageMax}}}});
  format::store(plain.data() + kSelectors + 8, std::uint64_t{2});
  const std::size_t footer = plain.size() - sizeof(format::LinkRunFooter);
  format::store(plain.data() + footer + offsetof(format::LinkRunFooter, target_max),
                std::uint64_t{4});
  EXPECT_EQ(verdict(plain), "a link block is not the shortest for its rows");
}

TEST(LinkContent, KeepsPlacesInsideOfThePayload) {
  SeededRandom random;
  const Bytes run = link_run(sample());
  for (int round = 0; round < 5'000; ++round) {
    Bytes changed = run;
    for (std::uint64_t i = 1 + random.below(4); i > 0; --i) {
      changed[random.below(changed.size())] = static_cast<std::byte>(random.next());
    }
    if (random.one_in(10)) changed.resize(random.below(changed.size() / 8 + 1) * 8);
    const auto content = checked(changed);
    if (content || changed.empty()) continue;
    ASSERT_EQ(content.error().code, Errc::kSegmentInvalid);
    ASSERT_LT(content.error().offset, run.size());
  }
}

TEST(LinkContent, IsShownWithItsPlaces) {
  const ContainerStore store;
  const auto writer = store.writer();
  const Bytes payload = link_run(sample());
  const SegmentId id = writer->new_segment_id();
  const auto run = must(container::write_run(
      *writer, {id, SegmentKind::kOutLinks, {}, writer->new_run_ids(1)}, payload, 5));
  const format::SegmentEntry entry{id, SegmentKind::kOutLinks, StorageClass::kLog, {}, "", {run}};
  const container::RunSource source(writer->storage(), writer->identity().uuid, entry, run);
  container::Description shown{DescribeOptions{}};
  const container::Kind& kind = container::all_kinds().of(entry);
  container::describe_run(shown, source, kind);
  std::vector<std::string> lines;
  for (const FieldInfo& field : shown.take()) {
    EXPECT_EQ(field.problem, "") << field.name;
    lines.push_back(field.name + " " + std::to_string(field.offset_bytes - run.offset_bytes) + " " +
                    field.value);
  }
  EXPECT_THAT(lines, Contains("footer " + std::to_string(payload.size() - 72) + " "));
  EXPECT_THAT(lines, Contains("row_count " + std::to_string(payload.size() - 72) + " 5"));
  EXPECT_THAT(lines, Contains("blocks[0] 0 "));
  EXPECT_THAT(lines, Contains("blocks[2] 64 "));
  EXPECT_THAT(lines, Contains("index[1] " + std::to_string(payload.size() - 72 - 32) + " "));
  container::Description at{DescribeOptions{}};
  container::describe_run_at(at, source, kind, run.offset_bytes + 40);
  lines.clear();
  for (const FieldInfo& field : at.take()) lines.push_back(field.name);
  EXPECT_THAT(lines, Contains("blocks[1]"));
}

}  // namespace
}  // namespace crawlstore::testing
