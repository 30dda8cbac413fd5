// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <crawlstore/page_view.h>
#include <crawlstore/snapshot.h>

#include "call.h"
#include "handles.h"

namespace crawlstore::c {
namespace {

Result<crwl_view> open_view(const std::string& path, const std::string& name) {
  CRAWLSTORE_TRY(auto snapshot, Snapshot::open(path));
  CRAWLSTORE_TRY(auto pages, PageView::open(snapshot, name));
  return crwl_view{path, name, std::move(snapshot), std::move(pages)};
}

/// Sets an entry of a column, if it is wanted.
template <class Entry, class Value>
void set_entry(Entry* column, std::uint64_t row, Value value) {
  if (column != nullptr) column[row] = static_cast<Entry>(value);
}

/// Fills row after row of a caller's columns.
class ColumnsWriter {
 public:
  explicit ColumnsWriter(crwl_page_columns& columns) : columns_(columns) {}

  /// Whether the page went into the next row.
  bool add(const PageInfo& page) {
    if (row_ == columns_.capacity) return false;
    if (columns_.urls != nullptr) {
      if (page.url.size() > columns_.url_capacity - url_bytes_) {
        is_full_ = true;
        return false;
      }
      std::copy(page.url.begin(), page.url.end(), columns_.urls + url_bytes_);
      url_bytes_ += page.url.size();
      columns_.url_ends[row_] = url_bytes_;
    }
    set_entry(columns_.linked_from, row_,
              page.linked_from.value_or(std::numeric_limits<std::uint64_t>::max()));
    set_entry(columns_.depth, row_, page.depth);
    set_entry(columns_.state, row_, page.state);
    set_entry(columns_.http_status, row_, page.http_status);
    set_entry(columns_.crawl_count, row_, page.crawl_count);
    set_entry(columns_.change_count, row_, page.change_count);
    set_entry(columns_.failure_count, row_, page.failure_count);
    set_entry(columns_.first_crawl_us, row_, page.first_crawl_us);
    set_entry(columns_.last_crawl_us, row_, page.last_crawl_us);
    set_entry(columns_.score, row_, page.score);
    ++row_;
    return true;
  }

  [[nodiscard]] std::uint64_t row_count() const { return row_; }
  /// Whether a URL found no room.
  [[nodiscard]] bool is_full() const { return is_full_; }

 private:
  crwl_page_columns& columns_;
  std::uint64_t row_ = 0;
  std::uint64_t url_bytes_ = 0;
  bool is_full_ = false;
};

Result<void> fill_columns(const PageView& pages, crwl_page_columns& columns) {
  columns.row_count = 0;
  if ((columns.urls == nullptr) != (columns.url_ends == nullptr)) {
    return fail(Errc::kInvalidArgument, "URLs are asked for without their ends, or ends alone");
  }
  if (columns.first_page >= pages.info().page_count || columns.capacity == 0) return {};
  ColumnsWriter writer(columns);
  const auto add = [&writer](const PageInfo& page) { return writer.add(page); };
  CRAWLSTORE_TRY(pages.for_each_page(add, columns.first_page));
  columns.row_count = writer.row_count();
  if (writer.is_full() && writer.row_count() == 0) {
    return fail(Errc::kTooLarge, "the room for URLs does not suffice for one");
  }
  return {};
}

}  // namespace

extern "C" {

int crwl_view_open(const char* path, const char* name, crwl_view** view, crwl_error* error) {
  if (view != nullptr) *view = nullptr;
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(path, view));
    CRAWLSTORE_TRY(auto opened, open_view(path, std::string(name_or(name, "pages"))));
    give_handle(view, std::move(opened));
    return {};
  });
}

int crwl_view_refresh(crwl_view* view, int* changed, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(view));
    CRAWLSTORE_TRY(const auto newest, view->snapshot.newest());
    const bool is_newer = newest > view->snapshot.generation();
    if (is_newer) {
      CRAWLSTORE_TRY(auto opened, open_view(view->path, view->name));
      *view = std::move(opened);
    }
    if (changed != nullptr) *changed = is_newer ? 1 : 0;
    return {};
  });
}

int crwl_view_get_info(const crwl_view* view, crwl_view_info* info, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(view));
    CRAWLSTORE_TRY(check_size(info));
    const PagesInfo& pages = view->pages.info();
    crwl_view_info told{};
    told.has_urls = pages.has_urls ? 1 : 0;
    told.generation = view->snapshot.generation().value;
    told.page_count = pages.page_count;
    told.crawled_count = pages.crawled_count;
    told.link_count = pages.link_count;
    told.event_count = pages.event_count;
    const Uuid uuid = view->snapshot.uuid();
    std::transform(uuid.begin(), uuid.end(), told.uuid, std::to_integer<std::uint8_t>);
    give(info, told);
    return {};
  });
}

int crwl_view_find(const crwl_view* view, const char* url, std::size_t url_bytes,
                   std::uint64_t* index, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(view, index));
    CRAWLSTORE_TRY(const auto text, text_of(url, url_bytes));
    CRAWLSTORE_TRY(const auto found, view->pages.find(text));
    *index = found.value_or(std::numeric_limits<std::uint64_t>::max());
    return {};
  });
}

int crwl_view_get_columns(const crwl_view* view, crwl_page_columns* columns, crwl_error* error) {
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(view));
    CRAWLSTORE_TRY(check_input(columns));
    return fill_columns(view->pages, *columns);
  });
}

void crwl_view_free(crwl_view* view) {
  free_handle(view);
}

}  // extern "C"

}  // namespace crawlstore::c
