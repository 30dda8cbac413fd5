// SPDX-License-Identifier: Apache-2.0
//
// Verification and views without a mapping say what they say with one, and where a disk fails.
#include <gmock/gmock.h>

#include <crawlstore/drum_view.h>
#include <crawlstore/tools/verify.h>

#include "container/drum_sample.h"
#include "support/recording_storage.h"

namespace crawlstore::testing {
namespace {

Bytes sample_file() {
  const ContainerStore store;
  const auto writer = store.writer();
  const auto sample = drum_sample(*writer);
  put_sample(*writer, sample);
  must(writer->commit());
  return store.bytes();
}

std::string verified(std::unique_ptr<Storage> storage) {
  VerifyOptions options;
  options.level = VerifyLevel::kDeep;
  const auto report = verify(*storage, options);
  return report ? text_of(*report) : describe(report.error());
}

std::unique_ptr<Storage> open(const Bytes& file) {
  return open_memory_storage(make_memory_file(file), OpenMode::kRead);
}

std::uint64_t key_count(const DrumView& view) {
  std::uint64_t count = 0;
  must(view.for_each_key([&count](Key16, auto) { return ++count != 0; }));
  return count;
}

TEST(Unmapped, ShowsAWholeDrum) {
  const auto snapshot =
      must(Snapshot::open(std::shared_ptr<Storage>(unmapped(open(sample_file())))));
  const auto view = must(DrumView::open(snapshot, "sample"));
  EXPECT_EQ(key_count(view), 2200U);
  EXPECT_TRUE(must(view.lookup(5)).has_value());
  EXPECT_TRUE(must(view.contains(kSplit + 4)));
}

TEST(Unmapped, FindsTheSameDamage) {
  const auto whole = sample_file();
  EXPECT_EQ(verified(unmapped(open(whole))), "");
  for (std::size_t offset = 80 * kKiB; offset < whole.size(); offset += 1999) {
    auto file = whole;
    file[offset] ^= std::byte{0x10};
    EXPECT_EQ(verified(unmapped(open(file))), verified(open(file))) << offset;
  }
  for (std::size_t length = 80 * kKiB; length < whole.size(); length += 3001) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_EQ(verified(unmapped(open(cut))), verified(open(cut))) << length;
  }
}

/// Each read in turn fails: the whole answer, or an error of the disk with its place; never a
/// verdict about bytes that were not read.
TEST(Unmapped, NamesTheSectorThatCannotBeRead) {
  const ContainerStore store(sample_file());
  std::uint64_t failures = 0;
  for (std::uint64_t nth = 1;; ++nth) {
    Recorder recorder(store.file());
    const auto snapshot =
        must(Snapshot::open(std::shared_ptr<Storage>(unmapped(recorder.open(OpenMode::kRead)))));
    const auto view = must(DrumView::open(snapshot, "sample"));
    recorder.inject({.calls = calls(CallKind::kRead), .nth = nth});
    const auto visited = view.for_each_key([](Key16, auto) { return true; });
    if (!recorder.has_injected()) break;
    ASSERT_FALSE(visited);
    EXPECT_EQ(visited.error().code, Errc::kIo);
    EXPECT_NE(visited.error().offset, Error::kNoOffset);
    EXPECT_TRUE(visited.error().segment);
    EXPECT_EQ(key_count(view), 2200U) << "the disk recovers";
    ++failures;
  }
  EXPECT_GE(failures, 3U);
}

TEST(Unmapped, SaysThatTheFileWasCutWhileItWasOpen) {
  const ContainerStore store(sample_file());
  const auto snapshot =
      must(Snapshot::open(std::shared_ptr<Storage>(unmapped(store.storage(OpenMode::kRead)))));
  const auto view = must(DrumView::open(snapshot, "sample"));
  must(store.storage(OpenMode::kWrite)->truncate(84 * kKiB));
  const auto visited = view.for_each_key([](Key16, auto) { return true; });
  ASSERT_FALSE(visited);
  EXPECT_EQ(visited.error().code, Errc::kTruncated);
}

/// Deep verification looks at each run through a view, and lets it go.
TEST(Unmapped, KeepsNoRunAfterItsVerification) {
  const ContainerStore store(sample_file());
  Recorder recorder(store.file());
  const auto storage = unmapped(recorder.open(OpenMode::kRead));
  VerifyOptions deep;
  deep.level = VerifyLevel::kDeep;
  must(verify(*storage, deep));
  const auto reader = store.reader();
  std::uint64_t run_count = 0;
  std::uint64_t read_count = 0;
  recorder.set_hook([&](CallKind kind, Extent) { read_count += kind == CallKind::kRead ? 1 : 0; });
  reader->directory().for_each_segment([&](const format::SegmentEntry& entry) {
    for (const auto& run : entry.runs) {
      ++run_count;
      must(storage->view(run.extent()));
    }
  });
  EXPECT_GE(read_count, run_count);
}

}  // namespace
}  // namespace crawlstore::testing
