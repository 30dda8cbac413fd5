// SPDX-License-Identifier: Apache-2.0
#include "format/superblock.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "format/format_samples.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

/// The identity page with `value` at `offset`; the checksum is wrong then.
template <class T>
Errc identity_with(std::size_t offset, T value) {
  return code_of(parse_identity(with(bytes_of_struct(sample_identity()), offset, value)));
}

template <class Page>
Page with_checksum(Page page, std::uint64_t seed) {
  page.checksum = checksum(std::as_bytes(std::span(&page, 1)).first(4088), seed);
  return page;
}

/// An identity page with any content and the right checksum.
Errc sealed_identity(const Identity& identity) {
  const auto seed = checksum_seed({}, ChecksumDomain::kIdentity, 0, 0, 0);
  return code_of(parse_identity(bytes_of_struct(with_checksum(identity, seed))));
}

TEST(Identity, ReturnsWhatWasSealed) {
  const auto identity = parse_identity(bytes_of_struct(sample_identity()));
  ASSERT_TRUE(identity);
  EXPECT_EQ(identity->uuid, sample_uuid());
  EXPECT_EQ(identity->key_seed, 0x0123456789abcdef);
  EXPECT_EQ(identity->created_us, kSampleTimeUs);
}

// spec: format.md#identity rule 1
TEST(Identity, RejectsOtherFilesAsNotOurs) {
  EXPECT_EQ(code_of(parse_identity({})), Errc::kNotACrawlFile);
  EXPECT_EQ(code_of(parse_identity(bytes_of("SQLite format 3"))), Errc::kNotACrawlFile);
  EXPECT_EQ(code_of(parse_identity(Bytes(4096))), Errc::kNotACrawlFile);
  EXPECT_EQ(identity_with(0, std::uint8_t{0x88}), Errc::kNotACrawlFile);
}

// spec: format.md#identity rule 1
TEST(Identity, ReportsAShortPageAsTruncated) {
  Bytes page = bytes_of_struct(sample_identity());
  for (const std::size_t length : {8u, 100u, 4095u}) {
    page.resize(length);
    EXPECT_EQ(code_of(parse_identity(page)), Errc::kTruncated);
    page.resize(4096);
  }
}

// spec: format.md#identity rule 2
TEST(Identity, NamesOtherVersionsAsSuch) {
  EXPECT_EQ(identity_with(offsetof(Identity, format_version), kFormatVersion + 1),
            Errc::kNewerVersion);
  EXPECT_EQ(identity_with(offsetof(Identity, format_version), kFormatVersion - 1),
            Errc::kOlderVersion);
}

// spec: format.md#identity rule 3
TEST(Identity, RejectsAnotherByteOrder) {
  Identity identity = sample_identity();
  identity.byte_order = 0x04030201;
  EXPECT_EQ(sealed_identity(identity), Errc::kIdentityDamaged);
}

// spec: format.md#identity rule 3
TEST(Identity, RejectsOtherUnitsAndChunks) {
  Identity identity = sample_identity();
  identity.unit_bytes = 8192;
  EXPECT_EQ(sealed_identity(identity), Errc::kIdentityDamaged);
  identity = sample_identity();
  identity.chunk_bytes = 4096;
  EXPECT_EQ(sealed_identity(identity), Errc::kIdentityDamaged);
}

// spec: format.md#identity rule 4
TEST(Identity, RejectsReservedBytesThatAreNotZero) {
  Identity identity = sample_identity();
  EXPECT_EQ(sealed_identity(identity), Errc{});
  identity.reserved.back() = std::byte{1};
  EXPECT_EQ(sealed_identity(identity), Errc::kIdentityDamaged);
}

// spec: format.md#identity rule 5
TEST(Identity, RejectsEverySingleBit) {
  for (std::size_t bit = 0; bit < 4096 * 8; ++bit) {
    Bytes page = bytes_of_struct(sample_identity());
    page[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    ASSERT_FALSE(parse_identity(page)) << bit;
  }
}

Result<Superblock> parse_at(const Superblock& superblock, std::uint32_t slot, std::uint32_t copy) {
  return parse_superblock(bytes_of_struct(superblock), sample_uuid(), slot, copy);
}

/// The copy with its checksum made right again, parsed at its own place.
Result<Superblock> parse_repaired(const Superblock& superblock) {
  const auto seed = checksum_seed(superblock.uuid, ChecksumDomain::kSuperblock,
                                  superblock.slot_index, superblock.copy_index, 0);
  return parse_at(with_checksum(superblock, seed), 1, 0);
}

TEST(Superblock, ReturnsWhatWasSealed) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100; ++i) {
    Superblock superblock{};
    superblock.generation = random() >> 2 | 1;
    superblock.pass = random();
    superblock.commit_time_us = static_cast<std::int64_t>(random());
    superblock.high_water_bytes = random();
    superblock.root_payload_bytes = random() | 1;
    superblock.root_checksum = random();
    const auto parsed = parse_at(sealed(superblock), 1, 0);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(bytes_of_struct(*parsed), bytes_of_struct(sealed(superblock)));
  }
}

// spec: container.md#superblock rule 1
TEST(Superblock, RejectsAnotherMagic) {
  Superblock superblock = sealed(sample_superblock());
  superblock.magic ^= 1;
  EXPECT_EQ(code_of(parse_repaired(superblock)), Errc::kSuperblockDamaged);
}

// spec: container.md#superblock rule 2
TEST(Superblock, RejectsASwappedCopy) {
  const auto parsed = parse_at(sealed(sample_superblock()), 1, 1);
  ASSERT_EQ(code_of(parsed), Errc::kSuperblockDamaged);
  EXPECT_EQ(parsed.error().offset, 64u * 1024);
}

// spec: container.md#superblock rule 2
TEST(Superblock, RejectsACopyOfTheOtherSlot) {
  EXPECT_EQ(code_of(parse_at(sealed(sample_superblock()), 0, 0)), Errc::kSuperblockDamaged);
}

// spec: container.md#superblock rule 2
TEST(Superblock, RejectsACopyOfAnotherFile) {
  const Superblock other = seal_superblock(sample_superblock(), {}, 1, 0);
  EXPECT_EQ(code_of(parse_at(other, 1, 0)), Errc::kSuperblockDamaged);
}

// spec: container.md#superblock rule 3
TEST(Superblock, RejectsEverySingleBit) {
  const Bytes whole = bytes_of_struct(sealed(sample_superblock()));
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    Bytes copy = whole;
    copy[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    ASSERT_FALSE(parse_superblock(copy, sample_uuid(), 1, 0)) << bit;
  }
}

// spec: container.md#superblock rule 3
TEST(Superblock, RejectsACopyThatIsCutShort) {
  Bytes copy = bytes_of_struct(sealed(sample_superblock()));
  copy.pop_back();
  EXPECT_EQ(code_of(parse_superblock(copy, sample_uuid(), 1, 0)), Errc::kSuperblockDamaged);
}

// spec: container.md#superblock rule 4
TEST(Superblock, RejectsAGenerationWithoutAPinByte) {
  Superblock superblock = sealed(sample_superblock());
  superblock.generation = kGenerationMax - 1;  // odd: of slot 1
  EXPECT_TRUE(parse_repaired(superblock));
  superblock.generation = kGenerationMax + 1;
  EXPECT_EQ(code_of(parse_repaired(superblock)), Errc::kSuperblockDamaged);
}

// spec: container.md#superblock rule 4
TEST(Superblock, RejectsAGenerationOfTheOtherSlot) {
  Superblock superblock = sample_superblock();
  superblock.generation = 2;
  EXPECT_EQ(code_of(parse_at(sealed(superblock), 1, 0)), Errc::kSuperblockDamaged);
  superblock.generation = 0;
  const Superblock zero = seal_superblock(superblock, sample_uuid(), 0, 0);
  EXPECT_EQ(code_of(parse_at(zero, 0, 0)), Errc::kSuperblockDamaged);
}

// spec: container.md#superblock rule 5
TEST(Superblock, RejectsReservedBytesThatAreNotZero) {
  Superblock superblock = sealed(sample_superblock());
  superblock.reserved[1000] = std::byte{1};
  EXPECT_EQ(code_of(parse_repaired(superblock)), Errc::kSuperblockDamaged);
}

// spec: container.md#superblock rule 5
TEST(Superblock, IgnoresReservedBytesBesideAnUnknownFeature) {
  for (auto field : {&Superblock::features_compat, &Superblock::features_ro_compat,
                     &Superblock::features_incompat}) {
    Superblock superblock = sealed(sample_superblock());
    superblock.reserved[1000] = std::byte{1};
    superblock.*field = std::uint64_t{1} << 40;
    EXPECT_TRUE(parse_repaired(superblock));
  }
}

// spec: container.md#superblock rule 8
TEST(Superblock, RejectsATombstoneThatSaysWhereARootIs) {
  Superblock tombstone{};
  tombstone.generation = 3;
  EXPECT_TRUE(is_tombstone(tombstone));
  EXPECT_TRUE(parse_at(sealed(tombstone), 1, 0));
  for (auto field : {&Superblock::high_water_bytes, &Superblock::root_offset_bytes,
                     &Superblock::root_checksum}) {
    Superblock broken = tombstone;
    broken.*field = 1;
    EXPECT_EQ(code_of(parse_at(sealed(broken), 1, 0)), Errc::kSuperblockDamaged);
  }
}

TEST(Superblock, TellsAnEmptyCopyFromAnInvalidOne) {
  Bytes copy(4096);
  EXPECT_TRUE(is_empty_copy(copy));
  EXPECT_EQ(code_of(parse_superblock(copy, sample_uuid(), 1, 0)), Errc::kSuperblockDamaged);
  copy.back() = std::byte{1};
  EXPECT_FALSE(is_empty_copy(copy));
}

TEST(Superblock, TakesCopiesThatDifferInPassForTheSameGeneration) {
  Superblock other = sample_superblock();
  other.pass = 7;
  const Superblock first = sealed(sample_superblock());
  EXPECT_TRUE(same_generation(first, seal_superblock(other, sample_uuid(), 1, 1)));
  other.root_checksum ^= 1;
  EXPECT_FALSE(same_generation(first, seal_superblock(other, sample_uuid(), 1, 1)));
}

// spec: container.md#feature-bits rule 1
TEST(FeatureSet, RejectsEveryUnknownIncompatBit) {
  for (int bit = 0; bit < 64; ++bit) {
    Superblock superblock = sample_superblock();
    superblock.features_incompat = std::uint64_t{1} << bit;
    const Errc expected = bit <= 8 ? Errc{} : Errc::kUnknownFeature;
    EXPECT_EQ(code_of(check_features(superblock, false)), expected);
  }
}

// spec: container.md#feature-bits rule 1
TEST(FeatureSet, AllowsReadingWithAnUnknownRoCompatBit) {
  Superblock superblock = sample_superblock();
  superblock.features_ro_compat = 1;
  EXPECT_TRUE(check_features(superblock, false));
  EXPECT_EQ(code_of(check_features(superblock, true)), Errc::kReadOnlyFeature);
}

// spec: container.md#feature-bits rule 1
TEST(FeatureSet, IgnoresUnknownCompatBits) {
  Superblock superblock = sample_superblock();
  superblock.features_compat = ~std::uint64_t{0};
  EXPECT_TRUE(check_features(superblock, true));
}

}  // namespace
}  // namespace crawlstore::format
