// SPDX-License-Identifier: Apache-2.0
//
// Store::drop(): parts go together, with all that is theirs, and nothing else goes.
#include "container/drop_parts.h"

#include <cerrno>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/frontier_view.h>
#include <crawlstore/pages.h>
#include <crawlstore/queue.h>
#include <crawlstore/transaction.h>

#include "pages/page_words.h"
#include "support/bytes.h"
#include "support/recording_storage.h"

namespace crawlstore::testing {
namespace {

using Keys = Drum<std::uint64_t, std::uint32_t>;
using Names = std::set<std::string>;
using enum SegmentKind;

constexpr std::uint64_t kKeyCount = 60;

DrumOptions small_drum() {
  return {.bucket_count = 4, .memory_bytes = 1 << 20, .parallel = false};
}

Keys open_keys(Store& store, const std::string& name) {
  return must(Keys::open(store, name, small_drum()));
}

void put(Frontier& frontier, const std::string& group) {
  must(frontier.put(std::vector<FrontierItem>{{group, 1, "body of " + group}}));
}

/// A DRUM with merged and waiting requests, a frontier and a queue of this name, all closed.
void make_crawl(Store& store, const std::string& name) {
  auto keys = open_keys(store, name);
  for (std::uint64_t key = 0; key < kKeyCount; ++key) must(keys.update(key << 56, 1));
  must(keys.merge());
  must(keys.update(1, 2));
  auto frontier = must(Frontier::open(store, name, {.checkpoint_bytes = 1}));
  for (std::uint64_t host = 0; host < 20; ++host) put(frontier, "host" + std::to_string(host));
  must(store.commit());
  put(frontier, "late");
  auto queue = must(Queue::open(store, name));
  must(queue.insert(std::vector<QueuedPage>{{7, 1}}));
  must(keys.close());
  must(frontier.close());
  must(queue.close());
}

std::vector<PartName> parts_of(const std::string& name) {
  return {{kDrum, name}, {kFrontier, name}, {kQueue, name}};
}

/// The parts that the newest generation has.
Names part_names(const Store& store) {
  Names names;
  for (const SegmentInfo& segment : must(store.snapshot()).segments()) {
    if (!segment.owner) names.insert(std::string(name_of(segment.kind)) + ' ' + segment.name);
  }
  return names;
}

std::size_t segment_count(const Store& store) {
  return must(store.snapshot()).segments().size();
}

Errc drop_error(Store& store, const std::vector<PartName>& parts) {
  return code_of(store.drop(parts));
}

const Names kCrawlA{"drum a", "frontier a", "queue a"};

TEST(DropParts, TakesPartsWithAllTheirSegmentsInOneCommit) {
  MemoryStore store;
  make_crawl(*store, "b");
  const std::size_t count = segment_count(*store);
  make_crawl(*store, "a");
  EXPECT_GT(segment_count(*store), count + 3);
  const Generation before = store->generation();
  EXPECT_EQ(must(store->drop(parts_of("a"))), before.next());
  EXPECT_EQ(part_names(*store), (Names{"drum b", "frontier b", "queue b"}));
  EXPECT_EQ(segment_count(*store), count);
  EXPECT_EQ(drum_info(*store, "b").key_count, kKeyCount);
  expect_whole(store);
  store.reopen();
  expect_whole(store);
}

TEST(DropParts, TakesNoPartOfTheSameNameThatIsNotNamed) {
  MemoryStore store;
  make_crawl(*store, "a");
  const std::vector<PartName> twice{{kFrontier, "a"}, {kFrontier, "a"}};
  must(store->drop(twice));
  EXPECT_EQ(part_names(*store), (Names{"drum a", "queue a"}));
  const Generation before = store->generation();
  EXPECT_EQ(must(store->drop({})), before);
  expect_whole(store);
}

TEST(DropParts, FreesTheNamesAtOnce) {
  MemoryStore store;
  make_crawl(*store, "a");
  must(store->drop(parts_of("a")));
  auto keys = must(Drum<std::uint64_t, std::uint64_t>::open(*store, "a", small_drum()));
  EXPECT_FALSE(must(keys.contains(1)));
  must(keys.update(5, std::uint64_t{1} << 40));
  must(keys.merge());
  auto frontier = must(Frontier::open(*store, "a", {.has_own_ids = true}));
  EXPECT_EQ(frontier.waiting_count(), 0U);
  must(store->commit());
  EXPECT_EQ(must(keys.lookup(5)), std::uint64_t{1} << 40);
  EXPECT_EQ(part_names(*store), (Names{"drum a", "frontier a"}));
  expect_whole(store);
}

TEST(DropParts, LeavesSnapshotsWhatTheyHave) {
  MemoryStore store;
  make_crawl(*store, "a");
  const auto snapshot = must(store->snapshot());
  must(store->drop(parts_of("a")));
  for (const char* name : {"b", "c", "d"}) make_crawl(*store, name);
  auto drum = must(DrumView::open(snapshot, "a"));
  for (std::uint64_t key = 0; key < kKeyCount; ++key) EXPECT_TRUE(must(drum.contains(key << 56)));
  std::size_t item_count = 0;
  must(must(FrontierView::open(snapshot, "a")).for_each_waiting("late", [&](const auto& item) {
    item_count += item.body == "body of late" ? 1 : 0;
    return true;
  }));
  EXPECT_EQ(item_count, 1U);
  EXPECT_EQ(must(must(QueueView::open(snapshot, "a")).peek(9)).size(), 1U);
}

TEST(DropParts, IsTakenBackByARollback) {
  MemoryStore store;
  make_crawl(*store, "a");
  const std::size_t count = segment_count(*store);
  must(store->drop(parts_of("a")));
  must(store->rollback());
  EXPECT_EQ(part_names(*store), kCrawlA);
  EXPECT_EQ(segment_count(*store), count);
  expect_whole(store);
  EXPECT_TRUE(must(open_keys(*store, "a").contains(1)));
  EXPECT_EQ(must(Frontier::open(*store, "a")).waiting_count(), 21U);
}

TEST(DropParts, RefusesPartsThatAreNotThereOrOfAnotherKind) {
  MemoryStore store;
  make_crawl(*store, "a");
  must(store->set("a", {}));
  const Generation before = must(store->commit());
  for (const PartName& refused : {PartName{kDrum, "b"}, PartName{kFrontier, ""}}) {
    EXPECT_EQ(drop_error(*store, {{kDrum, "a"}, refused}), Errc::kUnknownName);
  }
  for (const SegmentKind kind : {kPages, kValues, kDrumPartition, kScoreArray, SegmentKind{}}) {
    EXPECT_EQ(drop_error(*store, {{kDrum, "a"}, {kind, "a"}}), Errc::kInvalidArgument);
  }
  EXPECT_EQ(store->generation(), before);
}

TEST(DropParts, RefusesPartsThatAreOpen) {
  MemoryStore store;
  make_crawl(*store, "a");
  {
    const auto keys = open_keys(*store, "a");
    EXPECT_EQ(drop_error(*store, parts_of("a")), Errc::kInvalidArgument);
  }
  {
    const auto queue = must(Queue::open(*store, "a"));
    EXPECT_EQ(drop_error(*store, parts_of("a")), Errc::kInvalidArgument);
  }
  {
    const auto frontier = must(Frontier::open(*store, "new"));
    EXPECT_EQ(drop_error(*store, {{kFrontier, "new"}}), Errc::kInvalidArgument);
  }
  EXPECT_EQ(part_names(*store), kCrawlA);
  must(store->drop(parts_of("a")));
}

TEST(DropParts, RefusesDrumsThatPageDatabasesStandOn) {
  MemoryStore store;
  must(open_keys(*store, "plain").close());
  {
    auto pages = must(PageDb::open(*store, "web"));
    must(pages.add(CrawledPage("http://a.example/")));
    must(pages.merge());
    must(store->commit());
    EXPECT_EQ(drop_error(*store, {{kDrum, "web"}}), Errc::kInvalidArgument);
    PagesOptions without_urls;
    without_urls.has_urls = false;
    const auto plain = must(PageDb::open(*store, "plain", without_urls));
    EXPECT_EQ(drop_error(*store, {{kDrum, "plain"}}), Errc::kInvalidArgument);
  }
  EXPECT_EQ(drop_error(*store, {{kDrum, "web"}}), Errc::kInvalidArgument);
  expect_whole(store);
}

TEST(DropParts, IsRefusedInTransactionsAndDispatchers) {
  MemoryStore store;
  make_crawl(*store, "a");
  auto keys = open_keys(*store, "b");
  {
    const auto transaction = must(Transaction::begin(*store));
    EXPECT_EQ(drop_error(*store, parts_of("a")), Errc::kReentrant);
  }
  struct Drops {
    Store& store;
    std::vector<Errc> codes{};
    void update(const Keys::AnswerType& /*answer*/) {
      codes.push_back(drop_error(store, parts_of("a")));
    }
  } drops{*store};
  must(keys.update(1, 1));
  must(keys.merge(drops));
  EXPECT_EQ(drops.codes, std::vector{Errc::kReentrant});
  EXPECT_EQ(drum_info(*store, "a").key_count, kKeyCount);
}

TEST(DropParts, CommitsWhatWaitsInOthers) {
  MemoryStore store;
  make_crawl(*store, "a");
  auto keys = open_keys(*store, "b");
  auto frontier = must(Frontier::open(*store, "b"));
  must(keys.update(3, 9));
  put(frontier, "host");
  must(store->drop(parts_of("a")));
  MemoryStore crashed(store.image());
  EXPECT_EQ(part_names(*crashed), (Names{"drum b", "frontier b"}));
  EXPECT_TRUE(must(open_keys(*crashed, "b").contains(3)));
  EXPECT_EQ(must(Frontier::open(*crashed, "b")).waiting_count(), 1U);
  must(keys.merge());
  expect_whole(store);
}

/// The handle goes in a transaction, which keeps the part until it ends.
TEST(DropParts, TakesAPartThatLingeredUntilItsTransactionEnded) {
  MemoryStore store;
  std::optional<Keys> keys = open_keys(*store, "a");
  auto transaction = must(Transaction::begin(*store));
  must(keys->update(1, 1));
  keys.reset();
  must(transaction.commit());
  must(store->drop(std::vector<PartName>{{kDrum, "a"}}));
  EXPECT_EQ(part_names(*store), Names());
  expect_whole(store);
}

/// Every call of the storage fails: all parts stay and can be dropped later, with what waits.
TEST(DropParts, ChangesNothingWhenItFails) {
  for (std::uint64_t nth = 1;; ++nth) {
    Recorder recorder(make_empty_store_file(std::uint64_t{1} << 24));
    auto store = must(Store::open(recorder.open(OpenMode::kWrite)));
    make_crawl(store, "a");
    auto keys = open_keys(store, "b");
    must(keys.update(3, 9));
    recorder.inject({.nth = nth, .forever = true, .system_errno = ENOSPC});
    const auto dropped = store.drop(parts_of("a"));
    const bool has_injected = recorder.has_injected();
    recorder.stop_injecting();
    if (!has_injected) {
      must(dropped);
      EXPECT_GT(nth, 3U);
      return;
    }
    if (dropped || dropped.error().code == Errc::kPoisoned || !keys.contains(3)) continue;
    if (!store.commit()) continue;  // a sync failed
    EXPECT_EQ(part_names(store), (Names{"drum a", "drum b", "frontier a", "queue a"}));
    must(store.drop(parts_of("a")));
    EXPECT_EQ(part_names(store), Names{"drum b"});
    must(keys.merge());
    EXPECT_EQ(must(keys.lookup(3)), 9U);
  }
}

TEST(DropParts, IsRefusedOnAFullDiskUntilThereIsRoom) {
  Recorder recorder(make_empty_store_file(std::uint64_t{1} << 24));
  auto store = must(Store::open(recorder.open(OpenMode::kWrite)));
  make_crawl(store, "a");
  recorder.inject({.calls = calls(CallKind::kAllocate, CallKind::kTruncate),
                   .forever = true,
                   .system_errno = ENOSPC});
  const Generation before = store.generation();
  EXPECT_EQ(drop_error(store, parts_of("a")), Errc::kNoSpace);
  EXPECT_EQ(store.generation(), before);
  EXPECT_EQ(part_names(store), kCrawlA);
  recorder.stop_injecting();
  must(store.drop(parts_of("a")));
  EXPECT_EQ(part_names(store), Names());
}

TEST(DropParts, GivesTheRoomBackToLaterCommits) {
  MemoryStore store;
  std::uint64_t bytes = 0;
  for (int round = 0; round < 200; ++round) {
    make_crawl(*store, "a");
    must(store->drop(parts_of("a")));
    if (round == 10) bytes = store->file_bytes();
  }
  EXPECT_LE(store->file_bytes(), bytes);
  EXPECT_EQ(part_names(*store), Names());
  expect_whole(store);
}

}  // namespace
}  // namespace crawlstore::testing
