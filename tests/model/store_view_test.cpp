// SPDX-License-Identifier: Apache-2.0
#include "model/store_view.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <crawlstore/url_seen.h>

#include "model/report_view.h"
#include "model/verify_view.h"
#include "support/temporary_folder.h"

namespace crawlstore::model {
namespace {

/// A store with 100 keys in `urls`, made and closed.
class StoreViews : public ::testing::Test {
 protected:
  void SetUp() override {
    CreateOptions options;
    options.time_us = 1'700'000'000'000'000;
    auto store = Store::create(path_, options);
    ASSERT_TRUE(store);
    auto urls = UrlSeen::open(*store);
    ASSERT_TRUE(urls);
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(urls->check_update("http://h.test/" + std::to_string(i)));
    }
    NullDispatcher nobody;
    ASSERT_TRUE(urls->drum().merge(nobody));
  }

  Snapshot open() { return *Snapshot::open(path_); }

  testing::TemporaryFolder folder_;
  std::string path_ = folder_ / "x.crawl";
};

Cell value_of(const Document& document, const std::string& name) {
  const Field* field = find_field(document, name);
  return field == nullptr ? Cell{std::string("no such field")} : field->value;
}

TEST_F(StoreViews, ShowKeysOfTheUrlDrum) {
  std::optional<Error> problem;
  const auto document = info_view(open(), nullptr, 0, problem);
  ASSERT_TRUE(document);
  EXPECT_EQ(value_of(*document, "key_count"), Cell{std::uint64_t{100}});
  EXPECT_EQ(value_of(*document, "created_us"), Cell{std::int64_t{1'700'000'000'000'000}});
  EXPECT_EQ(find_field(*document, "health"), nullptr);
  ASSERT_EQ(document->tables.size(), 3U);
  EXPECT_EQ(document->tables[0].name, "drums");
  EXPECT_EQ(document->tables[0].rows.size(), 1U);
}

TEST_F(StoreViews, HaveAsManyCellsAsColumns) {
  std::optional<Error> problem;
  const auto info = info_view(open(), nullptr, 0, problem);
  ASSERT_TRUE(info);
  std::vector<Table> tables = info->tables;
  for (const auto& table : segments_view(open()).tables) tables.push_back(table);
  tables.push_back(merge_view({{"urls", {}}}).tables[0]);
  for (const auto& table : tables) {
    const bool may_be_empty = table.name == "pins" || table.name == "page_databases";
    EXPECT_TRUE(may_be_empty || !table.rows.empty()) << table.name;
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size()) << table.name;
  }
}

TEST_F(StoreViews, KeepSegmentsOfOneKindOnly) {
  const auto all = segments_view(open());
  const auto drums = segments_view(open(), SegmentKind::kDrum);
  EXPECT_GT(all.tables[0].rows.size(), drums.tables[0].rows.size());
  ASSERT_EQ(drums.tables[0].rows.size(), 1U);
  EXPECT_EQ(drums.tables[0].rows[0][1], Cell{std::string("drum")});
  EXPECT_EQ(drums.tables[1].rows.size(), 1U);
}

TEST_F(StoreViews, FindKindsByName) {
  EXPECT_EQ(find_segment_kind("drum_partition"), SegmentKind::kDrumPartition);
  EXPECT_EQ(find_segment_kind("page"), std::nullopt);
  EXPECT_EQ(find_segment_kind(""), std::nullopt);
}

TEST_F(StoreViews, LeaveOutTheOneWhoAsks) {
  const Snapshot snapshot = open();
  const auto names = [](std::int64_t) { return std::string("me"); };
  const auto mine = pins_view(snapshot, {}, 0, names);
  ASSERT_TRUE(mine);
  ASSERT_EQ(mine->tables[0].rows.size(), 1U);
  EXPECT_EQ(mine->tables[0].rows[0][4], Cell{std::string("me")});
  const auto others = pins_view(snapshot, {}, ::getpid(), names);
  ASSERT_TRUE(others);
  EXPECT_TRUE(others->tables[0].rows.empty());
}

TEST(HeldTable, HasARowAnExtent) {
  const Table table = held_table({{{4096, 8192}, Generation{2}, Generation{5}}});
  EXPECT_EQ(table.name, "held");
  ASSERT_EQ(table.rows.size(), 1U);
  ASSERT_EQ(table.columns.size(), 4U);
  EXPECT_EQ(table.columns[2].name, "born");
  EXPECT_EQ(table.rows[0], (std::vector<Cell>{std::uint64_t{4096}, std::uint64_t{8192},
                                              std::uint64_t{2}, std::uint64_t{5}}));
  EXPECT_TRUE(held_table({}).rows.empty());
}

TEST_F(StoreViews, ShowWhereTheRunsOfASegmentAre) {
  std::size_t run_count = 0;
  for (const SegmentInfo& segment : open().segments()) {
    const Table table = runs_table(segment);
    EXPECT_EQ(table.name, "runs");
    ASSERT_EQ(table.rows.size(), segment.runs.size());
    for (std::size_t i = 0; i < segment.runs.size(); ++i, ++run_count) {
      const RunInfo& run = segment.runs[i];
      EXPECT_EQ(table.rows[i], (std::vector<Cell>{run.run_id.value, run.extent.offset_bytes,
                                                  run.extent.length_bytes, run.born.value,
                                                  run.payload_bytes, run.record_count}));
    }
  }
  EXPECT_GT(run_count, 1U);
}

TEST(VerifyView, NamesTheWorstFinding) {
  VerifyReport report;
  EXPECT_EQ(health_name(report), "whole");
  EXPECT_EQ(glance_of(report), "superblocks and directory whole; `verify` reads the rest");
  report.findings.push_back({FindingKind::kReducedRedundancy, Generation{3}, {}});
  EXPECT_EQ(health_name(report), "reduced_redundancy");
  EXPECT_EQ(glance_of(report),
            "superblocks and directory with reduced redundancy; `verify` reads the rest");
  Error error;
  error.code = Errc::kChunkDamaged;
  error.segment = {7};
  error.offset = 4096;
  report.findings.push_back({FindingKind::kDamaged, Generation{}, error});
  EXPECT_EQ(health_name(report), "damaged");
  EXPECT_EQ(glance_of(report), "superblocks or directory damaged; `verify` tells where");
  const auto rows = verify_view(report, VerifyLevel::kDeep).tables[0].rows;
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1][1], Cell{});
  EXPECT_EQ(rows[1][2], Cell{std::string("chunk_damaged")});
  EXPECT_EQ(rows[1][4], Cell{std::uint64_t{4096}});
}

}  // namespace
}  // namespace crawlstore::model
