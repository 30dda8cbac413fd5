// SPDX-License-Identifier: Apache-2.0
//
// Pages of other shards: known, linked to, and nothing else. All shards together have what one file
// has.
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/must.h>
#include <crawlstore/page_key.h>
#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/ranking.h>
#include <crawlstore/schedule.h>
#include <crawlstore/shard.h>
#include <crawlstore/tools/recover.h>
#include <crawlstore/tools/verify.h>

#include "pages/page_model.h"
#include "support/seeded.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

using enum CrawlEventKind;

CreateOptions one_seed() {
  CreateOptions options;
  options.key_seed = 5;
  return options;
}

Edit known(const std::string& url, float score = 0) {
  Edit edit;
  edit.kind = kKnown;
  edit.url = url;
  edit.score = score;
  return edit;
}

bool is_whole(const std::string& path) {
  VerifyOptions deep;
  deep.level = VerifyLevel::kDeep;
  const auto report = must(verify(path, deep));
  for (const Finding& finding : report.findings) ADD_FAILURE() << describe(finding);
  return report.findings.empty();
}

/// A shard, open.
struct ShardFile {
  ShardFile(const std::string& file, const Shard& which)
      : path(file), shard(which), store(must(create_shard(file, which, one_seed()))) {}

  Result<void> add(const Edit& edit) {
    return edit.as_event([this](const CrawlEvent& event) { return pages.add(event); });
  }
  PageView view() {
    must(pages.merge());
    must(store.commit());
    return must(PageView::open(must(store.snapshot())));
  }
  [[nodiscard]] bool has(const std::string& url) const { return shard.has(url_host(url)); }

  std::string path;
  Shard shard;
  Store store;
  PageDb pages = must(PageDb::open(store));
};

std::set<std::string> urls_of(const PageView& view, const std::vector<std::uint64_t>& pages) {
  std::set<std::string> urls;
  for (const std::uint64_t page : pages) urls.insert(must(view.url(page)));
  return urls;
}

/// That a page of a shard is as it is in the model of the whole crawl.
void expect_page(const PageView& view, const PageModel& whole, const PageModel::Page& expected) {
  const auto index = must(view.find(expected.url));
  ASSERT_TRUE(index) << expected.url;
  const auto page = must(view.page(*index));
  EXPECT_EQ(page.state, expected.state) << expected.url;
  EXPECT_EQ(page.crawl_count, expected.crawl_count) << expected.url;
  EXPECT_EQ(page.change_count, expected.change_count) << expected.url;
  EXPECT_EQ(page.first_crawl_us, expected.first_us) << expected.url;
  EXPECT_EQ(page.last_crawl_us, expected.last_us) << expected.url;
  EXPECT_EQ(page.http_status, expected.http_status) << expected.url;
  EXPECT_EQ(page.failure_count, expected.failure_count) << expected.url;
  std::set<std::string> targets;
  for (const std::uint64_t target : expected.out) targets.insert(whole.pages()[target].url);
  EXPECT_EQ(urls_of(view, must(view.out_links(*index))), targets) << expected.url;
}

class ManyShards : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  ManyShards() {
    for (std::uint32_t i = 0; i < GetParam(); ++i) {
      shards_.push_back(std::make_unique<ShardFile>(folder_ / (std::to_string(i) + ".crawl"),
                                                    Shard{i, GetParam()}));
    }
  }
  ShardFile& owner(const std::string& url) { return *shards_[shard_of(url_host(url), GetParam())]; }
  /// To the owner; all others refuse it, unless it says that the page is known.
  void add(const Edit& edit) {
    whole_.apply(edit);
    for (const auto& shard : shards_) {
      const bool is_mine = shard->has(edit.url);
      if (edit.kind == kKnown && !is_mine && random_.below(2) == 0) continue;
      const auto added = shard->add(edit);
      if (is_mine || edit.kind == kKnown) {
        must(added);
      } else {
        ASSERT_FALSE(added);
        EXPECT_EQ(added.error().code, Errc::kInvalidArgument);
      }
      if (random_.below(40) == 0) must(shard->pages.merge());
    }
  }
  /// Pages that are elsewhere become known where they are, unless they are already: `known` would
  /// bring back one that is gone, and a link does not.
  void exchange() {
    for (const auto& shard : shards_) {
      const PageView view = shard->view();
      std::uint64_t elsewhere_count = 0;
      for (std::uint64_t page = 0; page < view.info().page_count; ++page) {
        const std::string url = must(view.url(page));
        const bool is_elsewhere = must(view.state(page)) == PageState::kElsewhere;
        EXPECT_EQ(is_elsewhere, !shard->has(url)) << url;
        if (!is_elsewhere) continue;
        ++elsewhere_count;
        const bool is_there = must(owner(url).view().find(url)).has_value();
        if (!is_there) must(owner(url).add(known(url)));
      }
      EXPECT_EQ(view.info().elsewhere_count, elsewhere_count);
      EXPECT_EQ(shard->pages.status().elsewhere_count, elsewhere_count);
    }
  }

  SeededRandom random_;
  TemporaryFolder folder_;
  PageModel whole_;
  std::vector<std::unique_ptr<ShardFile>> shards_;
};

INSTANTIATE_TEST_SUITE_P(Of, ManyShards, ::testing::Values(1, 2, 3, 4, 7));

TEST_P(ManyShards, HaveTogetherWhatOneFileHas) {
  RandomCrawl crawl(random_.below(1U << 31));
  for (int i = 0; i < 400; ++i) add(crawl.next());
  exchange();
  for (const PageModel::Page& page : whole_.pages()) {
    expect_page(owner(page.url).view(), whole_, page);
  }
  for (const auto& shard : shards_) {
    must(shard->pages.close());
    must(shard->store.close());
    EXPECT_TRUE(is_whole(shard->path));
  }
}

TEST_P(ManyShards, ForgetPagesOfOthersToo) {
  RandomCrawl crawl(random_.below(1U << 31));
  for (int i = 0; i < 60; ++i) add(crawl.next());
  for (const auto& shard : shards_) {
    shard->view();
    must(shard->pages.forget([&](std::string_view url) { return !shard->has(std::string(url)); }));
    EXPECT_EQ(shard->pages.status().elsewhere_count, 0U);
    shard->view();
    EXPECT_TRUE(is_whole(shard->path));
  }
}

/// A store that knows a page of its own, and one of another shard.
struct OneOfEach {
  OneOfEach() {
    while (!own.has_value() || !foreign.has_value()) {
      const std::string url = "http://host" + std::to_string(number++) + ".test/";
      (file.has(url) ? own : foreign) = url;
    }
    Edit page;
    page.url = *own;
    page.links = {{*foreign, 1}};
    must(file.add(page));
  }

  TemporaryFolder folder;
  ShardFile file{folder / "a.crawl", {1, 3}};
  int number = 0;
  std::optional<std::string> own;
  std::optional<std::string> foreign;
};

TEST(OneShard, KnowsMoreOfAPageElsewhereWhateverComes) {
  OneOfEach one;
  must(one.file.add(known(*one.foreign, 7)));
  const PageView view = one.file.view();
  const auto page = must(view.page(must(view.find(*one.foreign)).value()));
  EXPECT_EQ(page.state, PageState::kElsewhere);
  EXPECT_EQ(page.crawl_count, 0U);
  EXPECT_EQ(view.info().page_count, 2U);
  EXPECT_EQ(view.info().elsewhere_count, 1U);
  EXPECT_EQ(view.info().shard, (Shard{1, 3}));
}

TEST(OneShard, GivesNoScoresAlone) {
  OneOfEach one;
  one.file.view();
  EXPECT_EQ(rank_pages(one.file.store).error().code, Errc::kInvalidArgument);
  RankOptions by_host;
  by_host.by = ScoreSubject::kHost;
  EXPECT_EQ(rank_pages(one.file.store, by_host).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(hits(one.file.store).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(opic(one.file.store).error().code, Errc::kInvalidArgument);
}

TEST(OneShard, SchedulesItsOwnPagesAlone) {
  OneOfEach one;
  const std::string other = *one.own + "other";
  must(one.file.add(known(other)));
  one.file.view();
  FrontierOptions options;
  options.pages = "pages";
  auto frontier = must(Frontier::open(one.file.store, "frontier", options));
  EXPECT_EQ(must(put_pages(frontier, one.file.view())).put_count, 1U);
  TakeOptions all;
  all.count = 100;
  const auto taken = must(frontier.take(all));
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken.front().group, url_host(other));
}

/// Flips a byte in each run of the segments of a kind.
void damage(const std::string& path, SegmentKind kind) {
  std::vector<std::uint64_t> places;
  for (const SegmentInfo& segment : must(Snapshot::open(path)).segments()) {
    if (segment.kind != kind) continue;
    for (const RunInfo& run : segment.runs) places.push_back(run.extent.offset_bytes);
  }
  ASSERT_FALSE(places.empty());
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  for (const std::uint64_t place : places) {
    file.seekp(static_cast<std::streamoff>(place));
    file.put('!');
  }
}

TEST(OneShard, KnowsItsPagesWhenTheirRecordsWereLost) {
  OneOfEach one;
  one.file.view();
  must(one.file.pages.close());
  must(one.file.store.close());
  damage(one.file.path, SegmentKind::kPageRecords);
  const std::string path = one.folder / "recovered.crawl";
  must(recover(one.file.path, path));
  EXPECT_TRUE(is_whole(path));
  const auto snapshot = must(Snapshot::open(path));
  EXPECT_EQ(must(read_shard(snapshot)), (Shard{1, 3}));
  const PageView view = must(PageView::open(snapshot));
  EXPECT_EQ(view.info().elsewhere_count, 1U);
  EXPECT_EQ(must(view.state(must(view.find(*one.foreign)).value())), PageState::kElsewhere);
  EXPECT_EQ(must(view.state(must(view.find(*one.own)).value())), PageState::kKnown);
}

TEST(OneShard, ShowsItsPagesWhereItsSmallValuesAreDamaged) {
  OneOfEach one;
  one.file.view();
  must(one.file.pages.close());
  must(one.file.store.close());
  damage(one.file.path, SegmentKind::kValues);
  const auto snapshot = must(Snapshot::open(one.file.path));
  EXPECT_FALSE(read_shard(snapshot));
  EXPECT_EQ(must(PageView::open(snapshot)).info().page_count, 2U);
  auto store = must(Store::open(one.file.path));
  EXPECT_FALSE(PageDb::open(store));
}

}  // namespace
}  // namespace crawlstore::testing
