// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
// - image_ equals base_ outside of the touched pages, which are listed once each.
// - base_, stale_ and image_ have the same length, a multiple of a page, that no variant exceeds.
// - Bytes of the image's last page past its length are zero, so that the hash of a page depends on
//   the image only.

#include "support/crash_image_builder.h"

#include <algorithm>

#include <xxhash.h>

#include "base/assert.h"
#include "support/random.h"

namespace crawlstore::testing {
namespace {

constexpr std::uint64_t kNoiseBytes = 64 * 1024;

std::uint64_t pages_in(std::uint64_t length_bytes) {
  return (length_bytes + kPageBytes - 1) / kPageBytes;
}

bool is_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](std::byte byte) { return byte == std::byte{0}; });
}

std::uint64_t longest(const DiskModel& model, const std::vector<Effect>& effects) {
  std::uint64_t length_bytes = std::max(model.disk().size(), model.cache().size());
  for (const Effect& effect : effects) {
    length_bytes = std::max(length_bytes, effect.size_bytes);
    for (const Piece& piece : effect.pieces) {
      length_bytes = std::max(length_bytes, piece.end_bytes());
    }
  }
  return length_bytes;
}

/// The bytes that a file system may show that lets data and length drift apart. They stood there
/// once, or else at another place of the file.
std::vector<std::byte> make_stale(const DiskModel& model, std::size_t length_bytes) {
  std::vector<std::byte> stale(model.stale().begin(), model.stale().end());
  stale.resize(length_bytes);
  const std::uint64_t disk_pages = model.disk().size() / kPageBytes;
  for (std::uint64_t page = 0; page < length_bytes / kPageBytes; ++page) {
    const std::span<std::byte> bytes = std::span(stale).subspan(page * kPageBytes, kPageBytes);
    if (disk_pages == 0 || !is_zero(bytes)) continue;
    const auto other = std::span(model.disk()).subspan(page % disk_pages * kPageBytes, kPageBytes);
    std::copy(other.begin(), other.end(), bytes.begin());
  }
  return stale;
}

}  // namespace

SectorRange sectors_of(const Piece& piece) {
  constexpr std::uint64_t kPerPage = kPageBytes / kSectorBytes;
  return {piece.offset_bytes / kPageBytes * kPerPage, pages_in(piece.end_bytes()) * kPerPage};
}

std::size_t sector_count(const Effect& effect) {
  std::size_t count = 0;
  for (const Piece& piece : effect.pieces) {
    const SectorRange range = sectors_of(piece);
    count += static_cast<std::size_t>(range.end - range.first);
  }
  return count;
}

CrashImageBuilder::CrashImageBuilder(const DiskModel& model, std::uint64_t seed)
    : disk_size_bytes_(model.disk().size()),
      cache_size_bytes_(model.cache().size()),
      effects_(model.unsynced()),
      base_(model.disk()) {
  base_.resize(pages_in(longest(model, effects_)) * kPageBytes);
  stale_ = make_stale(model, base_.size());
  image_ = base_;
  for (const Effect& effect : effects_) {
    const bool grows =
        effect.kind != Effect::Kind::kTruncate && effect.size_bytes > disk_size_bytes_;
    if (grows || effect.kind == Effect::Kind::kTruncate) changes_length_ = true;
  }
  Random random(seed);
  noise_.resize(kNoiseBytes);
  for (std::byte& byte : noise_) byte = static_cast<std::byte>(random.next());

  const std::uint64_t page_count = base_.size() / kPageBytes;
  is_touched_.resize(page_count);
  base_hash_sums_.push_back(0);
  for (std::uint64_t page = 0; page < page_count; ++page) {
    base_hashes_.push_back(page_hash(base_, page));
    base_hash_sums_.push_back(base_hash_sums_.back() + base_hashes_.back());
  }
}

bool CrashImageBuilder::sector_differs(const Piece& piece, std::uint64_t sector) const {
  const std::uint64_t from = std::max(piece.offset_bytes, sector * kSectorBytes);
  const std::uint64_t to = std::min(piece.end_bytes(), (sector + 1) * kSectorBytes);
  for (std::uint64_t offset = from; offset < to; ++offset) {
    if (base_[offset] != piece.bytes[offset - piece.offset_bytes]) return true;
  }
  return false;
}

std::uint64_t CrashImageBuilder::build(const Variant& variant) {
  CRAWLSTORE_ASSERT(variant.effects.size() == effects_.size());
  restore();
  size_bytes_ = disk_size_bytes_;
  if (variant.fill != Fill::kZero) put_fill(disk_size_bytes_, base_.size(), variant.fill);
  std::size_t tear_index = 0;
  for (std::size_t effect_index = 0; effect_index < effects_.size(); ++effect_index) {
    if (variant.effects[effect_index] == Presence::kAbsent) continue;
    const Tear* tear = nullptr;
    if (variant.effects[effect_index] == Presence::kTorn) {
      CRAWLSTORE_ASSERT(tear_index < variant.tears.size());
      tear = &variant.tears[tear_index++];
      CRAWLSTORE_ASSERT(tear->effect_index == effect_index);
    }
    apply(effects_[effect_index], variant.fill, tear);
  }
  if (variant.length == LengthChoice::kDisk) size_bytes_ = disk_size_bytes_;
  if (variant.length == LengthChoice::kCache) size_bytes_ = cache_size_bytes_;
  const std::uint64_t page_end = pages_in(size_bytes_) * kPageBytes;
  if (size_bytes_ < page_end) put_fill(size_bytes_, page_end, Fill::kZero);
  return hash();
}

std::span<const std::byte> CrashImageBuilder::image() const {
  return std::span(image_).first(static_cast<std::size_t>(size_bytes_));
}

void CrashImageBuilder::restore() {
  for (const std::uint64_t page : touched_pages_) {
    const auto from = static_cast<std::ptrdiff_t>(page * kPageBytes);
    std::copy_n(base_.begin() + from, kPageBytes, image_.begin() + from);
    is_touched_[page] = 0;
  }
  touched_pages_.clear();
}

void CrashImageBuilder::touch(std::uint64_t from, std::uint64_t to) {
  for (std::uint64_t page = from / kPageBytes; page < pages_in(to); ++page) {
    if (is_touched_[page] != 0) continue;
    is_touched_[page] = 1;
    touched_pages_.push_back(page);
  }
}

void CrashImageBuilder::put(std::uint64_t offset, std::span<const std::byte> bytes) {
  touch(offset, offset + bytes.size());
  std::copy(bytes.begin(), bytes.end(), image_.begin() + static_cast<std::ptrdiff_t>(offset));
}

void CrashImageBuilder::put_fill(std::uint64_t from, std::uint64_t to, Fill fill) {
  if (from >= to) return;
  touch(from, to);
  const auto begin = static_cast<std::ptrdiff_t>(from);
  const auto end = static_cast<std::ptrdiff_t>(to);
  if (fill == Fill::kStale) {
    std::copy(stale_.begin() + begin, stale_.begin() + end, image_.begin() + begin);
    return;
  }
  const std::byte value = fill == Fill::kOnes ? std::byte{0xFF} : std::byte{0};
  std::fill(image_.begin() + begin, image_.begin() + end, value);
}

void CrashImageBuilder::put_garbage(std::uint64_t sector, SectorState state) {
  const std::uint64_t from = sector * kSectorBytes;
  if (state == SectorState::kNoise) {
    put(from, std::span(noise_).subspan(from * 7 % (kNoiseBytes - kSectorBytes), kSectorBytes));
  } else {
    put_fill(from, from + kSectorBytes, Fill::kOnes);
  }
}

void CrashImageBuilder::put_torn(const Effect& effect, const Tear& tear) {
  std::size_t state_index = 0;
  for (const Piece& piece : effect.pieces) {
    const SectorRange range = sectors_of(piece);
    for (std::uint64_t sector = range.first; sector < range.end; ++sector) {
      const SectorState state = tear.sectors.at(state_index++);
      if (state == SectorState::kOld) continue;
      if (state != SectorState::kNew) {
        put_garbage(sector, state);
        continue;
      }
      const std::uint64_t from = std::max(piece.offset_bytes, sector * kSectorBytes);
      const std::uint64_t to = std::min(piece.end_bytes(), (sector + 1) * kSectorBytes);
      if (from < to) {
        put(from, std::span(piece.bytes).subspan(from - piece.offset_bytes, to - from));
      }
    }
  }
}

void CrashImageBuilder::apply(const Effect& effect, Fill fill, const Tear* tear) {
  switch (effect.kind) {
    case Effect::Kind::kData:
      if (tear != nullptr) {
        put_torn(effect, *tear);
      } else {
        for (const Piece& piece : effect.pieces) put(piece.offset_bytes, piece.bytes);
      }
      [[fallthrough]];
    case Effect::Kind::kGrow:
      size_bytes_ = std::max(size_bytes_, effect.size_bytes);
      return;
    case Effect::Kind::kTruncate:
      if (size_bytes_ <= effect.size_bytes) return;
      put_fill(effect.size_bytes, size_bytes_, fill);
      size_bytes_ = effect.size_bytes;
      return;
    case Effect::Kind::kPunch: {
      const std::uint64_t to = std::min<std::uint64_t>(effect.extent.end_bytes(), size_bytes_);
      put_fill(effect.extent.offset_bytes, to, Fill::kZero);
      return;
    }
  }
}

std::uint64_t CrashImageBuilder::page_hash(const std::vector<std::byte>& file,
                                           std::uint64_t page) const {
  return XXH3_64bits_withSeed(file.data() + page * kPageBytes, kPageBytes, page + 1);
}

std::uint64_t CrashImageBuilder::hash() const {
  const std::uint64_t page_count = pages_in(size_bytes_);
  std::uint64_t sum = base_hash_sums_[page_count];
  for (const std::uint64_t page : touched_pages_) {
    if (page < page_count) sum += page_hash(image_, page) - base_hashes_[page];
  }
  const std::uint64_t summary[] = {sum, size_bytes_};
  return XXH3_64bits(summary, sizeof summary);
}

}  // namespace crawlstore::testing
