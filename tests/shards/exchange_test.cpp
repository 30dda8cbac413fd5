// SPDX-License-Identifier: Apache-2.0
//
// The exchange between shards: a crawl in steps has what one file has, whatever comes twice, late,
// in another order, damaged, or to a shard that was brought back from an older copy.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/must.h>
#include <crawlstore/page_key.h>
#include <crawlstore/page_view.h>
#include <crawlstore/shard_exchange.h>
#include <crawlstore/verify.h>

#include "support/seeded.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

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

 private:
  std::string path_;
  std::optional<Store> store_;
  std::optional<PageDb> pages_;
};

class ShardExchange : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  ShardExchange() {
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
  /// Gives a shard all outboxes from its step on.
  void catch_up(std::uint32_t to) {
    const std::uint64_t step = machines_[to]->state().step;
    for (std::uint32_t from = 0; from < GetParam(); ++from) {
      if (from == to) continue;
      const ExchangeState state = machines_[from]->state();
      for (std::uint64_t s = step; s < state.step + (state.has_ended ? 1 : 0); ++s) {
        const Bytes message = machines_[from]->outbox(s)[to];
        const ExchangeState own = machines_[to]->state();
        if (s <= own.step - (own.has_ended ? 0 : 1)) must(machines_[to]->receive(message));
      }
    }
  }
  /// One step of all. With losses, machines are opened anew on the way, and messages come twice.
  void step(bool has_losses) {
    std::vector<std::uint32_t> order(GetParam());
    for (std::uint32_t i = 0; i < GetParam(); ++i) order[i] = i;
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
    for (const std::uint32_t i : order) {
      machines_[i]->crawl(web_);
      machines_[i]->end();
      if (has_losses && random_.below(4) == 0) {
        machines_[i]->close();
        machines_[i]->open();
      }
    }
    const std::uint64_t number = machines_.front()->state().step;
    for (const std::uint32_t from : order) {
      const auto messages = machines_[from]->outbox(number);
      EXPECT_FALSE(machines_[from]->state().is_sent);
      machines_[from]->note_own();
      for (const auto& [to, message] : messages) {
        must(machines_[to]->receive(message));
        if (has_losses && random_.below(3) == 0) {
          EXPECT_EQ(must(machines_[to]->receive(message)).stale_count, 1U);
        }
      }
    }
    for (const auto& machine : machines_) EXPECT_EQ(machine->state().step, number + 1);
  }

  SeededRandom random_;
  Web web_{random_};
  TemporaryFolder folder_;
  std::vector<std::unique_ptr<Machine>> machines_;
};

INSTANTIATE_TEST_SUITE_P(Of, ShardExchange, ::testing::Values(2, 3, 4, 7));

TEST_P(ShardExchange, MakesTheCrawlOfOneFile) {
  for (int level = 0; level < 6; ++level) {
    const auto before = machines_.front()->state();
    EXPECT_EQ(before.step, static_cast<std::uint64_t>(level + 1));
    EXPECT_FALSE(before.has_ended);
    EXPECT_EQ(before.missing.size(), GetParam() - 1);
    step(random_.below(2) == 0);
    if (level == 2) expect_crawl(3);
  }
  expect_crawl(6);
}

TEST_P(ShardExchange, GoesOnWithAShardOfAnOlderCopy) {
  step(false);
  const auto lost = static_cast<std::uint32_t>(random_.below(GetParam()));
  machines_[lost]->keep_copy();
  step(false);
  step(false);
  machines_[lost]->come_back();
  EXPECT_EQ(machines_[lost]->state().step, 2U);
  // Its own messages of steps that the others have had are stale, and bring nothing new.
  while (machines_[lost]->state().step < 4) {
    machines_[lost]->crawl(web_);
    const std::uint64_t number = machines_[lost]->end().step;
    for (const auto& [to, message] : machines_[lost]->outbox(number)) {
      const auto report = must(machines_[to]->receive(message));
      EXPECT_EQ(report.stale_count, 1U);
      EXPECT_EQ(report.new_count, 0U);
    }
    machines_[lost]->note_own();
    catch_up(lost);
  }
  step(false);
  expect_crawl(4);
}

TEST_P(ShardExchange, WritesTheSameOutboxAgain) {
  step(false);
  machines_[0]->crawl(web_);
  EXPECT_EQ(write_outbox(must(Snapshot::open(machines_[0]->path())), 2, {}).error().code,
            Errc::kInvalidArgument);
  machines_[0]->end();
  const auto first = machines_[0]->outbox(2);
  EXPECT_EQ(first.size(), GetParam() - 1);
  EXPECT_EQ(machines_[0]->end().step, 2U);
  machines_[0]->add_known("http://late.test/");
  machines_[0]->crawl(web_);
  machines_[0]->end();
  EXPECT_EQ(machines_[0]->outbox(2), first);
}

TEST_P(ShardExchange, RefusesWhatIsNotMeantForIt) {
  for (const auto& machine : machines_) machine->crawl(web_);
  const std::uint32_t owner = shard_of(url_host(web_.seed()), GetParam());
  const std::uint32_t other = owner == 0 ? 1 : 0;
  for (const auto& machine : machines_) machine->end();
  const auto outbox = machines_[owner]->outbox(1);
  const Bytes& message = outbox.at(other);
  const auto refused = [&](const Bytes& bytes) { return machines_[other]->receive(bytes); };
  EXPECT_EQ(machines_[owner]->receive(message).error().code, Errc::kInvalidArgument);
  if (GetParam() > 2) {
    std::uint32_t third = 0;
    while (third == owner || third == other) ++third;
    EXPECT_EQ(refused(outbox.at(third)).error().code, Errc::kInvalidArgument);
  }
  for (std::size_t length = 1; length < message.size(); ++length) {
    const Bytes cut(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_EQ(refused(cut).error().code, Errc::kTruncated) << length;
  }
  for (std::size_t at = 0; at < message.size(); ++at) {
    Bytes damaged = message;
    damaged[at] ^= std::byte{4};
    EXPECT_FALSE(refused(damaged)) << at;
  }
  EXPECT_EQ(machines_[other]->state().missing.size(), GetParam() - 1);
  must(refused(message));
  EXPECT_EQ(machines_[other]->state().missing.size(), GetParam() - 2);
  EXPECT_EQ(machines_[other]->state().step, 1U);
  machines_[other]->note_own();
  EXPECT_EQ(machines_[other]->state().step, GetParam() == 2 ? 2U : 1U);
}

TEST_P(ShardExchange, LeavesOutStepsThatHaveNotEndedHere) {
  step(false);
  machines_[0]->keep_copy();
  step(false);
  machines_[1]->crawl(web_);
  machines_[1]->end();
  const Bytes ahead = machines_[1]->outbox(3)[0];
  machines_[0]->come_back();
  const auto report = must(machines_[0]->receive(ahead));
  EXPECT_EQ(report.early_count, 1U);
  EXPECT_EQ(report.url_count, 0U);
  EXPECT_EQ(machines_[0]->state().step, 2U);
}

TEST(ShardExchangeOfAll, TellsPagesOfOtherDatabasesApart) {
  const TemporaryFolder folder;
  CreateOptions seeded;
  seeded.key_seed = 3;
  auto from = must(create_shard(folder / "0.crawl", {0, 2}, seeded));
  auto to = must(create_shard(folder / "1.crawl", {1, 2}, seeded));
  PagesOptions raw;
  raw.normalizer = UrlNormalizer::raw();
  auto sent = must(PageDb::open(from, "pages"));
  auto other = must(PageDb::open(to, "images"));
  auto as_it_is = must(PageDb::open(to, "pages", raw));
  must(end_step(from, sent));
  Bytes message;
  must(write_outbox(must(from.snapshot()), 1, [&](std::uint32_t, std::span<const std::byte> bytes) {
    message.insert(message.end(), bytes.begin(), bytes.end());
    return Result<void>();
  }));
  for (PageDb* pages : {&other, &as_it_is}) {
    must(end_step(to, *pages));
    std::span<const std::byte> rest = message;
    const auto received = receive_outbox(to, *pages, [&](std::span<std::byte> into) {
      const std::size_t length = std::min(into.size(), rest.size());
      std::copy_n(rest.begin(), length, into.begin());
      rest = rest.subspan(length);
      return Result<std::size_t>(length);
    });
    EXPECT_EQ(received.error().code, Errc::kInvalidArgument);
  }
}

TEST(ShardExchangeOfAll, HasPagesWithUrls) {
  const TemporaryFolder folder;
  auto store = must(create_shard(folder / "a.crawl", {0, 2}));
  PagesOptions indexes;
  indexes.has_urls = false;
  EXPECT_EQ(PageDb::open(store, "pages", indexes).error().code, Errc::kInvalidArgument);
}

TEST(ShardExchangeOfAll, IsForShardsAlone) {
  const TemporaryFolder folder;
  auto store = must(Store::create(folder / "a.crawl"));
  auto pages = must(PageDb::open(store));
  EXPECT_EQ(end_step(store, pages).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(note_sent(store, pages).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(read_exchange(must(store.snapshot())).error().code, Errc::kInvalidArgument);
}

}  // namespace
}  // namespace crawlstore::testing
