// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Bytes that must wait: first in memory, the rest in a file without a name. Verdicts wait here for
/// the commit that makes them true.
/// Ownership: the file is gone with the Spool, however the process ends. Threads: one.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <crawlstore/error.h>

namespace crawlstore::cli {

class Spool {
 public:
  /// `folder`: where the file is made, once `memory_bytes` are full.
  Spool(std::string folder, std::size_t memory_bytes);
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  /// The text to append to. Call room() once in a while, at least for each 64 KiB.
  [[nodiscard]] std::string& tail() { return tail_; }
  /// Makes room in memory. errors kNoSpace and the like
  Result<void> room() { return tail_.size() < memory_bytes_ ? Result<void>{} : spill(); }

  [[nodiscard]] bool empty() const { return tail_.empty() && spilled_bytes_ == 0; }

  /// Hands out all bytes, in order, in pieces cut anywhere. Empty afterwards, whatever happens.
  Result<void> drain(const std::function<Result<void>(std::string_view)>& visit);
  void drop();

 private:
  Result<void> spill();
  Result<void> drain_file(const std::function<Result<void>(std::string_view)>& visit) const;

  std::string folder_;
  std::size_t memory_bytes_;
  std::string tail_;
  int file_ = -1;
  std::uint64_t spilled_bytes_ = 0;
};

}  // namespace crawlstore::cli
