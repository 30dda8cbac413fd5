// SPDX-License-Identifier: Apache-2.0
#include "io/anonymous_array.h"

#include <cerrno>

#include <sys/mman.h>

namespace crawlstore::io {

AnonymousMemory::~AnonymousMemory() {
  if (base_ != nullptr) (void)::munmap(base_, length_bytes_);
}

Result<AnonymousMemory> AnonymousMemory::map(std::uint64_t length_bytes) {
  AnonymousMemory memory;
  if (length_bytes == 0) return memory;
  // Without MAP_NORESERVE: the system shall refuse what it can never give.
  void* const mapped =
      ::mmap(nullptr, length_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return fail_errno(errno, "cannot map memory for an array");
  memory.base_ = mapped;
  memory.length_bytes_ = length_bytes;
  // Sums are added to in random order: with pages of 4 KiB each would miss the TLB. A wish.
  (void)::madvise(mapped, length_bytes, MADV_HUGEPAGE);
  return memory;
}

}  // namespace crawlstore::io
