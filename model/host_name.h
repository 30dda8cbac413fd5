// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Hosts as people read them. Threads: pure functions; any.

#include <string>
#include <string_view>

namespace crawlstore::model {

/// Stands for pages without a host. No host has this name, for none has a space.
inline constexpr std::string_view kNoHost = "(no host)";

/// The host itself, or kNoHost where it is empty; and back.
std::string host_name(std::string_view host);
std::string host_of_name(std::string_view name);

/// A host with labels in Punycode ("xn--..."), in its Unicode form by UTS 46.
///   returns  empty: the host has no such label, or one that UTS 46 refuses
///   cost     a search for "xn--"; where it is found, ICU's time, some microseconds
std::string unicode_host(std::string_view host);

/// The host and, where it has one, its Unicode form in brackets. Both, for two hosts can look alike
/// in Unicode.
std::string both_host_names(std::string_view host);

}  // namespace crawlstore::model
