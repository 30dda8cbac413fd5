// SPDX-License-Identifier: Apache-2.0
//
// Invariants: an identity is taken from a page or a root whose checksum is right; a directory is
// taken when all its pieces are whole. Nothing else of the file is believed here.
#include "rescue/survey.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "container/newer_roots.h"
#include "container/superblocks.h"
#include "format/endian.h"
#include "format/root_extent.h"

namespace crawlstore::rescue {
namespace {

constexpr std::uint64_t kStepBytes = std::uint64_t{1} << 20;

bool is_whole_root(Storage& storage, const format::Superblock& superblock, const Uuid& uuid,
                   std::vector<std::byte>& bytes) {
  const Extent extent = format::root_extent(superblock);
  bytes.resize(extent.length_bytes);
  const auto got = storage.read(extent.offset_bytes, bytes);
  return got && *got == bytes.size() && format::is_root_whole(bytes, uuid, superblock);
}

/// The identity that a root names which a superblock copy leads to.
std::optional<format::Identity> identity_of_copies(Storage& storage) {
  std::array<std::byte, format::kSuperblockBytes> copy{};
  std::vector<std::byte> root;
  for (const auto& place : format::kSuperblockPlaces) {
    const auto got = storage.read(place.offset_bytes, copy);
    if (!got || *got < copy.size()) continue;
    const Uuid uuid = format::load_struct<format::Superblock>(copy.data()).uuid;
    const auto superblock = format::parse_superblock(copy, uuid, place.slot, place.copy);
    if (!superblock || superblock->root_payload_bytes == 0) continue;
    if (!format::check_root_place(*superblock)) continue;
    if (!is_whole_root(storage, *superblock, uuid, root)) continue;
    return format::identity_of_root_end(std::span(root).last(sizeof(format::RootEnd)));
  }
  return std::nullopt;
}

/// The same of any whole root in the file.
Result<std::optional<format::Identity>> identity_of_roots(Storage& storage,
                                                          const Advance& advance) {
  CRAWLSTORE_TRY(const auto size, storage.size());
  std::array<std::byte, sizeof(format::RootEnd)> end{};
  std::vector<std::byte> root;
  std::uint64_t told = format::kDataStart;
  for (std::uint64_t at = format::kDataStart + format::kUnitBytes; at <= size;
       at += format::kUnitBytes) {
    if (at - told >= kStepBytes) {
      CRAWLSTORE_TRY(advance(at - told));
      told = at;
    }
    const auto got = storage.read(at - end.size(), end);
    if (!got || *got < end.size()) continue;
    const auto found = format::load_struct<format::RootEnd>(end.data());
    const auto superblock = format::superblock_of_root_end(end, at, found.uuid);
    if (superblock && is_whole_root(storage, *superblock, found.uuid, root)) {
      return std::optional(format::identity_of_root_end(end));
    }
  }
  return std::optional<format::Identity>();
}

/// Whether another program reads what this one does not.
bool is_about_versions(Errc code) {
  return code == Errc::kNewerVersion || code == Errc::kOlderVersion ||
         code == Errc::kUnknownFeature;
}

Result<void> find_identity(Storage& storage, const Advance& advance, Survey& found) {
  const auto identity = container::read_identity(storage);
  if (identity) {
    found.identity = *identity;
    return {};
  }
  if (is_about_versions(identity.error().code)) return tl::unexpected<Error>(identity.error());
  auto other = identity_of_copies(storage);
  if (!other) {
    CRAWLSTORE_TRY(const auto by_roots, identity_of_roots(storage, advance));
    other = by_roots;
  }
  if (!other) return tl::unexpected<Error>(identity.error());
  found.identity = *other;
  found.identity_was_lost = true;
  return {};
}

}  // namespace

Result<Survey> survey(const std::shared_ptr<Storage>& storage, const Advance& advance) {
  Survey found;
  CRAWLSTORE_TRY(find_identity(*storage, advance, found));
  const Uuid& uuid = found.identity.uuid;
  std::vector<format::Superblock> roots;
  const auto set = container::read_superblock_set(*storage, uuid);
  if (set) {
    found.newest = {set->highest_generation()};
    if (const auto* winner = set->winner()) roots.push_back(*winner);
    if (const auto* previous = set->previous()) roots.push_back(*previous);
  }
  CRAWLSTORE_TRY(const auto others,
                 container::find_newer_roots(*storage, uuid, nullptr, 0, advance));
  // A root one newer than the superblocks is of a commit that did not end, unless a superblock is
  // lost, or theirs is; still newer ones prove that the superblocks are of an older time.
  std::vector<std::byte> root_bytes;
  const bool knows_newest =
      set && set->winner() != nullptr && !set->lost_slot() &&
      is_whole_root(*storage, *set->winner(), uuid, root_bytes) &&
      std::none_of(others.begin(), others.end(), [&set](const auto& other) {
        return other.is_whole && other.superblock.generation > set->winner()->generation + 1;
      });
  for (const auto& other : others) {
    const std::uint64_t generation = other.superblock.generation;
    if (!other.is_whole || (knows_newest && generation > roots.front().generation)) continue;
    const bool is_known = std::any_of(roots.begin(), roots.end(), [&](const auto& root) {
      return root.generation == generation &&
             root.root_offset_bytes == other.superblock.root_offset_bytes;
    });
    if (!is_known) roots.push_back(other.superblock);
    found.newest = std::max(found.newest, Generation{generation});
  }
  std::stable_sort(roots.begin(), roots.end(),
                   [](const auto& a, const auto& b) { return a.generation > b.generation; });
  if (!roots.empty()) found.newest_commit_us = roots.front().commit_time_us;
  for (const auto& root : roots) {
    Survey::Candidate candidate;
    auto directory = container::load_readable_directory(*storage, uuid, root,
                                                        container::all_kinds(), candidate.damage);
    if (!directory && is_about_versions(directory.error().code)) {
      return tl::unexpected<Error>(directory.error());
    }
    if (!directory) continue;
    candidate.reader =
        container::Reader::open_unpublished(storage, found.identity, std::move(*directory));
    found.candidates.push_back(std::move(candidate));
  }
  return found;
}

}  // namespace crawlstore::rescue
