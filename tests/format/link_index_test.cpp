// SPDX-License-Identifier: Apache-2.0
#include "format/link_index.h"

#include <cstdint>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "format/format_samples.h"
#include "format/link_samples.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

Bytes valid_run() {
  return link_run({{{10, {11, 12}}, {11, {}}}, {{20, {3}}}, {{30, {}}, {31, {90}}}});
}

LinkRunFooter valid_footer() {
  const Bytes bytes = valid_run();
  return load_struct<LinkRunFooter>(bytes.data() + bytes.size() - sizeof(LinkRunFooter));
}

std::string verdict_after(const std::function<void(LinkRunFooter&)>& change) {
  LinkRunFooter footer = valid_footer();
  change(footer);
  return text_of(parse_link_footer(bytes_of_struct(footer), valid_run().size()));
}

std::string index_verdict(const Bytes& run) {
  const LinkRunFooter footer = valid_footer();
  LinkIndexRules rules(footer);
  for (std::uint64_t i = 0; i < footer.block_count; ++i) {
    const auto taken = rules.take(load_struct<LinkIndexEntry>(
        run.data() + footer.index_offset_bytes + i * sizeof(LinkIndexEntry)));
    if (!taken) return text_of(taken);
  }
  return "accepted";
}

TEST(LinkIndex, ReturnsWhatWasEncoded) {
  const Bytes bytes = valid_run();
  const auto footer = parse_link_footer(std::span(bytes).last(72), bytes.size());
  ASSERT_TRUE(footer);
  EXPECT_EQ(footer->row_count, 5u);
  EXPECT_EQ(footer->link_count, 4u);
  EXPECT_EQ(footer->block_count, 3u);
  EXPECT_EQ(footer->first_page, 10u);
  EXPECT_EQ(footer->last_page, 31u);
  EXPECT_EQ(footer->target_max, 90u);
  EXPECT_EQ(footer->index_offset_bytes, bytes.size() - 72 - 3 * 16);
  EXPECT_EQ(index_verdict(bytes), "accepted");
}

// spec: links.md#link-runs rule 1
TEST(LinkIndex, RejectsAnotherLength) {
  const Bytes bytes = bytes_of_struct(valid_footer());
  constexpr auto kText = "the length of a link run is out of range";
  EXPECT_EQ(text_of(parse_link_footer(bytes, 81)), kText);
  EXPECT_EQ(text_of(parse_link_footer(std::span(bytes).first(71), 200)), kText);
  EXPECT_EQ(text_of(parse_link_footer(bytes, 64)), kText);
}

// spec: links.md#link-runs rule 1
TEST(LinkIndex, RejectsAnUnknownFooter) {
  EXPECT_EQ(verdict_after([](auto& f) { f.magic ^= 1; }),
            "the magic number of a link run is wrong");
  EXPECT_EQ(verdict_after([](auto& f) { f.codec = 3; }), "the codec of a link run is unknown");
  EXPECT_EQ(verdict_after([](auto& f) { f.reserved[2] = 1; }),
            "reserved bytes of a link run are not zero");
}

// spec: links.md#link-runs rule 2
TEST(LinkIndex, RejectsAnIndexOutOfPlace) {
  EXPECT_EQ(verdict_after([](auto& f) { f.block_count = 0; }),
            "the block count of a link run is out of range");
  EXPECT_EQ(verdict_after([](auto& f) { f.block_count = ~0ull / 16; }),
            "the block count of a link run is out of range");
  constexpr auto kText = "the index of a link run is out of place";
  EXPECT_EQ(verdict_after([](auto& f) { f.block_count = 2; }), kText);
  EXPECT_EQ(verdict_after([](auto& f) { f.index_offset_bytes += 16; }), kText);
}

// spec: links.md#link-runs rule 3
TEST(LinkIndex, RejectsPagesOutOfRange) {
  constexpr auto kText = "the pages of a link run are out of range";
  EXPECT_EQ(verdict_after([](auto& f) { f.first_page = 32; }), kText);
  EXPECT_EQ(verdict_after([](auto& f) { f.last_page = kPageMax + 1; }), kText);
  EXPECT_EQ(verdict_after([](auto& f) { f.target_max = kPageMax + 1; }), kText);
  EXPECT_EQ(verdict_after([](auto& f) { f.link_count = 0; }), kText);
}

// spec: links.md#link-runs rule 4
TEST(LinkIndex, RejectsCountsOutOfRange) {
  constexpr auto kText = "a count of a link run is out of range";
  EXPECT_EQ(verdict_after([](auto& f) { f.row_count = 2; }), kText);
  EXPECT_EQ(verdict_after([](auto& f) { f.row_count = 23; }), kText);
  EXPECT_EQ(verdict_after([](auto& f) { f.last_page = kPageMax, f.row_count = 1'000'000; }), kText);
  EXPECT_EQ(verdict_after([](auto& f) { f.link_count = 1'000'000; }), kText);
}

// spec: links.md#link-runs rule 5
TEST(LinkIndex, RejectsFirstPagesThatDoNotAscend) {
  constexpr auto kText = "the first pages of a link run do not ascend";
  const std::size_t at = valid_footer().index_offset_bytes;
  EXPECT_EQ(index_verdict(with(valid_run(), at, std::uint64_t{9})), kText);
  EXPECT_EQ(index_verdict(with(valid_run(), at + 16, std::uint64_t{10})), kText);
  EXPECT_EQ(index_verdict(with(valid_run(), at + 32, std::uint64_t{32})), kText);
}

// spec: links.md#link-runs rule 6
TEST(LinkIndex, RejectsOffsetsThatDoNotAscend) {
  constexpr auto kText = "the block offsets of a link run do not ascend";
  const std::size_t at = valid_footer().index_offset_bytes + 8;
  EXPECT_EQ(index_verdict(with(valid_run(), at, std::uint64_t{8})), kText);
  EXPECT_EQ(index_verdict(with(valid_run(), at + 16, std::uint64_t{16})), kText);
  EXPECT_EQ(index_verdict(with(valid_run(), at + 16, std::uint64_t{36})), kText);
  EXPECT_EQ(index_verdict(with(valid_run(), at + 32, ~std::uint64_t{7})), kText);
}

}  // namespace
}  // namespace crawlstore::format
