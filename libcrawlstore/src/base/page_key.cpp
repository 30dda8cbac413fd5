// SPDX-License-Identifier: Apache-2.0
#include <xxhash.h>

#include <crawlstore/page_key.h>
#include <crawlstore/url.h>

namespace crawlstore {

std::string_view url_host(std::string_view normalized) {
  if (!UrlNormalizer{}.normalize(normalized).parsed) return {};
  // A URI: the first colon ends the scheme, "@" occurs once at most in an authority, and what
  // follows the host begins with a colon.
  std::string_view rest = normalized.substr(normalized.find(':') + 1);
  if (!rest.starts_with("//")) return {};
  rest.remove_prefix(2);
  std::string_view host = rest.substr(0, rest.find_first_of("/?#"));
  const std::size_t at = host.find('@');
  if (at != std::string_view::npos) host.remove_prefix(at + 1);
  const std::size_t literal_end = host.starts_with('[') ? host.find(']') : 0;
  return host.substr(0, host.find(':', literal_end));
}

std::uint64_t host_key(std::string_view host, std::uint64_t key_seed) {
  return XXH3_64bits_withSeed(host.data(), host.size(), key_seed);
}

PageKey page_key(std::string_view normalized, std::uint64_t key_seed) {
  const auto hash = XXH3_128bits_withSeed(normalized.data(), normalized.size(), key_seed);
  return {{host_key(url_host(normalized), key_seed), hash.low64},
          static_cast<std::uint32_t>(hash.high64 >> 32)};
}

}  // namespace crawlstore
