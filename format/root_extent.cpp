// SPDX-License-Identifier: Apache-2.0
#include "root_extent.h"

#include <algorithm>
#include <cstring>

#include "checksum.h"
#include "endian.h"
#include "superblock.h"

namespace crawlstore::format {
namespace {

RootEnd end_of(const Superblock& superblock, const Identity& identity) {
  return {kRootEndMagic,
          identity.format_version,
          0,
          identity.uuid,
          identity.key_seed,
          identity.created_us,
          superblock.generation,
          superblock.features_compat,
          superblock.features_ro_compat,
          superblock.features_incompat,
          superblock.commit_time_us,
          superblock.high_water_bytes,
          superblock.root_offset_bytes,
          superblock.root_payload_bytes,
          superblock.root_checksum};
}

/// The checksum of all bytes but the checksum itself.
std::uint64_t root_checksum(std::span<const std::byte> bytes, const Uuid& uuid,
                            const Superblock& superblock) {
  return checksum(bytes.first(bytes.size() - sizeof(RootEnd::root_checksum)),
                  extent_seed(uuid, ChecksumDomain::kRoot, {superblock.generation},
                              superblock.root_offset_bytes));
}

RootEnd load_end(std::span<const std::byte> bytes) {
  return load_struct<RootEnd>(bytes.last<sizeof(RootEnd)>().data());
}

}  // namespace

std::uint64_t root_extent_bytes(std::uint64_t payload_bytes) {
  return round_up(payload_bytes + sizeof(RootEnd), kUnitBytes);
}

Extent root_extent(const Superblock& superblock) {
  return {superblock.root_offset_bytes, root_extent_bytes(superblock.root_payload_bytes)};
}

Result<void> check_root_place(const Superblock& superblock) {
  const std::uint64_t high_water = superblock.high_water_bytes;
  const std::uint64_t offset = superblock.root_offset_bytes;
  const std::uint64_t payload = superblock.root_payload_bytes;
  const std::uint64_t place =
      kSuperblockOffsets[superblock.slot_index & 1][superblock.copy_index & 1];
  if (high_water > kFileBytesMax || high_water % kUnitBytes != 0) {
    return fail(Errc::kDirectoryInvalid, "the high water mark is out of range", place);
  }
  if (offset < kDataStart || offset > high_water || offset % kUnitBytes != 0) {
    return fail(Errc::kDirectoryInvalid, "the directory root starts outside the data", place);
  }
  if (payload == 0 || payload % 8 != 0 || payload > kRootBytesMax ||
      root_extent(superblock).length_bytes > high_water - offset) {
    return fail(Errc::kDirectoryInvalid, "the length of the directory root is out of range", place);
  }
  return {};
}

std::vector<std::byte> seal_root(std::span<const std::byte> payload, const Identity& identity,
                                 Superblock& superblock) {
  superblock.root_payload_bytes = payload.size();
  superblock.root_checksum = 0;
  std::vector<std::byte> bytes(root_extent_bytes(payload.size()));
  std::copy(payload.begin(), payload.end(), bytes.begin());
  std::byte* const end = bytes.data() + bytes.size() - sizeof(RootEnd);
  store_struct(end, end_of(superblock, identity));
  superblock.root_checksum = root_checksum(bytes, identity.uuid, superblock);
  store_struct(end, end_of(superblock, identity));
  return bytes;
}

bool is_root_whole(std::span<const std::byte> bytes, const Uuid& uuid,
                   const Superblock& superblock) {
  return bytes.size() >= sizeof(RootEnd) &&
         load_end(bytes).root_checksum == superblock.root_checksum &&
         root_checksum(bytes, uuid, superblock) == superblock.root_checksum;
}

Identity identity_of_root_end(std::span<const std::byte> end) {
  const RootEnd found = load_end(end);
  Identity identity{};
  identity.uuid = found.uuid;
  identity.key_seed = found.key_seed;
  identity.created_us = found.created_us;
  return seal_identity(identity);
}

Result<void> check_root_end(std::span<const std::byte> bytes, const Uuid& uuid,
                            const Superblock& superblock) {
  const RootEnd end = load_end(bytes);
  Identity identity{};
  identity.format_version = kFormatVersion;
  identity.uuid = uuid;
  identity.key_seed = end.key_seed;  // verifying compares both with the identity page
  identity.created_us = end.created_us;
  const RootEnd expected = end_of(superblock, identity);
  if (std::memcmp(&end, &expected, sizeof end) == 0) return {};
  return fail(Errc::kDirectoryInvalid, "the end of the directory root and its superblock differ",
              superblock.root_offset_bytes + bytes.size() - sizeof(RootEnd));
}

std::optional<Superblock> superblock_of_root_end(std::span<const std::byte> end,
                                                 std::uint64_t end_bytes, const Uuid& uuid) {
  if (end.size() != sizeof(RootEnd)) return std::nullopt;
  const RootEnd found = load_end(end);
  if (found.magic != kRootEndMagic || found.format_version != kFormatVersion ||
      found.reserved != 0 || found.uuid != uuid || found.generation == 0 ||
      found.generation > kGenerationMax) {
    return std::nullopt;
  }
  Superblock superblock{};
  superblock.slot_index = static_cast<std::uint32_t>(found.generation % 2);
  superblock.generation = found.generation;
  superblock.features_compat = found.features_compat;
  superblock.features_ro_compat = found.features_ro_compat;
  superblock.features_incompat = found.features_incompat;
  superblock.commit_time_us = found.commit_time_us;
  superblock.high_water_bytes = found.high_water_bytes;
  superblock.root_offset_bytes = found.root_offset_bytes;
  superblock.root_payload_bytes = found.root_payload_bytes;
  superblock.root_checksum = found.root_checksum;
  superblock = seal_superblock(superblock, uuid, superblock.slot_index, 0);
  if (!check_root_place(superblock)) return std::nullopt;
  if (root_extent(superblock).end_bytes() != end_bytes) return std::nullopt;
  return superblock;
}

}  // namespace crawlstore::format
