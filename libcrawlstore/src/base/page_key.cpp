// SPDX-License-Identifier: Apache-2.0
#include <xxhash.h>

#include <crawlstore/page_key.h>
#include <crawlstore/url.h>

#include "base/parsed_page_key.h"
#include "base/url_parts.h"

namespace crawlstore {

std::string url_host(std::string_view url) {
  UrlNormalizer normalizer;
  const NormalizedUrl normalized = normalizer.normalize(url);
  return std::string(normalized.parsed ? url_text::host_of(normalized.text) : std::string_view());
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
  return key_of(url_text::host_of(normalized), normalized, key_seed);
}

}  // namespace crawlstore
