// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Survives faults in mapped files: a file that was cut under its mapping, or a drive that fails to
/// deliver a page, raises SIGBUS. The library never causes that itself; this guard is for files
/// that others cut and for drives that die.
///
/// A range registered here turns a fault into a page of zeros, and remembers where the first one
/// was. Nothing jumps over frames: the faulting load just reads zero, and whoever read has to ask
/// first_fault() before trusting the result. After thousands of faults the whole range reads as
/// zeros: whoever wants what is left on a dying drive uses read(). All other SIGBUS reach the
/// handler that was installed before (or end the process, when there was none).
///
/// Ownership: a GuardedRange owns its registration, not the mapping; end it before munmap.
/// Threads: registration and first_fault() from any thread. The handler allocates and locks
/// nothing.

#include <cstddef>
#include <cstdint>
#include <optional>

#include <crawlstore/error.h>

namespace crawlstore::io {

/// Most mappings that can be guarded at a time, in the whole process.
inline constexpr std::size_t kGuardedRangeCountMax = 4096;

class GuardedRange {
 public:
  /// Registers [base, base + length_bytes), a page-aligned mapping. The first registration of the
  /// process installs the handler. errors kOutOfMemory when the table is full
  static Result<GuardedRange> make(const std::byte* base, std::uint64_t length_bytes);

  GuardedRange(GuardedRange&& other) noexcept : slot_index_(other.slot_index_) {
    other.slot_index_ = kNoSlot;
  }
  GuardedRange& operator=(GuardedRange&& other) = delete;
  ~GuardedRange();

  /// Offset in the range of the first byte that faulted; none = every read was of the file.
  [[nodiscard]] std::optional<std::uint64_t> first_fault() const;

 private:
  static constexpr std::size_t kNoSlot = ~std::size_t{0};

  explicit GuardedRange(std::size_t slot_index) : slot_index_(slot_index) {}

  std::size_t slot_index_;
};

}  // namespace crawlstore::io
