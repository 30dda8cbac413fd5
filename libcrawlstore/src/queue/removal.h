// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <crawlstore/error.h>

namespace crawlstore {
struct StoreImpl;
}

namespace crawlstore::queue {

/// Takes pages out of queues, open or not, as part of changes that somebody else commits. Queues
/// stay open from one to the next.
/// Threads: with the store's turn, as long as it lives.
class Removal {
 public:
  explicit Removal(StoreImpl& store);
  Removal(const Removal&) = delete;
  Removal& operator=(const Removal&) = delete;
  /// Closes the queues that were not open.
  ~Removal();

  /// The next commit of everything has it.
  ///   returns  how many waited; 0, too, when there is no such queue
  Result<std::uint64_t> remove(std::string_view queue, std::span<const std::uint64_t> pages);
  /// The commit has them.
  void committed();
  /// The commit failed: what was removed since the last one waits as before.
  void undo();

 private:
  struct Part;
  StoreImpl& store_;
  std::vector<Part> parts_;
};

}  // namespace crawlstore::queue
