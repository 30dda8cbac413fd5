// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One run of links in a store of its own, and all ways to read it.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "links/link_store.h"
#include "support/seeded.h"

namespace crawlstore::testing {

/// Not committed.
class WrittenRun {
 public:
  using Write = std::function<format::RunRef(container::Writer& writer, SegmentId segment)>;
  explicit WrittenRun(const Write& write)
      : writer_(store_.writer()),
        segments_(add_link_segments(*writer_)),
        run_(write(*writer_, segments_.out)) {}

  [[nodiscard]] Result<links::LinksLookup> lookup() const {
    return links::LinksLookup::open(run_reader(*writer_, segments_.out, run_), segments_.out);
  }
  [[nodiscard]] Result<links::LinksCursor> cursor(std::uint64_t page = 0) const {
    auto opened = lookup();
    if (!opened) return tl::unexpected<Error>(opened.error());
    return links::LinksCursor::open(std::move(*opened), page);
  }
  [[nodiscard]] const format::RunRef& run() const { return run_; }
  [[nodiscard]] SegmentId segment() const { return segments_.out; }
  [[nodiscard]] container::Writer& writer() const { return *writer_; }
  [[nodiscard]] Bytes payload() const {
    return read_bytes(writer_->storage(), run_.offset_bytes, run_.payload_bytes);
  }

 private:
  ContainerStore store_;
  std::unique_ptr<container::Writer> writer_;
  links::LinkSegments segments_;
  format::RunRef run_;
};

/// Cursors from any page and look-ups of single rows find these rows.
inline void expect_reads(const WrittenRun& written, const Rows& rows, SeededRandom& random) {
  EXPECT_EQ(rows_of(written.cursor()), rows);
  const auto lookup = must(written.lookup());
  EXPECT_EQ(lookup.footer().row_count, rows.size());
  const std::uint64_t first = rows.begin()->first;
  const std::uint64_t last = rows.rbegin()->first;
  format::LinkRows scratch;
  std::size_t row = 0;
  for (int i = 0; i < 300; ++i) {
    std::uint64_t page = first + random.below(last - first + 3);
    if (i % 3 == 0) page = std::prev(rows.upper_bound(page))->first;
    const auto expected = rows.find(page);
    ASSERT_EQ(must(lookup.find(page, scratch, row)), expected != rows.end()) << page;
    if (expected == rows.end()) continue;
    const auto links = scratch.links(row);
    ASSERT_EQ(std::vector<std::uint64_t>(links.begin(), links.end()), expected->second) << page;
  }
  const std::uint64_t middle = std::next(rows.begin(), static_cast<long>(rows.size() / 2))->first;
  for (const std::uint64_t page : {middle, middle + 1, last, last + 1}) {
    EXPECT_EQ(rows_of(written.cursor(page)), Rows(rows.lower_bound(page), rows.end())) << page;
  }
}

}  // namespace crawlstore::testing
