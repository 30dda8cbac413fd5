// SPDX-License-Identifier: Apache-2.0
#include "model/page_fields.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "model/json.h"
#include "model/table_lines.h"
#include "support/seeded.h"

namespace crawlstore::model {
namespace {

PageInfo some_page() {
  PageInfo page;
  page.index = 7;
  page.url = "http://a.test/\"";
  page.linked_from = 3;
  page.depth = 2;
  page.state = PageState::kFailed;
  page.http_status = 503;
  page.failure_count = 4;
  page.crawl_count = 2;
  page.change_count = 1;
  page.first_crawl_us = 1'000'000;
  page.last_crawl_us = 5'000'000;
  page.score = 0.1F;
  page.content_hash = {std::byte{0xAB}, std::byte{0}};
  return page;
}

TEST(SortNumber, FollowsTheOrderOfScoresAndTimes) {
  std::vector<float> scores{-std::numeric_limits<float>::max(), -1.5F, -1e-40F, 0, 1e-40F, 0.5F, 2,
                            std::numeric_limits<float>::max()};
  PageInfo a;
  PageInfo b;
  for (std::size_t i = 0; i + 1 < scores.size(); ++i) {
    a.score = scores[i];
    b.score = scores[i + 1];
    EXPECT_LT(sort_number(a, PageColumn::kScore), sort_number(b, PageColumn::kScore)) << i;
  }
  a.score = -0.0F;
  b.score = 0.0F;
  EXPECT_EQ(sort_number(a, PageColumn::kScore), sort_number(b, PageColumn::kScore));
  a.last_crawl_us = -1;
  b.last_crawl_us = 0;
  EXPECT_LT(sort_number(a, PageColumn::kLastCrawl), sort_number(b, PageColumn::kLastCrawl));
}

TEST(ScoreValue, HasTheDigitsOfTheShortNumber) {
  EXPECT_EQ(score_value(0.1F), 0.1);
  EXPECT_EQ(score_value(-2), -2.0);
  EXPECT_EQ(score_value(1e-40F), 1e-40);
  EXPECT_EQ(format_score(0.1F), "0.1");
  EXPECT_EQ(static_cast<float>(score_value(16'777'217.0F)), 16'777'217.0F);
}

TEST(PageJson, SaysWhatTheFieldsSay) {
  for (const PageInfo& page : {some_page(), PageInfo{}}) {
    std::string line;
    append_page_json(line, page);
    auto row = nlohmann::json::parse(line);
    auto fields = nlohmann::json::parse(to_json({page_fields(page), {}}));
    fields.erase("changes_per_day");
    EXPECT_EQ(row, fields);
  }
}

TEST(PageJson, NamesScoresAsTheyAreNamed) {
  std::string line;
  append_page_json(line, some_page(), NamedScore{"a \"b\"", 0.25});
  EXPECT_EQ(nlohmann::json::parse(line)["score:a \"b\""], 0.25);
  line.clear();
  append_page_json(line, some_page(), NamedScore{"x", {}});
  EXPECT_TRUE(nlohmann::json::parse(line).at("score:x").is_null());
}

TEST(PageJson, IsJsonWhateverTheUrl) {
  testing::SeededRandom random;
  for (int round = 0; round < 300; ++round) {
    PageInfo page = some_page();
    page.url = random.hostile_text(10);
    std::string line;
    append_page_json(line, page);
    EXPECT_TRUE(nlohmann::json::accept(line)) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos);
  }
}

TEST(PageLine, StaysOneLineWhateverTheUrl) {
  testing::SeededRandom random;
  for (int round = 0; round < 300; ++round) {
    PageInfo page = some_page();
    page.url = random.hostile_text(10);
    std::string line;
    TableLines(page_columns(), LineForm::kAligned).append_row(line, page_cells(page));
    EXPECT_EQ(std::ranges::count(line, '\n'), 1);
    EXPECT_EQ(line.find('\x1B'), std::string::npos);
  }
}

TEST(PageLine, HasScoresBelowTheirName) {
  const NamedScore score{"a longer name", 0.0001};
  const TableLines lines(page_columns(score), LineForm::kAligned);
  std::string line;
  lines.append_row(line, page_cells(some_page(), score));
  std::string header;
  lines.append_header(header);
  const std::string heading = "score:a longer name";
  const std::size_t end = header.find(heading) + heading.size();
  EXPECT_EQ(line.substr(end - 6, 8), "0.0001  ");
  EXPECT_EQ(header.substr(end), "  url\n");
}

TEST(PageCsv, HasAFieldForEachNameOfTheHeader) {
  std::string row;
  append_page_csv(row, some_page(), 4);
  EXPECT_EQ(row,
            "7,\"http://a.test/\"\"\",failed,2,1,1970-01-01T00:00:01Z,1970-01-01T00:00:05Z,0.1,2,3,"
            "ab00,4,503,4\n");
  const std::string header = page_csv_header();
  EXPECT_EQ(std::ranges::count(row, ','), std::ranges::count(header, ','));
}

TEST(PageColumns, AreFoundByTheNamesThatAreTold) {
  EXPECT_EQ(page_column_names(),
            (std::vector<std::string>{"index", "url", "state", "crawl_count", "change_count",
                                      "first_crawl", "last_crawl", "score", "depth", "http_status",
                                      "failure_count"}));
  EXPECT_EQ(find_page_column("score"), PageColumn::kScore);
  EXPECT_EQ(find_page_column("Score"), std::nullopt);
}

}  // namespace
}  // namespace crawlstore::model
