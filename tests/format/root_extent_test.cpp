// SPDX-License-Identifier: Apache-2.0
#include "format/root_extent.h"

#include "format_samples.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

/// A root of `payload_bytes` bytes at 81,920, and the superblock that leads to it.
struct SealedRoot {
  explicit SealedRoot(std::size_t payload_bytes) {
    superblock.features_incompat = 5;
    superblock.high_water_bytes = kDataStart + root_extent_bytes(payload_bytes);
    bytes = seal_root(Bytes(payload_bytes, std::byte{7}), sample_identity(), superblock);
  }
  [[nodiscard]] std::span<const std::byte> end() const {
    return std::span(bytes).last(sizeof(RootEnd));
  }
  [[nodiscard]] std::uint64_t end_bytes() const { return kDataStart + bytes.size(); }
  void store_checksum() {
    superblock.root_checksum =
        checksum(std::span(bytes).first(bytes.size() - 8),
                 extent_seed(sample_uuid(), ChecksumDomain::kRoot, {1}, kDataStart));
    store(bytes.data() + bytes.size() - 8, superblock.root_checksum);
  }

  Superblock superblock = sample_superblock();
  Bytes bytes;
};

TEST(RootExtent, HasRoomForPayloadAndEnd) {
  EXPECT_EQ(root_extent_bytes(8), 4096u);
  EXPECT_EQ(root_extent_bytes(3976), 4096u);
  EXPECT_EQ(root_extent_bytes(3984), 8192u);
  EXPECT_EQ(root_extent_bytes(kRootBytesMax), kRootBytesMax + 4096);
}

TEST(RootExtent, IsFoundByItsEnd) {
  for (const std::size_t payload_bytes : {8u, 3976u, 3984u, 100'000u}) {
    const SealedRoot root(payload_bytes);
    EXPECT_TRUE(is_root_whole(root.bytes, sample_uuid(), root.superblock));
    EXPECT_TRUE(check_root_end(root.bytes, sample_uuid(), root.superblock));
    const auto found = superblock_of_root_end(root.end(), root.end_bytes(), sample_uuid());
    ASSERT_TRUE(found);
    EXPECT_TRUE(same_generation(*found, sealed(root.superblock)));
    EXPECT_EQ(bytes_of_struct(identity_of_root_end(root.end())),
              bytes_of_struct(sample_identity()));
  }
}

// spec: container.md#directory rule 17
TEST(RootExtent, RejectsEverySingleBit) {
  const SealedRoot root(80);
  for (std::size_t bit = 0; bit < root.bytes.size() * 8; ++bit) {
    Bytes bytes = root.bytes;
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    ASSERT_FALSE(is_root_whole(bytes, sample_uuid(), root.superblock)) << bit;
  }
}

// spec: container.md#directory rule 17
TEST(RootExtent, RejectsAnEndThatSaysSomethingElse) {
  for (std::size_t place = 0; place < sizeof(RootEnd) - 8; ++place) {
    // These stand in no superblock: verifying compares them with the identity page.
    if (place >= offsetof(RootEnd, key_seed) && place < offsetof(RootEnd, generation)) continue;
    SealedRoot root(80);
    root.bytes[root.bytes.size() - sizeof(RootEnd) + place] ^= std::byte{1};
    root.store_checksum();
    EXPECT_TRUE(is_root_whole(root.bytes, sample_uuid(), root.superblock));
    const auto checked = check_root_end(root.bytes, sample_uuid(), root.superblock);
    EXPECT_EQ(code_of(checked), Errc::kDirectoryInvalid) << place;
    EXPECT_EQ(checked.error().offset, root.end_bytes() - sizeof(RootEnd));
  }
}

TEST(RootExtent, IsNoRootOfAnotherPlaceOrFile) {
  const SealedRoot root(80);
  Uuid other = sample_uuid();
  other[3] ^= std::byte{1};
  EXPECT_FALSE(superblock_of_root_end(root.end(), root.end_bytes(), other));
  EXPECT_FALSE(superblock_of_root_end(root.end(), root.end_bytes() + 4096, sample_uuid()));
  EXPECT_FALSE(superblock_of_root_end(root.end().first(119), root.end_bytes(), sample_uuid()));
  Bytes end(root.end().begin(), root.end().end());
  for (const auto& [place, number] :
       std::initializer_list<std::pair<std::size_t, std::uint64_t>>{{8, 7},
                                                                    {48, 0},
                                                                    {48, kGenerationMax + 1},
                                                                    {88, 4096},
                                                                    {96, 81'921},
                                                                    {104, 0},
                                                                    {104, 81}}) {
    Bytes broken = end;
    store(broken.data() + place, number);
    EXPECT_FALSE(superblock_of_root_end(broken, root.end_bytes(), sample_uuid())) << place;
  }
}

Errc root_place(std::uint64_t offset, std::uint64_t payload, std::uint64_t high_water) {
  Superblock superblock = sample_superblock();
  superblock.root_offset_bytes = offset;
  superblock.root_payload_bytes = payload;
  superblock.high_water_bytes = high_water;
  return code_of(check_root_place(superblock));
}

// spec: container.md#superblock rule 6
TEST(RootExtent, RejectsAHighWaterMarkOutOfRange) {
  EXPECT_EQ(root_place(81'920, 80, 86'016), Errc{});
  EXPECT_EQ(root_place(81'920, 80, 86'017), Errc::kDirectoryInvalid);
  EXPECT_EQ(root_place(81'920, 80, kFileBytesMax), Errc{});
  EXPECT_EQ(root_place(81'920, 80, kFileBytesMax + kUnitBytes), Errc::kDirectoryInvalid);
}

// spec: container.md#superblock rule 7
TEST(RootExtent, RejectsAPlaceOutsideTheData) {
  EXPECT_EQ(root_place(77'824, 80, 86'016), Errc::kDirectoryInvalid);
  EXPECT_EQ(root_place(81'928, 80, 90'112), Errc::kDirectoryInvalid);
  EXPECT_EQ(root_place(86'016, 80, 86'016), Errc::kDirectoryInvalid);
  EXPECT_EQ(root_place(0 - kUnitBytes, 80, 86'016), Errc::kDirectoryInvalid);
}

// spec: container.md#superblock rule 7
TEST(RootExtent, RejectsAWrongLength) {
  EXPECT_EQ(root_place(81'920, 0, 86'016), Errc::kDirectoryInvalid);
  EXPECT_EQ(root_place(81'920, 81, 86'016), Errc::kDirectoryInvalid);
  EXPECT_EQ(root_place(81'920, 4104, 86'016), Errc::kDirectoryInvalid);
  EXPECT_EQ(root_place(81'920, ~std::uint64_t{7}, 86'016), Errc::kDirectoryInvalid);
  EXPECT_EQ(root_place(81'920, kRootBytesMax + 8, std::uint64_t{1} << 40), Errc::kDirectoryInvalid);
}

}  // namespace
}  // namespace crawlstore::format
