// SPDX-License-Identifier: Apache-2.0
//
// The enumeration against brute force on tiny logs.

#include "support/crash_images.h"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <xxhash.h>

#include "support/bytes.h"

namespace crawlstore::testing {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kDataStart = std::uint64_t{80} << 10;  // past the superblock copies

Operation write(std::uint64_t offset, const Bytes& bytes) {
  return {OperationKind::kWrite, false, {offset, bytes.size()}, bytes, {}};
}
Operation sync() {
  return {OperationKind::kSync, false, {}, {}, {}};
}
Operation failed_sync() {
  return {OperationKind::kSync, true, {}, {}, {}};
}
Operation truncate(std::uint64_t size) {
  return {OperationKind::kTruncate, false, {size, 0}, {}, {}};
}
Operation allocate(Extent extent) {
  return {OperationKind::kAllocate, false, extent, {}, {}};
}
Operation punch(Extent extent) {
  return {OperationKind::kPunch, false, extent, {}, {}};
}
Operation mark(std::string text) {
  return {OperationKind::kMark, false, {}, {}, std::move(text)};
}

/// Stands for the bytes in a set: comparing and keeping them whole is slow. Another function than
/// the one that the enumeration removes duplicates by.
using Key = std::pair<std::uint64_t, std::uint64_t>;
Key key_of(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

/// Keys of all images of the log.
std::set<Key> all_images(const OperationLog& log, CrashBudget budget = {}) {
  std::set<Key> images;
  CrashImages enumeration(log, budget);
  EXPECT_TRUE(enumeration.enumerate([&](const CrashImage& image) {
    images.insert(key_of(image.bytes));
    return true;
  }));
  EXPECT_EQ(images.size(), enumeration.distinct_count());
  return images;
}

/// `file` after the operation: the plain meaning, written apart from DiskModel.
void perform(Bytes& file, const Operation& operation) {
  const Extent extent = operation.extent;
  if (operation.kind == OperationKind::kTruncate) file.resize(extent.offset_bytes);
  if (operation.kind == OperationKind::kAllocate && file.size() < extent.end_bytes()) {
    file.resize(extent.end_bytes());
  }
  if (operation.kind == OperationKind::kWrite) {
    if (file.size() < extent.end_bytes()) file.resize(extent.end_bytes());
    std::copy(operation.bytes.begin(), operation.bytes.end(),
              file.begin() + static_cast<std::ptrdiff_t>(extent.offset_bytes));
  }
  for (std::uint64_t offset = extent.offset_bytes;
       operation.kind == OperationKind::kPunch && offset < extent.end_bytes() &&
       offset < file.size();
       ++offset) {
    file[offset] = std::byte{0};
  }
}

/// Every file that a subset of the operations since the last sync leaves, after each operation. An
/// allocation inside of the file is no operation.
std::set<Key> subsets_by_force(const OperationLog& log) {
  std::set<Key> images;
  Bytes durable = log.initial;
  Bytes seen = log.initial;
  std::vector<Operation> unsynced;
  for (const Operation& operation : log.operations) {
    if (operation.kind == OperationKind::kSync) {
      for (const Operation& one : unsynced) perform(durable, one);
      unsynced.clear();
      continue;
    }
    const std::size_t size_before = seen.size();
    perform(seen, operation);
    if (operation.kind == OperationKind::kAllocate && seen.size() == size_before) continue;
    unsynced.push_back(operation);
    for (std::uint32_t subset = 0; subset < std::uint32_t{1} << unsynced.size(); ++subset) {
      Bytes file = durable;
      for (std::size_t bit = 0; bit < unsynced.size(); ++bit) {
        if ((subset >> bit & 1) != 0) perform(file, unsynced[bit]);
      }
      images.insert(key_of(file));
    }
  }
  return images;
}

Bytes sector(unsigned value) {
  return filled(kSectorBytes, value);
}

/// The sector of the image, or nothing past its end.
Bytes sector_of(const CrashImage& image, std::uint64_t index) {
  if (image.bytes.size() < (index + 1) * kSectorBytes) return {};
  const auto bytes = image.bytes.subspan(index * kSectorBytes, kSectorBytes);
  return {bytes.begin(), bytes.end()};
}

TEST(CrashImages, CoversEverySubset) {
  const OperationLog log{
      filled(8192, 1),
      {write(0, filled(4096, 2)), write(4096, filled(4096, 3)), write(2048, filled(4096, 4)),
       sync(), write(0, filled(8192, 5)), write(8192, filled(512, 6))}};
  const std::set<Key> images = all_images(log);
  for (const Key& expected : subsets_by_force(log)) EXPECT_TRUE(images.contains(expected));
}

TEST(CrashImages, CoversEverySubsetOfChangesOfLength) {
  const OperationLog log{filled(8192, 1),
                         {allocate({8192, 4096}), write(8192, filled(4096, 2)), truncate(8192),
                          punch({0, 4096}), truncate(4096), allocate({0, 12288})}};
  const std::set<Key> images = all_images(log);
  for (const Key& expected : subsets_by_force(log)) EXPECT_TRUE(images.contains(expected));
}

TEST(CrashImages, CoversRandomTinyLogs) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    OperationLog log{random_bytes(random.below(3) * 4096, seed), {}};
    for (int turn = 0; turn < 6; ++turn) {
      const Extent extent{random.below(4) * 4096, (random.below(2) + 1) * 4096};
      const std::uint64_t choice = random.below(6);
      if (choice == 0) log.operations.push_back(sync());
      if (choice == 1) log.operations.push_back(allocate(extent));
      if (choice == 2) log.operations.push_back(punch(extent));
      if (choice >= 3) {
        log.operations.push_back(write(extent.offset_bytes, random_bytes(4096, random.next())));
      }
    }
    const std::set<Key> images = all_images(log, {.random_count = 10, .seed = seed});
    for (const Key& expected : subsets_by_force(log)) {
      ASSERT_TRUE(images.contains(expected)) << "seed " << seed;
    }
  }
}

TEST(CrashImages, KeepsWhatASuccessfulSyncCovered) {
  const OperationLog log{filled(8192, 1),
                         {write(0, filled(4096, 2)), sync(), write(4096, filled(4096, 3))}};
  CrashImages enumeration(log, {});
  enumeration.enumerate([&](const CrashImage& image) {
    EXPECT_TRUE(image.point < 3 || sector_of(image, 0) == sector(2)) << image.describe();
    return true;
  });
  EXPECT_GT(enumeration.distinct_count(), 2U);
}

TEST(CrashImages, TouchesNoPageThatNoOperationTouched) {
  const OperationLog log{filled(3 * 4096, 1), {write(4096, filled(4096, 2))}};
  CrashImages enumeration(log, {});
  enumeration.enumerate([&](const CrashImage& image) {
    EXPECT_EQ(image.bytes.size(), 3U * 4096);
    for (std::uint64_t index = 0; index < 8; ++index) {
      EXPECT_EQ(sector_of(image, index), sector(1));
      EXPECT_EQ(sector_of(image, 16 + index), sector(1));
    }
    return true;
  });
}

TEST(CrashImages, TearsASuperblockCopyAtEverySubsetOfItsSectors) {
  const OperationLog log{filled(4096, 1), {write(0, filled(4096, 2))}};
  const std::set<Key> images = all_images(log, {.random_count = 0});
  for (std::uint32_t subset = 0; subset < 256; ++subset) {
    Bytes expected = filled(4096, 1);
    for (std::size_t bit = 0; bit < 8; ++bit) {
      if ((subset >> bit & 1) == 0) continue;
      std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(bit * kSectorBytes), kSectorBytes,
                  std::byte{2});
    }
    EXPECT_TRUE(images.contains(key_of(expected))) << subset;
  }
}

TEST(CrashImages, PutsGarbageIntoSectorsThatDidNotChange) {
  Bytes changed = filled(4096, 1);
  changed[0] = std::byte{2};
  const OperationLog log{filled(4096, 1), {write(0, changed)}};
  std::set<std::uint64_t> ones;
  std::set<std::uint64_t> noise;
  CrashImages enumeration(log, {.random_count = 0});
  enumeration.enumerate([&](const CrashImage& image) {
    for (std::uint64_t index = 1; index < 8; ++index) {
      if (sector_of(image, index) == sector(0xFF)) ones.insert(index);
      if (sector_of(image, index) != sector(0xFF) && sector_of(image, index) != sector(1)) {
        noise.insert(index);
      }
    }
    return true;
  });
  EXPECT_EQ(ones.size(), 7U);
  EXPECT_EQ(noise.size(), 7U);
}

TEST(CrashImages, PutsGarbageIntoTheWholePageOfASmallWrite) {
  const OperationLog log{filled(4096, 1), {write(1024, filled(10, 2))}};
  bool found = false;
  CrashImages enumeration(log, {});
  enumeration.enumerate([&](const CrashImage& image) {
    found |= sector_of(image, 7) == sector(0xFF);
    return true;
  });
  EXPECT_TRUE(found);
}

TEST(CrashImages, TearsDataWritesAtSectors) {
  const OperationLog log{filled(kDataStart + 65536, 1), {write(kDataStart, filled(65536, 2))}};
  std::uint64_t torn_count = 0;
  CrashImages enumeration(log, {.tears_per_write = 40});
  enumeration.enumerate([&](const CrashImage& image) {
    std::set<Bytes> kinds;
    for (std::uint64_t index = 0; index < 128; ++index) {
      kinds.insert(sector_of(image, kDataStart / kSectorBytes + index));
    }
    torn_count += kinds.contains(sector(1)) && kinds.contains(sector(2)) ? 1 : 0;
    return true;
  });
  EXPECT_GE(torn_count, 30U);
}

TEST(CrashImages, TearsBothCopiesOfASuperblockAtOnce) {
  const OperationLog log{filled(8192, 1),
                         {write(0, filled(4096, 2)), write(4096, filled(4096, 2))}};
  bool found = false;
  CrashImages enumeration(log, {.random_count = 0});
  enumeration.enumerate([&](const CrashImage& image) {
    found |= sector_of(image, 0) == sector(0xFF) && sector_of(image, 8) == sector(0xFF);
    return true;
  });
  EXPECT_TRUE(found);
}

TEST(CrashImages, DecouplesLengthAndData) {
  const OperationLog log{filled(8192, 1), {write(8192, filled(4096, 2))}};
  std::set<std::pair<std::size_t, unsigned>> seen;  // length, first byte past the old end
  CrashImages enumeration(log, {});
  enumeration.enumerate([&](const CrashImage& image) {
    const bool longer = image.bytes.size() > 8192;
    seen.emplace(image.bytes.size(), longer ? std::to_integer<unsigned>(image.bytes[8192]) : 0);
    return true;
  });
  // Not there; zeros, ones or stale bytes (of another place) instead of the data; the data.
  for (const auto& expected :
       {std::pair{8192U, 0U}, {12288U, 0U}, {12288U, 0xFFU}, {12288U, 1U}, {12288U, 2U}}) {
    EXPECT_TRUE(seen.contains(expected)) << expected.first << " " << expected.second;
  }
}

TEST(CrashImages, FillsWithWhatStoodThereBefore) {
  const OperationLog log{
      filled(8192, 1),
      {write(8192, filled(4096, 7)), sync(), truncate(8192), sync(), allocate({8192, 4096})}};
  bool found = false;
  CrashImages enumeration(log, {});
  enumeration.enumerate_at(5, [&](const CrashImage& image) {
    found |= image.bytes.size() == 12288 && image.bytes[8192] == std::byte{7};
    return true;
  });
  EXPECT_TRUE(found);
}

TEST(CrashImages, LeavesLostWritesInDoubtForEver) {
  const OperationLog log{filled(kDataStart + 8192, 1),
                         {write(kDataStart, filled(4096, 2)), failed_sync(),
                          write(kDataStart + 4096, filled(4096, 3)), sync()}};
  std::set<Bytes> first;
  CrashImages enumeration(log, {.random_count = 0, .tears_per_write = 0});
  enumeration.enumerate_at(4, [&](const CrashImage& image) {
    EXPECT_EQ(sector_of(image, kDataStart / kSectorBytes + 8), sector(3)) << image.describe();
    first.insert(sector_of(image, kDataStart / kSectorBytes));
    return true;
  });
  EXPECT_EQ(first, (std::set<Bytes>{sector(1), sector(2)}));
}

TEST(CrashImages, GivesEqualImagesOnceForEachMarkBefore) {
  const OperationLog log{filled(4096, 1), {mark("a"), sync(), sync(), mark("b")}};
  std::vector<std::string> last_marks;
  CrashImages enumeration(log, {});
  enumeration.enumerate([&](const CrashImage& image) {
    last_marks.emplace_back(image.last_mark);
    EXPECT_EQ(image.marks().size(), image.mark_count);
    return true;
  });
  EXPECT_EQ(last_marks, (std::vector<std::string>{"", "a", "b"}));
  EXPECT_EQ(enumeration.distinct_count(), 1U);
  EXPECT_EQ(enumeration.case_count(), 3U);
}

TEST(CrashImages, ShowsTheUnsyncedStateAfterAMark) {
  // A protocol without a sync would get this wrong: acknowledged, and not there.
  const OperationLog log{filled(4096, 1), {write(0, filled(4096, 2)), mark("acknowledged")}};
  bool found = false;
  CrashImages enumeration(log, {});
  enumeration.enumerate([&](const CrashImage& image) {
    found |= image.last_mark == "acknowledged" && sector_of(image, 0) == sector(1);
    return true;
  });
  EXPECT_TRUE(found);
}

TEST(CrashImages, CoversSinglesAndPairsOfManyOperations) {
  OperationLog log{filled(16 * 4096, 1), {}};
  for (std::uint64_t page = 0; page < 16; ++page) {
    log.operations.push_back(write(page * 4096, filled(4096, 2)));
  }
  const std::set<Key> images = all_images(log, {.random_count = 0, .tears_per_write = 0});
  std::size_t pair_count = 0;
  for (std::uint64_t one = 0; one < 16; ++one) {
    for (std::uint64_t other = one; other < 16; ++other) {
      Bytes expected = log.initial;
      perform(expected, log.operations[one]);
      perform(expected, log.operations[other]);
      pair_count += images.contains(key_of(expected)) ? 1 : 0;
    }
  }
  EXPECT_EQ(pair_count, 16U * 17 / 2);
}

TEST(CrashImages, RespectsItsBudget) {
  OperationLog log{filled(16 * 4096, 1), {}};
  for (std::uint64_t page = 0; page < 16; ++page) {
    log.operations.push_back(write(page * 4096, filled(4096, 2)));
  }
  CrashImages enumeration(log, {.images_max_per_point = 50});
  EXPECT_TRUE(enumeration.enumerate([](const CrashImage&) { return true; }));
  EXPECT_EQ(enumeration.case_count(), 50U);
}

TEST(CrashImages, EndsWhenTheCheckSaysSo) {
  const OperationLog log{filled(4096, 1), {write(0, filled(4096, 2)), sync()}};
  int count = 0;
  CrashImages enumeration(log, {});
  EXPECT_FALSE(enumeration.enumerate([&](const CrashImage&) { return ++count < 3; }));
  EXPECT_EQ(count, 3);
}

TEST(CrashImages, RepeatsFromTheSameSeed) {
  const OperationLog log{filled(kDataStart + 65536, 1),
                         {write(kDataStart, random_bytes(65536, 3)), write(0, filled(4096, 2))}};
  EXPECT_EQ(all_images(log, {.seed = 5}), all_images(log, {.seed = 5}));
  EXPECT_NE(all_images(log, {.seed = 5}), all_images(log, {.seed = 6}));
}

TEST(CrashImages, DescribesTheFateOfEachEffect) {
  const OperationLog log{filled(4096, 1), {mark("begin 2"), write(0, filled(4096, 2))}};
  std::set<std::string> texts;
  CrashImages enumeration(log, {});
  enumeration.enumerate([&](const CrashImage& image) {
    const std::string text = image.describe();
    EXPECT_NE(text.find("last mark \""), std::string::npos) << text;
    texts.insert(text.substr(text.find('\n')));
    return true;
  });
  EXPECT_TRUE(texts.contains("\n  torn FFFFFFFF  data of #1 write 0x0+0x1000\n"));
  EXPECT_TRUE(texts.contains("\n  absent   data of #1 write 0x0+0x1000\n"));
}

TEST(CrashImages, HashsEqualImagesEqually) {
  // One reaches the bytes by a write, the other has them on disk, with another way to the length.
  const OperationLog written{filled(4096, 1), {write(4096, filled(100, 2)), sync()}};
  Bytes bytes = filled(4096, 1);
  bytes.insert(bytes.end(), 100, std::byte{2});
  const OperationLog there{bytes, {}};
  std::vector<std::uint64_t> hashes;
  for (const OperationLog& log : {written, there}) {
    CrashImages(log, {}).enumerate_at(log.operations.size(), [&](const CrashImage& image) {
      hashes.push_back(image.hash);
      return true;
    });
  }
  ASSERT_EQ(hashes.size(), 2U);
  EXPECT_EQ(hashes[0], hashes[1]);
}

}  // namespace
}  // namespace crawlstore::testing
