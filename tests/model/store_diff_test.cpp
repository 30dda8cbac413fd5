// SPDX-License-Identifier: Apache-2.0
#include "model/store_diff.h"

#include <algorithm>

#include <gtest/gtest.h>

#include <crawlstore/queue.h>

#include "inspector/pages_file.h"

namespace crawlstore::model {
namespace {

using testing::must;

/// A document of one row each.
Document document(const std::vector<std::pair<std::string, std::uint64_t>>& pages,
                  const std::vector<std::pair<std::string, std::uint64_t>>& drums = {},
                  const std::vector<std::pair<std::string, int>>& queues = {}) {
  Document made{{{"is_different", Unit::kFlag, true}}, {}};
  const auto add = [&made](const char* name, const auto& cells) {
    Table table{name, {}, {{}}};
    for (const auto& [column, value] : cells) {
      table.columns.push_back({column, Unit::kCount});
      table.rows.front().push_back(std::uint64_t{value});
    }
    made.tables.push_back(std::move(table));
  };
  add("page_databases", pages);
  add("drums", drums);
  Table table{"queues", {{"name"}, {"old_page_count"}, {"new_page_count"}}, {}};
  for (const auto& [name, change] : queues) {
    table.rows.push_back({name, std::uint64_t{5000}, static_cast<std::uint64_t>(5000 + change)});
  }
  made.tables.push_back(std::move(table));
  return made;
}

TEST(DiffSentence, TellsItemsOfFrontiers) {
  Document made = document({});
  made.tables.push_back(
      {"frontiers",
       {{"added_item_count"},
        {"gone_item_count"},
        {"leased_item_count"},
        {"returned_item_count"},
        {"changed_item_count"},
        {"changed_group_count"},
        {"slowed_group_count"}},
       {{std::uint64_t{3}, std::uint64_t{2000}, std::uint64_t{5}, std::uint64_t{1},
         std::uint64_t{2}, std::uint64_t{14}, std::uint64_t{12}}}});
  EXPECT_EQ(diff_sentence(made),
            "+3 and -2,000 frontier items, 5 items came to be leased, 1 item came back, 2 items "
            "changed, 14 groups changed, 12 groups slowed");
}

TEST(DiffSentence, SaysHowMuchOfWhat) {
  EXPECT_EQ(diff_sentence(document({{"added_page_count", 499},
                                    {"gone_page_count", 0},
                                    {"changed_page_count", 3000},
                                    {"added_link_count", 13'676},
                                    {"gone_link_count", 6678}},
                                   {{"added_key_count", 1200}}, {{"queue", -1000}})),
            "+499 pages, 3,000 changed, +13,676 and -6,678 links, +1,200 keys, the queue -1,000");
  EXPECT_EQ(diff_sentence(document({{"changed_page_count", 1}, {"gone_link_count", 1}}, {},
                                   {{"later", 2}, {"same", 0}})),
            "1 page changed, -1 link, the queue later +2");
}

TEST(DiffSentence, TellsPagesThatWereFetchedAndThatFailed) {
  EXPECT_EQ(diff_sentence(document({{"changed_page_count", 1500},
                                    {"fetched_page_count", 1200},
                                    {"failed_page_count", 300}})),
            "1,500 pages changed, 1,200 fetched, 300 failed");
}

TEST(DiffSentence, CountsPagesThatBecameGoneApartFromThoseThatWent) {
  EXPECT_EQ(diff_sentence(document({{"added_page_count", 1999}, {"gone_page_count", 16}})),
            "+1,999 pages, 16 became gone");
  EXPECT_EQ(
      diff_sentence(document(
          {{"added_page_count", 1999}, {"gone_page_count", 16}, {"forgotten_page_count", 10}})),
      "+1,999 and -10 pages, 6 became gone");
  EXPECT_EQ(diff_sentence(document({{"gone_page_count", 1}, {"changed_page_count", 2}})),
            "1 page became gone, 2 changed");
}

TEST(DiffSentence, CountsScoresOfNewPagesApartFromThoseThatChanged) {
  Document made = document({});
  const std::uint64_t none = 0;
  made.tables.push_back({"scores",
                         {{"change"},
                          {"changed_score_count", Unit::kCount},
                          {"added_score_count", Unit::kCount},
                          {"gone_score_count", Unit::kCount}},
                         {{"changed", std::uint64_t{5341}, std::uint64_t{7340}, none}}});
  EXPECT_EQ(diff_sentence(made), "+7,340 scores, 5,341 scores changed");
  made.tables.back().rows = {{"added", Cell{}, Cell{}, Cell{}}, {"equal", none, none, none}};
  EXPECT_EQ(diff_sentence(made), "+1 score array");
}

TEST(DiffSentence, SaysThatNothingDiffersOnlyWhereNothingDoes) {
  Document made = document({});
  EXPECT_EQ(
      diff_sentence(made),
      "no page, link, key, score, queue, frontier or small value differs, but other things do");
  made.fields.front().value = false;
  EXPECT_EQ(diff_sentence(made), "nothing differs");
}

TEST(StoreDiff, HasTheSentenceAndAllTables) {
  testing::MemoryStore store;
  {
    PageDb pages = must(PageDb::open(*store));
    testing::crawl_web(pages, 2, 8, testing::kCrawlTimeUs);
    must(pages.merge());
    must(pages.close());
  }
  const Snapshot older = must(store->snapshot());
  {
    Queue queue = must(Queue::open(*store));
    must(queue.insert(std::vector<QueuedPage>{{1, 0.5}, {2, 0.25}}));
    must(queue.close());
  }
  const Snapshot newer = must(store->snapshot());
  const Document found = must(store_diff(older, newer, {}));
  EXPECT_EQ(found.fields[0].value, Cell{true});
  EXPECT_EQ(found.fields[1].name, "summary");
  EXPECT_EQ(found.fields[1].value, Cell{std::string("the queue +2")});
  EXPECT_EQ(found.tables.size(), 17U);
  const Document same = must(store_diff(newer, newer, {}));
  EXPECT_EQ(same.fields[0].value, Cell{false});
  EXPECT_EQ(same.fields[1].value, Cell{std::string("nothing differs")});
  StoreDiffOptions stopped;
  stopped.progress = [](auto...) { return false; };
  EXPECT_EQ(store_diff(older, newer, stopped).error().code, Errc::kCancelled);
}

TEST(StoreDiff, KnowsQueuesOfOtherPrioritiesFromThoseInOtherRuns) {
  testing::MemoryStore store;
  Queue queue = must(Queue::open(*store));
  must(queue.insert(std::vector<QueuedPage>{{1, 0.5}, {2, 0.25}}));
  must(store->commit());
  const Snapshot first = must(store->snapshot());
  must(queue.update(std::vector<QueuedPage>{{2, 0.75}}));
  must(store->commit());
  const Snapshot other = must(store->snapshot());
  must(queue.update(std::vector<QueuedPage>{{2, 0.25}}));
  must(store->commit());
  const Snapshot again = must(store->snapshot());
  const Document changed = must(store_diff(first, other, {}));
  EXPECT_EQ(changed.fields[0].value, Cell{true});
  EXPECT_EQ(changed.fields[1].value, Cell{std::string("the queue with other pages or priorities")});
  const Document same = must(store_diff(first, again, {}));
  const auto queues = std::ranges::find(same.tables, "queues", &Table::name);
  ASSERT_NE(queues, same.tables.end());
  EXPECT_EQ(queues->rows.front()[1], Cell{false}) << "its runs are others";
}

TEST(ShownDiff, HasPagesInFrontAndFoldsWhatSaysNothing) {
  const Cell zero = std::uint64_t{0};
  Document made;
  made.tables.push_back({"pages",
                         {{"database"}, {"change"}, {"old"}, {"new"}, {"fields"}, {"page"}},
                         {{"pages", "added", Cell{}, std::uint64_t{1}, "", "http://a/"},
                          {"pages", "gone", zero, zero, "", "http://b/"}}});
  const ShownDiff shown = take_shown_diff(made, "pages");
  std::vector<std::string> names;
  for (const Column& column : shown.rows->columns()) names.push_back(column.name);
  EXPECT_EQ(names, (std::vector<std::string>{"page", "change", "new"}));
  EXPECT_EQ(must(shown.rows->rows(1, 1)).at(0), (Row{"http://b/", "gone", zero}));
  EXPECT_EQ(shown.folded, (std::vector<std::string>{"database", "old", "fields"}));
}

TEST(ShownDiff, KeepsTheDatabaseWhereThereAreTwo) {
  Document made;
  made.tables.push_back({"hosts", {{"database"}, {"host"}}, {{"a", "x.org"}, {"b", "x.org"}}});
  const ShownDiff shown = take_shown_diff(made, "hosts");
  EXPECT_EQ(must(shown.rows->rows(0, 1)).at(0), (Row{"x.org", "a"}));
  EXPECT_TRUE(take_shown_diff(made, "none").rows->columns().empty());
}

TEST(ShownDiff, HasGroupsAndItemsInFrontWithoutTheirFrontier) {
  Document made;
  made.tables.push_back({"frontier_items",
                         {{"frontier"}, {"change"}, {"is_late"}, {"group"}, {"body"}},
                         {{"frontier", "gone", false, "a.test", "http://a.test/"}}});
  const ShownDiff shown = take_shown_diff(made, "frontier_items");
  EXPECT_EQ(must(shown.rows->rows(0, 1)).at(0), (Row{"a.test", "http://a.test/", "gone"}));
  EXPECT_EQ(shown.folded, (std::vector<std::string>{"frontier", "is_late"}));
}

TEST(ShownDiff, LeavesOtherTablesInTheirOrder) {
  Document made;
  made.tables.push_back({"keys", {{"drum"}, {"change"}, {"key"}}, {{"urls", "added", "00"}}});
  EXPECT_EQ(must(take_shown_diff(made, "keys").rows->rows(0, 1)).at(0),
            (Row{"urls", "added", "00"}));
}

}  // namespace
}  // namespace crawlstore::model
