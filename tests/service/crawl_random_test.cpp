// SPDX-License-Identifier: Apache-2.0
//
// Random calls of a crawl, in transactions that are committed or dropped and outside of them. Two
// rules last: a URL never waits twice, and nothing is given out that is blocked, leased, beyond a
// limit, within a delay or not due.
#include <array>
#include <map>
#include <string>
#include <vector>

#include "service/crawl_world.h"

namespace crawlstore::service::testing {
namespace {

class RandomCrawl : public CrawlWorld {
 protected:
  static constexpr std::uint64_t kQueues = 12;
  static constexpr std::uint64_t kUrls = 40;

  struct Name {
    std::string queue;
    std::string url;
    double priority = 0;
    [[nodiscard]] UrlInQueue view() const { return {queue, url, priority}; }
  };
  static Name name_of(std::uint64_t queue, std::uint64_t url) {
    static constexpr std::array kForms{"http://", "https://", "ftp://", "http://other."};
    const std::string key = (queue % 5 == 4 ? "a key of " : "host") + std::to_string(queue);
    return {key, kForms[(queue + url) % kForms.size()] + key + "/" + std::to_string(url)};
  }
  double some_priority() { return static_cast<double>(random_.below(9)) / 2 - 2; }
  Name some_name() {
    Name name = name_of(random_.below(kQueues), random_.below(kUrls));
    name.priority = some_priority();
    return name;
  }
  std::string some_queue() { return name_of(random_.below(kQueues), 0).queue; }
  std::string some_metadata() { return random_.hostile_text(random_.one_in(50) ? 2000 : 4); }

  /// A URL that was given out lately, or another one.
  Name some_given() {
    if (given_.empty() || random_.one_in(8)) return some_name();
    const GivenUrl& given = given_[random_.below(given_.size())];
    return {given.queue, given.record.url, some_priority()};
  }
  std::uint64_t some_refetch_s() {
    switch (random_.below(6)) {
      case 0:
        return 1 + random_.below(100);
      case 1:
      case 2:
        return now_s() + random_.below(6);
      case 3:
        return now_s() + 1'000'000;
      default:
        return 0;
    }
  }
  void take_some() {
    GetRequest request;
    const std::string key = some_queue();
    if (random_.one_in(3)) request.queue = key;
    if (random_.one_in(2)) request.per_queue = static_cast<std::uint32_t>(1 + random_.below(5));
    if (random_.one_in(2)) request.queues_max = random_.below(5);
    if (random_.one_in(2)) request.urls_max = random_.below(12);
    request.lease_ms = 1 + random_.below(random_.one_in(3) ? 5 : 5000);
    take(request);
  }
  void give_some_back() {
    std::vector<GivenUrl> some;
    for (std::uint64_t left = random_.below(4); left > 0 && !given_.empty(); --left) {
      some.push_back(given_[random_.below(given_.size())]);
    }
    const std::uint64_t first = crawl_->now_ms();
    must(crawl_->give_back(some));
    for (const GivenUrl& one : some) model_.give_back(one, {first, crawl_->now_ms()});
  }
  void change_rule() {
    const std::string key = some_queue();
    switch (random_.below(3)) {
      case 0: {
        const std::uint64_t seconds = random_.below(4);
        must(crawl_->set_delay(key, seconds));
        return model_.set_delay(key, seconds);
      }
      case 1: {
        const std::uint64_t time_s = random_.one_in(2) ? 0 : now_s() + random_.below(5);
        must(crawl_->block_until(key, time_s));
        return model_.block_until(key, time_s);
      }
      default: {
        const std::uint64_t limit = random_.one_in(2) ? 0 : random_.below(kUrls);
        EXPECT_EQ(must(crawl_->set_limit(key, limit)), model_.set_limit(key, limit));
      }
    }
  }
  /// A call that belongs into a transaction.
  void call() {
    ++call_count_;
    switch (random_.below(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
        discover(some_name().view(), some_metadata());
        return;
      case 4:
      case 5:
      case 6:
        return update(some_given().view(), some_refetch_s(), some_metadata());
      case 7:
        return update(some_name().view(), some_refetch_s(), some_metadata());
      case 8:
      case 9:
        return take_some();
      case 10:
        return give_some_back();
      default:
        return random_.one_in(3) ? change_rule() : expect_stats(some_queue());
    }
  }
  /// A call that commits.
  void call_outside() {
    ++call_count_;
    switch (random_.below(8)) {
      case 0: {
        const std::string key = some_queue();
        EXPECT_EQ(must(crawl_->forget_queue(key)), model_.forget_queue(key));
        return;
      }
      case 1: {
        const std::string key = some_queue();
        std::optional<std::string_view> of;
        if (!random_.one_in(4)) of = key;
        const std::uint64_t time_s = now_s() - random_.below(40);
        EXPECT_EQ(must(crawl_->forget_before(of, time_s)), model_.forget_before(of, time_s));
        return;
      }
      case 2: {
        const std::uint64_t seconds = random_.below(4);
        must(crawl_->set_default_delay(seconds));
        return model_.set_default_delay(seconds);
      }
      case 3:
        return must(crawl_->merge());
      case 4:
        must(store_->compact());
        return;
      default:
        return must(crawl_->merge_if_full());
    }
  }
  void calls_in_a_row() {
    const bool is_inside = !random_.one_in(3);
    const CrawlModel before = model_;
    if (is_inside) begin();
    for (std::uint64_t left = random_.below(20); left > 0 && !HasFailure(); --left) call();
    if (!is_inside) return commit();
    const bool is_kept = !random_.one_in(4);
    end(is_kept);
    if (!is_kept) model_ = before;
  }
  void expect_all() {
    expect_stats({});
    expect_queues();
    for (std::uint64_t queue = 0; queue < kQueues; ++queue) {
      expect_stats(name_of(queue, 0).queue);
      for (std::uint64_t url = 0; url < kUrls; ++url) expect_url(name_of(queue, url).view());
    }
  }

  void run(std::uint64_t calls);

  std::uint64_t call_count_ = 0;
};

void RandomCrawl::run(std::uint64_t calls) {
  std::uint64_t compared = 0;
  while (call_count_ < calls && !HasFailure()) {
    calls_in_a_row();
    if (random_.one_in(4)) call_outside();
    if (random_.one_in(8)) reopen();
    if (call_count_ < compared + 100) continue;
    compared = call_count_;
    expect_all();
    if (random_.one_in(20)) {
      reopen();
      expect_all();
      expect_whole();
    }
  }
  EXPECT_GT(given_count_, calls / 4);
}

TEST_F(RandomCrawl, DoesWhatTheModelDoes) {
  run(is_long() ? 200'000 : 20'000);
}

TEST_F(RandomCrawl, GoesByPriorityAsTheModelDoes) {
  must(set_state(*store_, kByPriority, true));
  must(store_->commit());
  model_.is_by_priority = true;
  reopen();
  run(is_long() ? 200'000 : 10'000);
}

}  // namespace
}  // namespace crawlstore::service::testing
