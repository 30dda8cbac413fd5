// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The bytes that an input still holds, where that is known: in a regular file.

#include <cstdint>

namespace crawlstore::cli {

class InputSize {
 public:
  explicit InputSize(int descriptor);

  /// From 0 to 1: how much of the input so many bytes are; -1 = not known.
  [[nodiscard]] double fraction(std::uint64_t bytes_read) const;

 private:
  std::uint64_t bytes_ = 0;  // from where the descriptor stood; 0 = not known
};

}  // namespace crawlstore::cli
