// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace crawlstore::io {

/// Built with ThreadSanitizer, whose shadow memory costs several times what is mapped: so less
/// address space is reserved.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitizer = true;
#elif defined(__has_feature)
inline constexpr bool kThreadSanitizer = __has_feature(thread_sanitizer);
#else
inline constexpr bool kThreadSanitizer = false;
#endif

}  // namespace crawlstore::io
