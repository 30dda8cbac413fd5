// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
// - page_ is null, or a private page of ours whose first byte is kOwner in the owner, 0 in a
//   child.
// - The byte is written once, before any other thread can see the sentinel.

#include "io/fork_sentinel.h"

#include <cstddef>
#include <memory>

#include <sys/mman.h>
#include <unistd.h>

namespace crawlstore::io {
namespace {

constexpr std::size_t kPageBytes = 4096;  // the kernel rounds up on machines with larger pages
constexpr unsigned char kOwner = 1;

}  // namespace

ForkSentinel::ForkSentinel() : owner_pid_(::getpid()) {
  void* page =
      ::mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (::madvise(page, kPageBytes, MADV_WIPEONFORK) != 0) {
    ::munmap(page, kPageBytes);
    return;
  }
  page_ = std::construct_at(static_cast<std::atomic<unsigned char>*>(page), kOwner);
}

ForkSentinel::~ForkSentinel() {
  if (page_ != nullptr) ::munmap(page_, kPageBytes);
}

bool ForkSentinel::forked() const {
  if (page_ != nullptr) return page_->load(std::memory_order_relaxed) != kOwner;
  return ::getpid() != owner_pid_;
}

}  // namespace crawlstore::io
