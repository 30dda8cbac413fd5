// SPDX-License-Identifier: Apache-2.0
#include "format/queue_run.h"

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/field.h"
#include "format/format_samples.h"
#include "format/queue_samples.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();

std::vector<QueueEntry> joined(const QueueGroups& groups) {
  std::vector<QueueEntry> all;
  for (const auto& group : groups) all.insert(all.end(), group.begin(), group.end());
  return all;
}

TEST(QueueRun, OrdersHigherPrioritiesFirst) {
  const std::vector<double> descending = {kInfinity, 1e300,      2,  1,      kSmallest,
                                          0,         -kSmallest, -1, -1e300, -kInfinity};
  for (std::size_t i = 0; i < descending.size(); ++i) {
    const std::uint64_t order = queue_order(descending[i]);
    EXPECT_TRUE(is_queue_order(order)) << descending[i];
    EXPECT_EQ(queue_priority(order), descending[i]);
    if (i == 0) continue;
    EXPECT_LT(queue_order(descending[i - 1]), order) << descending[i];
  }
  EXPECT_EQ(queue_order(-0.0), queue_order(0.0));
}

TEST(QueueRun, KnowsWhatIsTheOrderOfNoPriority) {
  EXPECT_FALSE(is_queue_order(queue_order(kInfinity) - 1));
  EXPECT_FALSE(is_queue_order(queue_order(-kInfinity) + 1));
  EXPECT_FALSE(is_queue_order(~std::uint64_t{0}));
  // Not the order of any priority, but in runs of changes.
  EXPECT_TRUE(is_queue_order(kQueueGone));
  EXPECT_NE(queue_order(-0.0), kQueueGone);
}

TEST(QueueRun, ReturnsWhatWasEncoded) {
  const auto entries = check_queue_run(encoded_queue_run(sample_queue_groups()));
  ASSERT_TRUE(entries) << text_of(entries);
  EXPECT_EQ(*entries, joined(sample_queue_groups()));
}

TEST(QueueRun, TakesSixBytesForFloatsOfNeighbours) {
  std::mt19937_64 random(1);
  std::vector<QueueEntry> entries;
  for (std::uint64_t i = 0; i < 4096; ++i) {
    entries.push_back(queue_entry(0.5F + static_cast<float>(random() >> 44U) * 0x1p-24F, i));
  }
  Bytes bytes;
  const QueueFragment fragment = encode_queue_fragment(entries, bytes);
  EXPECT_EQ(fragment.order_bytes, 3);
  EXPECT_EQ(fragment.page_bytes, 2);
  EXPECT_EQ(bytes.size(), 4096 * 5U);
}

TEST(QueueRun, ReturnsEveryWidth) {
  std::mt19937_64 random(7);
  for (unsigned order_bits = 0; order_bits <= 52; ++order_bits) {
    for (const unsigned page_bits : {0U, 1U, 8U, 9U, 24U, 39U, 40U}) {
      std::vector<QueueEntry> entries;
      for (int i = 0; i < 40; ++i) {
        const std::uint64_t order = random() & ((std::uint64_t{1} << order_bits) - 1);
        const std::uint64_t page = random() & ((std::uint64_t{1} << page_bits) - 1);
        entries.push_back({queue_order(2) + (order << (order_bits % 8)), page});
      }
      const auto decoded = check_queue_run(encoded_queue_run({entries}));
      ASSERT_TRUE(decoded) << text_of(decoded) << " " << order_bits << " " << page_bits;
      EXPECT_EQ(*decoded, entries);
    }
  }
}

TEST(QueueRun, SaysOfEverySampleWhatItsNameSays) {
  for (const auto& [name, payload] : sample_queue_payloads()) {
    EXPECT_EQ(check_queue_run(payload).has_value(), !name.starts_with("rule_")) << name;
  }
}

std::string verdict(const char* name) {
  return text_of(check_queue_run(sample_queue_payloads().at(name)));
}

// spec: queue.md#queue-runs rule 1
TEST(QueueRun, RejectsAnotherEnd) {
  EXPECT_EQ(verdict("rule_1_length"), "the length of a queue run is out of range");
  EXPECT_EQ(text_of(check_queue_run({})), "the length of a queue run is out of range");
  EXPECT_EQ(verdict("rule_1_magic"), "the magic number of a queue run is wrong");
  EXPECT_EQ(verdict("rule_1_reserved"), "reserved bytes of a queue run are not zero");
  EXPECT_EQ(verdict("rule_1_none"), "the fragment count of a queue run is out of range");
  EXPECT_EQ(verdict("rule_1_many"), "the fragment count of a queue run is out of range");
  EXPECT_EQ(verdict("rule_1_order"), "the highest order of a queue run is of no priority");
}

// spec: queue.md#queue-runs rule 2
TEST(QueueRun, RejectsFragmentsOutOfRange) {
  constexpr auto kCount = "the entry count of a queue fragment is out of range";
  EXPECT_EQ(verdict("rule_2_none"), kCount);
  EXPECT_EQ(verdict("rule_2_many"), kCount);
  constexpr auto kWidth = "a width of a queue fragment is out of range";
  EXPECT_EQ(verdict("rule_2_shift"), kWidth);
  EXPECT_EQ(verdict("rule_2_width"), kWidth);
  EXPECT_EQ(verdict("rule_2_reserved"), "reserved bytes of a queue fragment are not zero");
  EXPECT_EQ(verdict("rule_2_order"), "the lowest order of a queue fragment is of no priority");
  EXPECT_EQ(verdict("rule_2_page"), "the first page of a queue fragment is out of range");
}

// spec: queue.md#queue-runs rule 3
// spec: queue.md#queue-runs rule 4
// spec: queue.md#queue-runs rule 5
// spec: queue.md#queue-runs rule 6
TEST(QueueRun, RejectsFragmentsThatDoNotFitTogether) {
  constexpr auto kOrder = "the fragments of a queue run do not ascend";
  EXPECT_EQ(verdict("rule_3_order"), kOrder);
  EXPECT_EQ(verdict("rule_3_highest"), kOrder);
  EXPECT_EQ(verdict("rule_4_count"), "the entry count of a queue run is not that of its fragments");
  EXPECT_EQ(verdict("rule_5_length"), "the fragments of a queue run do not fit its length");
  EXPECT_EQ(verdict("rule_6_padding"), "padding of a queue run is not zero");
}

// spec: queue.md#queue-runs rule 7
// spec: queue.md#queue-runs rule 8
TEST(QueueRun, RejectsEntriesOutsideOfTheirFragment) {
  constexpr auto kOutside = "an entry lies outside of its queue fragment";
  EXPECT_EQ(verdict("rule_7_limit"), kOutside);
  EXPECT_EQ(verdict("rule_7_page"), kOutside);
  EXPECT_EQ(verdict("rule_8_lowest"), "the lowest entry of a queue fragment is not in it");
  EXPECT_EQ(verdict("rule_8_highest"),
            "the highest entry of a queue run is not in its last fragment");
}

// spec: queue.md#queue-runs rule 9
TEST(QueueRun, RejectsFragmentsThatCouldBeShorter) {
  for (const char* name : {"rule_9_page", "rule_9_pages", "rule_9_orders", "rule_9_shift"}) {
    EXPECT_EQ(verdict(name), "a queue fragment is not written the shortest way") << name;
  }
}

}  // namespace
}  // namespace crawlstore::format
