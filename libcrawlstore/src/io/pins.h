// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The pins of one opened store: shared locks on a descriptor of their own, counted per generation.
///
/// Ownership: owns the pin descriptor, opened at the first pin; borrows the data descriptor.
/// Threads: any; locks inside.

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

namespace crawlstore::io {

class Pins {
 public:
  /// `path` is used only where /proc does not lead from the data descriptor to the file.
  Pins(int data_descriptor, std::string path);
  ~Pins();
  Pins(const Pins&) = delete;
  Pins& operator=(const Pins&) = delete;

  /// errors kNoLocks; kReplaced when the file can no longer be opened a second time
  Result<void> pin(Generation generation);
  void unpin(Generation generation);
  /// Unlocks everything: for the end of the storage in the process that opened it.
  void unpin_all();

 private:
  Result<void> open_descriptor();

  const int data_descriptor_;
  const std::string path_;
  std::mutex mutex_;  // guards what follows
  int descriptor_ = -1;
  std::map<std::uint64_t, std::uint64_t> counts_;  // generation -> pins, never 0
};

}  // namespace crawlstore::io
