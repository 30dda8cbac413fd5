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
  return {{9},
          70,
          60,
          {{{3}, {}}, {{8}, {queue_order(0.5), 12}}, {{11}, {queue_order(-2), 0}}},
          {{4}, {12}}};
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

// spec: queue.md#queue-tables rule 1
TEST(QueueTable, RejectsAnotherLength) {
  constexpr auto kLength = "the length of a queue table is out of range";
  EXPECT_EQ(text_of(parse_queue_table({})), kLength);
  EXPECT_EQ(text_of(parse_queue_table(Bytes(kQueueTableBytesMax + 8))), kLength);
  EXPECT_EQ(verdict_after([](auto& h) { h.magic ^= 1U; }),
            "the magic number of a queue table is wrong");
  constexpr auto kRuns = "the runs of a queue table do not fit its length";
  EXPECT_EQ(verdict_after([](auto& h) { ++h.run_count; }), kRuns);
  EXPECT_EQ(verdict_after([](auto& h) { h.run_count = ~0U; }), kRuns);
  EXPECT_EQ(verdict_after([](auto& h) { ++h.change_run_count; }), kRuns);
  EXPECT_EQ(verdict_after([](auto& h) { h.change_run_count = ~0U; }), kRuns);
  // 3 runs have the length of 9 runs of changes: the sum of both counts.
  EXPECT_EQ(verdict_after([](auto& h) {
              h.run_count = 0;
              h.change_run_count = 11;
            }),
            "a queue table has entries without runs, or runs without a log");
}

// spec: queue.md#queue-tables rule 2
TEST(QueueTable, RejectsRunsWithoutLogAndEntriesWithoutRuns) {
  constexpr auto kText = "a queue table has entries without runs, or runs without a log";
  EXPECT_EQ(verdict_after([](auto& h) { h.entries = 0; }), kText);
  EXPECT_EQ(text_of(parse_queue_table(encode_queue_table({{}, 1, 1, {}, {}}))), kText);
  EXPECT_EQ(text_of(parse_queue_table(encode_queue_table({{1}, 0, 0, {}, {}}))), kText);
}

// spec: queue.md#queue-tables rule 2
TEST(QueueTable, RejectsMorePagesThanEntries) {
  EXPECT_EQ(verdict_after([](auto& h) { h.page_count = 70; }), "accepted");
  EXPECT_EQ(verdict_after([](auto& h) { h.page_count = 71; }),
            "a queue table has more pages than entries");
}

// spec: queue.md#queue-tables rule 3
TEST(QueueTable, RejectsRunsThatDoNotAscend) {
  constexpr auto kText = "the runs of a queue table do not ascend";
  EXPECT_EQ(verdict_with({{0}, {}}), kText);
  EXPECT_EQ(verdict_with({{8}, {}}), kText);
  EXPECT_EQ(verdict_with({{7}, {}}), "accepted");
  QueueTable table = sample();
  table.changes = {{4}, {4}};
  EXPECT_EQ(text_of(parse_queue_table(encode_queue_table(table))),
            "the runs of changes of a queue table do not ascend");
}

// spec: queue.md#queue-tables rule 1
TEST(QueueTable, RejectsMoreRunsThanALogTakes) {
  Bytes bytes = encode_queue_table({{9}, 0, 0, {}, {{1}}});
  for (std::uint64_t run = 2; run <= 257; ++run) {
    bytes.resize(bytes.size() + sizeof run);
    store(bytes.data() + bytes.size() - sizeof run, run);
    auto header = load_struct<QueueTableHeader>(bytes.data());
    header.change_run_count = static_cast<std::uint32_t>(run);
    store_struct(bytes.data(), header);
    EXPECT_EQ(text_of(parse_queue_table(bytes)),
              run <= 256 ? "accepted" : "a queue table has too many runs");
  }
}

// spec: queue.md#queue-tables rule 4
TEST(QueueTable, RejectsCutsThatAreNoEntries) {
  constexpr auto kText = "a cut of a queue table is no entry";
  EXPECT_EQ(verdict_with({{3}, {std::uint64_t{1} << 63U, 0}}), kText);
  EXPECT_EQ(verdict_with({{3}, {0, 1}}), kText);
  EXPECT_EQ(verdict_with({{3}, {queue_order(1), std::uint64_t{1} << 40U}}), kText);
}

}  // namespace
}  // namespace crawlstore::format
