// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Page keys: 16 bytes by which a store knows the URL of a page, so that pages of one host stand
/// together. spec/urls.md#page-keys.
///
///     normalised bytes of a URL  --url_host-->  host
///     host, bytes                --page_key-->  head, tail, witness
///
/// The head is a hash of the host, the tail one of the whole URL: in the order of keys the pages of
/// a host follow each other. The witness is 32 bits more of the same hash as the tail: who keeps it
/// beside the key can tell two URLs whose keys are equal.
///
/// Ownership: as in crawlstore.hpp. Threads: pure functions. Errors: as crawlstore/url.h; every
/// byte string has a key.

#include <cstdint>
#include <string>
#include <string_view>

#include <crawlstore/types.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// The key of a page, and what makes it surer. 24 bytes, a plain value.
struct PageKey {
  Key16 key;                  ///< head: host_key() of the host; tail: of the whole URL
  std::uint32_t witness = 0;  ///< independent of the tail, as far as XXH3-128 is
  auto operator<=>(const PageKey&) const = default;
};

/// The host of a URL, as its normal form has it: a name, an IPv4 address, or an IPv6 address with
/// its brackets; without user information and port.
///   url      any bytes; normal, raw, not parsed
///   returns  empty: the URL is not parsed, it has no authority, or the host in it is empty
///            ("file:///x")
///   cost     that of normalising the URL, and one string
///   spec     urls.md#page-keys rule 1
[[nodiscard]] std::string url_host(std::string_view url);

/// The head of the keys of all pages of a host: XXH3-64 of it.
///   host      as url_host() returns it
///   key_seed  the file's own seed
///   spec      urls.md#page-keys rule 2
[[nodiscard]] std::uint64_t host_key(std::string_view host, std::uint64_t key_seed);

/// The key of a page. All URLs without a host share one head.
///   normalized  `text` of a NormalizedUrl, parsed or not; or raw bytes
///   key_seed    the file's own seed
///   note        among n pages of one host n^2 / 2^65 pairs with equal keys are expected, and
///               n^2 / 2^97 with equal witnesses too
///   cost        about 150 ns for a URL of ordinary length: finding the host, two hashes
///   spec        urls.md#page-keys rules 2 to 4
[[nodiscard]] PageKey page_key(std::string_view normalized, std::uint64_t key_seed);

}  // namespace crawlstore
#pragma GCC visibility pop
