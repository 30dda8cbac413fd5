// SPDX-License-Identifier: Apache-2.0
#include "io/anonymous_array.h"

#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/open_descriptor.h"

namespace crawlstore::io {
namespace {

constexpr mode_t kOwnerOnly = 0600;

/// A file that goes with its last descriptor and mapping. -1 and errno.
int open_private(const std::string& folder) {
  const int descriptor = open_descriptor(folder.c_str(), O_TMPFILE | O_RDWR, kOwnerOnly);
  if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return descriptor;
  std::string name = folder + "/crawlstore-XXXXXX";  // a file system that cannot
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) (void)::unlink(name.c_str());
  return named;
}

Result<void*> map_file(std::uint64_t length_bytes, const std::string& folder) {
  const int descriptor = open_private(folder);
  if (descriptor < 0) return fail_errno(errno, "cannot make a file for lack of memory");
  void* mapped = MAP_FAILED;
  // Blocks for all of it now: a disk that fills later could only say so by a signal.
  int failure = ::posix_fallocate(descriptor, 0, static_cast<off_t>(length_bytes));
  if (failure == 0) {
    mapped = ::mmap(nullptr, length_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    failure = errno;
  }
  (void)::close(descriptor);
  if (mapped != MAP_FAILED) {
    // A wish: bytes that were read or written go first, not those that are next.
    (void)::madvise(mapped, length_bytes, MADV_SEQUENTIAL);
    return mapped;
  }
  return fail_errno(failure, "cannot make room in a file for lack of memory");
}

}  // namespace

AnonymousMemory::~AnonymousMemory() {
  if (base_ != nullptr) (void)::munmap(base_, length_bytes_);
}

Result<AnonymousMemory> AnonymousMemory::map(std::uint64_t length_bytes,
                                             const std::string& folder) {
  AnonymousMemory memory;
  if (length_bytes == 0) return memory;
  if (!folder.empty()) {
    CRAWLSTORE_TRY(memory.base_, map_file(length_bytes, folder));
    memory.length_bytes_ = length_bytes;
    return memory;
  }
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
