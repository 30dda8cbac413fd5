// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

namespace crawlstore {

/// Opens what a public class hides to the other parts of the library. The class befriends it.
struct Inside {
  template <class Public>
  static auto& of(const Public& object) {
    return *object.impl_;
  }
  /// Returns the public object that hides this.
  template <class Public, class Impl>
  static Public make(std::shared_ptr<Impl> impl) {
    return Public(std::move(impl));
  }
};

}  // namespace crawlstore
