// SPDX-License-Identifier: Apache-2.0
//
// Queues in a store that is compacted, damaged, or full.
#include <cerrno>
#include <functional>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "container/run_io.h"
#include "container/writer.h"
#include "format/queue_table.h"
#include "queue/queue_words.h"
#include "support/another_thread.h"
#include "support/bytes.h"
#include "support/recording_storage.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

QueuedPages pages_up_to(std::uint64_t end, double priority) {
  QueuedPages pages;
  pages.reserve(end);
  for (std::uint64_t page = 0; page < end; ++page) pages.push_back({page, priority});
  return pages;
}

/// Whatever a crawler may do with a queue.
void do_something(Store& store, Queue& queue, SeededRandom& random, QueueModel& model) {
  const std::size_t count = random.below(3000);
  switch (random.below(5)) {
    case 0: {
      const QueuedPages pages = random_pages(random, count);
      model.insert(pages);
      must(queue.insert(pages));
      return;
    }
    case 1:
      EXPECT_EQ(must(queue.take(count)), model.take(count));
      return;
    case 2:
      for (const QueuedPage& page : model.first(count / 100)) {
        model.remove(page.page);
        EXPECT_EQ(must(queue.remove(std::vector{page.page})), 1U);
      }
      return;
    default:
      (void)must(store.commit());
  }
}

TEST(QueueStore, IsCompactedWithAnOpenQueue) {
  SeededRandom random;
  MemoryStore store;
  QueueModel model;
  auto queue = must(Queue::open(*store));
  for (int round = 0; round < 4; ++round) {
    fill_queue(*store, queue, random, model);
    EXPECT_EQ(must(queue.take(20'000)), model.take(20'000));
    must(store->commit());
    const auto report = must(store->compact([&](auto, auto) {
      on_another_thread([&] { do_something(*store, queue, random, model); });
      return true;
    }));
    EXPECT_GT(report.moved_bytes, 0U);
    ASSERT_EQ(must(queue.take(1000)), model.take(1000));
    must(store->commit());
    expect_nothing_reserved(*store);
    expect_whole(store.file());
  }
  must(store->commit());
  EXPECT_EQ(stored_pages(*store), model.all());
}

/// A byte of a queue in the file.
struct Place {
  std::uint64_t offset = 0;
  SegmentKind kind{};
};

std::vector<Place> some_places(const Store& store, SeededRandom& random, std::size_t count) {
  std::vector<std::pair<Extent, SegmentKind>> runs;
  for (const SegmentInfo& segment : must(store.snapshot()).segments()) {
    for (const RunInfo& run : segment.runs) {
      runs.emplace_back(Extent{run.extent.offset_bytes, run.payload_bytes}, segment.kind);
    }
  }
  std::vector<Place> places;
  while (places.size() < count) {
    const auto& [extent, kind] = runs[random.below(runs.size())];
    places.push_back({extent.offset_bytes + random.below(extent.length_bytes), kind});
  }
  return places;
}

/// The pages of a queue when all is taken of it.
Result<QueuedPages> take_all(const std::shared_ptr<MemoryFile>& file) {
  auto store = must(Store::open(open_memory_storage(file, OpenMode::kWrite)));
  CRAWLSTORE_TRY(auto queue, Queue::open(store));
  const std::uint64_t count = queue.count();
  auto taken = queue.take(kAllPages);
  EXPECT_EQ(queue.count(), taken ? 0 : count);
  return taken;
}

/// Any flipped byte is found by verification, and by whoever takes what it says.
TEST(QueueStore, FindsEveryFlippedByte) {
  SeededRandom random;
  MemoryStore store;
  QueueModel model;
  {
    auto queue = must(Queue::open(*store));
    fill_queue(*store, queue, random, model);
  }
  const auto places = some_places(*store, random, is_long() ? 2000 : 120);
  must(store->close());
  const auto whole = store.image();
  std::size_t refused = 0;
  for (const Place& place : places) {
    auto bytes = whole;
    bytes[place.offset] ^= std::byte{1} << random.below(8);
    const auto file = make_memory_file(bytes, std::uint64_t{1} << 28);
    EXPECT_TRUE(must(verify(*open_memory_storage(file, OpenMode::kRead), {})).damaged());
    const auto taken = take_all(file);
    if (taken) {  // it was of a page that has left
      EXPECT_EQ(place.kind, SegmentKind::kQueueEntries);
      ASSERT_EQ(*taken, model.all());
      continue;
    }
    EXPECT_EQ(category(taken.error().code), ErrorCategory::kDamage) << describe(taken.error());
    ++refused;
  }
  EXPECT_GT(refused, places.size() / 2);
}

/// Puts another table in the place of that of the only queue.
void write_table(const std::shared_ptr<MemoryFile>& file,
                 const std::function<void(format::QueueTable&)>& change) {
  const auto writer =
      must(container::Writer::open(open_memory_storage(file, OpenMode::kWrite), {}));
  format::SegmentEntry entry =
      *writer->directory()->find_named(SegmentKind::kQueue, Queue::kDefaultName);
  std::vector<std::byte> payload;
  const auto name = container::run_name(writer->identity(), entry.id, entry.runs[0].run_id);
  must(container::read_run(writer->storage(), name, entry.runs[0], payload));
  auto table = must(format::parse_queue_table(payload));
  change(table);
  entry.runs[0] = must(
      container::write_run(*writer, {entry.id, SegmentKind::kQueue, {}, writer->new_run_ids(1)},
                           format::encode_queue_table(table), 1));
  writer->put(entry);
  must(writer->commit());
}

/// Checksums are right, and the table is not: an error, and verification says so too. It can be
/// cleared all the same.
TEST(QueueStore, IsOpenedOnlyWithATableOfItsRuns) {
  struct Case {
    std::function<void(format::QueueTable&)> change;
    const char* open_text;
    const char* take_text;
  };
  const std::vector<Case> cases = {
      {[](auto& table) { ++table.entry_count; }, "", ""},
      {[](auto& table) { ++table.page_count, ++table.entry_count; }, "",
       "a queue has fewer entries than it says"},
      {[](auto& table) { --table.page_count; }, "", ""},
      {[](auto& table) { ++table.entries.value; }, "a queue names a log that is not its own", ""},
      {[](auto& table) { --table.entries.value; }, "a queue names a log that is not its own", ""},
      {[](auto& table) { ++table.runs[0].run.value; }, "a queue does not name the runs of its log",
       ""},
      {[](auto& table) {
         table.runs.push_back({{999}, {}});
       },
       "a queue does not name the runs of its log", ""},
      {[](auto& table) { table.changes.push_back({999}); },
       "a queue does not name the runs of its log", ""},
      {[](auto& table) { table.changes.push_back(table.runs[0].run); },
       "a queue does not name the runs of its log", ""}};
  const auto text_of = [](const auto& result) {
    return std::string(result ? "" : result.error().text);
  };
  for (const Case& one : cases) {
    MemoryStore store;
    must(must(Queue::open(*store)).insert(QueuedPages{{1, 1}, {2, 2}, {3, 3}}));
    must(store->close());
    write_table(store.file(), one.change);
    VerifyOptions options;
    options.level = VerifyLevel::kDeep;
    EXPECT_TRUE(
        must(verify(*open_memory_storage(store.file(), OpenMode::kRead), options)).damaged());
    store.reopen();
    EXPECT_EQ(text_of(QueueView::open(must(store->snapshot()))), one.open_text);
    auto queue = Queue::open(*store);
    EXPECT_EQ(text_of(queue), one.open_text);
    if (!queue) {
      auto unread = must(Queue::open_unread(*store));
      must(unread.clear());
      must(store->commit());
      must(unread.insert(QueuedPages{{4, 4}}));
      must(unread.close());
      EXPECT_EQ(stored_pages(*store), (QueuedPages{{4, 4}}));
      expect_whole(store.file());
      continue;
    }
    const std::uint64_t count = queue->count();
    EXPECT_EQ(text_of(queue->take(kAllPages)), one.take_text);
    EXPECT_EQ(queue->count(), *one.take_text == '\0' ? 0 : count);
  }
}

/// A store of 40,000 pages, with nearly as many stale entries as make a rewrite begin.
std::vector<std::byte> store_of_changed_pages() {
  MemoryStore store;
  {
    auto queue = must(Queue::open(*store));
    must(queue.insert(pages_up_to(40'000, 1)));
    must(queue.update(pages_up_to(32'000, 2)));
  }
  must(store->close());
  return store.image();
}

/// The rewrite that an update begins writes first, and fails of a sync: no commit will have it.
TEST(QueueStore, SaysThatAnUpdateIsLostWhenItsRewritePoisonsTheStore) {
  for (const bool fails : {false, true}) {
    Recorder recorder(make_memory_file(store_of_changed_pages(), std::uint64_t{1} << 26));
    auto store = must(Store::open(recorder.open(OpenMode::kWrite)));
    auto queue = must(Queue::open(store));
    if (fails) {
      recorder.inject(
          {.calls = calls(CallKind::kSync), .nth = 1, .forever = true, .system_errno = EIO});
    }
    const auto updated = queue.update(pages_up_to(1000, 3));
    EXPECT_EQ(recorder.has_injected(), fails);
    if (fails) {
      EXPECT_EQ(code_of(updated), Errc::kPoisoned);
    } else {
      EXPECT_EQ(must(updated), 1000U);
    }
  }
}

/// A full disk stops the rewrite, and not the update.
TEST(QueueStore, UpdatesAlthoughTheRewriteFindsNoSpace) {
  Recorder recorder(make_memory_file(store_of_changed_pages(), std::uint64_t{1} << 26));
  auto store = must(Store::open(recorder.open(OpenMode::kWrite)));
  auto queue = must(Queue::open(store));
  recorder.inject(
      {.calls = calls(CallKind::kAllocate), .nth = 1, .forever = true, .system_errno = ENOSPC});
  EXPECT_EQ(must(queue.update(pages_up_to(1000, 3))), 1000U);
  EXPECT_TRUE(recorder.has_injected());
  EXPECT_EQ(code_of(store.commit()), Errc::kNoSpace);
  recorder.stop_injecting();
  must(store.commit());
  EXPECT_EQ(must(queue.take(1000)), pages_up_to(1000, 3));
}

/// Space runs out at each call, once and for ever: what was acknowledged is there, and what was
/// refused can be done again.
TEST(QueueStore, LosesNothingWhenSpaceRunsOut) {
  for (std::uint64_t nth = 1;; ++nth) {
    Recorder recorder(make_empty_store_file(std::uint64_t{1} << 26));
    std::optional<Store> store(must(Store::open(recorder.open(OpenMode::kWrite))));
    std::optional<Queue> queue(must(Queue::open(*store)));
    Random random(nth);
    QueueModel model;
    fill_queue(*store, *queue, random, model);
    const QueuedPages committed = model.all();
    const QueuedPages pages = random_pages(random, 2000);
    recorder.inject({.calls = calls(CallKind::kWrite, CallKind::kAllocate),
                     .nth = nth,
                     .forever = true,
                     .system_errno = ENOSPC});
    must(queue->insert(pages));
    model.insert(pages);
    ASSERT_EQ(must(queue->take(500)), model.take(500));
    const auto done = store->commit();
    const bool has_injected = recorder.has_injected();
    recorder.stop_injecting();
    if (code_of(store->commit()) == Errc::kPoisoned) {
      queue.reset();
      store.reset();
      store.emplace(must(Store::open(recorder.open(OpenMode::kWrite))));
      queue.emplace(must(Queue::open(*store)));
      if (queue->count() == committed.size()) {
        EXPECT_FALSE(done);
        model = {};
        model.insert(committed);
      }
    }
    ASSERT_EQ(must(queue->take(300)), model.take(300)) << nth;
    must(store->commit());
    ASSERT_EQ(stored_pages(*store), model.all()) << nth;
    expect_nothing_reserved(*store);
    if (!has_injected) break;
    ASSERT_LT(nth, 100U);
  }
}

}  // namespace
}  // namespace crawlstore::testing
