// SPDX-License-Identifier: Apache-2.0
//
// A small file damaged in one place after another (reliability.md, T4): what a generation refers to
// gives a finding, free space gives none, and nothing crashes. CRAWLSTORE_LONG=1: every bit.
#include <cstdlib>

#include <gmock/gmock.h>

#include <crawlstore/verify.h>

#include "container/drum_sample.h"

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

  /// What both generations refer to, the head of the file included.
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

  /// True when verification says that something is wrong with the flipped byte.
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

  ContainerStore store_;
  std::unique_ptr<Storage> storage_;
};

bool is_long() {
  return std::getenv("CRAWLSTORE_LONG") != nullptr;
}

TEST_F(DamageTest, FindsEveryFlipInWhatIsUsed) {
  std::uint64_t count = 0;
  for (const Extent& extent : used()) {
    for (std::uint64_t offset = extent.offset_bytes; offset < extent.end_bytes(); ++offset) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        if (!is_long() && (bit != offset % 8 || offset % 5 != 0)) continue;
        ASSERT_TRUE(is_found(offset, std::byte{1} << bit)) << "offset " << offset << " bit " << bit;
        ++count;
      }
    }
  }
  RecordProperty("flips", std::to_string(count));
}

TEST_F(DamageTest, FindsEveryBitOfWhatIsReadFirst) {
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
      for (unsigned bit = 0; bit < 8; ++bit) {
        ASSERT_TRUE(is_found(page + offset, std::byte{1} << bit)) << page + offset;
      }
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

TEST_F(DamageTest, FindsTruncationAtEveryByte) {
  const std::uint64_t needed = store_.reader()->directory().superblock.high_water_bytes;
  for (std::uint64_t size = store_.size_bytes(); size-- > 0;) {
    if (!is_long() && size % 37 != 0 && size % 4096 > 1) continue;
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
  Random random(7);
  const auto areas = used();
  const Bytes whole = store_.bytes();
  int changed = 0;
  for (int round = 0; round < (is_long() ? 50'000 : 1'000); ++round) {
    const auto pick = [&] {
      const Extent& area = areas[random.below(areas.size())];
      return area.offset_bytes + random.below(area.length_bytes / 512) * 512;
    };
    const std::uint64_t to = pick();
    const std::uint64_t length = std::min<std::uint64_t>(512U << random.below(4), 4096 - to % 4096);
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
