// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The words that tests of OPIC say often.

#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/pages.h>
#include <crawlstore/scores.h>

#include "pages/page_words.h"
#include "support/random.h"

namespace crawlstore::testing {

inline void crawl(PageDb& pages, const std::string& url, const std::vector<std::string>& links) {
  CrawledPage page(url, 1'000'000);
  for (const std::string& link : links) page.add_link(link, 0);
  must(pages.add(page));
}

inline std::vector<double> values_of(const Store& store, std::string_view name) {
  const auto scores = must(ScoreView::open(view_of(store), name));
  const auto values = must(scores.doubles());
  return {values.begin(), values.end()};
}

/// Crawls pages of the first `limit` URLs, with links to others of them.
inline void crawl_some(PageDb& pages, Random& random, std::uint64_t limit, int crawl_count) {
  const auto url = [&] { return "http://a.test/" + std::to_string(random.below(limit)); };
  for (int i = 0; i < crawl_count; ++i) {
    std::vector<std::string> links(random.below(4));
    for (std::string& link : links) link = url();
    crawl(pages, url(), links);
  }
}

}  // namespace crawlstore::testing
