// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Functions by which the parsers of segments say that a rule is broken.

#include <cstdint>

#include <crawlstore/error.h>

namespace crawlstore::format {

/// `offset` is relative to the bytes that are parsed.
inline tl::unexpected<Error> invalid(const char* text, std::uint64_t offset = 0) {
  return fail(Errc::kSegmentInvalid, text, offset);
}

}  // namespace crawlstore::format
