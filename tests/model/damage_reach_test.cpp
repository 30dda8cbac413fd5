// SPDX-License-Identifier: Apache-2.0
#include "model/damage_reach.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "inspector/pages_file.h"
#include "support/temporary_folder.h"

namespace crawlstore::model {
namespace {

using testing::crawl_web;
using testing::must;

/// Three hosts of some 6,000 pages each, with scores.
class DamageReach : public ::testing::Test {
 protected:
  DamageReach() {
    Store store = must(Store::create(path_));
    {
      PageDb pages = must(PageDb::open(store));
      crawl_web(pages, 3, 3000, testing::kCrawlTimeUs);
      must(pages.merge());
      must(pages.close());
    }
    must(rank_pages(store));
    must(store.close());
  }

  /// Flips a bit of the longest run of that kind, where the database can be opened all the same:
  /// in no dictionary and no index. Returns the offset of the byte.
  std::uint64_t damage(std::string_view kind) const {
    const auto whole = testing::file_bytes(path_);
    for (int twentieth = 1; twentieth < 20; ++twentieth) {
      const std::uint64_t offset = testing::damage_longest_run(path_, kind, twentieth / 20.0);
      if (PageView::open(must(Snapshot::open(path_)))) return offset;
      testing::put_file(path_, whole);
    }
    ADD_FAILURE() << "no chunk of a run of " << kind << " is needed by rows alone";
    return 0;
  }

  [[nodiscard]] Result<Table> reach(bool goes_on = true) const {
    const Snapshot snapshot = must(Snapshot::open(path_));
    const std::vector<PageView> views{must(PageView::open(snapshot))};
    return damage_reach(
        views, snapshot, [&](const Error& error) { met_.push_back(error); },
        [&](auto...) { return goes_on; });
  }

  mutable std::vector<Error> met_;
  testing::TemporaryFolder folder_;
  std::string path_ = folder_ / "file.crawl";
};

TEST_F(DamageReach, IsNothingInAWholeFile) {
  EXPECT_TRUE(must(reach()).rows.empty());
}

TEST_F(DamageReach, EndsWhenItIsToldTo) {
  ASSERT_FALSE(reach(false));
  EXPECT_EQ(reach(false).error().code, Errc::kCancelled);
}

TEST_F(DamageReach, CountsExactlyThePagesThatCannotBeRead) {
  const std::map<std::string, std::string> parts{
      {"page_origins", "URL"}, {"in_links", "links in"}, {"score_array", "score pagerank"}};
  std::map<std::string, std::uint64_t> offsets;
  for (const auto& [kind, part] : parts) offsets[part] = damage(kind);
  const Table table = must(reach());
  ASSERT_EQ(table.rows.size(), parts.size());
  EXPECT_EQ(met_.size(), parts.size()) << "each place once";
  const PageView view = must(PageView::open(must(Snapshot::open(path_))));
  for (const auto& row : table.rows) {
    const auto& part = std::get<std::string>(row[0]);
    ASSERT_TRUE(offsets.contains(part)) << part;
    // A chunk has 64 KiB.
    const auto offset = std::get<std::uint64_t>(row[7]);
    EXPECT_LE(offset, offsets[part]) << part;
    EXPECT_GT(offset + 65'536, offsets[part]) << part;
    std::uint64_t count = 0;
    for (std::uint64_t page = 0; page < view.info().page_count; ++page) {
      if (part == "URL" && !view.url(page)) ++count;
      if (part == "links out" && !view.out_links(page)) ++count;
      if (part == "links in" && !view.in_links(page)) ++count;
    }
    const bool is_score = part == "score pagerank";
    EXPECT_TRUE(is_score || std::get<std::uint64_t>(row[2]) == count) << part;
    EXPECT_GT(std::get<std::uint64_t>(row[2]), 0U);
    EXPECT_NE(std::get<std::string>(row[5]).find(".example"), std::string::npos)
        << "also where the URLs are damaged: " << std::get<std::string>(row[5]);
  }
}

TEST_F(DamageReach, IsAllPagesWhereScoresCannotBeOpened) {
  testing::damage_longest_run(path_, "score_array", 0.9);  // its footer
  const Table table = must(reach());
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows.front()[0], Cell(std::string("score pagerank")));
  const PageView view = must(PageView::open(must(Snapshot::open(path_))));
  EXPECT_EQ(table.rows.front()[2], Cell(view.info().page_count));
}

}  // namespace
}  // namespace crawlstore::model
