// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Checks for bugs of the library itself. Neither a file nor what a caller passes reaches one;
/// spec/assertions.md says of each why.
///
///   CRAWLSTORE_ASSERT   cheap conditions; on in every build. A violation prints the expression
///                       with its place to stderr and aborts.
///   CRAWLSTORE_DCHECK   invariants of whole structures; on in debug and fuzz builds only (when
///                       NDEBUG is not defined, or when CRAWLSTORE_DCHECKS is).

namespace crawlstore::base {

/// Prints "file:line: assertion failed: expression" to stderr, then aborts. Allocates nothing.
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line) noexcept;

}  // namespace crawlstore::base

#define CRAWLSTORE_ASSERT(...)    \
  (static_cast<bool>(__VA_ARGS__) \
       ? static_cast<void>(0)     \
       : ::crawlstore::base::assertion_failed(#__VA_ARGS__, __FILE__, __LINE__))

#if !defined(NDEBUG) || defined(CRAWLSTORE_DCHECKS)
#define CRAWLSTORE_DCHECK(...) CRAWLSTORE_ASSERT(__VA_ARGS__)
#else
#define CRAWLSTORE_DCHECK(...) static_cast<void>(sizeof(static_cast<bool>(__VA_ARGS__)))
#endif
