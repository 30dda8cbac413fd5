// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <crawlstore/page_copies.h>

#include "base/inside.h"
#include "pages/page_view_impl.h"

namespace crawlstore {

Result<void> for_each_page_of_content(const PageView& view, std::span<const std::byte> content_hash,
                                      const std::function<bool(std::uint64_t index)>& visit) {
  const PageView::Impl& impl = Inside::of(view);
  if (content_hash.empty()) return {};
  for (std::uint64_t index = 0; index < impl.info.page_count; ++index) {
    CRAWLSTORE_TRY(const auto record, impl.record(index));
    const std::span hash(record.hash.data(), record.hash_bytes);
    if (std::ranges::equal(hash, content_hash) && !visit(index)) return {};
  }
  return {};
}

}  // namespace crawlstore
