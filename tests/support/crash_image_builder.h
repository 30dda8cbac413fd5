// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Builds the file that a crash can leave, from the disk and a choice for each unsynced effect.
///
/// Cheap, because an oracle wants tens of thousands: one buffer, of which only the pages that the
/// last image touched are put back and hashed again.
///
/// Tearing has 512-byte sectors. A write dirties whole 4 KiB pages, so a sector next to the written
/// bytes, in the same page, can be garbage as well ("strong tearing").

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/disk_model.h"

namespace crawlstore::testing {

inline constexpr std::uint64_t kSectorBytes = 512;

enum class SectorState : std::uint8_t {
  kOld,    ///< as before the write
  kNew,    ///< as the write wants it
  kOnes,   ///< garbage: 0xFF
  kNoise,  ///< garbage: seeded bytes
};

enum class Presence : std::uint8_t { kAbsent, kPresent, kTorn };

/// The length of the file: what the chosen effects give, what was durable, or what the process saw.
enum class LengthChoice : std::uint8_t { kAsApplied, kDisk, kCache };

/// The bytes where the file is longer than the data that reached it.
enum class Fill : std::uint8_t { kZero, kOnes, kStale };

/// The states of the sectors that an effect's pieces touch, in order (sector_count of them).
struct Tear {
  std::size_t effect_index = 0;
  std::vector<SectorState> sectors;
};

/// One crash: a choice for each effect.
struct Variant {
  std::vector<Presence> effects;
  std::vector<Tear> tears;  // one for each kTorn, in the order of the effects
  LengthChoice length = LengthChoice::kAsApplied;
  Fill fill = Fill::kZero;
};

/// The sectors of the pages that a piece touches.
struct SectorRange {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
};
SectorRange sectors_of(const Piece& piece);
/// Over all pieces of an effect.
std::size_t sector_count(const Effect& effect);

class CrashImageBuilder {
 public:
  /// Takes a copy of what it needs of the model.
  CrashImageBuilder(const DiskModel& model, std::uint64_t seed);

  [[nodiscard]] const std::vector<Effect>& effects() const { return effects_; }
  /// Whether an unsynced effect changes the file's length.
  [[nodiscard]] bool changes_length() const { return changes_length_; }
  /// Whether the write would change the sector (bytes past the end count as zero).
  [[nodiscard]] bool sector_differs(const Piece& piece, std::uint64_t sector) const;

  /// Builds an image. Returns its hash, over the bytes and the length. The same bytes have the same
  /// hash in every builder.
  std::uint64_t build(const Variant& variant);
  /// The image built last; the next build() changes it.
  [[nodiscard]] std::span<const std::byte> image() const;

 private:
  void restore();
  void touch(std::uint64_t from, std::uint64_t to);
  void put(std::uint64_t offset, std::span<const std::byte> bytes);
  void put_fill(std::uint64_t from, std::uint64_t to, Fill fill);
  void put_torn(const Effect& effect, const Tear& tear);
  void put_garbage(std::uint64_t sector, SectorState state);
  void apply(const Effect& effect, Fill fill, const Tear* tear);
  [[nodiscard]] std::uint64_t page_hash(const std::vector<std::byte>& file,
                                        std::uint64_t page) const;
  [[nodiscard]] std::uint64_t hash() const;

  std::uint64_t disk_size_bytes_;
  std::uint64_t cache_size_bytes_;
  std::vector<Effect> effects_;
  bool changes_length_ = false;
  std::vector<std::byte> base_;   // the disk, with zeros up to the largest length, in whole pages
  std::vector<std::byte> stale_;  // as long as base_
  std::vector<std::byte> noise_;
  std::vector<std::uint64_t> base_hashes_;     // of the pages of base_
  std::vector<std::uint64_t> base_hash_sums_;  // [n] = sum of the first n
  std::vector<std::byte> image_;               // as long as base_
  std::vector<std::uint64_t> touched_pages_;
  std::vector<std::uint8_t> is_touched_;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace crawlstore::testing
