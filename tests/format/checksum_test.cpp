// SPDX-License-Identifier: Apache-2.0
#include "format/checksum.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "format/format_samples.h"
#include "format/run_end.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

const RunName kRun{sample_uuid(), {5}, {9}};

/// The whole extent of a payload, and the checksum for the directory.
struct Sealed {
  Bytes extent;
  std::uint64_t checksum = 0;
};

Sealed seal(Bytes payload, const RunName& name) {
  const std::size_t payload_bytes = payload.size();
  payload.resize(round_up(payload_bytes, 8));
  ChecksumTreeBuilder builder(name);
  for (std::size_t start = 0; start < payload.size(); start += kChunkBytes) {
    const auto length = std::min<std::size_t>(kChunkBytes, payload.size() - start);
    builder.add_chunk(std::span(payload).subspan(start, length));
  }
  const auto tail =
      builder.finish(run_end({name.segment, SegmentKind::kDrum, {}, name.run}, payload_bytes, 1));
  payload.insert(payload.end(), tail.bytes.begin(), tail.bytes.end());
  return {payload, tail.checksum};
}

/// Verifies as the spec says, with nothing of the builder: top, then levels, then chunks.
bool verify(const Bytes& extent, std::uint64_t payload_bytes, std::uint64_t checksum_in_directory,
            const RunName& name) {
  const ChecksumTree tree = checksum_tree(payload_bytes);
  if (extent.size() != tree.extent_bytes) return false;
  const std::span<const std::byte> bytes(extent);
  const auto top = bytes.subspan(tree.top().offset_bytes, tree.top().length_bytes);
  if (checksum(top, chunk_seed(name, tree.levels.size(), 0)) != checksum_in_directory) return false;
  for (std::size_t level = tree.levels.size(); level-- > 0;) {
    const auto covered = level == 0 ? bytes.first(tree.padded_payload_bytes)
                                    : bytes.subspan(tree.levels[level - 1].offset_bytes,
                                                    tree.levels[level - 1].length_bytes());
    for (std::uint64_t i = 0; i * kChunkBytes < covered.size(); ++i) {
      const auto rest = covered.subspan(i * kChunkBytes);
      const auto chunk = rest.first(std::min<std::size_t>(kChunkBytes, rest.size()));
      const auto* entry = extent.data() + tree.levels[level].offset_bytes + i * 8;
      if (checksum(chunk, chunk_seed(name, level, i)) != load<std::uint64_t>(entry)) return false;
    }
  }
  return true;
}

// spec: container.md#checksum-tree rule 2
TEST(ChecksumTree, MakesTheExtentAsLongAsItsPartsUpToTheUnit) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t payload = 1 + (random() >> (16 + random() % 48));
    const ChecksumTree tree = checksum_tree(payload);
    const auto& last = tree.levels.back();
    ASSERT_EQ(tree.extent_bytes,
              round_up(last.offset_bytes + last.length_bytes() + sizeof(RunEnd), kUnitBytes));
    ASSERT_EQ(tree.extent_bytes, extent_bytes(payload));
    ASSERT_EQ(tree.levels.front().offset_bytes, round_up(payload, 8));
    ASSERT_LE(last.length_bytes(), kChunkBytes);
  }
}

TEST(ChecksumTree, AddsALevelOnlyAboveOneChunkOfEntries) {
  EXPECT_EQ(checksum_tree(8192 * kChunkBytes).levels.size(), 1u);
  EXPECT_EQ(checksum_tree(8192 * kChunkBytes + 1).levels.size(), 2u);
  EXPECT_EQ(checksum_tree(kPayloadBytesMax).levels.size(), 3u);
}

TEST(ChecksumTree, VerifiesWhatTheBuilderMade) {
  for (const std::size_t length : {1ul, 7ul, 8ul, 4088ul, 65'536ul, 65'537ul, 300'001ul}) {
    const Sealed sealed = seal(pattern(length), kRun);
    EXPECT_TRUE(verify(sealed.extent, length, sealed.checksum, kRun)) << length;
  }
}

TEST(ChecksumTree, CoversALongLevelByAnother) {
  constexpr std::size_t kChunks = 8193;
  const Bytes chunk(kChunkBytes);
  ChecksumTreeBuilder builder(kRun);
  for (std::size_t i = 0; i < kChunks; ++i) builder.add_chunk(chunk);
  const auto tail = builder.finish(
      run_end({kRun.segment, SegmentKind::kDrum, {}, kRun.run}, kChunks * kChunkBytes, 1));
  const std::span<const std::byte> level_0 = std::span(tail.bytes).first(kChunks * 8);
  const auto* level_1 = tail.bytes.data() + kChunks * 8;
  EXPECT_EQ(load<std::uint64_t>(level_1),
            checksum(level_0.first(kChunkBytes), chunk_seed(kRun, 1, 0)));
  EXPECT_EQ(load<std::uint64_t>(level_1 + 8),
            checksum(level_0.subspan(kChunkBytes), chunk_seed(kRun, 1, 1)));
  EXPECT_EQ(tail.checksum,
            checksum(std::span(tail.bytes).subspan(kChunks * 8), chunk_seed(kRun, 2, 0)));
}

// spec: container.md#end-of-a-run rule 1
TEST(RunEnd, NamesNoRunOfItsLogThatIsNotBelowIt) {
  constexpr std::uint64_t kBytes = 104;
  const auto payload = pattern(kBytes);
  RunLabel label{kRun.segment, SegmentKind::kDrumKeyLog, {4}, kRun.run, kAnyFirst};
  for (const std::uint64_t first : {0ULL, 8ULL, 9ULL, 10ULL, ~0ULL}) {
    label.first = first;
    ChecksumTreeBuilder builder(kRun);
    builder.add_chunk(payload);
    const auto tail = builder.finish(run_end(label, kBytes, 1));
    const RunRef run{0, {1}, kRun.run, kBytes, 1, tail.checksum};
    const auto top = std::span(tail.bytes).last(checksum_tree(kBytes).top().length_bytes);
    label.first = kAnyFirst;
    EXPECT_EQ(check_run_end(top, kRun.uuid, label, run).has_value(), first < kRun.run.value)
        << first;
  }
}

// spec: container.md#checksum-tree rule 4
TEST(ChecksumTree, NoticesEverySingleByte) {
  const std::size_t length = 2 * kChunkBytes - 3000;
  const Sealed sealed = seal(pattern(length), kRun);
  std::mt19937_64 random(2);
  for (int i = 0; i < 200; ++i) {
    Bytes changed = sealed.extent;
    changed[random() % changed.size()] ^= static_cast<std::byte>(1 << random() % 8);
    ASSERT_FALSE(verify(changed, length, sealed.checksum, kRun));
  }
}

// spec: container.md#checksum-tree rule 3
TEST(ChecksumTree, NoticesPaddingBehindTheLastLevel) {
  Sealed sealed = seal(pattern(100), kRun);
  sealed.extent[sealed.extent.size() - sizeof(RunEnd) - 1] = std::byte{1};
  EXPECT_FALSE(verify(sealed.extent, 100, sealed.checksum, kRun));
}

TEST(ChecksumTree, NoticesSwappedChunks) {
  const std::size_t length = 3 * kChunkBytes;
  Sealed sealed = seal(pattern(length), kRun);
  std::swap_ranges(sealed.extent.begin(), sealed.extent.begin() + kChunkBytes,
                   sealed.extent.begin() + kChunkBytes);
  EXPECT_FALSE(verify(sealed.extent, length, sealed.checksum, kRun));
}

TEST(ChecksumTree, NoticesARunOfAnotherSegmentOrStore) {
  const Sealed sealed = seal(pattern(100), kRun);
  EXPECT_FALSE(verify(sealed.extent, 100, sealed.checksum, {kRun.uuid, {6}, kRun.run}));
  EXPECT_FALSE(verify(sealed.extent, 100, sealed.checksum, {kRun.uuid, kRun.segment, {10}}));
  EXPECT_FALSE(verify(sealed.extent, 100, sealed.checksum, {{}, kRun.segment, kRun.run}));
}

TEST(ChecksumSeed, DependsOnEveryNumber) {
  const Uuid uuid = sample_uuid();
  const std::set<std::uint64_t> seeds{checksum_seed(uuid, ChecksumDomain::kRoot, 1, 2, 3),
                                      checksum_seed({}, ChecksumDomain::kRoot, 1, 2, 3),
                                      checksum_seed(uuid, ChecksumDomain::kTable, 1, 2, 3),
                                      checksum_seed(uuid, ChecksumDomain::kRoot, 2, 1, 3),
                                      checksum_seed(uuid, ChecksumDomain::kRoot, 1, 3, 2),
                                      checksum_seed(uuid, ChecksumDomain::kRoot, 1, 2, 4)};
  EXPECT_EQ(seeds.size(), 6u);
}

}  // namespace
}  // namespace crawlstore::format
