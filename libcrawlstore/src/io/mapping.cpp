// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
// - Regions form a list from the newest to the oldest; a region in the list never changes and is
//   unmapped only by the destructor.
// - Together the regions cover [0, covered end) without gaps: a new one starts at the covered end,
//   or earlier when the extent asked for straddles it.
// - Every region is guarded against SIGBUS before it can be found.

#include "io/mapping.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <sys/mman.h>
#include <sys/resource.h>

#include "io/thread_sanitizer.h"

namespace crawlstore::io {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kRegionAlignment = 2 * kMiB;
constexpr std::uint64_t kFileSizeEnd = std::uint64_t{1} << 62;

/// The length that is tried first, before it is halved. Where `ulimit -v` counts address space, it
/// is a small part of that: halving alone would leave other memory as much as each region takes.
std::uint64_t wanted_length(std::uint64_t file_size_bytes) {
  constexpr std::uint64_t kLongest = std::uint64_t{1} << 44;
  constexpr std::uint64_t kLimitShare = 16;
  if (kThreadSanitizer) return 1024 * kMiB;  // shadow memory costs several times this
  const std::uint64_t roomy =
      std::max(std::min(4 * std::min(file_size_bytes, kLongest), kLongest), 65536 * kMiB);
  rlimit limit{};
  const bool is_limited = ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  if (!is_limited) return roomy;
  const std::uint64_t share = limit.rlim_cur / kLimitShare;
  return std::min(roomy, share / kRegionAlignment * kRegionAlignment);
}

std::uint64_t round_up(std::uint64_t value) {
  return (value + kRegionAlignment - 1) / kRegionAlignment * kRegionAlignment;
}

}  // namespace

Mapping::MappedBytes::~MappedBytes() {
  ::munmap(base, length_bytes);
}

const Mapping::Region* Mapping::find_region(Extent extent) const {
  const Region* region = newest_.load(std::memory_order_acquire);
  while (region != nullptr) {
    const std::uint64_t skipped_bytes = extent.offset_bytes - region->offset_bytes;
    if (extent.offset_bytes >= region->offset_bytes &&
        skipped_bytes <= region->bytes.length_bytes &&
        extent.length_bytes <= region->bytes.length_bytes - skipped_bytes) {
      return region;
    }
    region = region->older;
  }
  return nullptr;
}

const std::byte* Mapping::find(Extent extent) const {
  const Region* region = find_region(extent);
  if (region == nullptr) return nullptr;
  return region->bytes.base + (extent.offset_bytes - region->offset_bytes);
}

Result<const std::byte*> Mapping::view(Extent extent, std::uint64_t file_size_bytes) {
  if (extent.offset_bytes > kFileSizeEnd || extent.length_bytes > kFileSizeEnd) {
    return fail(Errc::kInvalidArgument, "extent outside any file", extent.offset_bytes);
  }
  const Region* region = find_region(extent);
  if (region == nullptr) {
    const Result<const Region*> added = add_region(extent, file_size_bytes);
    if (!added) return tl::unexpected<Error>(added.error());
    region = *added;
  }
  return region->bytes.base + (extent.offset_bytes - region->offset_bytes);
}

std::uint64_t Mapping::covered_end_bytes() const {
  std::uint64_t end = 0;
  for (const auto& region : regions_) {
    end = std::max(end, region->offset_bytes + region->bytes.length_bytes);
  }
  return end;
}

Result<const Mapping::Region*> Mapping::add_region(Extent extent, std::uint64_t file_size_bytes) {
  const std::lock_guard lock(growth_mutex_);
  if (const Region* region = find_region(extent); region != nullptr) return region;

  const std::uint64_t start =
      std::min(covered_end_bytes(), extent.offset_bytes / kRegionAlignment * kRegionAlignment);
  const std::uint64_t needed_bytes = round_up(extent.end_bytes() - start);
  std::uint64_t length_bytes = std::max(wanted_length(file_size_bytes), needed_bytes);
  void* mapped = MAP_FAILED;
  for (;;) {
    mapped = ::mmap(nullptr, length_bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, descriptor_,
                    static_cast<off_t>(start));
    if (mapped != MAP_FAILED) break;
    if (errno != ENOMEM || length_bytes == needed_bytes) {
      return fail_errno(errno, "cannot map the file", extent.offset_bytes);
    }
    length_bytes = std::max(round_up(length_bytes / 2), needed_bytes);
  }
  auto* const base = static_cast<std::byte*>(mapped);
  // A lookup touches a page here and there: reading ahead would fetch megabytes for each, and push
  // out as much. A caller that wants more calls Storage::prefetch().
  (void)::madvise(base, length_bytes, MADV_RANDOM);
  Result<GuardedRange> guard = GuardedRange::make(base, length_bytes);
  if (!guard) {
    ::munmap(base, length_bytes);
    return tl::unexpected<Error>(guard.error());
  }
  regions_.push_back(std::make_unique<Region>(start, base, length_bytes, std::move(guard.value()),
                                              newest_.load()));
  newest_.store(regions_.back().get(), std::memory_order_release);
  return regions_.back().get();
}

std::optional<std::uint64_t> Mapping::first_fault() const {
  for (const Region* region = newest_.load(std::memory_order_acquire); region != nullptr;
       region = region->older) {
    if (const auto offset = region->guard.first_fault()) return region->offset_bytes + *offset;
  }
  return std::nullopt;
}

}  // namespace crawlstore::io
