// SPDX-License-Identifier: Apache-2.0
#include "superblock.h"

#include <algorithm>

#include "base/assert.h"
#include "checksum.h"
#include "endian.h"

namespace crawlstore::format {

namespace {

constexpr std::size_t kCoveredBytes = 4088;
constexpr Uuid kNoUuid{};

template <class T>
std::uint64_t page_checksum(const T& page, std::uint64_t seed) {
  return checksum(std::as_bytes(std::span(&page, 1)).first(kCoveredBytes), seed);
}

std::uint64_t identity_seed() {
  return checksum_seed(kNoUuid, ChecksumDomain::kIdentity, 0, 0, 0);
}

std::uint64_t superblock_seed(const Superblock& superblock) {
  return checksum_seed(superblock.uuid, ChecksumDomain::kSuperblock, superblock.slot_index,
                       superblock.copy_index, 0);
}

bool has_unknown_feature(const Superblock& superblock) {
  return (superblock.features_compat & ~kKnownCompat) != 0 ||
         (superblock.features_ro_compat & ~kKnownRoCompat) != 0 ||
         (superblock.features_incompat & ~kKnownIncompat) != 0;
}

}  // namespace

Result<Identity> parse_identity(std::span<const std::byte> page) {
  if (page.size() < sizeof kIdentityMagic || load<std::uint64_t>(page.data()) != kIdentityMagic) {
    return fail(Errc::kNotACrawlFile, "the magic number is missing", 0);
  }
  if (page.size() < sizeof(Identity)) {
    return fail(Errc::kTruncated, "the file ends inside the identity page", page.size());
  }
  const auto identity = load_struct<Identity>(page.data());
  if (identity.format_version != kFormatVersion) {
    const bool newer = identity.format_version > kFormatVersion;
    return fail(newer ? Errc::kNewerVersion : Errc::kOlderVersion,
                newer ? "written by a newer format version" : "written by an older format version",
                offsetof(Identity, format_version));
  }
  if (identity.byte_order != kByteOrderMark) {
    return fail(Errc::kIdentityDamaged, "the byte order mark is wrong",
                offsetof(Identity, byte_order));
  }
  if (identity.unit_bytes != kUnitBytes || identity.chunk_bytes != kChunkBytes) {
    return fail(Errc::kIdentityDamaged, "the unit or the chunk size is wrong",
                offsetof(Identity, unit_bytes));
  }
  if (!is_zero(identity.reserved)) {
    return fail(Errc::kIdentityDamaged, "reserved bytes are not zero",
                offsetof(Identity, reserved));
  }
  if (identity.checksum != page_checksum(identity, identity_seed())) {
    return fail(Errc::kIdentityDamaged, "the checksum of the identity page is wrong", 0);
  }
  return identity;
}

Identity seal_identity(Identity identity) {
  identity.magic = kIdentityMagic;
  identity.byte_order = kByteOrderMark;
  identity.format_version = kFormatVersion;
  identity.unit_bytes = kUnitBytes;
  identity.chunk_bytes = kChunkBytes;
  identity.reserved.fill(std::byte{0});
  identity.checksum = page_checksum(identity, identity_seed());
  return identity;
}

Result<Superblock> parse_superblock(std::span<const std::byte> copy, const Uuid& uuid,
                                    std::uint32_t slot_index, std::uint32_t copy_index) {
  CRAWLSTORE_ASSERT(slot_index < 2 && copy_index < 2);
  const auto damaged = [&](const char* text) {
    return fail(Errc::kSuperblockDamaged, text, kSuperblockOffsets[slot_index][copy_index]);
  };
  if (copy.size() != sizeof(Superblock)) {
    return damaged("a superblock copy is cut short");
  }
  const auto superblock = load_struct<Superblock>(copy.data());
  if (superblock.magic != kSuperblockMagic) {
    return damaged("the magic number of a superblock copy is wrong");
  }
  if (superblock.uuid != uuid) {
    return damaged("a superblock copy belongs to another file");
  }
  if (superblock.slot_index != slot_index || superblock.copy_index != copy_index) {
    return damaged("a superblock copy belongs to another place");
  }
  if (superblock.checksum != page_checksum(superblock, superblock_seed(superblock))) {
    return damaged("the checksum of a superblock copy is wrong");
  }
  if (superblock.generation == 0 || superblock.generation > kGenerationMax ||
      superblock.generation % 2 != slot_index) {
    return damaged("a superblock copy holds no generation of its slot");
  }
  if (!has_unknown_feature(superblock) && !is_zero(superblock.reserved)) {
    return damaged("reserved bytes of a superblock copy are not zero");
  }
  if (is_tombstone(superblock) &&
      (superblock.high_water_bytes != 0 || superblock.root_offset_bytes != 0 ||
       superblock.root_checksum != 0)) {
    return damaged("a superblock copy without a root says where one is");
  }
  return superblock;
}

Superblock seal_superblock(Superblock superblock, const Uuid& uuid, std::uint32_t slot_index,
                           std::uint32_t copy_index) {
  superblock.magic = kSuperblockMagic;
  superblock.slot_index = slot_index;
  superblock.copy_index = copy_index;
  superblock.uuid = uuid;
  superblock.reserved.fill(std::byte{0});
  superblock.checksum = page_checksum(superblock, superblock_seed(superblock));
  return superblock;
}

bool same_generation(const Superblock& a, const Superblock& b) {
  Superblock other = b;
  other.slot_index = a.slot_index;
  other.copy_index = a.copy_index;
  other.pass = a.pass;
  other.checksum = a.checksum;
  const auto left = std::as_bytes(std::span(&a, 1));
  const auto right = std::as_bytes(std::span(&other, 1));
  return std::equal(left.begin(), left.end(), right.begin());
}

bool is_empty_copy(std::span<const std::byte> copy) {
  return copy.size() == kSuperblockBytes && is_zero(copy);
}

Result<void> check_features(const Superblock& superblock, bool for_writing,
                            std::uint64_t known_incompat) {
  if ((superblock.features_incompat & ~known_incompat) != 0) {
    return fail(Errc::kUnknownFeature, "the file uses a feature that this version cannot read");
  }
  if (for_writing && (superblock.features_ro_compat & ~kKnownRoCompat) != 0) {
    return fail(Errc::kReadOnlyFeature, "the file uses a feature that this version cannot write");
  }
  return {};
}

}  // namespace crawlstore::format
