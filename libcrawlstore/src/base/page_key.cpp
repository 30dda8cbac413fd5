// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <xxhash.h>

#include <crawlstore/page_key.h>
#include <crawlstore/url.h>

#include "base/parsed_page_key.h"

namespace crawlstore {

std::string_view parsed_url_host(std::string_view normalized) {
  // A URI: the first colon ends the scheme, "@" occurs once at most in an authority, and what
  // follows the host begins with a colon.
  std::string_view rest = normalized.substr(normalized.find(':') + 1);
  if (!rest.starts_with("//")) return {};
  rest.remove_prefix(2);
  const auto ends_authority = [](char c) { return c == '/' || c == '?' || c == '#'; };
  const auto end = std::find_if(rest.begin(), rest.end(), ends_authority);
  std::string_view host = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  const std::size_t at = host.find('@');
  if (at != std::string_view::npos) host.remove_prefix(at + 1);
  const std::size_t literal_end = host.starts_with('[') ? host.find(']') : 0;
  return host.substr(0, host.find(':', literal_end));
}

std::string_view url_host(std::string_view normalized) {
  if (!UrlNormalizer{}.normalize(normalized).parsed) return {};
  return parsed_url_host(normalized);
}

std::uint64_t host_key(std::string_view host, std::uint64_t key_seed) {
  return XXH3_64bits_withSeed(host.data(), host.size(), key_seed);
}

namespace {

PageKey key_of(std::string_view host, std::string_view normalized, std::uint64_t key_seed) {
  const auto hash = XXH3_128bits_withSeed(normalized.data(), normalized.size(), key_seed);
  return {{host_key(host, key_seed), hash.low64}, static_cast<std::uint32_t>(hash.high64 >> 32)};
}

}  // namespace

PageKey page_key(std::string_view normalized, std::uint64_t key_seed) {
  return key_of(url_host(normalized), normalized, key_seed);
}

PageKey parsed_page_key(std::string_view normalized, std::uint64_t key_seed) {
  return key_of(parsed_url_host(normalized), normalized, key_seed);
}

}  // namespace crawlstore
