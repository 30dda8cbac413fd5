// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Tells a process from its forked children without a system call: a page that the kernel wipes in
/// the child (MADV_WIPEONFORK). Where the kernel cannot, the process id is compared.
///
/// Threads: forked() from any thread.

#include <atomic>

#include <sys/types.h>

namespace crawlstore::io {

class ForkSentinel {
 public:
  ForkSentinel();
  ~ForkSentinel();
  ForkSentinel(const ForkSentinel&) = delete;
  ForkSentinel& operator=(const ForkSentinel&) = delete;

  /// Whether this is another process than the one that made the sentinel.
  [[nodiscard]] bool forked() const;

 private:
  std::atomic<unsigned char>* page_ = nullptr;  // null: compare owner_pid_
  pid_t owner_pid_;
};

}  // namespace crawlstore::io
