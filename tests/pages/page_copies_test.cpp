// SPDX-License-Identifier: Apache-2.0
// covers: W2, W3
//
// Pages by content: the index names those whose record has the content now, however often contents
// changed, and whatever was compacted, forgotten or recovered meanwhile.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/tools/page_copies.h>
#include <crawlstore/tools/recover.h>

#include "pages/page_words.h"
#include "rescue/known_frontier.h"
#include "support/seeded.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

using Hash = std::vector<std::byte>;

std::string page_url(std::uint64_t number) {
  return "http://site" + std::to_string(number % 5) + ".example/" + std::to_string(number);
}

/// Contents of 8 to 64 bytes, each of its own, and one of a single byte.
Hash content_of(std::uint64_t number) {
  if (number == 0) return {std::byte{7}};
  Hash content(8 + number % 57, std::byte{7});
  for (std::size_t i = 0; i < 8; ++i) content[i] = static_cast<std::byte>(number >> (8 * i) & 0xFF);
  return content;
}

std::vector<std::uint64_t> copies_in(const PageView& view, const Hash& content) {
  std::vector<std::uint64_t> found;
  must(for_each_page_of_content(view, content, [&found](std::uint64_t index) {
    found.push_back(index);
    return true;
  }));
  return found;
}

std::size_t run_count(MemoryStore& store) {
  for (const auto& segment : must(store->snapshot()).segments()) {
    if (segment.kind == SegmentKind::kPageContents) return segment.runs.size();
  }
  return 0;
}

/// Keys of the index, those that no longer count too.
std::uint64_t key_count(MemoryStore& store) {
  for (const auto& segment : must(store->snapshot()).segments()) {
    if (segment.kind == SegmentKind::kPageContents) return segment.record_count();
  }
  return 0;
}

PagesOptions with_index() {
  PagesOptions options;
  options.content_index = true;
  return options;
}

/// Each content leads to the pages that have it.
void expect_copies(const PageView& view, const std::map<std::uint64_t, Hash>& contents) {
  std::map<Hash, std::vector<std::uint64_t>> expected;
  for (const auto& [index, content] : contents) {
    if (!content.empty()) expected[content].push_back(index);
  }
  for (const auto& [content, pages] : expected) EXPECT_EQ(copies_in(view, content), pages);
}

class PageCopies : public ::testing::Test {
 protected:
  void add(std::uint64_t number, const Hash& content) {
    CrawledPage page(page_url(number), 1);
    page.set_content_hash(content);
    must(pages_->add(page));
    changed_[page_url(number)] = content;
  }
  void merge() {
    must(pages_->merge());
    const PageView view = view_of(*store_);
    for (const auto& [url, content] : changed_) contents_[must(view.find(url)).value()] = content;
    changed_.clear();
  }
  void expect_all() {
    const PageView view = view_of(*store_);
    expect_copies(view, contents_);
    for (std::uint64_t number = 0; number < 70; ++number) {
      const Hash content = content_of(number);
      const auto has = [&content](const auto& entry) { return entry.second == content; };
      EXPECT_EQ(std::ranges::any_of(contents_, has), !copies_in(view, content).empty());
    }
    EXPECT_TRUE(copies_in(view, {}).empty());
    expect_whole(store_);
  }

  SeededRandom random_;
  MemoryStore store_;
  std::optional<PageDb> pages_;
  std::map<std::uint64_t, Hash> contents_;
  std::map<std::string, Hash> changed_;
};

TEST_F(PageCopies, AreThoseThatHaveTheContentNow) {
  pages_ = must(PageDb::open(*store_, "pages", with_index()));
  std::size_t runs_max = 0;
  for (int step = 0; step < 40; ++step) {
    for (std::uint64_t i = random_.below(300); i != 0; --i) {
      const std::uint64_t content = random_.below(60);
      add(random_.below(500), content == 59 ? Hash() : content_of(content));
    }
    merge();
    runs_max = std::max(runs_max, run_count(store_));
    if (step % 8 == 5) expect_all();
    if (step == 20) must(pages_->compact());
    if (step != 30) continue;
    must(pages_->close());
    store_.reopen();
    pages_ = must(PageDb::open(*store_));
  }
  EXPECT_LE(runs_max, 8U);
  EXPECT_GE(runs_max, 4U);
  EXPECT_TRUE(view_of(*store_).info().has_content_index) << "the file knows, not the options";
  expect_all();
}

/// Half of all pages have one content.
TEST_F(PageCopies, MayBeMany) {
  pages_ = must(PageDb::open(*store_, "pages", with_index()));
  for (std::uint64_t i = 0; i < 20'000; ++i) add(i, content_of(i % 2 == 0 ? 1 : i + 1));
  merge();
  EXPECT_EQ(copies_in(view_of(*store_), content_of(1)).size(), 10'000U);
  std::uint64_t seen = 0;
  must(for_each_page_of_content(view_of(*store_), content_of(1),
                                [&seen](std::uint64_t) { return ++seen < 7; }));
  EXPECT_EQ(seen, 7U);
}

TEST_F(PageCopies, AreFoundWithoutAnIndex) {
  pages_ = must(PageDb::open(*store_));
  for (std::uint64_t i = 0; i < 300; ++i) add(i, content_of(i % 60));
  merge();
  EXPECT_EQ(run_count(store_), 0U);
  EXPECT_FALSE(view_of(*store_).info().has_content_index);
  expect_all();
}

TEST_F(PageCopies, GetTheIndexWithCompaction) {
  pages_ = must(PageDb::open(*store_));
  for (std::uint64_t i = 0; i < 300; ++i) add(i, content_of(i % 60));
  merge();
  must(pages_->close());
  pages_ = must(PageDb::open(*store_, "pages", with_index()));
  for (std::uint64_t i = 0; i < 30; ++i) add(i, content_of(61));
  merge();
  EXPECT_EQ(run_count(store_), 0U) << "it would lack what was there before";
  must(pages_->compact());
  EXPECT_EQ(run_count(store_), 1U);
  EXPECT_EQ(key_count(store_), 300U);
  for (std::uint64_t i = 20; i < 50; ++i) add(i, content_of(62));
  merge();
  expect_all();
}

TEST_F(PageCopies, BeginWithTheFirstContentOfALinkedPage) {
  pages_ = must(PageDb::open(*store_));
  CrawledPage known(page_url(0), 1);
  must(pages_->add(CrawlEvent{.kind = CrawlEventKind::kKnown, .url = page_url(1)}));
  merge();
  must(pages_->close());
  pages_ = must(PageDb::open(*store_, "pages", with_index()));
  add(1, content_of(5));
  merge();
  EXPECT_EQ(run_count(store_), 1U);
  expect_all();
}

/// Contents that pages no longer have cost bytes until then.
TEST_F(PageCopies, AreRidOfOldContentsByCompaction) {
  pages_ = must(PageDb::open(*store_, "pages", with_index()));
  for (std::uint64_t round = 0; round < 4; ++round) {
    for (std::uint64_t i = 0; i < 50; ++i) add(i, content_of(round % 3));
    merge();
  }
  EXPECT_EQ(key_count(store_), 150U) << "of the first content each page has one key";
  expect_all();
  must(pages_->compact());
  EXPECT_EQ(key_count(store_), 50U);
  EXPECT_EQ(run_count(store_), 1U);
  expect_all();
  const Generation generation = store_->generation();
  must(pages_->compact());
  EXPECT_EQ(store_->generation(), generation) << "there was nothing left to do";
}

TEST_F(PageCopies, AreForgotten) {
  pages_ = must(PageDb::open(*store_, "pages", with_index()));
  for (std::uint64_t i = 0; i < 100; ++i) add(i, content_of(i % 10));
  merge();
  must(pages_->forget([](std::string_view url) { return url.ends_with('3'); }));
  std::erase_if(contents_, [](const auto& entry) { return entry.first % 10 == 3; });
  expect_all();
  must(pages_->compact());
  EXPECT_EQ(key_count(store_), 90U);
  expect_all();
}

/// Damage is named, and the index made anew.
TEST_F(PageCopies, ComeBackWhenTheirIndexIsDamaged) {
  pages_ = must(PageDb::open(*store_, "pages", with_index()));
  for (std::uint64_t i = 0; i < 3000; ++i) add(i, content_of(i % 60));
  merge();
  for (std::uint64_t i = 0; i < 50; ++i) add(i, content_of(i % 7));
  merge();
  must(pages_->close());
  const TemporaryFolder folder;
  for (const auto& segment : must(store_->snapshot()).segments()) {
    if (segment.kind != SegmentKind::kPageContents && segment.kind != SegmentKind::kPageRecords) {
      continue;
    }
    auto image = store_.image();
    image[segment.runs.back().extent.offset_bytes + 40] ^= std::byte{4};
    const std::string damaged = folder / "damaged";
    const std::string whole = folder / "whole";
    std::filesystem::remove(whole);
    write_file(damaged, image);
    const auto report = must(verify(damaged));
    ASSERT_EQ(report.findings.size(), 1U);
    EXPECT_EQ(report.findings.front().error.segment, segment.id);
    must(recover(damaged, whole));
    VerifyOptions deep;
    deep.level = VerifyLevel::kDeep;
    EXPECT_TRUE(must(verify(whole, deep)).findings.empty());
    const auto view = must(PageView::open(must(Snapshot::open(whole))));
    EXPECT_TRUE(view.info().has_content_index);
    std::map<std::uint64_t, Hash> contents;
    must(view.for_each_page([&contents](const PageInfo& page) {
      contents[page.index] = page.content_hash;
      return true;
    }));
    EXPECT_EQ(contents == contents_, segment.kind == SegmentKind::kPageContents);
    expect_copies(view, contents);
  }
}

}  // namespace
}  // namespace crawlstore::testing
