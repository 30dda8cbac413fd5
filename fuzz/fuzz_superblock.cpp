// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no page crashes the parsers or makes them read outside it;
//   - an identity page is accepted only with a right checksum, and sealing it again changes
//   nothing;
//   - a superblock copy is accepted only at its own place, and never at another one;
//   - an accepted copy without unknown features is the same after it was sealed again;
//   - a root place that is accepted lies inside the data and below the high water mark;
//   - a copy of an unknown incompat feature is never usable.
//
// Input: one byte (bit 0: copy, bit 1: slot, bit 2: identity page), then the page. A page that is
// too short is filled up with zeros. It is parsed as it is, then with place, uuid and checksum made
// right, so that the checks behind the checksum are reached.

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

template <class Page>
Page repaired(Page page, std::uint64_t seed) {
  page.checksum = checksum(std::as_bytes(std::span(&page, 1)).first(4088), seed);
  return page;
}

template <class Page>
bool same_bytes(const Page& a, const Page& b) {
  return checksum(std::as_bytes(std::span(&a, 1)), 1) ==
         checksum(std::as_bytes(std::span(&b, 1)), 1);
}

void check_identity(std::span<const std::byte> bytes, std::span<const std::byte> page) {
  if (const auto parsed = parse_identity(bytes))
    require(same_bytes(seal_identity(*parsed), *parsed));
  const auto seed = checksum_seed({}, ChecksumDomain::kIdentity, 0, 0, 0);
  const auto identity = repaired(load_struct<Identity>(page.data()), seed);
  const auto parsed = parse_identity(std::as_bytes(std::span(&identity, 1)));
  if (parsed) require(same_bytes(seal_identity(*parsed), *parsed));
}

void check_superblock(std::span<const std::byte> page, std::uint32_t slot, std::uint32_t copy) {
  auto superblock = load_struct<Superblock>(page.data());
  const Uuid uuid = superblock.uuid;
  require(!parse_superblock(page, uuid, slot, copy) || !is_empty_copy(page));
  superblock.magic = kSuperblockMagic;
  superblock.slot_index = slot;
  superblock.copy_index = copy;
  superblock =
      repaired(superblock, checksum_seed(uuid, ChecksumDomain::kSuperblock, slot, copy, 0));
  const auto bytes = std::as_bytes(std::span(&superblock, 1));
  const auto parsed = parse_superblock(bytes, uuid, slot, copy);
  require(!parse_superblock(bytes, uuid, 1 - slot, copy));
  require(!parse_superblock(bytes, uuid, slot, 1 - copy));
  if (!parsed) return;

  require(parsed->generation % 2 == slot && same_generation(*parsed, superblock));
  const bool is_known = (parsed->features_compat & ~kKnownCompat) == 0 &&
                        (parsed->features_ro_compat & ~kKnownRoCompat) == 0 &&
                        (parsed->features_incompat & ~kKnownIncompat) == 0;
  if (is_known) require(same_bytes(seal_superblock(*parsed, uuid, slot, copy), *parsed));
  const bool is_usable = check_features(*parsed, false).has_value();
  require(is_usable == ((parsed->features_incompat & ~kKnownIncompat) == 0));
  if (!check_root_place(*parsed)) return;
  require(parsed->root_offset_bytes >= kDataStart && parsed->high_water_bytes <= kFileBytesMax);
  require(parsed->root_offset_bytes + parsed->root_payload_bytes <= parsed->high_water_bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  std::vector<std::byte> page(bytes.begin(), bytes.end());
  page.resize(kSuperblockBytes);
  if ((data[0] & 4) != 0) {
    check_identity(bytes, page);
  } else {
    check_superblock(page, data[0] >> 1 & 1, data[0] & 1);
  }
  return 0;
}
