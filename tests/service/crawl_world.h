// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A crawl in memory that tests open again and again, and random calls of it beside a model. Each
/// time that it is opened, time has gone on by some seconds.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/tools/verify.h>
#include <crawlstore/transaction.h>

#include "base/clock.h"
#include "drum/memory_store.h"
#include "service/crawl_model.h"
#include "support/seeded.h"

namespace crawlstore::service::testing {

using crawlstore::testing::is_long;
using crawlstore::testing::must;
using crawlstore::testing::SeededRandom;

constexpr std::uint64_t kYearMs = std::uint64_t{365} * 86'400'000;
constexpr std::uint64_t kSmallMemory = std::uint64_t{1} << 20;

class CrawlWorld : public ::testing::Test {
 protected:
  /// Time is a year ahead of the wall clock: then it goes on since the last commit.
  CrawlWorld() {
    open_store();
    crawl_ = must(Crawl::open(*store_, "c", kSmallMemory));
    must(crawl_->block_until("first.test", 1));
    must(crawl_->block_until("first.test", 0));
    must(store_->commit());
    model_.block_until("first.test", 1);
    model_.block_until("first.test", 0);
    let_pass(kYearMs);
  }
  ~CrawlWorld() override {
    transaction_.reset();
    crawl_.reset();
  }
  CrawlWorld(const CrawlWorld&) = delete;
  CrawlWorld& operator=(const CrawlWorld&) = delete;

  void open_store() {
    store_.reset();
    OpenOptions options;
    const auto jump_us = static_cast<std::int64_t>(500'000 + 1'000'000 * random_.below(4));
    options.time_us = now_us() - jump_us;
    store_.emplace(must(Store::open(open_memory_storage(file_, OpenMode::kWrite), options)));
  }
  void open() {
    open_store();
    crawl_ = must(Crawl::open(*store_, "c", kSmallMemory));
  }
  void reopen() {
    must(crawl_->close());
    crawl_.reset();
    must(store_->close());
    open();
  }
  /// Opens the file again when so many milliseconds have passed in it.
  void let_pass(std::uint64_t ms) {
    must(crawl_->close());
    crawl_.reset();
    auto frontier = must(Frontier::open(*store_, "c"));
    must(frontier.finish({}, frontier.now_ms() + ms));
    must(frontier.close());
    open();
  }
  std::uint64_t now_s() { return crawl_->now_ms() / 1000; }
  /// Commits what was done outside of transactions.
  void commit() {
    must(crawl_->write_counts());
    must(store_->commit());
  }
  void begin() { transaction_.emplace(must(Transaction::begin(*store_))); }
  void end(bool is_kept) {
    if (is_kept) {
      must(crawl_->write_counts());
      must(transaction_->commit());
    }
    transaction_.reset();
    if (!is_kept) crawl_->drop_counts();
  }
  /// Requests all that may be given out.
  std::vector<GivenUrl> take(const GetRequest& request = {}) {
    const std::uint64_t first = crawl_->now_ms();
    auto given = must(crawl_->take(request));
    EXPECT_EQ(model_.take(request, given, {first, crawl_->now_ms()}), "");
    given_.insert(given_.end(), given.begin(), given.end());
    given_count_ += given.size();
    if (given_.size() > 500) given_.erase(given_.begin(), given_.end() - 250);
    return given;
  }
  bool discover(const UrlInQueue& url, std::string_view metadata = {}) {
    const std::uint64_t now = now_s();
    const bool is_new = must(crawl_->discover(url, metadata, now));
    EXPECT_EQ(is_new, model_.discover(url, metadata, now)) << url.url;
    return is_new;
  }
  void update(const UrlInQueue& url, std::uint64_t refetch_s, std::string_view metadata = {}) {
    const std::uint64_t now = now_s();
    must(crawl_->update(url, metadata, refetch_s, now));
    model_.update(url, metadata, refetch_s, now);
  }

  void expect_stats(std::optional<std::string_view> queue) {
    const std::uint64_t first = crawl_->now_ms();
    QueueStats stats = must(crawl_->stats(queue));
    const Times now{first, crawl_->now_ms()};
    const QueueStats expected = model_.stats(queue, now);
    const std::string name(queue.value_or("all"));
    EXPECT_EQ(stats.active, expected.active) << name;
    EXPECT_EQ(stats.completed, expected.completed) << name;
    EXPECT_EQ(stats.queues, expected.queues) << name;
    EXPECT_EQ(stats.active_queues, expected.active_queues) << name;
    if (model_.is_clear_at(now)) {
      EXPECT_EQ(stats.leased, expected.leased) << name;
    }
  }
  void expect_url(const UrlInQueue& url) {
    const auto found = must(crawl_->find(url));
    const CrawlModel::Url* const expected = model_.find(url);
    ASSERT_EQ(found.has_value(), expected != nullptr) << url.url;
    if (!found) return;
    EXPECT_EQ(found->record.url, url.url);
    EXPECT_EQ(found->record.created_s, expected->created_s) << url.url;
    EXPECT_EQ(found->record.metadata, expected->metadata) << url.url;
    EXPECT_EQ(found->refetch_s, expected->refetch_s) << url.url;
  }
  void expect_queues() {
    for (const bool with_inactive : {false, true}) {
      const std::uint64_t first = crawl_->now_ms();
      const auto keys = must(crawl_->queues(0, SIZE_MAX, with_inactive));
      const Times now{first, crawl_->now_ms()};
      if (!model_.is_clear_at(now)) continue;
      EXPECT_EQ(keys, model_.queues(with_inactive, now));
      if (keys.size() < 3) continue;
      const std::vector<std::string> middle(keys.begin() + 1, keys.begin() + 3);
      EXPECT_EQ(must(crawl_->queues(1, 2, with_inactive)), middle);
    }
  }
  void expect_whole() {
    VerifyOptions deep;
    deep.level = VerifyLevel::kDeep;
    const auto report = must(verify(*open_memory_storage(file_, OpenMode::kRead), deep));
    for (const Finding& finding : report.findings) ADD_FAILURE() << describe(finding);
  }

  SeededRandom random_;
  std::shared_ptr<MemoryFile> file_ =
      crawlstore::testing::make_empty_store_file(std::uint64_t{1} << 28);
  std::optional<Store> store_;
  std::unique_ptr<Crawl> crawl_;
  std::optional<Transaction> transaction_;
  CrawlModel model_;
  std::vector<GivenUrl> given_;  // lately
  std::uint64_t given_count_ = 0;
};

}  // namespace crawlstore::service::testing
