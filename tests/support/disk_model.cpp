// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
// - cache_ = what the operations so far give, evictions included.
// - disk_ = the initial bytes with every effect that a successful sync covered.
// - Doubtful pieces cover no byte that a successful sync has written, punched or cut off since.
// - A page is in lost_pages_ iff a failed sync covered it and nothing touched it since.

#include "support/disk_model.h"

#include <algorithm>
#include <cstdio>

namespace crawlstore::testing {
namespace {

void put(std::vector<std::byte>& file, std::uint64_t offset, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  if (file.size() < offset + bytes.size()) file.resize(offset + bytes.size());
  std::copy(bytes.begin(), bytes.end(), file.begin() + static_cast<std::ptrdiff_t>(offset));
}

void clear(std::vector<std::byte>& file, Extent extent) {
  const std::uint64_t from = std::min<std::uint64_t>(extent.offset_bytes, file.size());
  const std::uint64_t to = std::min<std::uint64_t>(extent.end_bytes(), file.size());
  std::fill(file.begin() + static_cast<std::ptrdiff_t>(from),
            file.begin() + static_cast<std::ptrdiff_t>(to), std::byte{0});
}

void apply_effect(std::vector<std::byte>& file, const Effect& effect) {
  switch (effect.kind) {
    case Effect::Kind::kData:
      for (const Piece& piece : effect.pieces) put(file, piece.offset_bytes, piece.bytes);
      [[fallthrough]];
    case Effect::Kind::kGrow:
      if (file.size() < effect.size_bytes) file.resize(effect.size_bytes);
      return;
    case Effect::Kind::kTruncate:
      if (file.size() > effect.size_bytes) file.resize(effect.size_bytes);
      return;
    case Effect::Kind::kPunch:
      clear(file, effect.extent);
      return;
  }
}

/// `piece` without [from, to): none, one or two pieces.
std::vector<Piece> without(const Piece& piece, std::uint64_t from, std::uint64_t to) {
  if (to <= piece.offset_bytes || from >= piece.end_bytes()) return {piece};
  std::vector<Piece> rest;
  const auto at = [&](std::uint64_t offset) {
    return piece.bytes.begin() + static_cast<std::ptrdiff_t>(offset - piece.offset_bytes);
  };
  if (from > piece.offset_bytes) {
    rest.push_back({piece.offset_bytes, {piece.bytes.begin(), at(from)}});
  }
  if (to < piece.end_bytes()) rest.push_back({to, {at(to), piece.bytes.end()}});
  return rest;
}

}  // namespace

std::string describe(const Operation& operation) {
  static constexpr const char* kNames[] = {"write", "allocate", "truncate", "punch",
                                           "sync",  "evict",    "mark"};
  std::string text = kNames[static_cast<std::size_t>(operation.kind)];
  if (operation.kind == OperationKind::kMark) return text + " " + operation.mark;
  if (operation.kind != OperationKind::kSync && operation.kind != OperationKind::kEvict) {
    char place[64];
    std::snprintf(place, sizeof place, " 0x%llx+0x%llx",
                  static_cast<unsigned long long>(operation.extent.offset_bytes),
                  static_cast<unsigned long long>(operation.extent.length_bytes));
    text += place;
  }
  return operation.failed ? text + " failed" : text;
}

DiskModel::DiskModel(std::span<const std::byte> initial)
    : disk_(initial.begin(), initial.end()), cache_(disk_), stale_(disk_) {}

void DiskModel::apply(const Operation& operation, std::size_t operation_index) {
  switch (operation.kind) {
    case OperationKind::kWrite:  // a failed one too: its part is in the cache
      if (!operation.bytes.empty()) write(operation, operation_index);
      return;
    case OperationKind::kAllocate:
      if (operation.failed || operation.extent.end_bytes() <= cache_.size()) return;
      cache_.resize(operation.extent.end_bytes());
      pending_.push_back({Effect::Kind::kGrow, operation_index, {}, cache_.size(), {}});
      return;
    case OperationKind::kTruncate:
      if (!operation.failed) truncate(operation.extent.offset_bytes, operation_index);
      return;
    case OperationKind::kPunch:
      if (!operation.failed) punch(operation.extent, operation_index);
      return;
    case OperationKind::kSync:
      operation.failed ? lose_pending() : sync();
      return;
    case OperationKind::kEvict:
      evict();
      return;
    case OperationKind::kMark:
      return;
  }
}

void DiskModel::write(const Operation& operation, std::size_t operation_index) {
  const std::uint64_t from = operation.extent.offset_bytes;
  const std::uint64_t to = from + operation.bytes.size();
  put(cache_, from, operation.bytes);
  // A lost page that is touched becomes dirty as a whole.
  std::uint64_t dirty_from = from;
  std::uint64_t dirty_to = to;
  if (lost_pages_.contains(from / kPageBytes)) dirty_from = from / kPageBytes * kPageBytes;
  if (lost_pages_.contains((to - 1) / kPageBytes)) {
    const std::uint64_t page_end = ((to - 1) / kPageBytes + 1) * kPageBytes;
    dirty_to = std::min<std::uint64_t>(page_end, cache_.size());
  }
  lost_pages_.erase(lost_pages_.lower_bound(from / kPageBytes),
                    lost_pages_.upper_bound((to - 1) / kPageBytes));
  Piece piece{dirty_from,
              {cache_.begin() + static_cast<std::ptrdiff_t>(dirty_from),
               cache_.begin() + static_cast<std::ptrdiff_t>(dirty_to)}};
  Effect effect{Effect::Kind::kData, operation_index, {}, to, {}};
  effect.pieces.push_back(std::move(piece));
  pending_.push_back(std::move(effect));
}

void DiskModel::truncate(std::uint64_t size_bytes, std::size_t operation_index) {
  if (size_bytes >= cache_.size()) return;
  forget_lost(size_bytes, cache_.size());
  cache_.resize(size_bytes);
  pending_.push_back({Effect::Kind::kTruncate, operation_index, {}, size_bytes, {}});
}

void DiskModel::punch(Extent extent, std::size_t operation_index) {
  forget_lost(extent.offset_bytes, extent.end_bytes());
  clear(cache_, extent);
  pending_.push_back({Effect::Kind::kPunch, operation_index, {}, 0, extent});
}

void DiskModel::sync() {
  for (const Effect& effect : pending_) {
    for (const Piece& piece : effect.pieces) {
      clip_doubtful(piece.offset_bytes, piece.end_bytes(), effect.operation_index);
      put(stale_, piece.offset_bytes, piece.bytes);
    }
    if (effect.kind == Effect::Kind::kPunch) {
      clip_doubtful(effect.extent.offset_bytes, effect.extent.end_bytes(), effect.operation_index);
    }
    if (effect.kind == Effect::Kind::kTruncate) {
      clip_doubtful(effect.size_bytes, ~std::uint64_t{0}, effect.operation_index);
    }
    apply_effect(disk_, effect);
  }
  pending_.clear();
}

void DiskModel::lose_pending() {
  std::vector<Effect> still_pending;
  for (Effect& effect : pending_) {
    if (effect.kind != Effect::Kind::kData) {
      still_pending.push_back(std::move(effect));
      continue;
    }
    // The length is no page: the next sync covers it.
    if (effect.size_bytes > disk_.size()) {
      still_pending.push_back(
          {Effect::Kind::kGrow, effect.operation_index, {}, effect.size_bytes, {}});
    }
    for (const Piece& piece : effect.pieces) {
      const std::uint64_t end_page = (piece.end_bytes() + kPageBytes - 1) / kPageBytes;
      for (std::uint64_t page = piece.offset_bytes / kPageBytes; page < end_page; ++page) {
        if (page * kPageBytes < cache_.size()) lost_pages_.insert(page);
      }
    }
    effect.size_bytes = 0;
    doubtful_.push_back(std::move(effect));
  }
  pending_ = std::move(still_pending);
}

void DiskModel::evict() {
  // Bytes that are read anew are the disk through the file's present length and holes. No pending
  // data lies on a lost page.
  std::vector<std::byte> seen = disk_;
  for (const Effect& effect : pending_) apply_effect(seen, effect);
  seen.resize(cache_.size());
  for (const std::uint64_t page : lost_pages_) {
    const std::uint64_t from = page * kPageBytes;
    const std::uint64_t to = std::min<std::uint64_t>(from + kPageBytes, cache_.size());
    for (std::uint64_t offset = from; offset < to; ++offset) cache_[offset] = seen[offset];
    clip_doubtful(from, from + kPageBytes, ~std::size_t{0});
  }
  lost_pages_.clear();
}

void DiskModel::forget_lost(std::uint64_t from, std::uint64_t to) {
  const std::uint64_t first_whole_page = (from + kPageBytes - 1) / kPageBytes;
  const std::uint64_t end_page = to >= cache_.size() ? ~std::uint64_t{0} : to / kPageBytes;
  if (first_whole_page >= end_page) return;
  lost_pages_.erase(lost_pages_.lower_bound(first_whole_page), lost_pages_.lower_bound(end_page));
}

void DiskModel::clip_doubtful(std::uint64_t from, std::uint64_t to, std::size_t before) {
  for (Effect& effect : doubtful_) {
    if (effect.operation_index >= before) continue;
    std::vector<Piece> kept;
    for (const Piece& piece : effect.pieces) {
      for (Piece& rest : without(piece, from, to)) kept.push_back(std::move(rest));
    }
    effect.pieces = std::move(kept);
  }
  std::erase_if(doubtful_, [](const Effect& effect) { return effect.pieces.empty(); });
}

std::vector<Effect> DiskModel::unsynced() const {
  std::vector<Effect> effects = doubtful_;
  effects.insert(effects.end(), pending_.begin(), pending_.end());
  std::stable_sort(effects.begin(), effects.end(), [](const Effect& a, const Effect& b) {
    return a.operation_index < b.operation_index;
  });
  return effects;
}

}  // namespace crawlstore::testing
