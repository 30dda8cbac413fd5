// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace crawlstore {

/// What a public class hides, for the other parts of the library. The class befriends it.
struct Inside {
  template <class Public>
  static auto& of(const Public& object) {
    return *object.impl_;
  }
};

}  // namespace crawlstore
