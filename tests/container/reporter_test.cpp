// SPDX-License-Identifier: Apache-2.0
//
// The reports of a store on its steps, against those that the test knows. The last test is for
// TSan.
#include <atomic>
#include <cerrno>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <crawlstore/drum.h>
#include <crawlstore/pages.h>
#include <crawlstore/store.h>

#include "container/superblocks.h"
#include "drum/memory_store.h"
#include "format/layout.h"
#include "support/recording_storage.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

using Keys = Drum<std::uint64_t, NoValue, NoAux>;
constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;

/// A store in memory that notes what it reports.
class ReportedStore {
 public:
  explicit ReportedStore(std::shared_ptr<MemoryFile> file = make_empty_store_file(1 << 28))
      : recorder_(std::move(file)) {
    open();
  }
  void open() {
    OpenOptions options;
    options.time_us = kFixedTimeUs;
    options.report = [this](const Report& report) { note(report); };
    store_.emplace(must(Store::open(recorder_.open(OpenMode::kWrite), options)));
  }
  Store& operator*() { return *store_; }
  Store* operator->() { return &*store_; }
  Recorder& recorder() { return recorder_; }

  /// Those of one kind, in their order.
  template <class Step>
  [[nodiscard]] std::vector<Report> all() const {
    std::vector<Report> found;
    for (const Report& report : reports_) {
      if (std::holds_alternative<Step>(report.step)) found.push_back(report);
    }
    return found;
  }
  /// Calls more inside the function.
  std::function<void(const Report& report)> also;
  std::vector<std::string> names;

 private:
  void note(const Report& report) {
    reports_.push_back(report);
    reports_.back().name = {};
    names.emplace_back(report.name);
    if (also) also(report);
  }

  Recorder recorder_;
  std::vector<Report> reports_;
  std::optional<Store> store_;
};

template <class Step>
const Step& step_of(const Report& report) {
  return std::get<Step>(report.step);
}

void update(Keys& keys, std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t i = begin; i < end; ++i) must(keys.update(i * kSpread));
}

/// One request.
void ask(DrumCore& core) {
  RawRequest request;
  request.operation = DrumOperation::kCheckUpdate;
  request.key = 7;
  must(core.submit(request));
}

Result<void> add_page(PageDb& pages, std::uint64_t number) {
  CrawledPage page("http://a.test/" + std::to_string(number));
  page.add_link("http://a.test/" + std::to_string(number + 1));
  return pages.add(page);
}

/// Free bytes, and those of the file.
struct Room {
  explicit Room(const Store& store)
      : free_bytes(store.free_bytes()), file_bytes(store.file_bytes()) {}
  std::uint64_t free_bytes;
  std::uint64_t file_bytes;
};

void expect_same(const MergeReport& told, const MergeReport& returned) {
  EXPECT_EQ(told.request_count, returned.request_count);
  EXPECT_EQ(told.duplicate_count, returned.duplicate_count);
  EXPECT_EQ(told.new_key_count, returned.new_key_count);
  EXPECT_EQ(told.bucket_count, returned.bucket_count);
  EXPECT_EQ(told.commit_count, returned.commit_count);
  EXPECT_EQ(told.partition_write_seeks, returned.partition_write_seeks);
}

TEST(Reports, TellWhereTheBytesOfCommitsAreAndWereFreed) {
  ReportedStore store;
  auto keys = must(Keys::open(*store, "keys"));
  must(store->commit());
  std::uint64_t freed_bytes = 0;
  for (std::uint64_t i = 0; i < 6; ++i) {
    const Room before(*store);
    update(keys, i * 1000, i * 1000 + 1000);
    must(store->commit());
    const Room after(*store);
    const Report report = store.all<CommitReport>().back();
    const auto& step = step_of<CommitReport>(report);
    EXPECT_EQ(report.generation, store->generation());
    EXPECT_EQ(after.free_bytes, before.free_bytes + after.file_bytes - before.file_bytes -
                                    step.added_bytes - step.directory_bytes + step.freed_bytes);
    EXPECT_GE(step.segment_count, 2U);  // the DRUM and a log
    EXPECT_EQ(report.storage.sync_count, 2U);
    EXPECT_GT(report.storage.bytes_written, step.directory_bytes);
    freed_bytes += step.freed_bytes;
  }
  EXPECT_GT(freed_bytes, 0U);
}

TEST(Reports, SayNothingOfACommitForWhichNothingWaits) {
  ReportedStore store;
  must(store->commit());
  EXPECT_TRUE(store.names.empty());
  EXPECT_EQ(store->counters().commits.count, 0U);
}

TEST(Reports, TellOfAMergeWhatTheCallReturns) {
  ReportedStore store;
  auto keys = must(Keys::open(*store, "keys"));
  update(keys, 0, 500);
  must(keys.merge());
  for (std::uint64_t i = 400; i < 600; ++i) must(keys.check(i * kSpread));
  const MergeReport returned = must(keys.merge());
  EXPECT_EQ(returned.duplicate_count, 100U);
  ASSERT_EQ(store.all<MergeReport>().size(), 2U);
  expect_same(step_of<MergeReport>(store.all<MergeReport>().back()), returned);
  EXPECT_EQ(store.names.back(), "keys");
  EXPECT_EQ(must(keys.merge()).request_count, 0U);
  EXPECT_EQ(store.all<MergeReport>().size(), 2U);
}

TEST(Reports, TellOfMergesThatComeByThemselves) {
  ReportedStore store;
  DrumOptions options;
  options.memory_bytes = 16 << 10;
  options.bucket_count = 4;
  auto keys = must(Keys::open(*store, "keys", options));
  update(keys, 0, 20'000);
  const std::size_t came_count = store.all<MergeReport>().size();
  must(keys.merge());
  std::uint64_t new_key_count = 0;
  for (const Report& report : store.all<MergeReport>()) {
    new_key_count += step_of<MergeReport>(report).new_key_count;
  }
  EXPECT_GT(came_count, 2U);
  EXPECT_EQ(new_key_count, 20'000U);
}

TEST(Reports, TellOfSuperstepsOnThreadsOfTheirOwn) {
  for (const bool parallel : {false, true}) {
    ReportedStore store;
    PagesOptions options;
    options.memory_bytes = 1 << 20;
    options.parallel = parallel;
    auto pages = must(PageDb::open(*store, "web", options));
    for (std::uint64_t i = 0; i < 9000; ++i) must(add_page(pages, i));
    must(pages.merge());
    SuperstepReport sum;
    const auto reports = store.all<SuperstepReport>();
    for (const Report& report : reports) {
      sum += step_of<SuperstepReport>(report);
      EXPECT_GT(report.storage.bytes_written, 0U);
    }
    EXPECT_EQ(reports.size(), pages.status().superstep_count);
    EXPECT_GT(reports.size(), 1U);
    EXPECT_EQ(sum.edit_count, 9000U);
    EXPECT_EQ(sum.new_page_count, 9001U);
    EXPECT_EQ(sum.added_link_count, 9000U);
  }
}

TEST(Reports, TellOfACompactionAndEachOfItsCommits) {
  ReportedStore store;
  auto keys = must(Keys::open(*store, "keys"));
  for (std::uint64_t i = 0; i < 4; ++i) {
    update(keys, i * 20'000, i * 20'000 + 20'000);
    must(keys.merge());
  }
  const std::size_t commits_before = store.all<CommitReport>().size();
  const CompactReport returned = must(store->compact());
  ASSERT_EQ(store.all<CompactReport>().size(), 1U);
  const Report report = store.all<CompactReport>().front();
  const auto& step = step_of<CompactReport>(report);
  EXPECT_GT(step.moved_bytes, 0U);
  EXPECT_EQ(step.moved_bytes, returned.moved_bytes);
  EXPECT_EQ(step.file_bytes_after, store->file_bytes());
  EXPECT_EQ(store.all<CommitReport>().size() - commits_before, returned.commit_count);
  EXPECT_EQ(report.generation, store->generation());
  std::size_t still_count = 0;
  for (const Report& commit : store.all<CommitReport>()) {
    const auto& moved = step_of<CommitReport>(commit);
    if (moved.added_bytes != 0) continue;
    ++still_count;
    EXPECT_EQ(moved.segment_count, 0U) << "the directory alone moved";
  }
  EXPECT_GT(still_count, 1U);
}

TEST(Reports, TellOfTheRollbackOfAFileThatCannotBeOpened) {
  MemoryStore before;
  auto keys = must(Keys::open(*before, "keys"));
  update(keys, 0, 10);
  const Generation newest = must(before->commit());
  auto image = before.image();
  const auto set = must(container::read_superblocks(
      *open_memory_storage(make_memory_file(image), OpenMode::kRead), before->uuid()));
  image[set.winner()->root_offset_bytes + 8] ^= std::byte{0x55};
  const TemporaryFolder folder;
  const std::string path = folder / "x.crawl";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(image.data()), static_cast<long>(image.size()));
  std::vector<Report> reports;
  OpenOptions options;
  options.report = [&reports](const Report& report) { reports.push_back(report); };
  EXPECT_EQ(Store::open(path, options).error().code, Errc::kDirectoryDamaged);
  EXPECT_TRUE(reports.empty());
  const Generation published = must(Store::rollback(path, options));
  ASSERT_FALSE(reports.empty());
  const Report& commit = reports.back();
  ASSERT_TRUE(std::holds_alternative<CommitReport>(commit.step));
  EXPECT_EQ(commit.generation, published);
  EXPECT_EQ(published, newest.next());
  EXPECT_EQ(step_of<CommitReport>(commit).segment_count, 0U);
  EXPECT_GT(commit.storage.bytes_written, 0U);
}

TEST(Reports, TellOfACommitThatFailsOnAFullDisk) {
  ReportedStore store;
  auto keys = must(Keys::open(*store, "keys"));
  update(keys, 0, 1000);
  store.recorder().inject(
      {.calls = calls(CallKind::kAllocate), .forever = true, .system_errno = ENOSPC});
  EXPECT_EQ(store->commit().error().code, Errc::kNoSpace);
  store.recorder().stop_injecting();
  ASSERT_EQ(store.all<CommitReport>().size(), 1U);
  const Report failed = store.all<CommitReport>().front();
  ASSERT_TRUE(failed.error);
  EXPECT_EQ(failed.error->code, Errc::kNoSpace);
  EXPECT_EQ(step_of<CommitReport>(failed).added_bytes, 0U);
  EXPECT_EQ(store->counters().commits.failed_count, 1U);
  must(store->commit());
  EXPECT_FALSE(store.all<CommitReport>().back().error);
  EXPECT_EQ(store->counters().commits.count, 2U);
}

TEST(Reports, TellOfWhatADispatcherFailedAndACallerStopped) {
  ReportedStore store;
  auto core = must(DrumCore::open(*store, "keys", 0, DrumOptions{}));
  core->attach({}, [](std::span<const RawAnswer>) { throw std::runtime_error("no"); });
  ask(*core);
  EXPECT_EQ(core->merge().error().code, Errc::kDispatcherFailed);
  ASSERT_EQ(store.all<MergeReport>().size(), 1U);
  EXPECT_EQ(store.all<MergeReport>().front().error->code, Errc::kDispatcherFailed);
  auto pages = must(PageDb::open(*store));
  must(add_page(pages, 1));
  EXPECT_FALSE(pages.merge([](auto, auto) { return false; }));
  ASSERT_EQ(store.all<SuperstepReport>().size(), 1U);
  EXPECT_EQ(store.all<SuperstepReport>().front().error->code, Errc::kCancelled);
  EXPECT_EQ(store.names.back(), "pages");
}

/// Its edits come with the next superstep, so that no call fails.
TEST(Reports, TellOfAFlightThatFailed) {
  ReportedStore store;
  PagesOptions options;
  options.memory_bytes = 1 << 20;
  auto pages = must(PageDb::open(*store, "pages", options));
  must(store->commit());
  store.recorder().inject({.calls = calls(CallKind::kWrite), .nth = 1});
  for (std::uint64_t i = 0; i < 9000; ++i) must(add_page(pages, i));
  must(pages.merge());
  const auto reports = store.all<SuperstepReport>();
  ASSERT_FALSE(reports.empty());
  ASSERT_TRUE(reports.front().error);
  EXPECT_EQ(reports.front().error->code, Errc::kIo);
  EXPECT_EQ(store->counters().supersteps.failed_count, 1U);
  EXPECT_EQ(store->counters().supersteps.count, pages.status().superstep_count + 1);
}

/// A crash leaves this file if it tore the superblock of the commit under way.
TEST(Reports, TellThatOpeningPassedOverATornCommit) {
  MemoryStore before;
  auto keys = must(Keys::open(*before, "keys"));
  update(keys, 0, 10);
  const Generation whole = must(before->commit());
  auto image = before.image();
  const std::uint32_t slot = container::slot_of(whole.value + 1);
  image[format::kSuperblockOffsets[slot][0] + 64] ^= std::byte{0x55};
  ReportedStore store(make_memory_file(image));
  ASSERT_EQ(store.all<RecoveryReport>().size(), 1U);
  const Report report = store.all<RecoveryReport>().front();
  EXPECT_EQ(step_of<RecoveryReport>(report).damaged_copy_count, 1U);
  EXPECT_EQ(step_of<RecoveryReport>(report).lost_generation_count, 0U);
  EXPECT_EQ(report.generation, whole);
  must(store->commit());
  must(store->close());
  store.open();
  EXPECT_EQ(store.all<RecoveryReport>().size(), 1U);
}

TEST(Reports, TellThatOpeningPassedOverAGenerationThatWasGivenUp) {
  MemoryStore before;
  const auto file = make_memory_file(before.image());
  const std::uint64_t newest = before->generation().value;
  must(container::write_tombstone(*open_memory_storage(file, OpenMode::kWrite), before->uuid(),
                                  newest + 1));
  ReportedStore store(file);
  ASSERT_EQ(store.all<RecoveryReport>().size(), 1U);
  const Report report = store.all<RecoveryReport>().front();
  EXPECT_EQ(step_of<RecoveryReport>(report).lost_generation_count, 1U);
  EXPECT_EQ(report.generation.value, newest);
}

TEST(Reports, DropWhatTheFunctionThrows) {
  ReportedStore store;
  store.also = [](const Report&) { throw std::runtime_error("no"); };
  auto keys = must(Keys::open(*store, "keys"));
  update(keys, 0, 100);
  EXPECT_EQ(must(keys.merge()).new_key_count, 100U);
  EXPECT_EQ(store->counters().merges.count, 1U);
  EXPECT_EQ(store->counters().merges.failed_count, 0U);
}

TEST(Reports, RefuseTheStoreToTheirFunction) {
  ReportedStore store;
  auto keys = must(Keys::open(*store, "keys"));
  auto pages = must(PageDb::open(*store));
  must(store->commit());
  std::vector<Errc> codes;
  store.also = [&](const Report&) {
    codes = {store->commit().error().code, store->snapshot().error().code,
             store->close().error().code,  keys.update(1).error().code,
             keys.merge().error().code,    add_page(pages, 1).error().code,
             pages.merge().error().code,   store->compact().error().code,
             keys.close().error().code,    pages.close().error().code};
    EXPECT_GT(store->counters().commits.count, 0U);
  };
  update(keys, 0, 100);
  must(store->commit());
  EXPECT_EQ(codes, std::vector<Errc>(10, Errc::kReentrant));
  store.also = {};
  EXPECT_EQ(must(keys.merge()).new_key_count, 100U);
}

TEST(Reports, RefuseToCloseADatabaseWhoseSuperstepHasJustLanded) {
  ReportedStore store;
  PagesOptions options;
  options.memory_bytes = 1 << 20;  // supersteps run on a thread of their own
  auto pages = must(PageDb::open(*store, "pages", options));
  std::size_t refused_count = 0;
  store.also = [&](const Report& report) {
    if (!std::holds_alternative<SuperstepReport>(report.step)) return;
    EXPECT_EQ(pages.close().error().code, Errc::kReentrant);
    ++refused_count;
  };
  for (std::uint64_t page = 0; page < 40'000; ++page) must(add_page(pages, page));
  must(pages.merge());
  EXPECT_GT(refused_count, 1U);
  store.also = {};
  must(pages.close());
}

TEST(Reports, ChangeNoByteOfTheFile) {
  const auto image_of = [](const ReportFunction& report) {
    const auto file = make_empty_store_file(1 << 28);
    OpenOptions options;
    options.time_us = kFixedTimeUs;
    options.report = report;
    auto store = must(Store::open(open_memory_storage(file, OpenMode::kWrite), options));
    auto keys = must(Keys::open(store, "keys"));
    update(keys, 0, 3000);
    must(keys.merge());
    must(store.compact());
    return contents(*file);
  };
  EXPECT_EQ(image_of({}), image_of([](const Report& report) { (void)describe(report); }));
}

TEST(StoreCounters, AreTheSumsOfReportsAndOutliveTheStore) {
  ReportedStore store;
  auto keys = must(Keys::open(*store, "keys"));
  for (std::uint64_t i = 0; i < 3; ++i) {
    update(keys, i * 100, i * 100 + 100);
    must(keys.merge());
  }
  must(keys.close());
  std::uint64_t duration_us = 0;
  for (const Report& report : store.all<CommitReport>()) duration_us += report.duration_us;
  const StoreCounters counters = store->counters();
  EXPECT_EQ(counters.commits.count, store.all<CommitReport>().size());
  EXPECT_EQ(counters.commits.duration_us, duration_us);
  EXPECT_EQ(counters.merges.count, 3U);
  EXPECT_EQ(counters.supersteps.count, 0U);
  EXPECT_GE(counters.merges.duration_us, 1U);
  must(store->close());
  EXPECT_EQ(store->counters().merges.count, 3U);
  EXPECT_GE(store->counters().storage.bytes_written, counters.storage.bytes_written);
}

TEST(StoreCounters, AreReadWhileAMergeHasTheStore) {
  ReportedStore store;
  auto core = must(DrumCore::open(*store, "keys", 0, DrumOptions{}));
  std::optional<StoreCounters> meanwhile;
  core->attach({}, [&](std::span<const RawAnswer>) {
    std::thread([&] { meanwhile = store->counters(); }).join();  // would wait for ever for a lock
  });
  ask(*core);
  must(core->merge());
  ASSERT_TRUE(meanwhile);
  EXPECT_EQ(meanwhile->merges.count, 0U);
}

TEST(Report, IsDescribedInALine) {
  Report report;
  report.name = "seen";
  report.generation = {7};
  report.duration_us = 1234;
  report.storage.bytes_written = 8192;
  report.storage.sync_count = 2;
  report.step = MergeReport{.request_count = 9, .unique_count = 4, .duplicate_count = 5};
  EXPECT_EQ(describe(report),
            "merge name=\"seen\" generation=7 request_count=9 unique_count=4 duplicate_count=5 "
            "new_key_count=0 bucket_count=0 split_count=0 commit_count=0 duration_us=1234 "
            "bytes_read=0 bytes_written=8192 sync_count=2");
  report.name = {};
  report.step = CommitReport{};
  report.error = Error{Errc::kNoSpace, ENOSPC, {}, 4096, "full"};
  EXPECT_EQ(describe(report),
            "commit generation=7 error=no_space duration_us=1234 bytes_read=0 bytes_written=8192 "
            "sync_count=2");
}

/// Reports never overlap, however many threads bring them about, and counters never fall.
TEST(Reports, ComeOneAtATimeFromAnyThread) {
  ReportedStore store;
  std::atomic<int> inside = 0;
  store.also = [&](const Report&) {
    EXPECT_EQ(++inside, 1);
    --inside;
  };
  auto pages = must(PageDb::open(*store, "pages", {.memory_bytes = 1 << 20}));
  auto keys = must(Keys::open(*store, "keys"));
  std::atomic<int> running = 3;
  const auto run = [&running](const auto& work) {
    return std::thread([&running, work] {
      for (std::uint64_t i = 0; i < 20; ++i) work(i);
      --running;
    });
  };
  std::thread merging = run([&](std::uint64_t i) {
    update(keys, i * 50, i * 50 + 50);
    must(keys.merge());
  });
  std::thread stepping = run([&](std::uint64_t i) {
    for (std::uint64_t page = 0; page < 100; ++page) must(add_page(pages, i * 100 + page));
    must(pages.merge());
  });
  std::thread compacting = run([&](std::uint64_t) { must(store->compact()); });
  StoreCounters last;
  while (running != 0) {
    const StoreCounters now = store->counters();
    EXPECT_GE(now.commits.count, last.commits.count);
    EXPECT_GE(now.storage.bytes_written, last.storage.bytes_written);
    last = now;
  }
  for (std::thread* thread : {&merging, &stepping, &compacting}) thread->join();
  EXPECT_EQ(store->counters().merges.count, 20U);
  EXPECT_EQ(store->counters().compactions.count, 20U);
}

}  // namespace
}  // namespace crawlstore::testing
