// SPDX-License-Identifier: Apache-2.0
// covers: W27
//
// Outcomes of fetches other than content: what edits make of records, links and depths. The random
// edits of page_model.h say the rest.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>

#include "drum/memory_store.h"
#include "pages/page_model.h"
#include "support/bytes.h"

namespace crawlstore::testing {
namespace {

using enum CrawlEventKind;

const std::string kUrl = "http://a.test/";
const std::string kTarget = "http://b.test/";

/// A database to which edits are added, one superstep for all of them, or one for each.
class Outcomes : public ::testing::TestWithParam<bool> {
 protected:
  Result<void> add(const Edit& edit) {
    const auto added = edit.as_event([this](const CrawlEvent& event) { return pages_.add(event); });
    if (GetParam()) must(pages_.merge());
    return added;
  }
  PageView view() {
    must(pages_.merge());
    must(store_->commit());
    return must(PageView::open(must(store_->snapshot())));
  }
  PageInfo page(const std::string& url = kUrl) {
    const PageView pages = view();
    return must(pages.page(must(pages.find(url)).value()));
  }
  std::vector<std::string> links() {
    const PageView pages = view();
    std::vector<std::string> urls;
    for (const std::uint64_t target : must(pages.out_links(must(pages.find(kUrl)).value()))) {
      urls.push_back(must(pages.url(target)));
    }
    return urls;
  }

  MemoryStore store_;
  PageDb pages_ = must(PageDb::open(*store_));
};

INSTANTIATE_TEST_SUITE_P(InSupersteps, Outcomes, ::testing::Bool());

Edit edit_of(CrawlEventKind kind, std::int64_t time_us = 0, std::uint16_t http_status = 0) {
  Edit edit;
  edit.kind = kind;
  edit.url = kUrl;
  edit.time_us = time_us;
  edit.http_status = http_status;
  return edit;
}

Edit redirect_to(const std::string& target) {
  Edit edit = edit_of(kRedirect, 0, 301);
  edit.links = {{target, 0.0F}};
  return edit;
}

Edit crawl(std::int64_t time_us) {
  Edit edit = edit_of(kPage, time_us, 200);
  edit.score = 0.5F;
  edit.content_hash = "hash";
  edit.links = {{"http://c.test/", 0.0F}, {"http://d.test/", 0.0F}};
  return edit;
}

TEST_P(Outcomes, CountsACrawlOfWhatIsUnchanged) {
  must(add(crawl(10)));
  must(add(edit_of(kFailed)));
  must(add(edit_of(kUnchanged, 20, 304)));
  const PageInfo found = page();
  EXPECT_EQ(found.state, PageState::kCrawled);
  EXPECT_EQ(found.crawl_count, 2U);
  EXPECT_EQ(found.change_count, 0U);
  EXPECT_EQ(found.first_crawl_us, 10);
  EXPECT_EQ(found.last_crawl_us, 20);
  EXPECT_EQ(found.score, 0.5F);
  EXPECT_EQ(found.content_hash.size(), 4U);
  EXPECT_EQ(found.http_status, 304);
  EXPECT_EQ(found.failure_count, 0U);
  EXPECT_EQ(links().size(), 2U);
}

TEST_P(Outcomes, CountACrawlWithoutAHashWhereNoneWasBeforeOneThatIsUnchanged) {
  must(add(edit_of(kUnchanged, 20)));
  EXPECT_EQ(page().crawl_count, 1U);
  EXPECT_EQ(page().state, PageState::kCrawled);
  EXPECT_TRUE(page().content_hash.empty());
  EXPECT_EQ(view().info().crawled_count, 1U);
}

TEST_P(Outcomes, ReplaceLinksByTheTargetOfARedirect) {
  must(add(crawl(10)));
  must(add(redirect_to(kTarget)));
  EXPECT_EQ(page().state, PageState::kRedirect);
  EXPECT_EQ(page().crawl_count, 1U);
  EXPECT_EQ(page().last_crawl_us, 10);
  EXPECT_EQ(page().http_status, 301);
  EXPECT_EQ(links(), std::vector{kTarget});
}

TEST_P(Outcomes, GiveATargetOfARedirectTheDepthOfItsSource) {
  must(add(redirect_to(kTarget)));
  Edit second = crawl(5);
  second.url = kTarget;
  must(add(second));
  EXPECT_EQ(page(kTarget).depth, 0U);
  EXPECT_EQ(page(kTarget).linked_from, page().index);
  EXPECT_TRUE(page(kTarget).by_redirect);
  EXPECT_EQ(page("http://c.test/").depth, 1U);
  EXPECT_FALSE(page("http://c.test/").by_redirect);
}

TEST_P(Outcomes, RejectARedirectWithoutATargetOrWithSeveral) {
  EXPECT_EQ(code_of(add(edit_of(kRedirect))), Errc::kInvalidArgument);
  Edit several = redirect_to(kTarget);
  several.links.emplace_back("http://c.test/", 0.0F);
  EXPECT_EQ(code_of(add(several)), Errc::kInvalidArgument);
  EXPECT_EQ(view().info().page_count, 0U);
}

TEST_P(Outcomes, KeepAllButTheStateOfWhatIsDeniedOrADuplicate) {
  for (const auto& [kind, state] :
       {std::pair(kDenied, PageState::kDenied), std::pair(kDuplicate, PageState::kDuplicate)}) {
    must(add(crawl(10)));
    const PageInfo before = page();
    must(add(edit_of(kFailed)));
    must(add(edit_of(kind, 50)));
    EXPECT_EQ(page().state, state);
    EXPECT_EQ(page().failure_count, 0U);
    EXPECT_EQ(page().crawl_count, before.crawl_count);
    EXPECT_EQ(page().last_crawl_us, 10);
    EXPECT_EQ(page().http_status, 200);
    EXPECT_EQ(links().size(), 2U);
  }
}

TEST_P(Outcomes, CountFailuresInARowUntilAnotherOutcome) {
  for (const CrawlEventKind kind : {kPage, kUnchanged, kGone, kRedirect, kDenied, kDuplicate}) {
    for (std::uint32_t count = 1; count <= 3; ++count) {
      must(add(edit_of(kFailed, 0, count == 2 ? 503 : 0)));
      EXPECT_EQ(page().failure_count, count);
    }
    must(add(edit_of(kKnown)));
    EXPECT_EQ(page().failure_count, 3U);
    EXPECT_EQ(page().http_status, 503);
    must(add(kind == kRedirect ? redirect_to(kTarget) : edit_of(kind)));
    EXPECT_EQ(page().failure_count, 0U);
  }
}

TEST_P(Outcomes, ForgetStatusAndKeepWhoRedirectedAmongTheOthers) {
  Edit seed = crawl(1);
  seed.url = "http://seed.test/";
  seed.links = {{kUrl, 0.0F}};
  must(add(seed));
  must(add(redirect_to(kTarget)));
  Edit target = crawl(2);
  target.url = kTarget;
  must(add(target));
  EXPECT_EQ(page(kTarget).depth, 1U);
  EXPECT_EQ(page("http://c.test/").depth, 2U);
  must(pages_.forget([](std::string_view url) { return url == "http://seed.test/"; }));
  EXPECT_EQ(page(kTarget).depth, 0U);
  EXPECT_TRUE(page(kTarget).by_redirect);
  EXPECT_EQ(page("http://c.test/").depth, 1U);
  EXPECT_EQ(must(view().page(0)).http_status, 0);
  must(pages_.forget([](std::string_view url) { return url == kUrl; }));
  EXPECT_FALSE(page(kTarget).by_redirect);
  EXPECT_FALSE(page(kTarget).linked_from);
  EXPECT_EQ(page(kTarget).depth, 0U);
}

}  // namespace
}  // namespace crawlstore::testing
