// SPDX-License-Identifier: Apache-2.0
//
// A small file damaged in one place after another (spec/features.md, T4): what a generation refers
// to gives a finding, free space gives none, and nothing crashes. CRAWLSTORE_LONG=1: every bit,
// else those that CRAWLSTORE_TEST_SEED chooses.
#include <gmock/gmock.h>

#include <crawlstore/tools/verify.h>

#include "container/drum_sample.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

/// Two generations with a whole DRUM each, in 250 KiB.
class DamageTest : public ::testing::Test {
 protected:
  DamageTest() {
    const auto writer = store_.writer();
    auto sample = drum_sample(*writer);
    put_sample(*writer, sample);
    must(writer->commit());
    sample.segments[kKeyLog].run_ids.back().value += 3;
    sample.segments[kAuxLog].run_ids.back().value += 3;
    put_sample(*writer, sample);
    must(writer->commit());
    storage_ = store_.storage(OpenMode::kWrite);
    EXPECT_EQ(text_of(store_.verified(VerifyLevel::kDeep)), "");
  }

  /// The extents that both generations refer to, the head of the file included.
  [[nodiscard]] std::vector<Extent> used() const {
    std::vector<Extent> extents{{0, format::kDataStart}};
    for (const bool previous : {false, true}) {
      container::ReaderOptions options;
      options.previous = previous;
      const auto live = store_.reader(options)->directory().live_extents();
      extents.insert(extents.end(), live.begin(), live.end());
    }
    std::sort(extents.begin(), extents.end());
    extents.erase(std::unique(extents.begin(), extents.end()), extents.end());
    return extents;
  }

  /// Whether verification says that something is wrong with the flipped byte.
  bool is_found(std::uint64_t offset, std::byte mask) {
    Bytes byte = read_bytes(*storage_, offset, 1);
    byte[0] ^= mask;
    must(storage_->write(offset, byte));
    VerifyOptions options;
    options.level = VerifyLevel::kNormal;
    const auto report = verify(*storage_, options);
    byte[0] ^= mask;
    must(storage_->write(offset, byte));
    return !report || !report->findings.empty();
  }

  /// Flips a bit of the byte, in the long run each.
  void expect_found(std::uint64_t offset) {
    const auto chosen = static_cast<unsigned>(random_.below(8));
    for (unsigned bit = 0; bit < 8; ++bit) {
      if (bit != chosen && !is_long()) continue;
      ASSERT_TRUE(is_found(offset, std::byte{1} << bit)) << "offset " << offset << " bit " << bit;
      ++flip_count_;
    }
  }

  /// The distance to the next place: `mean` on the average, in the long run 1.
  std::uint64_t gap(std::uint64_t mean) { return is_long() ? 1 : 1 + random_.below(2 * mean - 1); }

  ContainerStore store_;
  std::unique_ptr<Storage> storage_;
  SeededRandom random_;
  std::uint64_t flip_count_ = 0;
};

TEST_F(DamageTest, FindsEveryFlipInWhatIsUsed) {
  for (const Extent& extent : used()) {
    std::uint64_t offset = extent.offset_bytes + gap(30) - 1;
    for (; offset < extent.end_bytes(); offset += gap(30)) {
      ASSERT_NO_FATAL_FAILURE(expect_found(offset));
    }
  }
  EXPECT_GT(flip_count_, 2000U);
  RecordProperty("flips", std::to_string(flip_count_));
}

TEST_F(DamageTest, FindsAFlipInEachByteOfWhatIsReadFirst) {
  constexpr std::uint64_t kFieldsEnd = 128;
  std::vector<std::uint64_t> pages{0};
  for (const auto& slot : format::kSuperblockOffsets)
    pages.insert(pages.end(), slot.begin(), slot.end());
  for (const bool previous : {false, true}) {
    container::ReaderOptions options;
    options.previous = previous;
    const auto reader = store_.reader(options);
    pages.push_back(reader->directory().root_extent.offset_bytes);
    pages.push_back(reader->directory().tables.front()->ref.offset_bytes);
  }
  for (const std::uint64_t page : pages) {
    for (std::uint64_t offset = 0; offset < format::kUnitBytes; ++offset) {
      if (offset >= kFieldsEnd && offset < format::kUnitBytes - 8) continue;
      ASSERT_NO_FATAL_FAILURE(expect_found(page + offset));
    }
  }
}

TEST_F(DamageTest, IgnoresFlipsInFreeSpace) {
  const auto areas = used();
  std::uint64_t count = 0;
  std::uint64_t offset = 0;
  for (auto area = areas.begin(); offset < store_.size_bytes(); ++offset) {
    while (area != areas.end() && area->end_bytes() <= offset) ++area;
    if (area != areas.end() && area->offset_bytes <= offset) {
      offset = area->end_bytes() - 1;
      continue;
    }
    if (offset % 64 != 0 && !is_long()) continue;
    ASSERT_FALSE(is_found(offset, std::byte{1})) << offset;
    ++count;
  }
  RecordProperty("free_flips", std::to_string(count));
  EXPECT_GT(count, 0U);
}

/// At all ends of units, and at some bytes between them.
TEST_F(DamageTest, FindsTruncationAtEveryByte) {
  const std::uint64_t needed = store_.reader()->directory().superblock.high_water_bytes;
  std::uint64_t next = store_.size_bytes() - 1;
  for (std::uint64_t size = next + 1; size-- > 0;) {
    if (size > next && size % format::kUnitBytes > 1) continue;
    if (size <= next) next = size - std::min(size, gap(200));
    must(storage_->truncate(size));
    VerifyOptions options;
    options.level = VerifyLevel::kDeep;
    const auto report = verify(*storage_, options);
    ASSERT_EQ(!report || report->damaged(), size < needed) << size;
  }
}

Bytes piece(const Bytes& bytes, std::uint64_t from, std::uint64_t length) {
  Bytes found(length);
  for (std::uint64_t i = 0; i < length && from + i < bytes.size(); ++i) found[i] = bytes[from + i];
  return found;
}

TEST_F(DamageTest, FindsRangesThatWereSwappedOrShifted) {
  const auto areas = used();
  const Bytes whole = store_.bytes();
  int changed = 0;
  for (int round = 0; round < (is_long() ? 50'000 : 1'000); ++round) {
    const auto pick = [&] {
      const Extent& area = areas[random_.below(areas.size())];
      return area.offset_bytes + random_.below(area.length_bytes / 512) * 512;
    };
    const std::uint64_t to = pick();
    const std::uint64_t length =
        std::min<std::uint64_t>(512U << random_.below(4), 4096 - to % 4096);
    const std::uint64_t from = round % 4 == 0 ? to + 8 : pick();
    Bytes moved(length);
    if (round % 3 != 0) moved = piece(whole, from, length);
    const Bytes before = piece(whole, to, length);
    must(storage_->write(to, moved));
    const auto report = verify(*storage_, {});
    ASSERT_EQ(!report || !report->findings.empty(), moved != before) << to << " " << from;
    changed += moved != before ? 1 : 0;
    must(storage_->write(to, before));
  }
  EXPECT_GT(changed, 300);
}

}  // namespace
}  // namespace crawlstore::testing
