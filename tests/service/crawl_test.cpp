// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <string>
#include <vector>

#include "service/crawl_world.h"
#include "support/recording_storage.h"

namespace crawlstore::service::testing {
namespace {

using crawlstore::testing::CallKind;
using crawlstore::testing::calls;
using crawlstore::testing::Recorder;

class Crawls : public CrawlWorld {
 protected:
  static constexpr UrlInQueue kA{"a.test", "http://a.test/"};
  static constexpr UrlInQueue kB{"b.test", "http://b.test/"};
};

TEST_F(Crawls, GiveOutAUrlUntilItIsCompleted) {
  EXPECT_TRUE(discover(kA, "m"));
  EXPECT_FALSE(discover(kA, "other"));
  EXPECT_EQ(take().size(), 1U);
  EXPECT_EQ(take().size(), 0U);
  update(kA, 0, "not kept");
  EXPECT_FALSE(discover(kA));
  commit();
  expect_stats({});
  expect_url(kA);
  update(kA, now_s(), "again");
  EXPECT_EQ(take({.per_queue = 9}).size(), 0U) << "within the delay";
  let_pass(1000);
  EXPECT_EQ(take().size(), 1U);
}

/// A queue of which the frontier has had no item.
TEST_F(Crawls, ListQueuesThatBeginWithACompletedUrl) {
  update(kB, 0);
  commit();
  expect_queues();
  expect_stats("b.test");
  EXPECT_EQ(must(crawl_->forget_before({}, now_s() + 1)), model_.forget_before({}, now_s() + 1));
  expect_stats({});
  expect_queues();
}

/// The caller's clock may be ahead.
TEST_F(Crawls, GiveOutAtOnceWhatIsDiscovered) {
  must(crawl_->discover(kA, {}, now_s() + 1000));
  must(crawl_->update(kB, {}, now_s() + 900, now_s() + 1000));
  EXPECT_EQ(must(crawl_->take({})).size(), 2U);
}

/// URLs come so from other services.
TEST_F(Crawls, KeepTheTimeWithWhichANewUrlComes) {
  const UrlInQueue completed{"b.test", "http://b.test/completed"};
  for (const std::uint64_t created_s : {7U, 9U}) {
    must(crawl_->discover(kA, {}, now_s(), created_s));
    must(crawl_->update(kB, {}, now_s() + 5, now_s(), created_s));
    must(crawl_->update(completed, {}, 0, now_s(), created_s));
  }
  for (const UrlInQueue& url : {kA, kB, completed}) {
    EXPECT_EQ(must(crawl_->find(url))->record.created_s, 7U) << url.url;
  }
}

TEST(NodeOfAFile, IsTextOfTwoNumbers) {
  EXPECT_EQ(encode(Node{1, 3}), "1/3");
  EXPECT_EQ(decode_node("1/3"), (Node{1, 3}));
  for (const char* const text :
       {"", "1", "1/", "/3", "3/3", "0/0", "1/3 ", "-1/3", "1/4294967296"}) {
    EXPECT_EQ(decode_node(text), std::nullopt) << text;
  }
}

TEST_F(Crawls, TakeTimesThatNeverComeForTheLatest) {
  for (const std::uint64_t time_s :
       {UINT64_MAX, UINT64_MAX / 1000 + 2, std::uint64_t{1} << 61, Crawl::kTimeMaxS + 1}) {
    must(crawl_->update(kA, {}, time_s, now_s()));
    EXPECT_EQ(must(crawl_->find(kA))->refetch_s, Crawl::kTimeMaxS);
    must(crawl_->discover(kB, {}, now_s()));
    must(crawl_->block_until(kB.queue, time_s));
    must(crawl_->set_delay(kB.queue, time_s));
    EXPECT_EQ(must(crawl_->take({})).size(), 0U);
  }
}

TEST_F(Crawls, RefuseWhatIsTooLongAndChangeNothing) {
  const std::string long_key(Crawl::kKeyBytesMax + 1, 'k');
  const std::string long_url(Crawl::kUrlBytesMax, 'u');
  const std::string key(Crawl::kKeyBytesMax, 'k');
  begin();
  for (const UrlInQueue& url : {UrlInQueue{long_key, "u"}, UrlInQueue{key, long_url}}) {
    EXPECT_EQ(crawl_->discover(url, "m", 1).error().code, Errc::kTooLarge);
    EXPECT_EQ(crawl_->update(url, "m", 0, 1).error().code, Errc::kTooLarge);
    EXPECT_EQ(crawl_->update(url, "m", 1, 1).error().code, Errc::kTooLarge);
    EXPECT_EQ(must(crawl_->find(url)), std::nullopt);
  }
  discover({key, long_url});
  end(true);
  expect_url({key, long_url});
  expect_stats({});
  EXPECT_EQ(take().size(), 1U);
}

TEST_F(Crawls, EndAQueueAtItsLimit) {
  EXPECT_FALSE(must(crawl_->set_limit(kA.queue, 1)));
  discover(kA);
  discover({kA.queue, "http://a.test/2"});
  EXPECT_TRUE(must(crawl_->set_limit(kA.queue, 1)) && model_.set_limit(kA.queue, 1));
  update(kA, 0);
  EXPECT_EQ(take().size(), 0U);
  update(kA, now_s() + 1'000'000);
  EXPECT_EQ(take().size(), 1U);
}

TEST_F(Crawls, KeepCountsOfBeforeATransactionThatIsDropped) {
  discover(kA);
  update(kB, 0);
  commit();
  const std::uint64_t time_s = now_s() + 1;
  EXPECT_EQ(must(crawl_->forget_before({}, time_s)), model_.forget_before({}, time_s));
  begin();
  must(crawl_->discover(kA, {}, time_s));
  end(false);
  expect_stats({});
  reopen();
  expect_stats({});
  expect_stats(kA.queue);
  expect_url(kA);
}

/// A crawl on a disk that gets full.
class FullDisk : public ::testing::Test {
 protected:
  FullDisk() {
    const std::uint64_t now_s = crawl_->now_ms() / 1000;
    must(crawl_->discover(kWaits, "m", now_s));
    must(crawl_->update(kCompleted, {}, 0, now_s));
    commit();
  }
  void commit() {
    must(crawl_->write_counts());
    must(store_.commit());
  }
  void fill() {
    recorder_.inject(
        {.calls = calls(CallKind::kAllocate), .nth = 1, .forever = true, .system_errno = ENOSPC});
  }
  void expect_all() {
    const QueueStats stats = must(crawl_->stats({}));
    EXPECT_EQ(stats.active, 1U);
    EXPECT_EQ(stats.leased, 0U);
    EXPECT_EQ(stats.completed, 1U);
    EXPECT_EQ(stats.queues, 1U);
    EXPECT_EQ(must(crawl_->find(kWaits))->record.metadata, "m");
    EXPECT_EQ(must(crawl_->find(kCompleted))->refetch_s, 0U);
    EXPECT_EQ(must(crawl_->find(kOther)), std::nullopt);
  }

  static constexpr UrlInQueue kWaits{"a.test", "http://a.test/1"};
  static constexpr UrlInQueue kCompleted{"a.test", "http://a.test/2"};
  static constexpr UrlInQueue kOther{"b.test", "http://b.test/"};
  Recorder recorder_{crawlstore::testing::make_empty_store_file(std::uint64_t{1} << 26)};
  Store store_ = must(Store::open(recorder_.open(OpenMode::kWrite)));
  std::unique_ptr<Crawl> crawl_ = must(Crawl::open(store_, "c", kSmallMemory));
};

TEST_F(FullDisk, DropsATransactionWhole) {
  const std::uint64_t now_s = crawl_->now_ms() / 1000;
  auto transaction = must(Transaction::begin(store_));
  EXPECT_EQ(must(crawl_->take({})).size(), 1U);
  must(crawl_->update(kWaits, "other", 0, now_s));
  must(crawl_->update(kCompleted, "other", now_s, now_s));
  must(crawl_->discover(kOther, std::string(60'000, 'm'), now_s));
  must(crawl_->block_until(kWaits.queue, now_s + 100));
  must(crawl_->write_counts());
  fill();
  EXPECT_EQ(transaction.commit().error().code, Errc::kNoSpace);
  EXPECT_TRUE(recorder_.has_injected());
  transaction.drop();
  crawl_->drop_counts();
  expect_all();
  recorder_.stop_injecting();
  expect_all();
  EXPECT_TRUE(must(crawl_->discover(kOther, {}, now_s)));
  EXPECT_EQ(must(crawl_->take({})).size(), 2U);
}

TEST_F(FullDisk, LetsAQueueBeForgottenLater) {
  fill();
  EXPECT_EQ(crawl_->forget_queue(kWaits.queue).error().code, Errc::kNoSpace);
  recorder_.stop_injecting();
  must(crawl_->forget_queue(kWaits.queue));
  EXPECT_EQ(must(crawl_->stats({})).queues, 0U);
  EXPECT_TRUE(must(crawl_->discover(kWaits, {}, 1)));
  EXPECT_TRUE(must(crawl_->discover(kCompleted, {}, 1)));
  commit();
  EXPECT_EQ(must(crawl_->take({})).size(), 1U + 1U);
}

TEST_F(FullDisk, LetsUrlsBeForgottenLater) {
  fill();
  EXPECT_EQ(crawl_->forget_before({}, UINT64_MAX).error().code, Errc::kNoSpace);
  recorder_.stop_injecting();
  EXPECT_EQ(must(crawl_->forget_before({}, UINT64_MAX)), 2U);
  EXPECT_EQ(must(crawl_->stats({})).queues, 0U);
  EXPECT_TRUE(must(crawl_->discover(kWaits, {}, 1)));
  EXPECT_EQ(must(crawl_->take({})).size(), 1U);
}

}  // namespace
}  // namespace crawlstore::service::testing
