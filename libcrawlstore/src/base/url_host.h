// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Hosts of URLs in their normal form: spec/urls.md#url-keys rule 7.
///
/// Threads: pure functions of their arguments. Errors: std::bad_alloc; std::runtime_error if ICU,
/// which knows the names beyond ASCII, lacks its data.
/// Sources: URL Standard, "Host parsing"; Davis, Suignard, "Unicode IDNA Compatibility Processing",
/// UTS #46.

#include <string>
#include <string_view>

namespace crawlstore::url_text {

enum class HostOf { kSpecialScheme, kOtherScheme };

/// Appends the normal form of a host that is not empty; false: it is refused, and what was appended
/// means nothing. `host` has no user information and no port.
///   cost  one pass over names of ASCII; others take ICU's time, some 2 microseconds
[[nodiscard]] bool append_host(std::string& out, std::string_view host, HostOf scheme);

/// Whether a label that stands last makes a host an IPv4 address.
[[nodiscard]] bool is_number_label(std::string_view label);

}  // namespace crawlstore::url_text
