// SPDX-License-Identifier: Apache-2.0
#pragma once

/// For programs that answer an error by ending, or handle errors of many calls in one place:
/// exceptions instead of results. The library itself never throws for such a reason.
///
///   int main() try {
///     auto store = must(Store::open_or_create("my.crawl"));
///     auto pages = must(PageDb::open(store));
///   } catch (const std::exception& error) {
///     std::cerr << error.what() << '\n';
///     return 3;
///   }
///
/// Threads: any.

#include <stdexcept>
#include <type_traits>
#include <utility>

#include <crawlstore/error.h>

namespace crawlstore {

/// The value of a result. Where there is none it throws std::runtime_error, with what describe()
/// says: what went wrong, and what to do about it.
template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(describe(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace crawlstore
