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

/// Takes pages out of queues, open or not, as part of changes that the caller commits. Queues stay
/// open from one removal to the next.
/// Threads: Requires the store's turn, as long as it lives.
class Removal {
 public:
  explicit Removal(StoreImpl& store);
  Removal(const Removal&) = delete;
  Removal& operator=(const Removal&) = delete;
  /// Closes the queues that were not open.
  ~Removal();

  /// Removes pages; the next commit of everything publishes it.
  ///   returns  the number of pages that waited; 0 also if there is no such queue
  Result<std::uint64_t> remove(std::string_view queue, std::span<const std::uint64_t> pages);
  /// Call it after the commit.
  void committed();
  /// Call it if the commit failed: pages removed since the last one wait as before.
  void undo();

 private:
  struct Part;
  StoreImpl& store_;
  std::vector<Part> parts_;
};

}  // namespace crawlstore::queue
