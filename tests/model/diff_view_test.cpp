// SPDX-License-Identifier: Apache-2.0
#include "model/diff_view.h"

#include <gtest/gtest.h>

#include <crawlstore/store.h>

#include "support/temporary_folder.h"

namespace crawlstore::model {
namespace {

const Table* find_table(const Document& document, const std::string& name) {
  for (const Table& table : document.tables) {
    if (table.name == name) return &table;
  }
  return nullptr;
}

/// The document of an empty store compared with itself, after `tell`.
template <class Tell>
Document document_of(const DiffViewOptions& options, const DiffReport& report, const Tell& tell) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "x.crawl";
  if (!Store::create(path, {})) throw std::runtime_error("no store");
  const auto snapshot = Snapshot::open(path);
  DiffView view(options);
  tell(view.sink());
  return *view.document(*snapshot, *snapshot, report);
}

TEST(DiffView, ListsNoMoreRowsThanItIsAskedFor) {
  const auto document = document_of({2, true}, {}, [](const DiffSink& sink) {
    for (std::uint64_t i = 0; i < 5; ++i) {
      sink.key({"urls", Change::kAdded, false, i, {}, {}});
      sink.request({"urls", Change::kGone, false, i, i});
      sink.segment({Change::kGone, {i}, SegmentKind::kDrum, {}, "urls", {}, {}, 0, 0});
      sink.bucket({"urls", i, 1, 0});
    }
  });
  for (const char* name : {"keys", "requests", "segments", "buckets"}) {
    const Table* table = find_table(document, name);
    ASSERT_NE(table, nullptr) << name;
    EXPECT_EQ(table->rows.size(), 2U) << name;
    for (const auto& row : table->rows) EXPECT_EQ(row.size(), table->columns.size()) << name;
  }
}

TEST(DiffView, AsksForNoKeysThatItDoesNotShow) {
  const auto document = document_of({10, false}, {}, [](const DiffSink& sink) {
    EXPECT_FALSE(sink.key);
    EXPECT_FALSE(sink.request);
  });
  for (const char* name : {"keys", "requests"}) {
    ASSERT_NE(find_table(document, name), nullptr) << name;
    EXPECT_TRUE(find_table(document, name)->rows.empty()) << name;
  }
}

TEST(DiffView, ShowsKeysAndValuesInHexadecimal) {
  const std::vector<std::byte> value(65, std::byte{0xAB});
  const auto document = document_of({10, true}, {}, [&value](const DiffSink& sink) {
    sink.key({"urls", Change::kChanged, true, {1, 2}, std::span(value).first(2), value});
    sink.key({"urls", Change::kGone, false, 3, {}, {}});
  });
  const auto& rows = find_table(document, "keys")->rows;
  EXPECT_EQ(rows[0][2], Cell{std::string("00000000000000010000000000000002")});
  EXPECT_EQ(rows[0][3], Cell{std::string("abab")});
  EXPECT_EQ(std::get<std::string>(rows[0][4]).size(), 2 * 64 + 3U);
  EXPECT_EQ(rows[1][2], Cell{std::string("0000000000000003")});
  EXPECT_EQ(rows[1][4], Cell{});
}

TEST(DiffView, NamesWhatBecameOfADrum) {
  DiffReport report;
  report.drums.resize(4);
  report.drums[0].in_old = true;
  report.drums[1].in_new = true;
  for (std::size_t i : {2U, 3U}) report.drums[i].in_old = report.drums[i].in_new = true;
  report.drums[3].gone_request_count = 1;
  const auto document = document_of({}, report, [](const DiffSink&) {});
  const auto& rows = find_table(document, "drums")->rows;
  EXPECT_EQ(rows[0][1], Cell{std::string("gone")});
  EXPECT_EQ(rows[1][1], Cell{std::string("added")});
  EXPECT_EQ(rows[2][1], Cell{std::string("equal")});
  EXPECT_EQ(rows[3][1], Cell{std::string("changed")});
  EXPECT_EQ(find_field(document, "is_different")->value, Cell{true});
}

}  // namespace
}  // namespace crawlstore::model
