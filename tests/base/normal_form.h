// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The part of URLs that tests compare: the normal form of version 2 as a value.

#include <string>
#include <string_view>

#include <crawlstore/url.h>

namespace crawlstore {

inline constexpr const char* kUnparsed = "(not parsed)";

/// The normal form, or kUnparsed.
inline std::string normal_form(std::string_view url) {
  UrlNormalizer normalizer;
  const NormalizedUrl result = normalizer.normalize(url);
  return result.parsed ? std::string(result.text) : kUnparsed;
}

}  // namespace crawlstore
