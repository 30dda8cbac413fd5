// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A made web, and shards that crawl it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/must.h>
#include <crawlstore/page_view.h>
#include <crawlstore/shard_exchange.h>
#include <crawlstore/tools/verify.h>

#include "support/seeded.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {

using Bytes = std::vector<std::byte>;
using Pages = std::map<std::string, std::set<std::string>>;  // links of those that were crawled

/// A made web of some hosts, of which two hold half of all pages.
class Web {
 public:
  explicit Web(SeededRandom& random) {
    for (int page = 0; page < 300; ++page) {
      const auto host = random.below(2) == 0 ? random.below(2) : random.below(20);
      urls_.push_back("http://host" + std::to_string(host) + ".test/" + std::to_string(page));
    }
    for (const std::string& url : urls_) {
      for (int link = 0; link < 3; ++link) links_[url].insert(urls_[random.below(urls_.size())]);
    }
  }
  [[nodiscard]] const std::string& seed() const { return urls_.front(); }
  [[nodiscard]] CrawledPage fetch(const std::string& url) const {
    CrawledPage page(url, 1);
    for (const std::string& link : links_.at(url)) page.add_link(link);
    return page;
  }
  /// All pages that so many levels of links lead to, and the links of those that were crawled.
  [[nodiscard]] std::pair<std::set<std::string>, Pages> crawl(int levels) const {
    std::set<std::string> known{seed()};
    Pages crawled;
    for (int level = 0; level < levels; ++level) {
      for (const std::string& url : std::set(known)) {
        if (!crawled.emplace(url, links_.at(url)).second) continue;
        known.insert(links_.at(url).begin(), links_.at(url).end());
      }
    }
    return {known, crawled};
  }

 private:
  std::vector<std::string> urls_;
  std::map<std::string, std::set<std::string>> links_;
};

/// A shard that can be closed, lost and opened again.
class Machine {
 public:
  Machine(const std::string& path, const Shard& shard) : path_(path) {
    CreateOptions options;
    options.key_seed = 3;
    must(create_shard(path, shard, options));
    open();
  }
  void open() {
    store_.emplace(must(Store::open(path_)));
    pages_.emplace(must(PageDb::open(*store_)));
  }
  void close() {
    must(pages_->close());
    pages_.reset();
    must(store_->close());
    store_.reset();
  }
  /// A copy of the file, to come back to: what is behind it is lost then.
  void keep_copy() {
    must(store_->commit());
    std::filesystem::remove(path_ + ".copy");
    must(copy_snapshot(must(store_->snapshot()), path_ + ".copy"));
  }
  void come_back() {
    close();
    std::filesystem::rename(path_ + ".copy", path_);
    open();
  }
  [[nodiscard]] PageView view() {
    must(pages_->merge());
    must(store_->commit());
    return must(PageView::open(must(store_->snapshot())));
  }
  void add_known(const std::string& url) {
    CrawlEvent event;
    event.kind = CrawlEventKind::kKnown;
    event.url = url;
    must(pages_->add(event));
  }
  /// Fetches each page of its own that is known and was not.
  void crawl(const Web& web) {
    const PageView pages = view();
    must(pages.for_each_page([&](const PageInfo& page) {
      if (page.state == PageState::kKnown) must(pages_->add(web.fetch(page.url)));
      return true;
    }));
  }
  ExchangeState end() { return must(end_step(*store_, *pages_)); }
  void note_own() { must(note_sent(*store_, *pages_)); }
  [[nodiscard]] ExchangeState state() {
    must(store_->commit());
    return must(read_exchange(must(store_->snapshot())));
  }
  /// The messages of a step, by receiver.
  [[nodiscard]] std::map<std::uint32_t, Bytes> outbox(std::uint64_t step) {
    std::map<std::uint32_t, Bytes> messages;
    must(write_outbox(must(store_->snapshot()), step,
                      [&](std::uint32_t to, std::span<const std::byte> bytes) -> Result<void> {
                        messages[to].insert(messages[to].end(), bytes.begin(), bytes.end());
                        return {};
                      }));
    return messages;
  }
  Result<InboxReport> receive(std::span<const std::byte> message) {
    return receive_outbox(
        *store_, *pages_, [&message](std::span<std::byte> into) -> Result<std::size_t> {
          const std::size_t length = std::min<std::size_t>({into.size(), message.size(), 1000});
          std::copy_n(message.begin(), length, into.begin());
          message = message.subspan(length);
          return length;
        });
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] Store& store() { return *store_; }
  [[nodiscard]] PageDb& pages() { return *pages_; }

 private:
  std::string path_;
  std::optional<Store> store_;
  std::optional<PageDb> pages_;
};

/// Machines that all know the seed; the parameter is their number.
class CrawlOverShards : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  CrawlOverShards() {
    for (std::uint32_t i = 0; i < GetParam(); ++i) {
      machines_.push_back(std::make_unique<Machine>(folder_ / (std::to_string(i) + ".crawl"),
                                                    Shard{i, GetParam()}));
    }
    for (const auto& machine : machines_) machine->add_known(web_.seed());
  }
  /// That all shards together have what a crawl of so many levels has.
  void expect_crawl(int levels) {
    const auto [known, crawled] = web_.crawl(levels);
    std::set<std::string> found;
    Pages found_links;
    for (const auto& machine : machines_) {
      const PageView view = machine->view();
      must(view.for_each_page([&](const PageInfo& page) {
        if (page.state == PageState::kElsewhere) return true;
        EXPECT_TRUE(found.insert(page.url).second) << page.url;
        if (page.crawl_count == 0) return true;
        auto& links = found_links[page.url];
        for (const std::uint64_t link : must(view.out_links(page.index))) {
          links.insert(must(view.url(link)));
        }
        return true;
      }));
      VerifyOptions deep;
      deep.level = VerifyLevel::kDeep;
      const auto report = must(verify(machine->path(), deep));
      for (const Finding& finding : report.findings) ADD_FAILURE() << describe(finding);
    }
    EXPECT_EQ(found, known);
    EXPECT_EQ(found_links, crawled);
  }

  SeededRandom random_;
  Web web_{random_};
  TemporaryFolder folder_;
  std::vector<std::unique_ptr<Machine>> machines_;
};

}  // namespace crawlstore::testing
