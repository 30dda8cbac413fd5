// SPDX-License-Identifier: Apache-2.0
// Transactions over all parts of a store, and what merges commit without one.
#include <array>
#include <cerrno>
#include <chrono>
#include <future>
#include <optional>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include <crawlstore/pages.h>
#include <crawlstore/scores.h>
#include <crawlstore/transaction.h>

#include "pages/page_words.h"
#include "support/random.h"
#include "support/recording_storage.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

using Keys = Drum<std::uint64_t>;
using Queue = Drum<std::uint64_t, std::uint32_t>;

DrumOptions small_memory(std::uint64_t bytes = std::uint64_t{1} << 16) {
  DrumOptions options;
  options.bucket_count = 4;
  options.memory_bytes = bytes;
  options.parallel = false;  // so that images are taken between the same steps
  return options;
}

std::set<std::uint64_t> keys_of(const Snapshot& snapshot, std::string_view name) {
  std::set<std::uint64_t> keys;
  const auto view = DrumView::open(snapshot, name);
  if (!view) return keys;
  must(view->for_each_key([&keys](Key16 key, std::span<const std::byte>) {
    keys.insert(key.head);
    return true;
  }));
  must(view->for_each_pending([&keys](std::uint64_t, const RawRequest& request, std::uint64_t) {
    keys.insert(request.key);
    return true;
  }));
  return keys;
}

std::set<std::uint64_t> keys_of(const Store& store, std::string_view name) {
  return keys_of(must(store.snapshot()), name);
}

/// A store with one of each part.
struct Parts {
  MemoryStore store;
  Keys seen = must(Keys::open(*store, "seen", small_memory()));
  Queue queue = must(Queue::open(*store, "queue", small_memory()));
  PageDb pages = must(PageDb::open(*store));

  Parts() {
    add_page("http://a.test/");
    must(pages.merge());
  }
  void add_page(const std::string& url) { must(pages.add(CrawledPage(url, 1'000'000))); }
  void change(std::uint64_t key) {
    must(seen.update(key));
    must(queue.update(key, 7));
    add_page("http://b.test/");
    const auto view = view_of(*store);
    const std::vector<float> worth(view.info().page_count, 1.0F);
    must(store_scores(*store, "own", view, worth));
  }
  /// The number of the four changes that the newest generation shows.
  [[nodiscard]] int shown(std::uint64_t key) {
    const auto view = view_of(*store);
    std::uint64_t waiting = 0;
    must(view.for_each_event([&waiting](const CrawlEvent&) { return ++waiting != 0; }));
    return static_cast<int>(keys_of(*store, "seen").count(key) +
                            keys_of(*store, "queue").count(key) + waiting +
                            must(ScoreView::list(view)).size());
  }
};

TEST(Transaction, CommitsAllPartsInOneGeneration) {
  Parts parts;
  const Generation before = must(parts.store->commit());
  auto all = must(Transaction::begin(*parts.store));
  parts.change(5);
  EXPECT_EQ(parts.shown(5), 0);
  EXPECT_EQ(must(all.commit()).value, before.value + 1);
  EXPECT_EQ(parts.shown(5), 4);
  EXPECT_EQ(all.commit().error().code, Errc::kClosed);
  must(parts.pages.merge());
  EXPECT_EQ(must(parts.seen.merge()).new_key_count, 1U);
  EXPECT_EQ(must(view_of(*parts.store).find("http://b.test/")), 1U);
  expect_whole(parts.store);
}

TEST(Transaction, LeavesNothingBehindWhenItIsDropped) {
  Parts parts;
  must(parts.seen.update(1));
  const auto pending = parts.seen.status().pending_count;
  const Generation before = must(parts.store->commit());
  const std::uint64_t free_bytes = parts.store->free_bytes();
  const std::uint64_t file_bytes = parts.store->file_bytes();
  {
    auto all = must(Transaction::begin(*parts.store));
    parts.change(5);
    parts.change(6);  // the second array takes the place of the first one
    EXPECT_EQ(must(parts.seen.contains(5)), true);
    all.drop();
    all.drop();
    EXPECT_EQ(all.commit().error().code, Errc::kClosed);
  }
  {
    const auto all = must(Transaction::begin(*parts.store));
    must(parts.seen.update(6));
  }
  EXPECT_EQ(must(parts.seen.contains(6)), false);
  EXPECT_EQ(parts.seen.status().pending_count, pending);
  EXPECT_EQ(parts.pages.status().edit_count, 0U);
  EXPECT_EQ(parts.store->free_bytes() - free_bytes, parts.store->file_bytes() - file_bytes);
  EXPECT_EQ(must(parts.store->commit()), before);
  parts.store.reopen();
  EXPECT_EQ(keys_of(*parts.store, "seen"), std::set<std::uint64_t>{1});
  EXPECT_EQ(parts.shown(5), 0);
  expect_whole(parts.store);
}

TEST(Transaction, RemovesScoresToo) {
  Parts parts;
  parts.change(5);
  {
    const auto dropped = must(Transaction::begin(*parts.store));
    must(remove_scores(*parts.store, "own"));
    EXPECT_EQ(remove_scores(*parts.store, "own").error().code, Errc::kUnknownName);
  }
  EXPECT_EQ(must(ScoreView::list(view_of(*parts.store))).size(), 1U);
  auto removing = must(Transaction::begin(*parts.store));
  must(remove_scores(*parts.store, "own"));
  must(removing.commit());
  EXPECT_TRUE(must(ScoreView::list(view_of(*parts.store))).empty());
}

TEST(Transaction, KeepsOutWhatOtherThreadsSubmit) {
  Parts parts;
  auto all = must(Transaction::begin(*parts.store));
  must(parts.seen.update(5));
  std::thread([&parts] { must(parts.seen.update(6)); }).join();
  auto committed = std::async(std::launch::async, [&parts] { return parts.store->commit(); });
  EXPECT_EQ(committed.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  all.drop();
  must(committed.get());
  EXPECT_EQ(keys_of(*parts.store, "seen"), std::set<std::uint64_t>{6});
}

TEST(Transaction, EndsOnAnotherThread) {
  Parts parts;
  auto all = must(Transaction::begin(*parts.store));
  must(parts.seen.update(5));
  std::thread([moved = std::move(all)]() mutable { must(moved.commit()); }).join();
  EXPECT_EQ(keys_of(*parts.store, "seen"), std::set<std::uint64_t>{5});
  auto dropped = must(Transaction::begin(*parts.store));
  must(parts.seen.update(6));
  std::thread([moved = std::move(dropped)] {}).join();
  must(parts.seen.merge());  // the turn was given back
  EXPECT_EQ(keys_of(*parts.store, "seen"), std::set<std::uint64_t>{5});
}

/// The last one to go lets the next one write.
TEST(Transaction, GivesTheFileBackWhenAllElseWentBefore) {
  const TemporaryFolder folder;
  const std::string path = folder / "left.crawl";
  for (const bool commits : {true, false}) {
    std::optional<Store> store(must(Store::open_or_create(path)));
    std::optional<Keys> seen(must(Keys::open(*store, "seen", small_memory())));
    must(seen->update(1));
    std::optional<Transaction> all(must(Transaction::begin(*store)));
    must(seen->update(2));
    seen.reset();
    store.reset();
    if (commits) must(all->commit());
    all.reset();
    const auto next = must(Store::open(path));
    EXPECT_EQ(keys_of(next, "seen"), (std::set<std::uint64_t>{1, 2}));
  }
}

TEST(Transaction, RefusesWhatEndsOrMergesInsideIt) {
  Parts parts;
  auto all = must(Transaction::begin(*parts.store));
  const auto code_of = [](const auto& result) { return result ? Errc{} : result.error().code; };
  const std::array codes = {code_of(Transaction::begin(*parts.store)),
                            code_of(parts.store->commit()),
                            code_of(parts.store->compact()),
                            code_of(parts.store->rollback()),
                            code_of(parts.pages.compact()),
                            code_of(parts.store->close()),
                            code_of(parts.seen.merge()),
                            code_of(parts.seen.close()),
                            code_of(parts.pages.merge()),
                            code_of(parts.pages.close()),
                            code_of(Keys::open(*parts.store, "new")),
                            code_of(PageDb::open(*parts.store, "new"))};
  for (const Errc code : codes) EXPECT_EQ(code, Errc::kReentrant);
  must(parts.seen.update(5));
  must(all.commit());
  EXPECT_EQ(keys_of(*parts.store, "seen"), std::set<std::uint64_t>{5});
}

TEST(Transaction, IsADispatchersWhereItSubmits) {
  Parts parts;
  struct Begins {
    Store& store;
    Errc code{};
    void unique_key_update(const Keys::AnswerType&) {
      code = Transaction::begin(store).error().code;
    }
  } begins{*parts.store};
  must(parts.seen.check_update(5));
  must(parts.seen.merge(begins));
  EXPECT_EQ(begins.code, Errc::kReentrant);
}

TEST(Transaction, CommitsAgainWhenTheDiskWasFull) {
  MemoryStore empty;
  Recorder recorder(make_memory_file(empty.image()));
  OpenOptions options;
  options.time_us = kFixedTimeUs;
  auto store = must(Store::open(recorder.open(OpenMode::kWrite), options));
  auto seen = must(Keys::open(store, "seen", small_memory()));
  auto queue = must(Queue::open(store, "queue", small_memory()));
  must(store.commit());
  auto all = must(Transaction::begin(store));
  must(seen.update(5));
  must(queue.update(5, 1));
  recorder.inject({.calls = calls(CallKind::kAllocate), .forever = true, .system_errno = ENOSPC});
  EXPECT_EQ(all.commit().error().code, Errc::kNoSpace);
  recorder.stop_injecting();
  EXPECT_TRUE(keys_of(store, "seen").empty());
  must(all.commit());
  EXPECT_EQ(keys_of(store, "seen"), std::set<std::uint64_t>{5});
  EXPECT_EQ(keys_of(store, "queue"), std::set<std::uint64_t>{5});
}

/// The images that a crash leaves before each write, of a queue and of what was seen.
class Images {
 public:
  explicit Images(const DrumOptions& options) : options_(options) {}

  /// Runs `work` over a new store, with its last commit at the end if it is told so.
  template <class Work>
  void run(const Work& work) {
    MemoryStore empty;
    const auto file = make_memory_file(empty.image(), std::uint64_t{1} << 26);
    Recorder recorder(file);
    OpenOptions open_options;
    open_options.time_us = kFixedTimeUs;
    auto store = must(Store::open(recorder.open(OpenMode::kWrite), open_options));
    auto queue = must(Queue::open(store, "queue", options_));
    auto seen = must(Keys::open(store, "seen", options_));
    must(store.commit());
    std::uint64_t generation = 0;
    recorder.set_hook([&](CallKind kind, Extent) {
      if (kind != CallKind::kWrite || must(store.snapshot()).generation().value == generation) {
        return;
      }
      const auto snapshot = must(store.snapshot());
      generation = snapshot.generation().value;
      look(keys_of(snapshot, "queue"), keys_of(snapshot, "seen"));
    });
    work(store, queue, seen);
    recorder.set_hook({});
    look(keys_of(store, "queue"), keys_of(store, "seen"));
  }
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] int lost_count() const { return lost_; }
  [[nodiscard]] int unequal_count() const { return unequal_; }

 private:
  void look(const std::set<std::uint64_t>& queue, const std::set<std::uint64_t>& seen) {
    ++count_;
    unequal_ += queue == seen ? 0 : 1;
    lost_ += std::ranges::includes(queue, seen) ? 0 : 1;
  }

  DrumOptions options_;
  int count_ = 0;
  int lost_ = 0;
  int unequal_ = 0;
};

constexpr std::uint64_t kKeys = 30'000;

/// Every key is queued, then seen, so that none may be seen and not queued.
void submit_all(Queue& queue, Keys& seen) {
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    const std::uint64_t key = Random(i).next();
    must(queue.update(key, 1));
    must(seen.update(key));
  }
}

TEST(MergeCommit, LosesWhatCameBeforeUnlessToldOtherwise) {
  Images images(small_memory());
  images.run([](Store&, Queue& queue, Keys& seen) { submit_all(queue, seen); });
  EXPECT_GT(images.lost_count(), 0) << "the case that kEverything is for does not come up";
}

TEST(MergeCommit, KeepsTheOrderOfSubmissionsWhenItHasEverything) {
  DrumOptions options = small_memory();
  options.merge_commit = MergeCommit::kEverything;
  Images images(options);
  images.run([](Store&, Queue& queue, Keys& seen) { submit_all(queue, seen); });
  EXPECT_GT(images.count(), 5);
  EXPECT_EQ(images.lost_count(), 0);
}

TEST(Transaction, ShowsNothingBeforeItsEndHoweverMuchItHas) {
  Images images(small_memory());
  images.run([](Store& store, Queue& queue, Keys& seen) {
    for (int round = 0; round < 3; ++round) {
      auto both = must(Transaction::begin(store));
      const auto generation = must(store.snapshot()).generation();
      submit_all(queue, seen);
      EXPECT_EQ(must(store.snapshot()).generation(), generation);
      must(both.commit());
      must(queue.core().merge_if_full());
      must(seen.core().merge_if_full());
    }
  });
  EXPECT_GT(images.count(), 5);
  EXPECT_EQ(images.unequal_count(), 0);
}

}  // namespace
}  // namespace crawlstore::testing
