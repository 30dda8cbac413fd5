// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A page database in memory that has given links.

#include <cstdint>
#include <vector>

#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>

#include "drum/memory_store.h"
#include "format/link_samples.h"

namespace crawlstore::testing {

inline PagesOptions without_urls() {
  PagesOptions options;
  options.has_urls = false;
  return options;
}

inline void add_rows(PageDb& pages, const Rows& rows) {
  std::vector<EventLink> links;
  for (const auto& [page, row] : rows) {
    links.clear();
    links.reserve(row.size());
    for (const std::uint64_t link : row) links.push_back({{}, link, 0});
    CrawlEvent event;
    event.index = page;
    event.links = links;
    must(pages.add(event));
  }
  must(pages.merge());
}

/// A page database without URLs that has these links.
class LinkedPages {
 public:
  explicit LinkedPages(const Rows& rows)
      : pages_(must(PageDb::open(*store_, PageDb::kDefaultName, without_urls()))) {
    add(rows);
  }

  void add(const Rows& rows) {
    add_rows(pages_, rows);
    must(store_->commit());
  }
  void compact() {
    must(pages_.compact());
    must(store_->commit());
  }
  [[nodiscard]] PageView view() { return must(PageView::open(must(store_->snapshot()))); }
  [[nodiscard]] std::vector<std::byte> image() const { return store_.image(); }

 private:
  MemoryStore store_;
  PageDb pages_;
};

}  // namespace crawlstore::testing
