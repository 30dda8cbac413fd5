// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
// - A unit that is filled holds what one read gave, and never changes until it is forgotten.
// - Extents of a crawl file are whole units, so a unit that lies across the end of the file belongs
//   to nothing that is whole, and is never filled.
#include "io/unmapped_storage.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

#include <sys/mman.h>

#include "io/thread_sanitizer.h"

namespace crawlstore::io {
namespace {

constexpr std::uint64_t kUnitBytes = 4096;
constexpr std::uint64_t kUnitsPerNumber = 16;
constexpr std::uint64_t kReadBytesMax = std::uint64_t{1} << 20;
constexpr std::uint64_t kLengthEnd = std::uint64_t{1} << 62;
constexpr std::uint64_t kRegionBytes = std::uint64_t{1} << (kThreadSanitizer ? 30 : 36);

std::uint64_t round_down(std::uint64_t offset) {
  return offset / kUnitBytes * kUnitBytes;
}

/// The whole units that hold it.
Extent units_around(Extent extent) {
  const std::uint64_t begin = round_down(extent.offset_bytes);
  return {begin, round_down(extent.end_bytes() + kUnitBytes - 1) - begin};
}

std::uint16_t bit_of(std::uint64_t unit) {
  return static_cast<std::uint16_t>(1U << unit % kUnitsPerNumber);
}

}  // namespace

UnmappedStorage::Region::~Region() {
  ::munmap(base, length_bytes);
}

bool UnmappedStorage::Region::holds(Extent extent) const {
  return extent.offset_bytes >= offset_bytes && extent.end_bytes() <= offset_bytes + length_bytes;
}

/// The region that holds these units; a further one is reserved when there is none.
Result<UnmappedStorage::Region*> UnmappedStorage::region_of(Extent extent) {
  const std::lock_guard lock(mutex_);
  for (const auto& region : regions_) {
    if (region->holds(extent)) return region.get();
  }
  const std::uint64_t begin = extent.offset_bytes / kRegionBytes * kRegionBytes;
  std::uint64_t length = kRegionBytes;
  std::uint64_t start = begin;
  void* reserved = MAP_FAILED;
  for (;;) {
    if (extent.end_bytes() > start + length) {
      start = extent.offset_bytes;
      length = std::max(length, extent.length_bytes);
    }
    reserved = ::mmap(nullptr, length, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved != MAP_FAILED) break;
    if (errno != ENOMEM || length == extent.length_bytes) {
      return fail_errno(errno, "cannot reserve address space", extent.offset_bytes);
    }
    length = std::max(round_down(length / 2), extent.length_bytes);
  }
  auto* const base = static_cast<std::byte*>(reserved);
  // A touch of 4 KiB shall not cost 2 MiB.
  (void)::madvise(base, length, MADV_NOHUGEPAGE);
  regions_.push_back(std::make_unique<Region>(start, base, length));
  return regions_.back().get();
}

/// The first units of the extent that are not filled, at most so many as are read at once.
Extent UnmappedStorage::next_missing(const Region& region, Extent extent) {
  const std::lock_guard lock(mutex_);
  const auto is_filled = [&region](std::uint64_t offset) {
    const std::uint64_t unit = offset / kUnitBytes;
    const auto number = region.filled.find(unit / kUnitsPerNumber);
    return number != region.filled.end() && (number->second & bit_of(unit)) != 0;
  };
  std::uint64_t begin = extent.offset_bytes;
  while (begin < extent.end_bytes() && is_filled(begin)) begin += kUnitBytes;
  std::uint64_t end = begin;
  while (end < extent.end_bytes() && end - begin < kReadBytesMax && !is_filled(end)) {
    end += kUnitBytes;
  }
  return {begin, end - begin};
}

/// Whole units. Units that another thread has kept meanwhile stay: somebody may be reading them.
void UnmappedStorage::keep(Region& region, std::uint64_t offset, std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  for (; !bytes.empty(); bytes = bytes.subspan(kUnitBytes), offset += kUnitBytes) {
    const std::uint64_t unit = offset / kUnitBytes;
    std::uint16_t& number = region.filled[unit / kUnitsPerNumber];
    if ((number & bit_of(unit)) != 0) continue;
    std::copy_n(bytes.begin(), kUnitBytes, region.at(offset));
    number = static_cast<std::uint16_t>(number | bit_of(unit));
  }
}

Result<void> UnmappedStorage::fill(Region& region, Extent extent) {
  std::vector<std::byte> buffer;
  for (;;) {
    const Extent missing = next_missing(region, extent);
    if (missing.length_bytes == 0) return {};
    buffer.resize(missing.length_bytes);
    const auto got = inner_->read(missing.offset_bytes, buffer);
    if (!got) {
      Error error = got.error();
      if (error.offset == Error::kNoOffset) error.offset = missing.offset_bytes;
      return tl::unexpected<Error>(error);
    }
    keep(region, missing.offset_bytes, std::span(buffer).first(round_down(*got)));
    if (*got < buffer.size()) {
      return fail(Errc::kTruncated, "the file ends before bytes that it promises",
                  missing.offset_bytes + *got);
    }
    extent = {missing.end_bytes(), extent.end_bytes() - missing.end_bytes()};
  }
}

Result<const std::byte*> UnmappedStorage::view(Extent extent) {
  CRAWLSTORE_TRY(inner_->check_process());
  if (extent.offset_bytes > kLengthEnd || extent.length_bytes > kLengthEnd) {
    return fail(Errc::kInvalidArgument, "extent outside any file", extent.offset_bytes);
  }
  const Extent units = units_around(extent);
  CRAWLSTORE_TRY(const auto region,
                 region_of({units.offset_bytes, std::max(units.length_bytes, kUnitBytes)}));
  if (extent.length_bytes != 0) CRAWLSTORE_TRY(fill(*region, units));
  return region->at(extent.offset_bytes);
}

void UnmappedStorage::forget(Extent extent) {
  // Units that others share stay.
  const std::uint64_t begin = round_down(extent.offset_bytes + kUnitBytes - 1);
  const std::uint64_t end = round_down(extent.end_bytes());
  const std::lock_guard lock(mutex_);
  for (const auto& region : regions_) {
    const std::uint64_t from = std::max(begin, region->offset_bytes);
    const std::uint64_t to = std::min(end, region->offset_bytes + region->length_bytes);
    if (from >= to) continue;
    for (std::uint64_t unit = from / kUnitBytes; unit < to / kUnitBytes; ++unit) {
      const auto number = region->filled.find(unit / kUnitsPerNumber);
      if (number == region->filled.end()) continue;
      number->second = static_cast<std::uint16_t>(number->second & ~bit_of(unit));
      if (number->second == 0) region->filled.erase(number);
    }
    (void)::madvise(region->at(from), to - from, MADV_DONTNEED);
  }
}

std::uint64_t UnmappedStorage::kept_bytes() {
  const std::lock_guard lock(mutex_);
  std::uint64_t units = 0;
  for (const auto& region : regions_) {
    for (const auto& [number, bits] : region->filled) {
      units += static_cast<std::uint64_t>(std::popcount(bits));
    }
  }
  return units * kUnitBytes;
}

Result<std::shared_ptr<Storage>> UnmappedStorage::reopen() {
  auto other = inner_->reopen();
  if (!other) return other;
  return std::make_shared<UnmappedStorage>(std::move(*other));
}

}  // namespace crawlstore::io

namespace crawlstore {

std::unique_ptr<Storage> unmapped(std::unique_ptr<Storage> storage) {
  return std::make_unique<io::UnmappedStorage>(std::shared_ptr<Storage>(std::move(storage)));
}

}  // namespace crawlstore
