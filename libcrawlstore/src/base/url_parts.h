// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The parts of a URL in its normal form. spec/urls.md#url-keys.
///
/// Ownership: views into the text. Threads: pure functions. Errors: none; the parts of a text that
/// is no normal form of a parsed URL are some parts.

#include <string_view>

namespace crawlstore::url_text {

struct Parts {
  std::string_view scheme;     ///< without its ":"
  std::string_view authority;  ///< with its "//"; empty: there is none
  std::string_view path;       ///< without the "/." that keeps it from looking like an authority
  std::string_view query;      ///< with its "?"; empty: there is none
  bool is_opaque = false;      ///< the path is none of segments
};

[[nodiscard]] Parts split(std::string_view normal);

/// The host, a part of the text; empty if it has none.
[[nodiscard]] std::string_view host_of(std::string_view normal);

}  // namespace crawlstore::url_text
