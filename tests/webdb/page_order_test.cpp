// SPDX-License-Identifier: Apache-2.0
// covers: W4, W5
#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include <gtest/gtest.h>

#include <crawlstore/page_order.h>
#include <crawlstore/pages.h>
#include <crawlstore/tools/page_copies.h>
#include <crawlstore/tools/page_gaps.h>

#include "drum/memory_store.h"
#include "support/random.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

using Hash = std::vector<std::byte>;
using ByUrl = std::vector<std::pair<std::string, std::uint64_t>>;
using ByContent = std::vector<std::pair<Hash, std::uint64_t>>;

/// Hashes of 0 to 64 bytes, of which some begin others; one is that of a fifth of the pages.
Hash random_hash(Random& random) {
  if (random.below(5) == 0) return Hash(16, std::byte{7});
  Hash hash(random.below(3) == 0 ? random.below(65) : random.below(3));
  for (std::byte& byte : hash) byte = static_cast<std::byte>(random.below(4) * 85);
  return hash;
}

struct RandomPages {
  explicit RandomPages(std::uint64_t seed, std::size_t count) {
    Random random(seed);
    auto pages = must(PageDb::open(*store));
    for (std::size_t i = 0; i < count; ++i) {
      CrawledPage page(random_url(random));
      page.set_content_hash(random_hash(random));
      for (std::size_t left = random.below(4); left > 0; --left) page.add_link(random_url(random));
      must(pages.add(page));
    }
    must(pages.merge());
    must(pages.forget([](std::string_view url) { return url.ends_with("77"); }));
    must(pages.close());
  }
  static std::string random_url(Random& random) {
    if (random.below(30) == 0) return "no URL \xff" + std::to_string(random.below(100));
    return "https://h" + std::to_string(random.below(9)) + ".test/" +
           std::string(random.below(4), 'a') + std::to_string(random.below(4000));
  }
  [[nodiscard]] PageView view() { return must(PageView::open(must(store->snapshot()))); }

  MemoryStore store;
};

PageOrderOptions options_of(bool in_memory, const TemporaryFolder& folder) {
  PageOrderOptions options;
  if (!in_memory) options.memory_bytes = std::uint64_t{16} << 10;
  options.folder = folder.path();
  return options;
}

ByUrl by_url(const PageView& view, const PageOrderOptions& options) {
  ByUrl found;
  must(for_each_page_by_url(view, options, [&](std::string_view url, std::uint64_t index) {
    found.emplace_back(url, index);
    return true;
  }));
  return found;
}

ByContent by_content(const PageView& view, const PageOrderOptions& options) {
  ByContent found;
  must(for_each_page_by_content(view, options,
                                [&](std::span<const std::byte> hash, std::uint64_t index) {
                                  found.emplace_back(Hash(hash.begin(), hash.end()), index);
                                  return true;
                                }));
  return found;
}

TEST(PageOrder, IsThatOfASort) {
  const TemporaryFolder folder;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    RandomPages pages(seed, 1500);
    const PageView view = pages.view();
    ByUrl urls;
    ByContent contents;
    must(view.for_each_page([&](const PageInfo& page) {
      if (!page.url.empty()) urls.emplace_back(page.url, page.index);
      if (!page.content_hash.empty()) contents.emplace_back(page.content_hash, page.index);
      return true;
    }));
    EXPECT_LT(urls.size(), view.info().page_count) << "some were forgotten";
    std::sort(urls.begin(), urls.end());
    std::sort(contents.begin(), contents.end());
    for (const bool in_memory : {true, false}) {
      const auto options = options_of(in_memory, folder);
      EXPECT_EQ(by_url(view, options), urls);
      EXPECT_EQ(by_content(view, options), contents);
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
}

TEST(PageOrder, GroupsPagesByContent) {
  const TemporaryFolder folder;
  RandomPages pages(5, 1500);
  const PageView view = pages.view();
  std::uint64_t page_count = 0;
  std::uint64_t most = 0;
  Hash last;
  must(for_each_content(view, options_of(false, folder), [&](const ContentGroup& group) {
    const Hash hash(group.content_hash.begin(), group.content_hash.end());
    EXPECT_LT(last, hash);
    last = hash;
    std::vector<std::uint64_t> indexes;
    must(for_each_page_of_content(view, hash, [&](std::uint64_t index) {
      indexes.push_back(index);
      return true;
    }));
    EXPECT_EQ(indexes.size(), group.page_count);
    EXPECT_EQ(indexes.front(), group.first_page);
    page_count += group.page_count;
    most = std::max(most, group.page_count);
    return true;
  }));
  EXPECT_EQ(page_count, by_content(view, {}).size());
  EXPECT_GT(most, 200U);
}

TEST(PageOrder, EndsWhereTheVisitorSaysSo) {
  RandomPages pages(6, 100);
  const PageView view = pages.view();
  std::array<int, 3> calls{};
  must(for_each_page_by_url(view, {}, [&](auto, auto) { return ++calls[0] < 3; }));
  must(for_each_page_by_content(view, {}, [&](auto, auto) { return ++calls[1] < 3; }));
  must(for_each_content(view, {}, [&](const ContentGroup&) { return ++calls[2] < 3; }));
  EXPECT_EQ(calls, (std::array{3, 3, 3}));
}

TEST(PageOrder, HasNothingOfADatabaseWithoutPages) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  must(pages.merge());
  const auto view = must(PageView::open(must(store->snapshot())));
  EXPECT_TRUE(by_url(view, {}).empty());
  must(for_each_content(view, {}, [](const ContentGroup&) -> bool {
    ADD_FAILURE() << "no page has a content";
    return true;
  }));
}

TEST(PageOrder, NeedsUrlsForAnOrderOfUrls) {
  MemoryStore store;
  PagesOptions graph;
  graph.has_urls = false;
  auto pages = must(PageDb::open(*store, "pages", graph));
  must(pages.merge());
  const auto view = must(PageView::open(must(store->snapshot())));
  const auto visited = for_each_page_by_url(view, {}, [](auto, auto) { return true; });
  EXPECT_EQ(visited.error().code, Errc::kInvalidArgument);
  EXPECT_TRUE(by_content(view, {}).empty());
}

TEST(PageOrder, TellsHowFarItIsAndStops) {
  const TemporaryFolder folder;
  RandomPages pages(7, 1500);
  const PageView view = pages.view();
  for (const std::uint64_t stop_at : {1U, 2U, 1000U}) {
    std::uint64_t call_count = 0;
    std::uint64_t last = 0;
    auto options = options_of(false, folder);
    options.progress = [&](std::uint64_t done, std::uint64_t total) {
      EXPECT_EQ(total, 2 * view.info().page_count);
      EXPECT_LE(last, done);
      EXPECT_LE(done, total);
      last = done;
      return ++call_count < stop_at;
    };
    const auto visited = for_each_page_by_url(view, options, [](auto, auto) { return true; });
    EXPECT_EQ(!visited, call_count == stop_at);
    EXPECT_TRUE(visited || visited.error().code == Errc::kCancelled);
  }
}

TEST(PageOrder, ReportsAFolderThatIsNotThere) {
  RandomPages pages(8, 1500);
  PageOrderOptions options;
  options.memory_bytes = std::uint64_t{16} << 10;
  options.folder = "/nonexistent/folder";
  const auto visited = for_each_page_by_url(pages.view(), options, [](auto, auto) { return true; });
  EXPECT_EQ(visited.error().code, Errc::kNotFound);
}

}  // namespace
}  // namespace crawlstore::testing
