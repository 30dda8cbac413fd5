// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include <crawlstore/page_view.h>

#include "call.h"
#include "handles.h"

namespace crawlstore::c {
namespace {

/// Writes all links of a stream as rows; returns how many there are.
///   indptr   page_count + 1 entries
///   indices  `capacity` entries
template <class Index>
class RowsWriter {
 public:
  RowsWriter(std::span<Index> indptr, std::span<Index> indices)
      : indptr_(indptr), indices_(indices) {}

  Result<std::uint64_t> write(LinkStream& stream) {
    while (true) {
      CRAWLSTORE_TRY(const bool is_there, stream.next());
      if (!is_there) break;
      CRAWLSTORE_TRY(begin_row(stream.page()));
      CRAWLSTORE_TRY(add(stream.links()));
    }
    std::fill(indptr_.begin() + static_cast<std::ptrdiff_t>(row_), indptr_.end(),
              static_cast<Index>(count_));
    return count_;
  }

 private:
  /// Begins a row, and the empty ones before it.
  Result<void> begin_row(std::uint64_t page) {
    if (page < row_ || page >= indptr_.size() - 1) {
      return fail(Errc::kSegmentInvalid, "the pages of links do not ascend");
    }
    for (; row_ <= page; ++row_) indptr_[row_] = static_cast<Index>(count_);
    return {};
  }

  Result<void> add(std::span<const std::uint64_t> targets) {
    if (targets.size() > indices_.size() - count_) {
      return fail(Errc::kTooLarge, "there are more links than the array has room for");
    }
    for (const std::uint64_t target : targets) indices_[count_++] = static_cast<Index>(target);
    return {};
  }

  std::span<Index> indptr_;
  std::span<Index> indices_;
  std::uint64_t row_ = 0;  // the first without a beginning
  std::uint64_t count_ = 0;
};

template <class Index>
Result<std::uint64_t> write_rows(const PageView& pages, const crwl_links& links) {
  constexpr std::uint64_t kMax = std::numeric_limits<Index>::max();
  if (pages.info().page_count > kMax || pages.info().link_count > kMax) {
    return fail(Errc::kTooLarge, "indexes of 4 bytes do not suffice");
  }
  CRAWLSTORE_TRY(auto stream, pages.links({.incoming = links.incoming != 0}));
  RowsWriter<Index> writer({static_cast<Index*>(links.indptr), pages.info().page_count + 1},
                           {static_cast<Index*>(links.indices), std::min(links.capacity, kMax)});
  return writer.write(stream);
}

}  // namespace

extern "C" {

int crwl_view_get_links(const crwl_view* view, crwl_links* links, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(view));
    CRAWLSTORE_TRY(check_input(links));
    CRAWLSTORE_TRY(need(links->indptr));
    CRAWLSTORE_TRY(need_array(links->capacity, links->indices));
    if (links->index_bytes != 4 && links->index_bytes != 8) {
      return fail(Errc::kInvalidArgument, "indexes have 4 or 8 bytes");
    }
    CRAWLSTORE_TRY(links->link_count, links->index_bytes == 4
                                          ? write_rows<std::int32_t>(view->pages, *links)
                                          : write_rows<std::int64_t>(view->pages, *links));
    return {};
  });
}

}  // extern "C"

}  // namespace crawlstore::c
