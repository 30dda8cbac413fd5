// SPDX-License-Identifier: Apache-2.0
//
// Deep verification without a mapping: what it keeps in memory, and when it can be stopped.
#include <gmock/gmock.h>

#include <crawlstore/tools/verify.h>

#include "container/drum_sample.h"
#include "container/payload_window.h"
#include "io/unmapped_storage.h"
#include "support/recording_storage.h"

namespace crawlstore::testing {
namespace {

constexpr std::size_t kKeys = 3'000'000;

/// With a partition of many MiB, and as much of an index as two windows hold.
const Bytes& large_partition() {
  static const Bytes kBytes = sample_file([](DrumSample& made) {
    made.segments[kPartition0].payloads = {partition_of(keys_from(5, 1'000'000, kKeys), 2)};
    made.segments[kPartition0].record_counts = {kKeys};
    made.table.buckets[0].key_count = kKeys;
  });
  return kBytes;
}

/// With a run of a log of 6 MiB, most of it auxiliaries.
Bytes large_log() {
  return sample_file([](DrumSample& made) {
    const Bytes auxes = random_bytes(10 * 600'000, 7);  // not compressed
    format::AuxRun run{10, 600'000, {}, auxes};
    Bytes payload;
    format::encode_aux_run(run, payload);
    made.segments[kAuxLog].payloads = {payload};
  });
}

/// The observations of a deep verification without a mapping.
struct Seen {
  std::string verdict;
  std::uint64_t peak_bytes = 0;        ///< kept at any read
  std::uint64_t read_after_bytes = 0;  ///< when it had been told to stop
};

/// stops_at: so many bytes done; 0 = never
Seen verify_in_windows(const Bytes& bytes, std::uint64_t stops_at = 0) {
  const ContainerStore store(bytes);
  Recorder recorder(store.file());
  io::UnmappedStorage storage(std::shared_ptr<Storage>(recorder.open(OpenMode::kRead)));
  Seen seen;
  bool is_stopped = false;
  recorder.set_hook([&](CallKind kind, Extent extent) {
    if (kind != CallKind::kRead) return;
    if (is_stopped) seen.read_after_bytes += extent.length_bytes;
    seen.peak_bytes = std::max(seen.peak_bytes, storage.kept_bytes() + extent.length_bytes);
  });
  VerifyOptions options;
  options.level = VerifyLevel::kDeep;
  options.progress = [&](std::uint64_t done, std::uint64_t) {
    seen.peak_bytes = std::max(seen.peak_bytes, storage.kept_bytes());
    is_stopped = stops_at != 0 && done >= stops_at;
    return !is_stopped;
  };
  const auto report = verify(storage, options);
  seen.verdict = report ? text_of(*report) : std::string(name_of(report.error().code));
  return seen;
}

TEST(VerifyWindows, KeepAPartitionOutOfMemory) {
  ASSERT_GT(large_partition().size(), 12 * kMiB);
  const Seen seen = verify_in_windows(large_partition());
  EXPECT_EQ(seen.verdict, "");
  EXPECT_LE(seen.peak_bytes, 5 * container::PayloadWindow::kWindowBytes);
}

TEST(VerifyWindows, FindInAPartitionWhatAMappingShows) {
  const auto change = [](std::size_t block) {
    return sample_file([block](DrumSample& made) {
      Bytes payload = partition_of(keys_from(5, 1'000'000, kKeys), 2);
      format::PartitionFooter footer{};
      std::memcpy(&footer, payload.data() + payload.size() - sizeof footer, sizeof footer);
      payload[footer.index_offset_bytes + block * 8] ^= std::byte{1};  // its first key
      made.segments[kPartition0].payloads = {payload};
      made.segments[kPartition0].record_counts = {kKeys};
      made.table.buckets[0].key_count = kKeys;
    });
  };
  for (const std::size_t block : {1U, 2900U, 5859U}) {
    const Bytes bytes = change(block);
    const ContainerStore store(bytes);
    const auto expected = text_of(store.verified(VerifyLevel::kDeep));
    EXPECT_THAT(expected, ::testing::HasSubstr("the first key of a block is not the one"));
    EXPECT_EQ(verify_in_windows(bytes).verdict, expected);
  }
}

/// The first pass, over checksums, ends at `first` bytes done; the second looks at content.
TEST(VerifyWindows, StopWithinAMebibyteOfAPartition) {
  const std::uint64_t first = large_partition().size();
  const Seen seen = verify_in_windows(large_partition(), first + 2 * kMiB);
  EXPECT_EQ(seen.verdict, "cancelled");
  EXPECT_EQ(seen.read_after_bytes, 0U);
}

TEST(VerifyWindows, AskWhileALogIsLoaded) {
  const Bytes bytes = large_log();
  const ContainerStore store(bytes);
  Recorder recorder(store.file());
  io::UnmappedStorage storage(std::shared_ptr<Storage>(recorder.open(OpenMode::kRead)));
  VerifyOptions options;
  options.level = VerifyLevel::kDeep;
  std::uint64_t kept_bytes = 0;
  options.progress = [&](std::uint64_t, std::uint64_t) {
    kept_bytes = storage.kept_bytes();
    return kept_bytes < 2 * kMiB;
  };
  const auto report = verify(storage, options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Errc::kCancelled);
  EXPECT_LT(kept_bytes, 3 * kMiB) << "of a run of 6 MiB";
  EXPECT_EQ(verify_in_windows(bytes).verdict, "");
}

TEST(PayloadWindow, ForgetsWholeUnitsBehindItOnly) {
  const Bytes bytes(5 * kMiB);
  std::vector<Extent> forgotten;
  auto source = container::payload_in_memory(bytes);
  source.forget = [&](Extent extent) { forgotten.push_back(extent); };
  const container::ContentProgress go_on = [](std::uint64_t) { return Result<void>{}; };
  container::PayloadWindow window(source, {100, 4 * kMiB}, go_on);
  EXPECT_EQ(must(window.at(100, 8)), bytes.data() + 100);
  EXPECT_EQ(must(window.at(kMiB, 100)), bytes.data() + kMiB);
  EXPECT_TRUE(forgotten.empty()) << "it is in the window still";
  EXPECT_EQ(must(window.at(kMiB + 5000, 8)), bytes.data() + kMiB + 5000);
  EXPECT_EQ(must(window.at(3 * kMiB, 8)), bytes.data() + 3 * kMiB);
  const std::vector<Extent> expected{{100, kMiB + 4096 - 100}, {kMiB + 4096, 2 * kMiB - 4096}};
  EXPECT_EQ(forgotten, expected);
}

}  // namespace
}  // namespace crawlstore::testing
