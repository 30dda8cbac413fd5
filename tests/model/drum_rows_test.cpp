// SPDX-License-Identifier: Apache-2.0
#include "model/drum_rows.h"

#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <crawlstore/drum_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/url_seen.h>

#include "drum/memory_store.h"
#include "golden/patch.h"
#include "inspector/pages_file.h"
#include "model/key_text.h"
#include "support/seeded.h"

namespace crawlstore::model {
namespace {

using testing::MemoryStore;
using testing::must;

std::size_t column_of(const std::vector<Column>& columns, const std::string& name) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name) return i;
  }
  ADD_FAILURE() << "no column " << name;
  return 0;
}

/// All rows of a source, in windows of odd lengths.
std::vector<Row> all_rows(const TableSource& source) {
  std::vector<Row> all;
  for (std::size_t i = 0; all.size() < source.row_count(); ++i) {
    const auto window = source.rows(all.size(), 1 + 97 * i);
    if (!window || window->empty()) {
      ADD_FAILURE() << source.name() << " ends at row " << all.size();
      break;
    }
    for (const Row& row : *window) {
      EXPECT_EQ(row.size(), source.columns().size());
      all.push_back(row);
    }
  }
  EXPECT_TRUE(source.rows(source.row_count(), 10)->empty());
  EXPECT_TRUE(source.rows(~std::uint64_t{0}, 10)->empty());
  return all;
}

std::string text_of(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += static_cast<char>(byte);
  return text;
}

std::string hex_of(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

/// The text that the header promises: the whole of it, or its beginning and how much there is.
std::string shown_aux(std::span<const std::byte> aux) {
  if (aux.size() <= kRowBytesMax) return text_of(aux);
  return text_of(aux.first(kRowBytesMax)) + " ... " + std::to_string(aux.size()) + " bytes";
}

void expect_keys(const DrumView& view) {
  std::vector<Row> rows;
  std::vector<std::string> values;
  for (std::uint64_t bucket = 0; bucket < view.buckets().size(); ++bucket) {
    const auto source = key_rows(view, bucket);
    EXPECT_EQ(source->name(), "keys");
    EXPECT_EQ(source->row_count(), view.buckets()[bucket].key_count);
    const std::size_t value_column = column_of(source->columns(), "value");
    std::uint64_t number = 0;
    for (const Row& row : all_rows(*source)) {
      rows.push_back(row);
      const auto whole = must(source->whole_row(number++, row));
      values.push_back(std::get<std::string>(whole[value_column]));
    }
    EXPECT_EQ(number, source->row_count());
    EXPECT_TRUE(must(source->rows(number, 100)).empty()) << "not those of the next bucket";
  }
  std::size_t at = 0;
  must(view.for_each_key([&](Key16 key, std::span<const std::byte> value) {
    EXPECT_LT(at, rows.size());
    if (at >= rows.size()) return false;
    EXPECT_EQ(rows[at][0], Cell{std::uint64_t{at}});
    EXPECT_EQ(rows[at][1], Cell{format_key(key, view.info().key_bytes > 8)});
    EXPECT_EQ(values[at], hex_of(value));
    ++at;
    return true;
  }));
  EXPECT_EQ(at, rows.size());
  EXPECT_EQ(key_rows(view, view.buckets().size())->row_count(), 0U);
}

void expect_pending(const DrumView& view) {
  std::map<std::uint64_t, std::vector<std::vector<Cell>>> expected;
  must(view.for_each_pending(
      [&](std::uint64_t bucket, const RawRequest& request, std::uint64_t sequence) {
        const bool has_value = request.operation != DrumOperation::kCheck;
        const std::string value = has_value ? hex_of(request.value) : "";
        expected[bucket].push_back(
            {Cell{sequence},
             Cell{format_key(Key16(request.key, request.key_tail), view.info().key_bytes > 8)},
             Cell{shown_aux(request.aux)}, Cell{text_of(request.aux)}, Cell{value}});
        return true;
      }));
  for (std::uint64_t bucket = 0; bucket < view.buckets().size(); ++bucket) {
    const auto source = pending_rows(view, bucket);
    const auto rows = all_rows(*source);
    ASSERT_EQ(rows.size(), expected[bucket].size());
    const std::size_t key = column_of(source->columns(), "key");
    const std::size_t aux = column_of(source->columns(), "aux");
    const std::size_t value = column_of(source->columns(), "value");
    const std::size_t sequence = column_of(source->columns(), "sequence");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto whole = must(source->whole_row(i, rows[i]));
      const std::vector<Cell> shown = {rows[i][sequence], rows[i][key], rows[i][aux], whole[aux],
                                       whole[value]};
      EXPECT_TRUE(shown == expected[bucket][i]) << "row " << i << " of bucket " << bucket;
    }
  }
  EXPECT_EQ(pending_rows(view, view.buckets().size())->row_count(), 0U);
  EXPECT_TRUE(pending_rows(view, ~std::uint64_t{0})->rows(0, 10)->empty());
}

void expect_buckets(const DrumView& view, const std::vector<SegmentInfo>& segments) {
  const Table table = buckets_table(view, segments);
  ASSERT_EQ(table.rows.size(), view.buckets().size());
  std::uint64_t keys = 0;
  std::uint64_t waiting = 0;
  std::uint64_t partition_bytes = 0;
  for (const auto& row : table.rows) {
    ASSERT_EQ(row.size(), table.columns.size());
    keys += std::get<std::uint64_t>(row[column_of(table.columns, "key_count")]);
    waiting += std::get<std::uint64_t>(row[column_of(table.columns, "pending_count")]);
    partition_bytes += std::get<std::uint64_t>(row[column_of(table.columns, "partition_bytes")]);
  }
  EXPECT_EQ(keys, view.info().key_count);
  EXPECT_EQ(waiting, view.info().pending_count);
  EXPECT_EQ(partition_bytes, view.info().partition_bytes);
}

TEST(DrumRows, ShowWhatAPassShowsOnEveryGolden) {
  std::uint64_t keys = 0;
  std::uint64_t waiting = 0;
  for (const std::string& path : testing::golden_paths("valid")) {
    SCOPED_TRACE(path);
    const auto snapshot = must(Snapshot::open(path));
    for (const DrumInfo& info : must(list_drums(snapshot))) {
      const auto view = must(DrumView::open(snapshot, info.name));
      expect_keys(view);
      expect_pending(view);
      expect_buckets(view, snapshot.segments());
      keys += info.key_count;
      waiting += info.pending_count;
    }
  }
  EXPECT_GT(keys, 1000U);
  EXPECT_GT(waiting, 10U);
}

// acceptance: 8
TEST(DrumRows, NeverCrashOnARejectedGolden) {
  int error_count = 0;
  for (const std::string& path : testing::golden_paths("rejected")) {
    const auto snapshot = Snapshot::open(path);
    if (!snapshot) continue;
    const auto drums = list_drums(*snapshot);
    if (!drums) continue;
    for (const DrumInfo& info : *drums) {
      const auto view = DrumView::open(*snapshot, info.name);
      if (!view) continue;
      static_cast<void>(buckets_table(*view, snapshot->segments()));
      for (std::uint64_t bucket = 0; bucket < view->buckets().size() && bucket < 100; ++bucket) {
        error_count += key_rows(*view, bucket)->rows(0, 100'000) ? 0 : 1;
        error_count += pending_rows(*view, bucket)->rows(0, 100'000) ? 0 : 1;
      }
    }
  }
  EXPECT_GT(error_count, 10);
}

/// The column `mark` of a DRUM of two buckets with so many requests in their logs, of at most
/// 1000 bytes each.
std::vector<std::string> marks_of(std::uint64_t low_count, std::uint64_t high_count) {
  testing::MemoryStore store;
  DrumOptions options;
  options.bucket_count = 2;
  options.bucket_bytes = 1000;
  options.auto_merge = false;
  auto drum = must(Drum<std::uint64_t>::open(*store, "keys", options));
  for (std::uint64_t i = 0; i < low_count; ++i) must(drum.check(i << 40));
  for (std::uint64_t i = 0; i < high_count; ++i) must(drum.check(~(i << 40)));
  must(store->commit());
  const auto snapshot = must(store->snapshot());
  const Table table = buckets_table(must(DrumView::open(snapshot, "keys")), snapshot.segments());
  std::vector<std::string> marks;
  for (const Row& row : table.rows) {
    const Cell& mark = row[column_of(table.columns, "mark")];
    marks.push_back(std::holds_alternative<std::string>(mark) ? std::get<std::string>(mark) : "");
  }
  return marks;
}

TEST(DrumRows, MarkTheBucketsThatMergeNext) {
  using Marks = std::vector<std::string>;
  EXPECT_EQ(marks_of(0, 0), (Marks{"", ""}));
  EXPECT_EQ(marks_of(0, 1), (Marks{"", "merge next"}));
  EXPECT_EQ(marks_of(50, 20), (Marks{"merge next", ""}));
  EXPECT_EQ(marks_of(50, 1000), (Marks{"", "merge due"}));
  EXPECT_EQ(marks_of(1000, 2000), (Marks{"merge due", "merge due"}));
}

TEST(DrumRows, ShowHostileAuxiliariesByteForByte) {
  testing::SeededRandom random;
  MemoryStore store;
  DrumOptions options;
  options.bucket_count = 2;
  auto drum = must(Drum<std::uint64_t, std::string, std::string>::open(*store, "d", options));
  for (std::uint64_t i = 0; i < 300; ++i) {
    must(drum.update(random.next(), random.hostile_text(3), random.hostile_text(20)));
  }
  must(store->commit());
  const auto view = testing::drum_view(*store, "d");
  EXPECT_EQ(view.info().pending_count, 300U);
  expect_pending(view);
}

TEST(KeyPlaceView, SaysWhereAKeyIs) {
  MemoryStore store;
  auto drum = must(Drum<std::uint64_t>::open(*store, "d"));
  NullDispatcher nobody;
  must(drum.check_update(1));
  must(drum.check_update(2));
  must(drum.merge(nobody));
  must(drum.check(2));
  must(drum.check(3));
  must(store->commit());
  const auto view = testing::drum_view(*store, "d");
  const std::vector<std::pair<std::uint64_t, std::string>> expected = {
      {1, "partition"}, {2, "partition and log"}, {3, "log"}, {4, "not in the file"}};
  for (const auto& [key, words] : expected) {
    const Document document = key_place_view(view, key, must(find_key(view, key)));
    ASSERT_NE(find_field(document, "found_in"), nullptr);
    EXPECT_EQ(find_field(document, "found_in")->value, Cell{words});
    EXPECT_EQ(find_field(document, "key")->value, Cell{format_key(key, false)});
    EXPECT_EQ(find_field(document, "block_offset_bytes") != nullptr, key <= 2);
    EXPECT_EQ(find_field(document, "run_offset_bytes") != nullptr, key == 2 || key == 3);
  }
}

TEST(KeyPlaceView, KnowsThePagesOfFreshKeys) {
  MemoryStore store;
  PageDb database = must(PageDb::open(*store));
  testing::crawl_web(database, 2, 20, testing::kCrawlTimeUs);
  must(database.merge());
  testing::crawl_web(database, 3, 20, testing::kCrawlTimeUs);
  must(database.merge());
  const auto pages = must(PageView::open(must(store->snapshot())));
  const auto drum = testing::drum_view(*store, "pages");
  const auto go_on = [](auto...) { return true; };
  std::uint64_t fresh_count = 0;
  must(pages.for_each_key([&](Key16 key, std::uint64_t index) {
    EXPECT_EQ(must(page_of_key(pages, key, go_on)), index);
    const KeyPlace place = must(find_key(drum, key));
    if (place.stored) return true;
    ++fresh_count;
    const Document document = key_place_view(drum, key, place, index);
    EXPECT_EQ(find_field(document, "found_in")->value,
              Cell{std::string("fresh keys, which no bucket has yet")});
    EXPECT_EQ(find_field(document, "page")->value, Cell{index});
    return true;
  }));
  EXPECT_EQ(fresh_count, pages.info().page_count - drum.info().key_count);
  EXPECT_GT(fresh_count, 0U);
  EXPECT_EQ(must(page_of_key(pages, Key16(1), go_on)), std::nullopt);
  EXPECT_EQ(page_of_key(pages, Key16(1), [](auto...) { return false; }).error().code,
            Errc::kCancelled);
}

TEST(GapsTable, HasARowAPowerThatOccurs) {
  GapHistogram histogram;
  EXPECT_TRUE(gaps_table(histogram).rows.empty());
  histogram.counts[0] = 5;
  histogram.counts[63] = 1;
  const Table table = gaps_table(histogram);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0], (Row{std::uint64_t{0}, std::uint64_t{5}}));
  EXPECT_EQ(table.rows[1], (Row{std::uint64_t{63}, std::uint64_t{1}}));
}

}  // namespace
}  // namespace crawlstore::model
