// SPDX-License-Identifier: Apache-2.0
#include "model/label.h"

#include <gtest/gtest.h>

namespace crawlstore::testing {
namespace {

using model::label_of;

TEST(Label, SaysCountsInThePlural) {
  EXPECT_EQ(label_of("page_count"), "pages");
  EXPECT_EQ(label_of("key_count"), "keys");
  EXPECT_EQ(label_of("entry_count"), "entries");
  EXPECT_EQ(label_of("pass_count"), "passes");
  EXPECT_EQ(label_of("crawled_count"), "crawled") << "no thing, but a state of it";
  EXPECT_EQ(label_of("unreadable_count"), "unreadable");
  EXPECT_EQ(label_of("elsewhere_count"), "elsewhere");
  EXPECT_EQ(label_of("score_array_count"), "score arrays");
  EXPECT_EQ(label_of("added_link_count"), "added links");
}

TEST(Label, LeavesUnitsToTheValue) {
  EXPECT_EQ(label_of("allocated_bytes"), "allocated");
  EXPECT_EQ(label_of("offset_bytes"), "offset");
  EXPECT_EQ(label_of("index_bytes"), "index bytes") << "else it would seem to be an index";
  EXPECT_EQ(label_of("time_us"), "time");
  EXPECT_EQ(label_of("solve_seconds"), "solve time");
  EXPECT_EQ(label_of("is_stale"), "stale");
}

TEST(Label, SaysQuotientsAndChangesInWords) {
  EXPECT_EQ(label_of("bits_per_link"), "bits a link");
  EXPECT_EQ(label_of("fresh_bits_per_item"), "fresh bits an item");
  EXPECT_EQ(label_of("changes_per_day"), "changes a day");
  EXPECT_EQ(label_of("page_delta"), "pages +/-");
}

TEST(Label, HasWordsOfItsOwnWhereARuleWouldMakeARiddle) {
  EXPECT_EQ(label_of("in_link_count"), "links in");
  EXPECT_EQ(label_of("first_crawl_us"), "first crawled");
  EXPECT_EQ(label_of("pid"), "process");
  EXPECT_EQ(label_of("url"), "URL");
  EXPECT_EQ(label_of("unicode_host"), "Unicode host");
}

TEST(Label, LeavesWordsAsTheyAre) {
  EXPECT_EQ(label_of("host"), "host");
  EXPECT_EQ(label_of("generation 12 of my_file"), "generation 12 of my_file");
  EXPECT_EQ(label_of("score:my_scores"), "score:my_scores");
  EXPECT_EQ(label_of(""), "");
  EXPECT_EQ(label_of("_"), "");
  EXPECT_EQ(label_of("_count"), "s");
}

}  // namespace
}  // namespace crawlstore::testing
