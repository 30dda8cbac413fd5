// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The way in which a fuzz target says that an invariant does not hold: the process ends, in all
/// builds.

#include <cstdlib>
#include <type_traits>
#include <utility>

#include <crawlstore/error.h>

namespace crawlstore::fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

/// The value of a result that has to be one.
template <class T>
T must(Result<T> result) {
  require(result.has_value());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace crawlstore::fuzz
