// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <crawlstore/tools/generations.h>

#include "container/superblocks.h"
#include "format/endian.h"
#include "format/layout.h"
#include "format/root_extent.h"

namespace crawlstore {
namespace {

using container::SuperblockCopy;

/// The uuid, from a page that may be damaged elsewhere.
Result<Uuid> read_uuid(Storage& storage) {
  const auto identity = container::read_identity(storage);
  if (identity) return identity->uuid;
  const bool is_damaged = category(identity.error().code) == ErrorCategory::kDamage;
  if (!is_damaged) return tl::unexpected<Error>(identity.error());
  Uuid uuid{};
  CRAWLSTORE_TRY(storage.read(offsetof(format::Identity, uuid), uuid));
  return uuid;
}

CopyState state_of(SuperblockCopy::State state) {
  switch (state) {
    case SuperblockCopy::State::kEmpty:
      return CopyState::kEmpty;
    case SuperblockCopy::State::kValid:
      return CopyState::kValid;
    case SuperblockCopy::State::kInvalid:
      return CopyState::kInvalid;
    case SuperblockCopy::State::kUnreadable:
      return CopyState::kUnreadable;
  }
  return CopyState::kInvalid;
}

GenerationInfo info_of(const container::SuperblockSet& set, std::uint32_t slot,
                       std::uint32_t copy) {
  const SuperblockCopy& from = set.copies[slot][copy];
  GenerationInfo info;
  info.slot = slot;
  info.copy = copy;
  info.offset_bytes = format::kSuperblockOffsets[slot][copy];
  info.state = state_of(from.state);
  info.error = from.error;
  if (info.state != CopyState::kValid) return info;
  const format::Superblock& superblock = from.superblock;
  info.generation = {superblock.generation};
  info.pass = superblock.pass;
  if (format::is_tombstone(superblock)) {
    info.state = CopyState::kTombstone;
    return info;
  }
  info.commit_time_us = superblock.commit_time_us;
  info.high_water_bytes = superblock.high_water_bytes;
  auto usable = format::check_features(superblock, false);
  if (usable) usable = format::check_root_place(superblock);
  if (usable) {
    info.root = format::root_extent(superblock);
  } else {
    info.error = usable.error();
  }
  info.is_winner = &superblock == set.winner();
  info.is_previous = &superblock == set.previous();
  return info;
}

}  // namespace

Result<std::vector<GenerationInfo>> generations(Storage& storage) {
  CRAWLSTORE_TRY(storage.check_process());
  CRAWLSTORE_TRY(const auto uuid, read_uuid(storage));
  CRAWLSTORE_TRY(const auto set, container::read_superblock_set(storage, uuid));
  std::vector<GenerationInfo> all;
  for (std::uint32_t slot = 0; slot < 2; ++slot) {
    for (std::uint32_t copy = 0; copy < 2; ++copy) all.push_back(info_of(set, slot, copy));
  }
  return all;
}

Result<std::vector<GenerationInfo>> generations(const std::string& path) {
  CRAWLSTORE_TRY(const auto storage, open_storage(path, OpenMode::kReadNoPin));
  return generations(*storage);
}

std::string_view name_of(CopyState state) {
  switch (state) {
    case CopyState::kEmpty:
      return "empty";
    case CopyState::kValid:
      return "valid";
    case CopyState::kTombstone:
      return "tombstone";
    case CopyState::kInvalid:
      return "invalid";
    case CopyState::kUnreadable:
      return "unreadable";
  }
  return "unknown";
}

}  // namespace crawlstore
