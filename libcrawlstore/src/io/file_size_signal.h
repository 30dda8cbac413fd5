// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Keeps SIGXFSZ from ending the process: with RLIMIT_FSIZE set, a call that would grow a file past
/// the limit raises that signal, whose default action is to die. While one of these lives the
/// signal is blocked for the calling thread, and one that our call raised is taken away; the call
/// itself fails with EFBIG. Costs one system call when no limit is set.
///
/// Threads: for the thread that makes it.

#include <signal.h>

namespace crawlstore::io {

class FileSizeSignalBlock {
 public:
  FileSizeSignalBlock();
  ~FileSizeSignalBlock();
  FileSizeSignalBlock(const FileSizeSignalBlock&) = delete;
  FileSizeSignalBlock& operator=(const FileSizeSignalBlock&) = delete;

 private:
  bool active_ = false;       // a limit is set, and we changed the mask
  bool was_pending_ = false;  // somebody else's signal waits: leave it there
  sigset_t earlier_mask_ = {};
};

}  // namespace crawlstore::io
