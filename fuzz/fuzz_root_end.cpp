// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no bytes crash the search for the ends of roots;
//   - what is taken for the end of a root leads to a root that ends there, in a place where one may
//     lie, by a superblock that would be valid;
//   - an extent that is whole for its superblock says the same as it, or is refused.
//
// Input: 96 bytes, the end of a root; 8 bytes, the place where it ends; then the start of its
// extent. The magic is made right, and for the last check place, length and checksum.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "format/checksum.h"
#include "format/endian.h"
#include "format/root_extent.h"
#include "format/superblock.h"
#include "require.h"

namespace {

using namespace crawlstore;
using namespace crawlstore::format;
using crawlstore::fuzz::require;

void check_search(const RootEnd& end, std::uint64_t end_bytes) {
  const auto bytes = std::as_bytes(std::span(&end, 1));
  const auto found = superblock_of_root_end(bytes, end_bytes, end.uuid);
  if (!found) return;
  require(check_root_place(*found).has_value());
  require(root_extent(*found).end_bytes() == end_bytes);
  require(found->generation == end.generation && found->root_checksum == end.root_checksum);
  const auto copy = std::as_bytes(std::span(&*found, 1));
  require(parse_superblock(copy, end.uuid, found->slot_index, 0).has_value());
}

void check_extent(const RootEnd& end, std::span<const std::byte> content) {
  Superblock superblock{};
  superblock.generation = end.generation;
  superblock.features_incompat = end.features_incompat;
  superblock.high_water_bytes = end.high_water_bytes;
  superblock.root_offset_bytes = end.root_offset_bytes;
  std::vector<std::byte> bytes =
      seal_root(content, identity_of_root_end(std::as_bytes(std::span(&end, 1))), superblock);
  require(is_root_whole(bytes, end.uuid, superblock));
  require(check_root_end(bytes, end.uuid, superblock).has_value());
  // With another end and a right checksum.
  RootEnd other = end;
  const auto seed =
      extent_seed(end.uuid, ChecksumDomain::kRoot, {end.generation}, superblock.root_offset_bytes);
  std::byte* const place = bytes.data() + bytes.size() - sizeof other;
  const auto same = load_struct<RootEnd>(place);
  store_struct(place, other);
  other.root_checksum = superblock.root_checksum =
      checksum(std::span(bytes).first(bytes.size() - 8), seed);
  store_struct(place, other);
  require(is_root_whole(bytes, end.uuid, superblock));
  const bool is_same = std::equal(bytes.end() - sizeof other, bytes.end() - 8,
                                  std::as_bytes(std::span(&same, 1)).begin());
  require(check_root_end(bytes, end.uuid, superblock).has_value() == is_same);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> bytes(std::max<std::size_t>(size, sizeof(RootEnd) + 8));
  std::copy_n(std::as_bytes(std::span(data, size)).begin(), size, bytes.begin());
  auto end = load_struct<RootEnd>(bytes.data());
  end.magic = kRootEndMagic;
  end.format_version = kFormatVersion;
  end.reserved = 0;
  check_search(end, load<std::uint64_t>(bytes.data() + sizeof end));
  check_extent(end, std::span<const std::byte>(bytes).subspan(sizeof end + 8));
  return 0;
}
