// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Tells which pages count as unparsed: spec/pages.md#pages. The URL alone decides, so that
/// code that adds a page and code that takes it out agree.

#include <string_view>

#include <crawlstore/page_key.h>
#include <crawlstore/url.h>

namespace crawlstore::pages {

/// Threads: one.
class UnparsedUrls {
 public:
  explicit UnparsedUrls(std::uint64_t key_seed) : hostless_head_(host_key({}, key_seed)) {}

  /// `key` is that of `url`, as the page has it.
  ///   cost  a comparison, unless the URL has no host
  [[nodiscard]] bool contains(const Key16& key, std::string_view url) {
    return key.head == hostless_head_ && !normalizer_.normalize(url).parsed;
  }

 private:
  std::uint64_t hostless_head_;
  UrlNormalizer normalizer_;
};

}  // namespace crawlstore::pages
