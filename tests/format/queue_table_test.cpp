// SPDX-License-Identifier: Apache-2.0
#include "format/queue_table.h"

#include <string>

#include <gtest/gtest.h>

#include "format/endian.h"
#include "format/field.h"
#include "format/format_samples.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

QueueTable sample() {
  return {{9}, 70, {{{3}, {}}, {{8}, {queue_order(0.5), 12}}, {{11}, {queue_order(-2), 0}}}};
}

template <class Change>
std::string verdict_after(Change change) {
  Bytes bytes = encode_queue_table(sample());
  auto header = load_struct<QueueTableHeader>(bytes.data());
  change(header);
  store_struct(bytes.data(), header);
  return text_of(parse_queue_table(bytes));
}

std::string verdict_with(const QueueRunState& first) {
  QueueTable table = sample();
  table.runs.front() = first;
  return text_of(parse_queue_table(encode_queue_table(table)));
}

TEST(QueueTable, ReturnsWhatWasEncoded) {
  for (const QueueTable& table : {sample(), QueueTable{}}) {
    const auto parsed = parse_queue_table(encode_queue_table(table));
    ASSERT_TRUE(parsed) << text_of(parsed);
    EXPECT_EQ(*parsed, table);
  }
}

// spec: format.md#queue-tables rule 1
TEST(QueueTable, RejectsAnotherLength) {
  constexpr auto kLength = "the length of a queue table is out of range";
  EXPECT_EQ(text_of(parse_queue_table({})), kLength);
  EXPECT_EQ(text_of(parse_queue_table(Bytes(kQueueTableBytesMax + 8))), kLength);
  EXPECT_EQ(verdict_after([](auto& h) { h.magic ^= 1U; }),
            "the magic number of a queue table is wrong");
  EXPECT_EQ(verdict_after([](auto& h) { h.reserved = 1; }),
            "reserved bytes of a queue table are not zero");
  constexpr auto kRuns = "the runs of a queue table do not fit its length";
  EXPECT_EQ(verdict_after([](auto& h) { ++h.run_count; }), kRuns);
  EXPECT_EQ(verdict_after([](auto& h) { h.run_count = ~0U; }), kRuns);
}

// spec: format.md#queue-tables rule 2
TEST(QueueTable, RejectsRunsWithoutLogAndEntriesWithoutRuns) {
  constexpr auto kText = "a queue table has entries without runs, or runs without a log";
  EXPECT_EQ(verdict_after([](auto& h) { h.entries = 0; }), kText);
  EXPECT_EQ(text_of(parse_queue_table(encode_queue_table({{}, 1, {}}))), kText);
  EXPECT_EQ(text_of(parse_queue_table(encode_queue_table({{1}, 0, {}}))), kText);
}

// spec: format.md#queue-tables rule 3
TEST(QueueTable, RejectsRunsThatDoNotAscend) {
  constexpr auto kText = "the runs of a queue table do not ascend";
  EXPECT_EQ(verdict_with({{0}, {}}), kText);
  EXPECT_EQ(verdict_with({{8}, {}}), kText);
  EXPECT_EQ(verdict_with({{7}, {}}), "accepted");
}

// spec: format.md#queue-tables rule 4
TEST(QueueTable, RejectsCutsThatAreNoEntries) {
  constexpr auto kText = "a cut of a queue table is no entry";
  EXPECT_EQ(verdict_with({{3}, {std::uint64_t{1} << 63U, 0}}), kText);
  EXPECT_EQ(verdict_with({{3}, {0, 1}}), kText);
  EXPECT_EQ(verdict_with({{3}, {queue_order(1), std::uint64_t{1} << 40U}}), kText);
}

}  // namespace
}  // namespace crawlstore::format
