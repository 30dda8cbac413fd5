// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Writes the normal text of a URL: spec/urls.md#url-keys rules 3 to 11.
///
/// Threads: pure functions of their arguments. Errors: those of url_host.h.
/// Source: URL Standard, "URL parsing": its states are the functions of a parser that looks at a
/// part of the URL at a time.

#include <string>
#include <string_view>

#include <crawlstore/url.h>

#include "base/url_parts.h"

namespace crawlstore::url_text {

/// Writes to `out`, which is overwritten.
///   url      trimmed and without the bytes that rule 1 removes; not in `out`
///   base     of a relative reference; may be null. Its text does not lie in `out`
///   returns  kNone, or why the URL is refused; `out` means nothing then
///   cost     one pass; a dot segment steps back only over bytes that it removes
[[nodiscard]] UrlProblem write_normal(std::string& out, std::string_view url, const Parts* base);

}  // namespace crawlstore::url_text
