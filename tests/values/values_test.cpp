// SPDX-License-Identifier: Apache-2.0
//
// Small values: set and read, in transactions, across commits that fail, rollbacks and compaction.
#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <crawlstore/pages.h>
#include <crawlstore/tools/inspect.h>
#include <crawlstore/tools/recover.h>
#include <crawlstore/transaction.h>
#include <crawlstore/values.h>

#include "pages/page_words.h"
#include "support/another_thread.h"
#include "support/recording_storage.h"
#include "support/seeded.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

using Texts = std::map<std::string, std::string>;

void set(Store& store, const std::string& name, const std::string& text) {
  must(store.set(name, std::as_bytes(std::span(text))));
}

std::string text_of(const std::vector<std::byte>& bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += static_cast<char>(byte);
  return text;
}

/// A value that the store has now; "none": there is none.
std::string value_of(const Store& store, const std::string& name) {
  const auto bytes = must(store.get(name));
  return bytes ? text_of(*bytes) : "none";
}

/// All that the newest generation has.
Texts stored(const Store& store) {
  Texts texts;
  for (const auto& [name, bytes] : must(read_values(must(store.snapshot())))) {
    texts.emplace(name, text_of(bytes));
  }
  return texts;
}

std::size_t segment_count(const Store& store) {
  return must(store.snapshot()).segments().size();
}

TEST(SmallValues, WaitForACommit) {
  MemoryStore store;
  EXPECT_EQ(value_of(*store, "pages"), "none");
  set(*store, "pages", "12");
  set(*store, "empty", "");
  EXPECT_EQ(value_of(*store, "pages"), "12");
  EXPECT_EQ(must(store->value_names()), (std::vector<std::string>{"empty", "pages"}));
  EXPECT_EQ(stored(*store), Texts());
  const Generation before = store->generation();
  EXPECT_EQ(must(store->commit()), before.next());
  EXPECT_EQ(stored(*store), (Texts{{"empty", ""}, {"pages", "12"}}));
  store.reopen();
  EXPECT_EQ(value_of(*store, "pages"), "12");
  expect_whole(store);
}

TEST(SmallValues, AreInTheFileWhenTheStoreIsClosed) {
  MemoryStore store;
  set(*store, "pages", "12");
  store.reopen();
  EXPECT_EQ(stored(*store), (Texts{{"pages", "12"}}));
}

TEST(SmallValues, GiveTheirSegmentUpWithTheLast) {
  MemoryStore store;
  set(*store, "a", "1");
  set(*store, "b", "2");
  must(store->commit());
  EXPECT_EQ(segment_count(*store), 1U);
  EXPECT_TRUE(must(store->remove("a")));
  EXPECT_FALSE(must(store->remove("a")));
  must(store->commit());
  EXPECT_EQ(stored(*store), (Texts{{"b", "2"}}));
  EXPECT_TRUE(must(store->remove("b")));
  must(store->commit());
  EXPECT_EQ(segment_count(*store), 0U);
  EXPECT_EQ(value_of(*store, "b"), "none");
  set(*store, "c", "3");
  must(store->commit());
  EXPECT_EQ(stored(*store), (Texts{{"c", "3"}}));
  expect_whole(store);
}

TEST(SmallValues, WriteNothingWhereTheyAreAsTheyWere) {
  MemoryStore store;
  set(*store, "a", "1");
  const Generation before = must(store->commit());
  set(*store, "a", "1");
  EXPECT_FALSE(must(store->remove("b")));
  EXPECT_EQ(must(store->commit()), before);
}

TEST(SmallValues, RefuseNamesAndBytesThatAreOutOfRange) {
  MemoryStore store;
  const std::vector<std::byte> longest(kSmallValueBytesMax);
  must(store->set(std::string(255, 'n'), longest));
  const std::vector<std::byte> longer(kSmallValueBytesMax + 1);
  EXPECT_EQ(store->set("a", longer).error().code, Errc::kTooLarge);
  EXPECT_EQ(store->set("", {}).error().code, Errc::kTooLarge);
  EXPECT_EQ(store->set(std::string(256, 'n'), {}).error().code, Errc::kTooLarge);
  for (const std::string name : {".mine", "a\n", "\xff"}) {
    EXPECT_EQ(store->set(name, {}).error().code, Errc::kInvalidArgument) << name;
    EXPECT_EQ(store->remove(name).error().code, Errc::kInvalidArgument) << name;
  }
  for (std::uint32_t i = 1; i < kSmallValuesMax; ++i) {
    must(store->set("value" + std::to_string(i), longest));
  }
  EXPECT_EQ(store->set("one more", {}).error().code, Errc::kTooLarge);
  must(store->set("value1", {}));
  must(store->commit());
  EXPECT_EQ(stored(*store).size(), kSmallValuesMax);
  expect_whole(store);
}

TEST(SmallValues, BelongToTheTransaction) {
  MemoryStore store;
  set(*store, "a", "1");
  {
    auto dropped = must(Transaction::begin(*store));
    set(*store, "a", "2");
    set(*store, "b", "2");
    EXPECT_EQ(value_of(*store, "a"), "2");
    dropped.drop();
  }
  EXPECT_EQ(must(store->value_names()), std::vector<std::string>{"a"});
  EXPECT_EQ(value_of(*store, "a"), "1");
  {
    auto pages = must(PageDb::open(*store));
    auto both = must(Transaction::begin(*store));
    must(pages.add(CrawledPage("http://a.test/", 1'000'000)));
    EXPECT_TRUE(must(store->remove("a")));
    set(*store, "position", "77");
    EXPECT_EQ(stored(*store), Texts());
    must(both.commit());
    EXPECT_EQ(stored(*store), (Texts{{"position", "77"}}));
    set(*store, "position", "78");
  }
  store.reopen();
  EXPECT_EQ(stored(*store), (Texts{{"position", "78"}}));
  expect_whole(store);
}

/// A transaction that came to nothing is over: the next one does not go back to before it.
TEST(SmallValues, AreDroppedWithTheirOwnTransactionAlone) {
  MemoryStore store;
  {
    auto first = must(Transaction::begin(*store));
    set(*store, "a", "1");
    must(first.commit());
  }
  set(*store, "a", "2");
  {
    auto second = must(Transaction::begin(*store));
    set(*store, "a", "3");
  }
  EXPECT_EQ(value_of(*store, "a"), "2");
  must(store->commit());
  EXPECT_EQ(stored(*store), (Texts{{"a", "2"}}));
}

TEST(SmallValues, GoBackWithARollback) {
  MemoryStore store;
  set(*store, "a", "1");
  must(store->commit());
  set(*store, "a", "2");
  set(*store, "b", "2");
  must(store->commit());
  set(*store, "c", "waits");
  must(store->rollback());
  EXPECT_EQ(must(store->value_names()), std::vector<std::string>{"a"});
  EXPECT_EQ(value_of(*store, "a"), "1");
  must(store->commit());
  EXPECT_EQ(stored(*store), (Texts{{"a", "1"}}));
  expect_whole(store);
}

TEST(SmallValues, StayWhereACompactionGoesOn) {
  MemoryStore store;
  const std::vector<std::byte> long_value(kSmallValueBytesMax);
  for (int i = 0; i < 64; ++i) must(store->set("value" + std::to_string(i), long_value));
  must(store->commit());
  for (int i = 1; i < 64; ++i) EXPECT_TRUE(must(store->remove("value" + std::to_string(i))));
  set(*store, "a", "1");
  must(store->commit());
  set(*store, "a", "2");
  int calls = 0;
  must(store->compact([&](auto, auto) {
    on_another_thread([&] { set(*store, "calls", std::to_string(++calls)); });
    return true;
  }));
  EXPECT_GT(calls, 0);
  EXPECT_EQ(value_of(*store, "a"), "2");
  must(store->commit());
  EXPECT_EQ(stored(*store).at("calls"), std::to_string(calls));
  EXPECT_EQ(stored(*store).at("a"), "2");
  expect_whole(store);
}

/// Every call of the storage fails once: what was there stays, what waits comes with the next
/// commit that does not fail, or goes with its transaction.
TEST(SmallValues, SurviveCommitsThatFail) {
  for (std::uint64_t nth = 1;; ++nth) {
    Recorder recorder(make_empty_store_file(std::uint64_t{1} << 24));
    auto store = must(Store::open(recorder.open(OpenMode::kWrite)));
    set(store, "a", "1");
    must(store.commit());
    auto changes = must(Transaction::begin(store));
    set(store, "a", "2");
    recorder.inject({.calls = kEveryCall, .nth = nth, .system_errno = ENOSPC});
    const auto committed = changes.commit();
    if (!recorder.has_injected()) {
      EXPECT_GT(nth, 3U);
      return;
    }
    if (committed) continue;
    const bool goes_on = nth % 2 == 0;
    if (!goes_on) changes.drop();
    const auto now = store.get("a");
    if (!now) continue;  // it is poisoned
    EXPECT_EQ(text_of(now->value()), goes_on ? "2" : "1");
    if (goes_on) must(changes.commit());
    EXPECT_EQ(stored(store), (Texts{{"a", goes_on ? "2" : "1"}}));
  }
}

/// Random changes, transactions, rollbacks and reopenings beside a map that does the same.
TEST(SmallValues, DoWhatAMapDoes) {
  SeededRandom random;
  MemoryStore store;
  Texts now;
  std::vector<Texts> committed{{}, {}};
  for (int step = 0; step < 400; ++step) {
    const std::string name = std::to_string(random.below(6));
    const auto change = [&](Texts& texts) {
      if (random.below(3) == 0) {
        EXPECT_EQ(must(store->remove(name)), texts.erase(name) == 1);
      } else {
        texts[name] = std::string(random.below(300), 'x');
        set(*store, name, texts[name]);
      }
    };
    const auto commit = [&] {
      must(store->commit());
      if (committed.back() != now) committed.push_back(now);
    };
    switch (random.below(6)) {
      case 0:
        commit();
        break;
      case 1:
        commit();
        store.reopen();
        break;
      case 2: {
        Texts inside = now;
        auto changes = must(Transaction::begin(*store));
        change(inside);
        if (random.below(2) == 0) break;
        must(changes.commit());
        now = inside;
        if (committed.back() != now) committed.push_back(now);
        break;
      }
      default:
        change(now);
    }
    EXPECT_EQ(must(store->value_names()).size(), now.size());
    EXPECT_EQ(value_of(*store, name), now.contains(name) ? now[name] : "none");
    EXPECT_EQ(stored(*store), committed.back());
  }
  expect_whole(store);
}

/// The bytes of a file with small values and pages, of which `segment` has a byte turned.
std::string damaged_file(const TemporaryFolder& folder, bool in_values) {
  std::string path = folder / "damaged.crawl";
  Extent place;
  {
    auto store = must(Store::create(path));
    auto pages = must(PageDb::open(store));
    must(pages.add(CrawledPage("http://a.test/", 1'000'000)));
    must(pages.merge());
    set(store, "a", "1");
    set(store, "b", "2");
    must(store.commit());
    for (const SegmentInfo& segment : must(store.snapshot()).segments()) {
      if ((segment.kind == SegmentKind::kValues) == in_values) place = segment.runs[0].extent;
    }
  }
  auto storage = must(open_storage(path, OpenMode::kWrite));
  must(storage->write(place.offset_bytes + 20, std::vector{std::byte{0xEE}}));
  return path;
}

TEST(SmallValues, AreRecoveredWhole) {
  const TemporaryFolder folder;
  const std::string path = damaged_file(folder, false);
  (void)must(recover(path, folder / "new.crawl"));
  const auto values = must(read_values(must(Snapshot::open(folder / "new.crawl"))));
  EXPECT_EQ(values.size(), 2U);
}

TEST(SmallValues, AreNamedWhereRecoveryLeavesThemOut) {
  const TemporaryFolder folder;
  const std::string path = damaged_file(folder, true);
  {
    auto store = must(Store::open(path));
    EXPECT_EQ(store.get("a").error().code, Errc::kChunkDamaged);
    EXPECT_EQ(store.set("a", {}).error().code, Errc::kChunkDamaged);
    EXPECT_EQ(read_values(must(store.snapshot())).error().code, Errc::kChunkDamaged);
  }
  const auto report = must(recover(path, folder / "new.crawl"));
  ASSERT_EQ(report.losses.size(), 1U);
  EXPECT_EQ(report.losses[0].part, LostPart::kValues);
  EXPECT_EQ(describe(report.losses[0]),
            "up to 2 small values: the program that set them has to set them again");
  const auto snapshot = must(Snapshot::open(folder / "new.crawl"));
  EXPECT_TRUE(must(read_values(snapshot)).empty());
  EXPECT_EQ(must(PageView::open(snapshot)).info().page_count, 1U);
}

TEST(SmallValues, AreDescribedOneByOne) {
  MemoryStore store;
  set(*store, "count", "ab");
  set(*store, "empty", "");
  must(store->commit());
  const auto snapshot = must(store->snapshot());
  std::string lines;
  for (const FieldInfo& field : must(describe(snapshot, snapshot.segments()[0].id))) {
    EXPECT_EQ(field.problem, "");
    lines += field.name + "=" + field.value + " ";
  }
  EXPECT_THAT(lines, ::testing::HasSubstr("value_count=2 "));
  EXPECT_THAT(lines, ::testing::HasSubstr("name=count bytes=6162 values[1]= name=empty "));
}

}  // namespace
}  // namespace crawlstore::testing
