// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <vector>

#include <crawlstore/external_sort.h>
#include <crawlstore/page_order.h>

#include "base/inside.h"
#include "format/endian.h"
#include "pages/page_view_impl.h"

namespace crawlstore {
namespace {

/// Pages between two calls of progress.
constexpr std::uint64_t kPagesPerCall = 4096;

using IndexBytes = std::array<std::byte, sizeof(std::uint64_t)>;

std::string_view as_text(std::span<const std::byte> bytes) {
  return {format::numbers<char>(bytes).data(), bytes.size()};
}

std::uint64_t index_of_payload(std::string_view payload) {
  return format::load<std::uint64_t>(std::as_bytes(std::span(payload)).data());
}

Result<ExternalSort> make_sort(const PageOrderOptions& options, std::uint64_t page_count) {
  ExternalSortOptions with;
  with.memory_bytes = options.memory_bytes;
  with.folder = options.folder;
  if (options.progress) {
    with.progress = [&progress = options.progress, page_count](std::uint64_t done,
                                                               std::uint64_t total) {
      const double share = static_cast<double>(done) / static_cast<double>(std::max(total, done));
      const auto pages = static_cast<std::uint64_t>(share * static_cast<double>(page_count));
      return progress(page_count + pages, 2 * page_count);
    };
  }
  return ExternalSort::make(with);
}

/// Sorts the keys that `key_of` gives of pages; pages with an empty one are left out.
///   key_of  Result<std::string_view>(index), valid until its next call
template <class KeyOf>
Result<ExternalSort> sort_pages(const PageView& view, const PageOrderOptions& options,
                                const KeyOf& key_of) {
  const std::uint64_t page_count = view.info().page_count;
  CRAWLSTORE_TRY(auto sort, make_sort(options, page_count));
  for (std::uint64_t index = 0; index < page_count; ++index) {
    if (index % kPagesPerCall == 0 && options.progress &&
        !options.progress(index, 2 * page_count)) {
      return fail(Errc::kCancelled, "sorting pages was cancelled");
    }
    CRAWLSTORE_TRY(const std::string_view key, key_of(index));
    if (key.empty()) continue;
    IndexBytes payload;
    format::store(payload.data(), index);
    CRAWLSTORE_TRY(sort.add(key, as_text(payload)));
  }
  CRAWLSTORE_TRY(sort.finish());
  return sort;
}

/// Hands the sorted pages to `visit` until it returns false.
template <class Visit>
Result<void> visit_sorted(ExternalSort& sort, const Visit& visit) {
  for (;;) {
    CRAWLSTORE_TRY(const bool is_there, sort.next());
    if (!is_there || !visit(sort.record(), index_of_payload(sort.payload()))) return {};
  }
}

}  // namespace

Result<void> for_each_page_by_url(
    const PageView& view, const PageOrderOptions& options,
    const std::function<bool(std::string_view url, std::uint64_t index)>& visit) {
  if (!view.info().has_urls) {
    return fail(Errc::kInvalidArgument, "the pages of this database have no URLs to sort by");
  }
  std::string url;
  const auto key_of = [&](std::uint64_t index) -> Result<std::string_view> {
    CRAWLSTORE_TRY(url, view.url(index));
    return url;
  };
  CRAWLSTORE_TRY(auto sort, sort_pages(view, options, key_of));
  return visit_sorted(sort, visit);
}

Result<void> for_each_page_by_content(
    const PageView& view, const PageOrderOptions& options,
    const std::function<bool(std::span<const std::byte> content_hash, std::uint64_t index)>&
        visit) {
  const PageView::Impl& impl = Inside::of(view);
  format::PageRecord record;
  const auto key_of = [&](std::uint64_t index) -> Result<std::string_view> {
    const auto found = impl.record(index);
    if (!found && impl.goes_on_past(found.error())) return std::string_view();
    if (!found) return tl::unexpected<Error>(found.error());
    record = *found;
    return as_text(std::span<const std::byte>(record.hash).first(record.hash_bytes));
  };
  CRAWLSTORE_TRY(auto sort, sort_pages(view, options, key_of));
  return visit_sorted(sort, [&visit](std::string_view hash, std::uint64_t index) {
    return visit(std::as_bytes(std::span(hash)), index);
  });
}

Result<void> for_each_content(const PageView& view, const PageOrderOptions& options,
                              const std::function<bool(const ContentGroup& group)>& visit) {
  std::vector<std::byte> hash;
  ContentGroup group;
  bool goes_on = true;
  const auto tell = [&] {
    group.content_hash = hash;
    goes_on = group.page_count == 0 || visit(group);
    return goes_on;
  };
  const auto count = [&](std::span<const std::byte> content_hash, std::uint64_t index) {
    if (group.page_count != 0 && std::ranges::equal(content_hash, hash)) {
      ++group.page_count;
      return true;
    }
    if (!tell()) return false;
    hash.assign(content_hash.begin(), content_hash.end());
    group = {{}, 1, index};
    return true;
  };
  CRAWLSTORE_TRY(for_each_page_by_content(view, options, count));
  if (goes_on) tell();
  return {};
}

}  // namespace crawlstore
