// SPDX-License-Identifier: Apache-2.0
// covers: W1, W2, W3, W4, W5, W6, W7, W8, W9, W10, W11
// covers: W13, W14, W15, W16, W17, W18, W19, W20, W22, W23, W24
// covers: E8, E9, E10
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include <crawlstore/webdb.h>

#include "drum/memory_store.h"
#include "support/bytes.h"
#include "support/seeded.h"
#include "support/temporary_folder.h"
#include "webdb/webdb_model.h"

namespace crawlstore::testing {
namespace {

using Hash = std::vector<std::byte>;
using Urls = std::set<std::string>;

WebDbReader reader_of(MemoryStore& store) {
  return must(WebDbReader::open(must(store->snapshot())));
}

WebDbReport write_session(MemoryStore& store, const std::vector<WebDbEdit>& session,
                          const WebDbOptions& options = {}) {
  auto writer = must(WebDbWriter::open(*store, options));
  for (const WebDbEdit& edit : session) must(write_edit(writer, edit));
  return must(writer.close());
}

/// The URLs of the pages whose indexes `walk` hands out.
template <class Walk>
Urls urls_of(const WebDbReader& reader, const Walk& walk) {
  Urls urls;
  must(walk([&](std::uint64_t index) {
    urls.insert(must(reader.view().url(index)));
    return true;
  }));
  return urls;
}

void expect_pages(const WebDbReader& reader, const WebDbModel::Pages& pages) {
  std::vector<std::string> by_url;
  std::vector<std::pair<std::string, std::string>> by_content;
  std::uint64_t link_count = 0;
  for (const auto& [url, page] : pages) {
    const auto found = must(reader.page(url));
    EXPECT_EQ(found.has_value(), page.is_there) << url;
    link_count += page.links.size();
    if (page.is_there) by_url.push_back(url);
    if (page.is_there && !page.hash.empty()) by_content.emplace_back(page.hash, url);
  }
  std::sort(by_content.begin(), by_content.end());
  const WebDbCounts counts = must(reader.counts());
  EXPECT_EQ(counts.page_count, by_url.size());
  EXPECT_EQ(counts.link_count, link_count);
  std::vector<std::string> urls;
  must(reader.for_each_page({}, [&](std::string_view url, std::uint64_t) {
    urls.emplace_back(url);
    return true;
  }));
  EXPECT_EQ(urls, by_url);
  std::vector<std::pair<std::string, std::string>> contents;
  must(reader.for_each_page_by_content({}, [&](std::span<const std::byte> hash, auto index) {
    std::string text;
    for (const std::byte byte : hash) text += static_cast<char>(byte);
    contents.emplace_back(text, must(reader.view().url(index)));
    return true;
  }));
  EXPECT_TRUE(std::is_sorted(contents.begin(), contents.end(),
                             [](const auto& a, const auto& b) { return a.first < b.first; }));
  std::sort(contents.begin(), contents.end());
  EXPECT_EQ(contents, by_content);
}

void expect_contents(const WebDbReader& reader, const WebDbModel::Pages& pages) {
  for (const std::string hash : {"c1", "cc1", "ccc1", "nobody's"}) {
    Urls with_hash;
    Urls targets;
    for (const auto& [url, page] : pages) {
      if (!page.is_there || page.hash != hash) continue;
      with_hash.insert(url);
      targets.insert(page.links.begin(), page.links.end());
    }
    const Hash bytes = bytes_of(hash);
    EXPECT_EQ(must(reader.page_exists(bytes)), !with_hash.empty());
    EXPECT_EQ(urls_of(reader, [&](auto visit) { return reader.pages_of(bytes, visit); }),
              with_hash);
    EXPECT_EQ(urls_of(reader, [&](auto visit) { return reader.links_of(bytes, visit); }), targets);
  }
}

void expect_links(const WebDbReader& reader, const WebDbModel::Pages& pages) {
  std::map<std::string, Urls> sources;
  for (const auto& [url, page] : pages) {
    for (const std::string& target : page.links) sources[target].insert(url);
  }
  for (const auto& known : pages) {
    const std::string& url = known.first;
    EXPECT_EQ(urls_of(reader, [&](auto visit) { return reader.links_to(url, visit); }),
              sources[url]);
    if (sources[url].empty()) sources.erase(url);
  }
  auto next = sources.begin();
  must(reader.for_each_link({}, [&](std::string_view target, std::span<const std::uint64_t> from) {
    EXPECT_EQ(target, next->first);
    EXPECT_EQ(from.size(), next->second.size());
    return ++next != sources.end();
  }));
  EXPECT_EQ(next, sources.end());
}

/// Makes a database that has a page, and no index of contents.
void begin_without_index(MemoryStore& store, WebDbModel& model) {
  WebDbEdit first{};
  first.action = WebDbAction::kAdd;
  first.url = "http://first.test/";
  auto pages = must(PageDb::open(*store));
  must(pages.add(CrawledPage(first.url, 1)));
  must(pages.merge());
  must(pages.close());
  model.apply({first});
}

/// The tester of the seed: thousands of edits in sessions, across reopenings.
TEST(WebDb, DoesWhatTwoMapsDo) {
  SeededRandom random;
  const TemporaryFolder folder;
  for (int round = 0; round < (is_long() ? 20 : 2); ++round) {
    MemoryStore store;
    WebDbModel model;
    const bool has_index = round % 2 == 0;
    if (!has_index) begin_without_index(store, model);
    for (int session = 0; session < 25; ++session) {
      const bool is_large = random.one_in(4);
      const auto edits =
          random_session(random, is_large ? 900 : 1 + random.below(60), round % 2 == 0 ? 0 : 150);
      WebDbOptions options;
      options.folder = folder.path();
      options.memory_bytes = is_large ? std::uint64_t{64} << 10 : options.memory_bytes;
      const auto before = model.pages();
      const WebDbReport report = write_session(store, edits, options);
      model.apply(edits);
      ASSERT_EQ(report.edit_count, edits.size());
      ASSERT_EQ(report.refused_link_count, model.refused());
      ASSERT_EQ(report.refused_links.size(), model.refused());
      const WebDbReader reader = reader_of(store);
      ASSERT_EQ(reader.view().info().has_content_index, has_index);
      ASSERT_EQ(WebDbModel::read(reader), model.pages()) << "session " << session;
      expect_pages(reader, model.pages());
      expect_contents(reader, model.pages());
      expect_links(reader, model.pages());
      if (random.one_in(3)) store.reopen();
    }
  }
}

/// Edits of different URLs, and links, may come in any order.
TEST(WebDb, DoesNotDependOnTheOrderOfUrls) {
  SeededRandom random;
  const auto first = random_session(random, 100, 0);
  auto edits = random_session(random, 200, 0);
  MemoryStore one;
  MemoryStore other;
  for (MemoryStore* store : {&one, &other}) {
    write_session(*store, first);
    write_session(*store, edits);
    std::stable_sort(edits.begin(), edits.end(),
                     [](const WebDbEdit& a, const WebDbEdit& b) { return a.url > b.url; });
  }
  EXPECT_EQ(WebDbModel::read(reader_of(one)), WebDbModel::read(reader_of(other)));
}

TEST(WebDb, IsTheOldOneUntilClose) {
  MemoryStore store;
  write_session(store, {{WebDbAction::kAdd, "https://a.test/", "c1", 1, {}, {}}});
  const auto generation = store->generation();
  {
    auto writer = must(WebDbWriter::open(*store));
    must(writer.delete_page("https://a.test/"));
    EXPECT_TRUE(must(reader_of(store).page("https://a.test/")));
  }
  EXPECT_EQ(store->generation(), generation) << "edits without close() are dropped";
  EXPECT_TRUE(must(reader_of(store).page("https://a.test/")));
  auto writer = must(WebDbWriter::open(*store));
  must(writer.delete_page("https://a.test/"));
  must(writer.close());
  EXPECT_EQ(store->generation(), generation.next()) << "one commit";
  EXPECT_FALSE(must(reader_of(store).page("https://a.test/")));
  must(writer.close());
  EXPECT_EQ(code_of(writer.delete_page("https://a.test/")), Errc::kClosed);
  EXPECT_EQ(code_of(writer.add_link({bytes_of("c1"), "https://a.test/"})), Errc::kClosed);
}

TEST(WebDb, KeepsScoresUnlessOneIsGiven) {
  MemoryStore store;
  const std::string url = "https://a.test/";
  const auto score = [&] { return must(reader_of(store).page(url))->score; };
  write_session(store, {{WebDbAction::kAdd, url, "c1", 2, {}, {}}});
  EXPECT_EQ(score(), 2);
  write_session(store, {{WebDbAction::kAdd, url, "cc1", 3, {}, {}}});
  EXPECT_EQ(score(), 2);
  write_session(store, {{WebDbAction::kAddWithScore, url, "cc1", 4, {}, {}}});
  EXPECT_EQ(score(), 4);
}

TEST(WebDb, RefusesWhatItCannotKeep) {
  MemoryStore store;
  WebDbOptions little;
  little.memory_bytes = 65535;
  EXPECT_EQ(code_of(WebDbWriter::open(*store, little)), Errc::kInvalidArgument);
  WebDbOptions graph;
  graph.pages.has_urls = false;
  EXPECT_EQ(code_of(WebDbWriter::open(*store, graph)), Errc::kInvalidArgument);
  auto writer = must(WebDbWriter::open(*store));
  CrawledPage page("https://a.test/");
  EXPECT_EQ(code_of(writer.add_page_with_score(page)), Errc::kInvalidArgument);
  page.set_score(HUGE_VALF);
  EXPECT_EQ(code_of(writer.add_page(page)), Errc::kInvalidArgument);
  EXPECT_EQ(code_of(writer.add_page(CrawledPage(""))), Errc::kInvalidArgument);
  EXPECT_EQ(code_of(writer.delete_page("")), Errc::kInvalidArgument);
  EXPECT_EQ(code_of(writer.add_link({{}, "https://a.test/"})), Errc::kInvalidArgument);
  EXPECT_EQ(code_of(writer.add_link({Hash(65), "https://a.test/"})), Errc::kTooLarge);
  EXPECT_EQ(code_of(writer.add_link({Hash(1), ""})), Errc::kInvalidArgument);
  CrawledPage linking("https://a.test/");
  linking.add_link("");
  EXPECT_EQ(code_of(writer.add_page(linking)), Errc::kInvalidArgument);
  EXPECT_EQ(must(writer.close()).edit_count, 0U);
}

/// A sort that fails changes nothing, and close() says so again.
TEST(WebDb, ReportsAFullFolderAndChangesNothing) {
  const TemporaryMount mount("size=100k");
  if (!mount.is_mounted()) GTEST_SKIP() << "needs the right to mount";
  MemoryStore store;
  WebDbOptions options;
  options.folder = mount / "";
  options.memory_bytes = std::uint64_t{64} << 10;
  auto writer = must(WebDbWriter::open(*store, options));
  const auto generation = store->generation();
  Random random(1);
  Errc code{};
  for (int i = 0; i < 3000 && code == Errc{}; ++i) {
    code = code_of(write_edit(writer, random_edit(random, 300)));
  }
  EXPECT_EQ(code, Errc::kNoSpace);
  EXPECT_EQ(code_of(writer.close()), Errc::kNoSpace);
  EXPECT_EQ(code_of(writer.close()), Errc::kNoSpace);
  EXPECT_EQ(store->generation(), generation);
}

/// A superstep that is cancelled leaves the edits waiting: close() again commits them.
TEST(WebDb, GoesOnAfterASuperstepThatWasCancelled) {
  MemoryStore store;
  bool goes_on = true;
  WebDbOptions options;
  options.pages.progress = [&goes_on](std::uint64_t, std::uint64_t) { return goes_on; };
  auto writer = must(WebDbWriter::open(*store, options));
  SeededRandom random;
  const auto edits = random_session(random, 300, 0);
  for (const WebDbEdit& edit : edits) must(write_edit(writer, edit));
  goes_on = false;
  const auto cancelled = writer.close();
  goes_on = true;
  EXPECT_EQ(code_of(cancelled), Errc::kCancelled);
  must(writer.close());
  WebDbModel model;
  model.apply(edits);
  EXPECT_EQ(WebDbModel::read(reader_of(store)), model.pages());
}

}  // namespace
}  // namespace crawlstore::testing
