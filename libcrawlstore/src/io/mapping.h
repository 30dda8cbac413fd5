// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Read-only mappings of one file, longer than the file, so that growth moves no pointer.
///
/// Ownership: owns the mappings, not the descriptor. Pointers live as long as the Mapping.
/// Threads: any. A view inside an existing region costs a few loads and takes no lock.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

#include "io/sigbus_guard.h"

namespace crawlstore::io {

class Mapping {
 public:
  explicit Mapping(int descriptor) : descriptor_(descriptor) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  /// A pointer to the extent's bytes when a region holds all of it, else null.
  [[nodiscard]] const std::byte* find(Extent extent) const;

  /// A pointer to the extent's bytes; a further region is mapped when no region holds all of it.
  ///   errors  kOutOfMemory, kUnsupported (the file system cannot map), kInvalidArgument
  Result<const std::byte*> view(Extent extent, std::uint64_t file_size_bytes);

  /// File offset of the first byte whose read faulted (of the first region that had one).
  [[nodiscard]] std::optional<std::uint64_t> first_fault() const;

 private:
  /// Unmaps at its end.
  struct MappedBytes {
    MappedBytes(std::byte* mapped, std::uint64_t length) : base(mapped), length_bytes(length) {}
    ~MappedBytes();
    MappedBytes(const MappedBytes&) = delete;
    MappedBytes& operator=(const MappedBytes&) = delete;

    std::byte* const base;
    const std::uint64_t length_bytes;
  };

  struct Region {
    Region(std::uint64_t offset, std::byte* mapped, std::uint64_t length, GuardedRange guarded,
           const Region* previous)
        : offset_bytes(offset), bytes(mapped, length), guard(std::move(guarded)), older(previous) {}

    std::uint64_t offset_bytes;
    MappedBytes bytes;
    GuardedRange guard;  // ends before the mapping: its addresses may be somebody else's then
    const Region* older;
  };

  [[nodiscard]] const Region* find_region(Extent extent) const;
  Result<const Region*> add_region(Extent extent, std::uint64_t file_size_bytes);
  [[nodiscard]] std::uint64_t covered_end_bytes() const;

  const int descriptor_;
  std::mutex growth_mutex_;  // guards regions_
  std::vector<std::unique_ptr<Region>> regions_;
  std::atomic<const Region*> newest_ = nullptr;
};

}  // namespace crawlstore::io
