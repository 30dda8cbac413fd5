// SPDX-License-Identifier: Apache-2.0
//
// Another program writes into the file that a writer or reader has open: it takes no locks, as cp
// does, or the file system shares them with nobody.
#include <cstdio>
#include <fstream>

#include <gmock/gmock.h>

#include <crawlstore/drum.h>
#include <crawlstore/store.h>

#include "container/container_store.h"
#include "support/lockless_storage.h"
#include "support/recording_storage.h"
#include "support/temporary_folder.h"

namespace crawlstore::testing {
namespace {

using container::Reader;
using container::Writer;

Bytes bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// Copies like cp: the same inode, cut to nothing, then written from its beginning.
void copy_over(const Bytes& bytes, const std::string& path) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

Result<void> fill_empty(Storage& storage, void* context) {
  return container::write_empty_store(storage, *static_cast<format::Identity*>(context), kTimeUs);
}

std::unique_ptr<Writer> writer_of(const std::string& path) {
  return must(Writer::open(must(open_storage(path, OpenMode::kWrite)), fixed_time()));
}

std::shared_ptr<Reader> reader_of(const std::string& path) {
  return must(Reader::open(must(open_storage(path, OpenMode::kRead)), {}));
}

constexpr std::size_t kBlobBytes = 40 * kKiB;

/// A new store with a blob, and its file.
struct BlobFile {
  BlobFile(std::string at, format::Identity identity) : path(std::move(at)) {
    must(create_file(path, fill_empty, &identity));
    const auto writer = writer_of(path);
    blob = add_blob(*writer, add_drum(*writer), kBlobBytes, 2);
    must(writer->commit());
  }
  /// In a session of its own.
  void commit(std::uint64_t seed, std::size_t length = kBlobBytes) const {
    const auto writer = writer_of(path);
    replace_blob(*writer, blob, length, seed);
    must(writer->commit());
  }

  std::string path;
  SegmentId blob;
};

/// The files that may be copied over a store of generation 4, which was opened and settled.
struct Copies {
  Copies(const BlobFile& live, const std::string& aside_path) {
    older = bytes_of_file(live.path);
    live.commit(3);
    const Bytes third = bytes_of_file(live.path);
    live.commit(4);
    unsettled = bytes_of_file(live.path);
    const BlobFile aside(aside_path, other_identity());
    other_store = bytes_of_file(aside_path);
    copy_over(third, aside_path);  // whose blob has the same id
    aside.commit(40);
    same_number = bytes_of_file(aside_path);
    for (std::uint64_t seed = 50; seed < 54; ++seed) aside.commit(seed, 40 * kBlobBytes);
    newer = bytes_of_file(aside_path);
  }
  static format::Identity other_identity() {
    format::Identity identity = fixed_identity();
    identity.uuid[0] = std::byte{99};
    return identity;
  }
  [[nodiscard]] std::vector<std::pair<const char*, Bytes>> all() const {
    return {{"older", older},         {"of the same number", same_number},
            {"newer", newer},         {"other", other_store},
            {"unsettled", unsettled}, {"nothing", {}}};
  }

  Bytes older, unsettled, same_number, newer, other_store;
};

class OverwrittenFile : public ::testing::Test {
 protected:
  struct Case {
    explicit Case(const std::string& folder)
        : live(folder + "/live.crawl", fixed_identity()), copies(live, folder + "/aside.crawl") {}
    BlobFile live;
    Copies copies;
  };
  /// Calls check(case, content) for each copy, with the live file as it was.
  template <class Check>
  static void for_each_copy(const Check& check) {
    const TemporaryFolder folder;
    const Case one(folder.path());
    for (const auto& [name, content] : one.copies.all()) {
      SCOPED_TRACE(name);
      copy_over(one.copies.unsettled, one.live.path);
      check(one, content);
    }
  }
};

void expect_refusal(Writer& writer, SegmentId blob) {
  EXPECT_EQ(code_of(writer.reserve(4 * kKiB)), Errc::kReplaced);
  EXPECT_EQ(writer.reserve_below(4 * kKiB, kMiB), std::nullopt);
  EXPECT_EQ(code_of(writer.trim(0)), Errc::kReplaced);
  writer.put(*writer.directory()->find(blob));
  EXPECT_EQ(code_of(writer.commit(true)), Errc::kReplaced);
  EXPECT_TRUE(writer.poisoned());
}

// spec: commit.md#commit rule 16
TEST_F(OverwrittenFile, IsNotWrittenAfterACommit) {
  for_each_copy([](const Case& one, const Bytes& content) {
    auto writer = writer_of(one.live.path);
    replace_blob(*writer, one.live.blob, kBlobBytes, 5);
    must(writer->commit());
    copy_over(content, one.live.path);
    expect_refusal(*writer, one.live.blob);
    writer.reset();
    EXPECT_TRUE(bytes_of_file(one.live.path) == content);
  });
}

TEST_F(OverwrittenFile, IsNotWrittenBeforeTheFirstCommit) {
  for_each_copy([](const Case& one, const Bytes& content) {
    if (content == one.copies.unsettled) return;  // nothing has changed
    auto writer = writer_of(one.live.path);
    copy_over(content, one.live.path);
    expect_refusal(*writer, one.live.blob);
    writer.reset();
    EXPECT_TRUE(bytes_of_file(one.live.path) == content);
  });
}

TEST_F(OverwrittenFile, IsNotWrittenInTheMiddleOfACommit) {
  for_each_copy([](const Case& one, const Bytes& content) {
    auto writer = writer_of(one.live.path);
    replace_blob(*writer, one.live.blob, kBlobBytes, 5);
    const auto place = must(writer->reserve(64 * kKiB));
    copy_over(content, one.live.path);
    EXPECT_EQ(code_of(writer->write(place.offset_bytes, random_bytes(64 * kKiB, 1))),
              Errc::kReplaced);
    EXPECT_EQ(code_of(writer->commit()), Errc::kReplaced);
    expect_refusal(*writer, one.live.blob);
    writer.reset();
    EXPECT_TRUE(bytes_of_file(one.live.path) == content);
  });
}

TEST_F(OverwrittenFile, IsNamedToReadersThatFollow) {
  for_each_copy([](const Case& one, const Bytes& content) {
    const auto reader = reader_of(one.live.path);
    copy_over(content, one.live.path);
    if (content == one.copies.unsettled) {
      EXPECT_EQ(must(reader->newest()).value, 4U);
    } else if (content.empty()) {
      EXPECT_EQ(code_of(reader->newest()), Errc::kTruncated);
    } else {
      EXPECT_EQ(code_of(reader->newest()), Errc::kReplaced);
    }
  });
}

/// A store in a file, with one DRUM.
class OverwrittenStore : public ::testing::Test {
 protected:
  using Numbers = Drum<std::uint64_t>;

  OverwrittenStore() : path_(folder_ / "live.crawl") {
    must(must(Store::create(path_)).close());
    submit(0);
    backup_ = bytes_of_file(path_);
    submit(1000);
  }
  /// In a session of its own.
  void submit(std::uint64_t first) {
    auto store = must(Store::open(path_));
    auto drum = must(Numbers::open(store, "numbers"));
    add(drum, first);
    must(drum.merge(dispatcher_));
    must(drum.close());
    must(store.close());
  }
  static void add(Numbers& drum, std::uint64_t first) {
    for (std::uint64_t key = first; key < first + 1000; ++key) {
      must(drum.check_update(key * 0x9e3779b97f4a7c15));
    }
  }

  TemporaryFolder folder_;
  std::string path_;
  Bytes backup_;
  NullDispatcher dispatcher_;
};

TEST_F(OverwrittenStore, IsNotWrittenByCloseWhichSaysSo) {
  auto store = must(Store::open(path_));
  auto drum = must(Numbers::open(store, "numbers"));
  add(drum, 2000);
  must(store.commit());
  add(drum, 3000);
  copy_over(backup_, path_);
  const auto closed = store.close();
  ASSERT_EQ(code_of(closed), Errc::kReplaced);
  EXPECT_THAT(describe(closed.error()), ::testing::HasSubstr("another program has written"));
  EXPECT_TRUE(bytes_of_file(path_) == backup_);
}

TEST_F(OverwrittenStore, IsNamedByCloseWhereNothingWaits) {
  auto store = must(Store::open(path_));
  must(store.commit());
  copy_over(backup_, path_);
  EXPECT_EQ(code_of(store.close()), Errc::kReplaced);
  EXPECT_TRUE(bytes_of_file(path_) == backup_);
}

TEST_F(OverwrittenStore, IsNotMergedNorCompacted) {
  auto store = must(Store::open(path_));
  auto drum = must(Numbers::open(store, "numbers"));
  add(drum, 2000);
  must(store.commit());
  copy_over(backup_, path_);
  EXPECT_EQ(code_of(drum.merge(dispatcher_)), Errc::kReplaced);
  EXPECT_EQ(code_of(store.compact()), Errc::kReplaced);
  EXPECT_EQ(code_of(store.commit()), Errc::kReplaced);
  EXPECT_TRUE(bytes_of_file(path_) == backup_);
}

TEST_F(OverwrittenStore, GivesNoSnapshotOfTheOtherContent) {
  const auto store = must(Store::open(path_));
  EXPECT_TRUE(store.snapshot());
  copy_over(backup_, path_);
  EXPECT_EQ(code_of(store.snapshot()), Errc::kReplaced);
}

TEST_F(OverwrittenStore, IsTheBackupWhenItIsOpenedAgain) {
  {
    const auto store = must(Store::open(path_));
    copy_over(backup_, path_);
  }
  submit(7000);
  EXPECT_FALSE(must(verify(path_)).damaged());
}

/// Two writers of one file that both hold its lock. Each replaces a blob of its own.
class TwoWriters {
 public:
  TwoWriters() : recorder_(Bytes{}) {
    const auto writer = store_.writer();
    const SegmentId drum = add_drum(*writer);
    for (SegmentId& blob : blobs_) blob = add_blob(*writer, drum, kBlobBytes, 0);
    must(writer->commit());
    replace_blob(*writer, blobs_[0], kBlobBytes, 0);  // so that there is something free
    must(writer->commit());
  }

  Recorder& recorder() { return recorder_; }
  std::unique_ptr<Storage> lockless() {
    return std::make_unique<LocklessStorage>(store_.storage(OpenMode::kWrite));
  }
  void open_first() { writers_[0] = must(Writer::open(recorder_.wrap(lockless()), fixed_time())); }
  void open_second() { writers_[1] = must(Writer::open(lockless(), fixed_time())); }

  /// Replaces the blob of a writer and commits. Notes what was acknowledged.
  Result<void> commit(std::size_t index, std::uint64_t seed) {
    Writer& writer = *writers_[index];
    attempted_[index] = seed;
    CRAWLSTORE_TRY(const auto run,
                   container::write_run(writer, container::new_run(writer, blobs_[index]),
                                        random_bytes(kBlobBytes, seed), 1));
    auto entry = *writer.find(blobs_[index]);
    entry.runs = {run};
    writer.put(std::move(entry));
    CRAWLSTORE_TRY(writer.commit());
    acknowledged_[index] = seed;
    return {};
  }
  /// That the file is whole, and holds what was acknowledged, or what a later commit published that
  /// failed afterwards.
  void check() const {
    const auto report = store_.verified();
    EXPECT_FALSE(report.damaged()) << text_of(report);
    if (report.damaged()) return;
    const auto reader = store_.reader();
    for (const std::size_t index : {0U, 1U}) {
      if (acknowledged_[index] == 0) continue;
      const Bytes payload = payload_of(*reader, blobs_[index]);
      EXPECT_TRUE(payload == random_bytes(kBlobBytes, acknowledged_[index]) ||
                  payload == random_bytes(kBlobBytes, attempted_[index]))
          << "of writer " << index;
    }
  }

 private:
  ContainerStore store_;
  Recorder recorder_;
  std::array<SegmentId, 2> blobs_;
  std::array<std::unique_ptr<Writer>, 2> writers_;
  std::array<std::uint64_t, 2> attempted_{};
  std::array<std::uint64_t, 2> acknowledged_{};
};

TEST(LocksThatNobodyShares, LetTheSecondCommitFail) {
  TwoWriters two;
  two.open_first();
  two.open_second();
  EXPECT_TRUE(two.commit(1, 11));
  EXPECT_EQ(code_of(two.commit(0, 21)), Errc::kReplaced);
  EXPECT_EQ(code_of(two.commit(0, 22)), Errc::kReplaced);
  EXPECT_TRUE(two.commit(1, 12));
  two.check();
}

TEST(LocksThatNobodyShares, LetAWriterFailThatCommittedBefore) {
  TwoWriters two;
  two.open_first();
  EXPECT_TRUE(two.commit(0, 21));
  two.open_second();
  EXPECT_TRUE(two.commit(1, 11));
  EXPECT_EQ(code_of(two.commit(0, 22)), Errc::kReplaced);
  two.check();
}

/// Opens the first writer and commits twice; at its call `nth` the second one commits, which has
/// been opened before it, or is opened then. Returns whether there was such a call.
///
/// Passes over the window that is left: the first writer has no whole look (four copies) between
/// what the second one did and its own next write of data.
bool commits_at_call(std::uint64_t nth, bool opened_before, std::uint64_t& window_count) {
  TwoWriters two;
  if (opened_before) two.open_second();
  std::uint64_t count = 0;
  std::uint64_t reads_since = 0;
  bool has_come = false;
  bool was_in_window = false;
  two.recorder().set_hook([&](CallKind kind, Extent extent) {
    const bool is_data = extent.offset_bytes >= format::kDataStart;
    if (has_come) {
      if (kind == CallKind::kRead || kind == CallKind::kSync) ++reads_since;
      was_in_window |= kind == CallKind::kWrite && is_data && reads_since < 4;
    } else if (++count == nth) {
      has_come = true;
      was_in_window = kind == CallKind::kWrite && is_data;
      if (!opened_before) two.open_second();
      (void)two.commit(1, 11);
    }
  });
  two.open_first();
  if (two.commit(0, 21)) (void)two.commit(0, 22);
  two.recorder().set_hook({});
  window_count += was_in_window ? 1 : 0;
  if (!was_in_window) two.check();
  return has_come;
}

TEST(LocksThatNobodyShares, LoseNothingAcknowledgedWheneverTheOtherCommits) {
  for (const bool opened_before : {true, false}) {
    std::uint64_t nth = 1;
    std::uint64_t window_count = 0;
    while (commits_at_call(nth, opened_before, window_count)) {
      if (HasFailure()) FAIL() << "at call " << nth << (opened_before ? ", opened before" : "");
      ++nth;
    }
    std::printf("%llu calls, %llu of them in the window\n", static_cast<unsigned long long>(nth),
                static_cast<unsigned long long>(window_count));
    EXPECT_GT(nth, 2 * window_count);
  }
}

}  // namespace
}  // namespace crawlstore::testing
