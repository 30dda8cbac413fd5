// SPDX-License-Identifier: Apache-2.0
// What is ranked, and where links and scores lie meanwhile.
// covers: A45, A51
#include <numeric>

#include <gtest/gtest.h>

#include <crawlstore/pages.h>
#include <crawlstore/ranking.h>

#include "pages/page_words.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

void add_page(PageDb& pages, const std::string& url, const std::vector<std::string>& links) {
  CrawledPage page(url, 1'000'000);
  for (const std::string& link : links) page.add_link(link);
  must(pages.add(page));
}

/// Hosts a.test (pages 0, 1), b.co.uk (2), c.b.co.uk (3): a links to both others, which link to
/// each other and not back.
void add_hosts(PageDb& pages) {
  add_page(pages, "http://a.test/", {"http://a.test/2", "http://b.co.uk/", "http://c.b.co.uk/"});
  add_page(pages, "http://a.test/2", {"http://b.co.uk/"});
  add_page(pages, "http://b.co.uk/", {"http://c.b.co.uk/"});
  add_page(pages, "http://c.b.co.uk/", {"http://b.co.uk/"});
  must(pages.merge());
}

RankOptions by(ScoreSubject subject) {
  RankOptions options;
  options.name = "by";
  options.by = subject;
  return options;
}

std::vector<float> values_of(const ScoreView& scores) {
  const auto values = must(scores.floats());
  return {values.begin(), values.end()};
}

TEST(Ranking, TellsHostsByTheirFirstPages) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  add_hosts(pages);
  const RankReport report = must(rank_pages(*store, by(ScoreSubject::kHost)));
  EXPECT_TRUE(report.converged);
  const auto scores = must(ScoreView::open(view_of(*store), "by"));
  EXPECT_EQ(scores.info().subject, ScoreSubject::kHost);
  EXPECT_EQ(scores.info().link_count, 4U);
  EXPECT_FALSE(scores.info().is_stale);
  const auto first = must(scores.first_pages());
  EXPECT_EQ(std::vector<std::uint64_t>(first.begin(), first.end()),
            (std::vector<std::uint64_t>{0, 2, 3}));
  // a = t, and by symmetry the others share the rest evenly, t being .05
  const std::vector<float> values = values_of(scores);
  ASSERT_EQ(values.size(), 3U);
  EXPECT_NEAR(values[0], 0.05, 1e-6);
  EXPECT_NEAR(values[1], 0.475, 1e-6);
  EXPECT_NEAR(values[2], 0.475, 1e-6);
  const auto top = must(scores.top(5));
  ASSERT_EQ(top.size(), 3U);
  EXPECT_EQ(top[2].index, 0U);
  EXPECT_EQ(scores.score(0).error().code, Errc::kTypeMismatch);
  expect_whole(store);

  add_page(pages, "http://d.test/", {"http://a.test/"});
  must(pages.merge());
  EXPECT_TRUE(must(ScoreView::open(view_of(*store), "by")).info().is_stale);
  EXPECT_TRUE(must(rank_pages(*store, by(ScoreSubject::kHost))).converged);  // from those before
  EXPECT_EQ(values_of(must(ScoreView::open(view_of(*store), "by"))).size(), 4U);
}

TEST(Ranking, JoinsHostsOfADomain) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  add_hosts(pages);
  must(rank_pages(*store, by(ScoreSubject::kDomain)));
  const auto scores = must(ScoreView::open(view_of(*store), "by"));
  EXPECT_EQ(scores.info().link_count, 1U);
  const std::vector<float> values = values_of(scores);
  ASSERT_EQ(values.size(), 2U);
  // a = t + d b / 2, b = t + d (a + b / 2), for b links nowhere
  EXPECT_NEAR(values[0], 1 / 2.85, 1e-6);
  EXPECT_NEAR(values[1], 1.85 / 2.85, 1e-6);
}

TEST(Ranking, TeleportsToTheHostsOfPages) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  add_hosts(pages);
  RankOptions options = by(ScoreSubject::kHost);
  options.seeds = {2, 3};
  must(rank_pages(*store, options));
  EXPECT_EQ(values_of(must(ScoreView::open(view_of(*store), "by")))[0], 0.0F);
}

TEST(Ranking, RefusesWhatIsNoSubject) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  add_hosts(pages);
  for (const int subject : {0, 4}) {
    const auto refused = rank_pages(*store, by(static_cast<ScoreSubject>(subject)));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kInvalidArgument);
  }
}

TEST(Ranking, RefusesHostsOfPagesWithoutUrls) {
  MemoryStore store;
  PagesOptions without;
  without.has_urls = false;
  const auto pages = must(PageDb::open(*store, "pages", without));
  must(store->commit());
  EXPECT_EQ(rank_pages(*store, by(ScoreSubject::kHost)).error().code, Errc::kInvalidArgument);
}

TEST(Ranking, HasTheSameBitsWhereMemoryIsShort) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  add_hosts(pages);
  for (const double precision : {1e-6, 1e-9}) {
    RankOptions options;
    options.precision = precision;
    EXPECT_FALSE(must(rank_pages(*store, options)).is_in_file);
    const TemporaryFolder folder;
    options.name = "short";
    options.memory_bytes = 1;
    options.folder = folder.path();
    EXPECT_TRUE(must(rank_pages(*store, options)).is_in_file);
    for (std::uint64_t page = 0; page < 4; ++page) {
      const auto view = view_of(*store);
      EXPECT_EQ(must(must(ScoreView::open(view)).score(page)),
                must(must(ScoreView::open(view, "short")).score(page)));
    }
    options.folder = folder / "none";
    EXPECT_EQ(rank_pages(*store, options).error().code, Errc::kNotFound);
    must(remove_scores(*store, "pagerank"));
    must(remove_scores(*store, "short"));
  }
}

}  // namespace
}  // namespace crawlstore::testing
