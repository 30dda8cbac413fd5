// SPDX-License-Identifier: Apache-2.0
//
// The bounds on the cost of look-ups and supersteps: neither depends on how many pages there are,
// but for the bytes that a superstep has to write.
#include <gtest/gtest.h>

#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>

#include "pages/page_words.h"

namespace crawlstore::testing {
namespace {

std::string page_url(std::uint64_t i) {
  return "http://host" + std::to_string(i % 97) + ".example/" + std::to_string(i);
}

/// Pages [first, end), each with links to three others, as one superstep.
void add_pages(PageDb& pages, std::uint64_t first, std::uint64_t end) {
  for (std::uint64_t i = first; i < end; ++i) {
    CrawledPage page(page_url(i), 1);
    for (const std::uint64_t target : {i / 2, i / 3, end - 1 - (i - first)}) {
      page.add_link(page_url(target));
    }
    must(pages.add(page));
  }
  must(pages.merge());
}

// covers: W12
TEST(PageCost, LooksUpInAFewBlocks) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  std::vector<std::uint64_t> bytes;
  std::uint64_t begin = 0;
  for (const std::uint64_t end : {2'000UL, 100'000UL}) {
    add_pages(pages, begin, end);
    begin = end;
    const Snapshot snapshot = must(store->snapshot());
    const PageView view = must(PageView::open(snapshot));
    static_cast<void>(must(view.find(page_url(0))));  // opens what it reads
    const auto before = snapshot.counters();
    for (std::uint64_t i = 0; i < 64; ++i) {
      EXPECT_TRUE(must(view.find(page_url(end / 64 * i))));
    }
    bytes.push_back((snapshot.counters().bytes_read - before.bytes_read) / 64);
  }
  EXPECT_LE(bytes[0], 4 * 65536U);
  EXPECT_LE(bytes[1], 4 * 65536U) << "fifty times the pages, no more bytes a look-up";
}

// covers: W21
TEST(PageCost, WritesSuperstepsForwards) {
  MemoryStore store;
  auto pages = must(PageDb::open(*store));
  add_pages(pages, 0, 2'000);
  std::vector<std::uint64_t> seeks;
  for (const std::uint64_t end : {4'000UL, 80'000UL}) {
    const auto before = store->counters().storage;
    add_pages(pages, end / 2, end);
    seeks.push_back(store->counters().storage.write_seek_count - before.write_seek_count);
  }
  EXPECT_LE(seeks[0], 60U);
  EXPECT_LE(seeks[1], 60U) << "twenty times the edits: longer runs, no more places";
  expect_whole(store);
}

}  // namespace
}  // namespace crawlstore::testing
