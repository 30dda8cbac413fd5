// SPDX-License-Identifier: Apache-2.0
#include "model/url_record.h"

#include <gtest/gtest.h>

#include "drum/memory_store.h"
#include "model/frontier_view.h"

namespace crawlstore::testing {
namespace {

using model::read_url_record;
using namespace std::string_view_literals;

TEST(UrlRecord, ReadsEachForm) {
  // 300 seconds; a text of two bytes, in its form; a date in the last; three bytes of
  // metadata.
  for (const auto& [bytes, url] : {std::pair{"\xAC\x02\x06/xabc"sv, "/x"},
                                   {"\xAC\x02\x07/xabc"sv, "http://a.test/x"},
                                   {"\xAC\x02\x08/xabc"sv, "https://a.test/x"},
                                   {"\xAC\x02\x87\x80\x10\x05/xabc"sv, "http://a.test/x"}}) {
    const auto record = read_url_record(bytes, "a.test");
    ASSERT_TRUE(record);
    EXPECT_EQ(record->url, url);
    EXPECT_EQ(record->created_us, 300'000'000);
    EXPECT_EQ(record->metadata_bytes, 3U);
  }
  EXPECT_EQ(read_url_record("\0\1"sv, "a.test")->url, "http://a.test");
}

TEST(UrlRecord, RefusesOtherBytes) {
  for (const auto bytes : {""sv, "\xAC"sv, "\1"sv, "\1\x06/"sv, "http://a.test/x"sv, "\1\x80\x80"sv,
                           "\1\x87\x80\x10"sv, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\1\0"sv,
                           "\1\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\2"sv,
                           "\1\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\1"sv}) {
    EXPECT_FALSE(read_url_record(bytes, "a.test")) << bytes.size();
  }
}

/// A frontier `c` with ids of its own, one item of which is a record.
class CrawlInFile : public ::testing::Test {
 protected:
  CrawlInFile() {
    FrontierOptions options;
    options.has_own_ids = true;
    auto frontier = must(Frontier::open(*store_, "c", options));
    must(frontier.put(
        std::vector<FrontierItem>{{"a.test", 1, "\1\7/xabc", 0, 7}, {"a.test", 0, "other", 0, 8}}));
    must(frontier.close());
    must(store_->commit());
  }
  void add_known_urls(const std::string& name) {
    must(must(Drum<Key16, std::string>::open(*store_, name)).close());
    must(store_->commit());
  }
  bool has_records() {
    const auto snapshot = must(store_->snapshot());
    return model::has_url_records(snapshot, must(FrontierView::open(snapshot, "c")).info());
  }

  MemoryStore store_;
};

TEST_F(CrawlInFile, IsKnownByTheDrumBesideIt) {
  EXPECT_FALSE(has_records());
  add_known_urls("known:other");
  EXPECT_FALSE(has_records());
  add_known_urls("known:c");
  EXPECT_TRUE(has_records());
}

TEST_F(CrawlInFile, HasUrlsInPlaceOfBodies) {
  const auto view = must(FrontierView::open(must(store_->snapshot()), "c"));
  const auto table = must(model::waiting_items_table(view, "a.test", {9, false, true}));
  ASSERT_EQ(table.columns.size(), 7U);
  EXPECT_EQ(table.columns[2].name, "url");
  EXPECT_EQ(table.columns[3].name, "created_us");
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0][2], model::Cell(std::string("http://a.test/x")));
  EXPECT_EQ(table.rows[0][3], model::Cell(std::int64_t{1'000'000}));
  EXPECT_EQ(table.rows[0][4], model::Cell(std::uint64_t{3}));
  EXPECT_EQ(table.rows[1][2], model::Cell()) << "these bytes are no record";
}

}  // namespace
}  // namespace crawlstore::testing
