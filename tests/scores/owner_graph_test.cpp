// SPDX-License-Identifier: Apache-2.0
#include "scores/owner_graph.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/pages.h>

#include "pages/page_words.h"
#include "support/random.h"

namespace crawlstore::testing {
namespace {

using scores::OwnerGraph;
using Rows = std::map<std::uint64_t, std::vector<std::uint64_t>>;

void add_page(PageDb& pages, const std::string& url, const std::vector<std::string>& links) {
  CrawledPage page(url, 1'000'000);
  for (const std::string& link : links) page.add_link(link);
  must(pages.add(page));
}

Rows rows_of(const OwnerGraph& graph, std::uint64_t first = 0) {
  Rows found;
  const auto rows = must(graph.open(first));
  while (must(rows->next())) found[rows->page()].assign(rows->links().begin(), rows->links().end());
  return found;
}

std::vector<std::uint64_t> first_pages_of(const OwnerGraph& graph) {
  return {graph.first_pages().begin(), graph.first_pages().end()};
}

/// Indexes: a.test/ 0, a.test/2 1, b.co.uk/ 2, c.b.co.uk/ 3, mailto:x 4.
void add_some(PageDb& pages) {
  add_page(pages, "http://a.test/",
           {"http://a.test/2", "http://b.co.uk/", "http://c.b.co.uk/", "mailto:x"});
  add_page(pages, "http://a.test/2", {"http://b.co.uk/", "http://c.b.co.uk/"});
  add_page(pages, "http://c.b.co.uk/", {"http://b.co.uk/", "http://a.test/2"});
  must(pages.merge());
}

TEST(OwnerGraph, LinksHostsOnceAndNotToThemselves) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  add_some(pages);
  const auto graph = must(OwnerGraph::build(view_of(*store), ScoreSubject::kHost));
  EXPECT_EQ(first_pages_of(*graph), (std::vector<std::uint64_t>{0, 2, 3}));
  EXPECT_EQ(std::vector<std::uint32_t>(graph->owners().begin(), graph->owners().end()),
            (std::vector<std::uint32_t>{0, 0, 1, 2, OwnerGraph::kNoOwner}));
  EXPECT_EQ(rows_of(*graph), (Rows{{0, {1, 2}}, {2, {0, 1}}}));
  EXPECT_EQ(rows_of(*graph, 1), (Rows{{2, {0, 1}}}));
  EXPECT_EQ(graph->link_count(), 4U);
  EXPECT_EQ(graph->sums(std::vector<float>{1, 2, 4, 8, 16}), (std::vector<float>{3, 4, 8}));
}

TEST(OwnerGraph, JoinsHostsOfADomain) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  add_some(pages);
  const auto graph = must(OwnerGraph::build(view_of(*store), ScoreSubject::kDomain));
  EXPECT_EQ(first_pages_of(*graph), (std::vector<std::uint64_t>{0, 2}));
  EXPECT_EQ(rows_of(*graph), (Rows{{0, {1}}, {1, {0}}}));
}

TEST(OwnerGraph, HasNoHostThatWasForgotten) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  add_some(pages);
  must(pages.forget([](std::string_view url) { return url.starts_with("http://b.co.uk/"); }));
  const auto graph = must(OwnerGraph::build(view_of(*store), ScoreSubject::kHost));
  EXPECT_EQ(first_pages_of(*graph), (std::vector<std::uint64_t>{0, 3}));
  EXPECT_EQ(rows_of(*graph), (Rows{{0, {1}}, {1, {0}}}));
}

TEST(OwnerGraph, IsEmptyWithoutPagesAndRefusedWithoutUrls) {
  MemoryStore store;
  {
    const auto pages = must(PageDb::open(*store));
    must(store->commit());
  }
  const auto graph = must(OwnerGraph::build(view_of(*store), ScoreSubject::kHost));
  EXPECT_TRUE(graph->first_pages().empty());
  EXPECT_TRUE(rows_of(*graph).empty());

  PagesOptions options;
  options.has_urls = false;
  {
    const auto bare = must(PageDb::open(*store, "bare", options));
    must(store->commit());
  }
  const auto view = must(PageView::open(must(store->snapshot()), "bare"));
  EXPECT_EQ(OwnerGraph::build(view, ScoreSubject::kHost).error().code, Errc::kInvalidArgument);
}

TEST(OwnerGraph, StopsWhenToldTo) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  add_some(pages);
  const auto stopped = OwnerGraph::build(view_of(*store), ScoreSubject::kHost,
                                         [](std::uint64_t, std::uint64_t) { return false; });
  EXPECT_EQ(stopped.error().code, Errc::kCancelled);
}

/// More pairs than are gathered before those that came twice are taken out.
TEST(OwnerGraph, EqualsASetOfPairsHoweverManyLinksThereAre) {
  MemoryStore store(std::uint64_t{1} << 30);
  auto pages = must(PageDb::open(*store));
  constexpr std::uint64_t kHosts = 40;
  constexpr std::uint64_t kPagesOfAHost = 60;
  const auto url_of = [](std::uint64_t page) {
    return "http://h" + std::to_string(page % kHosts) + ".test/" + std::to_string(page);
  };
  Random random(5);
  std::map<std::string, std::map<std::string, int>> expected;
  const auto host_of = [](const std::string& url) { return url.substr(0, url.rfind('/')); };
  for (std::uint64_t page = 0; page < kHosts * kPagesOfAHost; ++page) {
    std::vector<std::string> links;
    const std::uint64_t reach = 1 + page % kHosts;
    for (std::uint64_t link = 0; link < 600; ++link) {
      links.push_back(url_of(random.below(kPagesOfAHost) * kHosts + random.below(reach)));
      expected[host_of(url_of(page))][host_of(links.back())] = 1;
    }
    add_page(pages, url_of(page), links);
  }
  must(pages.merge());
  const auto view = view_of(*store);
  const auto graph = must(OwnerGraph::build(view, ScoreSubject::kHost));
  ASSERT_EQ(graph->first_pages().size(), kHosts);
  std::uint64_t link_count = 0;
  for (const auto& [source, targets] : rows_of(*graph)) {
    auto& found = expected[host_of(must(view.url(graph->first_pages()[source])))];
    for (const std::uint64_t target : targets) {
      EXPECT_EQ(found.erase(host_of(must(view.url(graph->first_pages()[target])))), 1U);
    }
    link_count += targets.size();
  }
  for (const auto& [source, left] : expected) {
    for (const auto& [target, one] : left) EXPECT_EQ(source, target);  // inside a host
  }
  EXPECT_EQ(link_count, graph->link_count());
}

}  // namespace
}  // namespace crawlstore::testing
