// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Registered domains: what somebody can register below a public suffix such as "com" or "co.uk".
///
/// A help for crawlers that budget by owner and not by host. No part of the file format: the list
/// of public suffixes changes from month to month, and keys must not.
///
/// The list is the newest that the system has (Debian: publicsuffix), or else the one that libpsl
/// was built with. It is loaded at the first call, and then kept.
/// Ownership: as in crawlstore.hpp. Threads: any. Source: Mozilla Foundation, "Public Suffix List",
/// https://publicsuffix.org/

#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace crawlstore {

/// The domain to which a host belongs: the longest public suffix in it and one label more.
///   host     as url_host() returns it: lower case, international names in their ASCII form
///   returns  "example.co.uk" for "www.example.co.uk", also if a dot follows; the host itself when
///            it is an address, an IP literal, a public suffix, or has empty labels
///   errors   none; without any list a host is its own domain
///   cost     about a microsecond
[[nodiscard]] std::string registered_domain(std::string_view host);

}  // namespace crawlstore
#pragma GCC visibility pop
