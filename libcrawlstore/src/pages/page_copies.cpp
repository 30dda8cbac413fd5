// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <crawlstore/tools/page_copies.h>

#include "base/inside.h"
#include "pages/content_index.h"
#include "pages/key_run_cursor.h"
#include "pages/page_view_impl.h"

namespace crawlstore {
namespace {

using VisitIndex = std::function<bool(std::uint64_t index)>;

Result<bool> has_content(const PageView::Impl& view, std::uint64_t index,
                         std::span<const std::byte> content_hash) {
  CRAWLSTORE_TRY(const auto record, view.record(index));
  return std::ranges::equal(std::span(record.hash.data(), record.hash_bytes), content_hash);
}

Result<void> visit_all_records(const PageView::Impl& view, std::span<const std::byte> content_hash,
                               const VisitIndex& visit) {
  for (std::uint64_t index = 0; index < view.info.page_count; ++index) {
    CRAWLSTORE_TRY(const bool is_one, has_content(view, index, content_hash));
    if (is_one && !visit(index)) return {};
  }
  return {};
}

/// Those keys of a content in all runs that are at least `from`.
Result<std::vector<pages::KeyRunCursor>> open_runs(const PageView::Impl& view, Key16 from) {
  std::vector<pages::KeyRunCursor> cursors;
  CRAWLSTORE_TRY(const auto* const log, view.part(view.table.contents, SegmentKind::kPageContents));
  if (log == nullptr) return cursors;
  for (const auto& run : log->runs) {
    CRAWLSTORE_TRY(auto opened, drum::PartitionLookup::open(
                                    Inside::of(view.snapshot).run_reader(view.table.contents, run),
                                    pages::kContentKeyShape));
    cursors.emplace_back(std::move(opened), pages::kContentKeyShape.value_bytes);
    CRAWLSTORE_TRY(cursors.back().start(from));
  }
  return cursors;
}

}  // namespace

Result<void> for_each_page_of_content(const PageView& view, std::span<const std::byte> content_hash,
                                      const VisitIndex& visit) {
  const PageView::Impl& impl = Inside::of(view);
  if (content_hash.empty()) return {};
  if (!impl.table.has_contents) return visit_all_records(impl, content_hash, visit);
  const std::uint64_t key_seed = Inside::of(impl.snapshot).identity().key_seed;
  const Key16 from = pages::content_key(content_hash, 0, key_seed);
  CRAWLSTORE_TRY(auto cursors, open_runs(impl, from));
  for (;;) {
    pages::KeyRunCursor* first = nullptr;
    for (auto& cursor : cursors) {
      if (cursor.at_end() || cursor.key().head != from.head) continue;
      if (first == nullptr || cursor.key() < first->key()) first = &cursor;
    }
    if (first == nullptr) return {};
    const std::uint64_t index = first->key().tail;
    if (index >= impl.table.page_count) {
      return fail(Errc::kSegmentInvalid, "a content is of a page that does not exist",
                  Error::kNoOffset, impl.table.contents);
    }
    CRAWLSTORE_TRY(const bool is_one, has_content(impl, index, content_hash));
    if (is_one && !visit(index)) return {};
    CRAWLSTORE_TRY(first->advance());
  }
}

}  // namespace crawlstore
