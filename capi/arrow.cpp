// SPDX-License-Identifier: Apache-2.0
// Arrays own their columns one by one, as the standard lets a consumer move a child out of its
// parent: a child that was moved has no `release` any more, and the parent leaves it alone.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <crawlstore/page_view.h>

#include "call.h"
#include "handles.h"

namespace crawlstore::c {
namespace {

/// The entries of a column, as Arrow lays them out.
class ArrowColumn {
 public:
  template <class Number>
  void add(Number number) {
    const auto raw = std::as_bytes(std::span(&number, 1));
    values_.insert(values_.end(), raw.begin(), raw.end());
    ++count_;
  }

  template <class Number>
  void add_or_null(std::optional<Number> number) {
    if (count_ % 8 == 0) validity_.push_back(0);
    const unsigned bit = number ? 1U << (count_ % 8) : 0U;
    validity_.back() = static_cast<std::uint8_t>(validity_.back() | bit);
    null_count_ += number ? 0 : 1;
    add(number.value_or(0));
  }

  void add_text(std::string_view text) {
    if (ends_.empty()) ends_.push_back(0);
    const auto raw = std::as_bytes(std::span(text));
    values_.insert(values_.end(), raw.begin(), raw.end());
    ends_.push_back(static_cast<std::int64_t>(values_.size()));
    ++count_;
  }

  /// Fills what an array says of its entries. The column must live as long.
  void describe(ArrowArray& array) {
    if (values_.empty()) values_.reserve(1);  // no buffer is NULL but that of an absent validity
    const void* const validity = validity_.empty() ? nullptr : validity_.data();
    buffers_ = {validity, values_.data(), nullptr};
    if (!ends_.empty()) buffers_ = {validity, ends_.data(), values_.data()};
    array.length = count_;
    array.null_count = null_count_;
    array.n_buffers = ends_.empty() ? 2 : 3;
    array.buffers = buffers_.data();
  }

 private:
  std::vector<std::byte> values_;
  std::vector<std::uint8_t> validity_;
  std::vector<std::int64_t> ends_;
  std::int64_t count_ = 0;
  std::int64_t null_count_ = 0;
  std::array<const void*, 3> buffers_{};
};

std::optional<std::int64_t> unless_never(std::int64_t time_us) {
  return time_us == 0 ? std::nullopt : std::optional(time_us);
}

struct ColumnKind {
  std::uint32_t flag;
  const char* name;
  const char* format;
  std::int64_t flags;
  void (*add)(ArrowColumn& column, const PageInfo& page);
};

constexpr ColumnKind kColumnKinds[] = {
    {CRWL_COLUMN_INDEX, "index", "L", 0,
     [](ArrowColumn& column, const PageInfo& page) { column.add(page.index); }},
    {CRWL_COLUMN_URL, "url", "Z", 0,
     [](ArrowColumn& column, const PageInfo& page) { column.add_text(page.url); }},
    {CRWL_COLUMN_STATE, "state", "C", 0,
     [](ArrowColumn& column, const PageInfo& page) {
       column.add(static_cast<std::uint8_t>(page.state));
     }},
    {CRWL_COLUMN_HTTP_STATUS, "http_status", "S", 0,
     [](ArrowColumn& column, const PageInfo& page) { column.add(page.http_status); }},
    {CRWL_COLUMN_DEPTH, "depth", "I", 0,
     [](ArrowColumn& column, const PageInfo& page) { column.add(page.depth); }},
    {CRWL_COLUMN_LINKED_FROM, "linked_from", "L", ARROW_FLAG_NULLABLE,
     [](ArrowColumn& column, const PageInfo& page) { column.add_or_null(page.linked_from); }},
    {CRWL_COLUMN_CRAWL_COUNT, "crawl_count", "I", 0,
     [](ArrowColumn& column, const PageInfo& page) { column.add(page.crawl_count); }},
    {CRWL_COLUMN_CHANGE_COUNT, "change_count", "I", 0,
     [](ArrowColumn& column, const PageInfo& page) { column.add(page.change_count); }},
    {CRWL_COLUMN_FAILURE_COUNT, "failure_count", "I", 0,
     [](ArrowColumn& column, const PageInfo& page) { column.add(page.failure_count); }},
    {CRWL_COLUMN_FIRST_CRAWL, "first_crawl", "tsu:UTC", ARROW_FLAG_NULLABLE,
     [](ArrowColumn& column, const PageInfo& page) {
       column.add_or_null(unless_never(page.first_crawl_us));
     }},
    {CRWL_COLUMN_LAST_CRAWL, "last_crawl", "tsu:UTC", ARROW_FLAG_NULLABLE,
     [](ArrowColumn& column, const PageInfo& page) {
       column.add_or_null(unless_never(page.last_crawl_us));
     }},
    {CRWL_COLUMN_SCORE, "score", "f", 0,
     [](ArrowColumn& column, const PageInfo& page) { column.add(page.score); }},
};

/// Private data of a schema or an array. Owns the children that were not moved out.
template <class Node>
struct Parts {
  explicit Parts(std::size_t child_count) : children(child_count) {
    for (Node& child : children) pointers.push_back(&child);
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  ~Parts() {
    for (Node& child : children) {
      if (child.release != nullptr) child.release(&child);
    }
  }

  std::vector<Node> children;
  std::vector<Node*> pointers;
  ArrowColumn column;                 // of an array without children
  const void* no_validity = nullptr;  // the buffer of an array with children
};

template <class Node>
void release_node(Node* node) {
  const std::unique_ptr<Parts<Node>> gone(static_cast<Parts<Node>*>(node->private_data));
  node->release = nullptr;
}

/// Makes a node own its parts.
template <class Node>
void own(Node& node, std::unique_ptr<Parts<Node>> parts) {
  node.n_children = static_cast<std::int64_t>(parts->children.size());
  node.children = parts->pointers.data();
  node.release = release_node<Node>;
  node.private_data = parts.release();
}

struct PageStream {
  PageView pages;
  std::vector<ColumnKind> kinds;
  std::uint64_t next_page = 0;
  crwl_error error{};
};

ArrowSchema schema_of(const PageStream& stream) {
  auto parts = std::make_unique<Parts<ArrowSchema>>(stream.kinds.size());
  for (std::size_t i = 0; i < stream.kinds.size(); ++i) {
    ArrowSchema& child = parts->children[i];
    child.format = stream.kinds[i].format;
    child.name = stream.kinds[i].name;
    child.flags = stream.kinds[i].flags;
    own(child, std::make_unique<Parts<ArrowSchema>>(0));
  }
  ArrowSchema schema{};
  schema.format = "+s";
  schema.name = "";
  own(schema, std::move(parts));
  return schema;
}

/// The next rows; an array without `release` at the end.
Result<ArrowArray> next_batch(PageStream& stream) {
  ArrowArray batch{};
  if (stream.next_page >= stream.pages.info().page_count) return batch;
  std::vector<std::unique_ptr<Parts<ArrowArray>>> columns(stream.kinds.size());
  for (auto& column : columns) column = std::make_unique<Parts<ArrowArray>>(0);
  const auto add = [&](const PageInfo& page) {
    for (std::size_t i = 0; i < columns.size(); ++i) stream.kinds[i].add(columns[i]->column, page);
    return ++batch.length < CRWL_ARROW_ROW_COUNT;
  };
  CRAWLSTORE_TRY(stream.pages.for_each_page(add, stream.next_page));
  auto parts = std::make_unique<Parts<ArrowArray>>(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    columns[i]->column.describe(parts->children[i]);
    own(parts->children[i], std::move(columns[i]));
  }
  batch.n_buffers = 1;
  batch.buffers = &parts->no_validity;
  own(batch, std::move(parts));
  stream.next_page += static_cast<std::uint64_t>(batch.length);
  return batch;
}

PageStream& stream_of(ArrowArrayStream* stream) {
  return *static_cast<PageStream*>(stream->private_data);
}

/// The result of a call as the standard has it: a number of the system.
int system_number(int code) {
  constexpr int kOutOfMemory = static_cast<int>(Errc::kOutOfMemory);
  return code == 0 ? 0 : code == kOutOfMemory ? ENOMEM : EIO;
}

int get_schema(ArrowArrayStream* given, ArrowSchema* out) {
  PageStream& stream = stream_of(given);
  return system_number(call(&stream.error, [&]() -> Result<void> {
    *out = schema_of(stream);
    return {};
  }));
}

int get_next(ArrowArrayStream* given, ArrowArray* out) {
  PageStream& stream = stream_of(given);
  return system_number(call(&stream.error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(*out, next_batch(stream));
    return {};
  }));
}

const char* get_last_error(ArrowArrayStream* given) {
  const PageStream& stream = stream_of(given);
  return stream.error.code == 0 ? nullptr : stream.error.message;
}

void release_stream(ArrowArrayStream* given) {
  const std::unique_ptr<PageStream> gone(&stream_of(given));
  given->release = nullptr;
}

/// The kinds that a caller names; all for 0.
Result<std::vector<ColumnKind>> kinds_of(std::uint32_t columns) {
  std::vector<ColumnKind> kinds;
  std::uint32_t unknown = columns;
  for (const ColumnKind& kind : kColumnKinds) {
    if (columns == 0 || (columns & kind.flag) != 0) kinds.push_back(kind);
    unknown &= ~kind.flag;
  }
  if (unknown != 0) return fail(Errc::kInvalidArgument, "pages have no such column");
  return kinds;
}

}  // namespace

extern "C" {

int crwl_view_arrow(const crwl_view* view, std::uint32_t columns, ArrowArrayStream* stream,
                    crwl_error* error) {
  if (stream != nullptr) *stream = {};
  return call(error, [&]() -> Result<void> {
    CRAWLSTORE_TRY(need(view, stream));
    CRAWLSTORE_TRY(auto kinds, kinds_of(columns));
    auto made = std::make_unique<PageStream>(PageStream{view->pages, std::move(kinds)});
    made->error.struct_size = sizeof made->error;
    *stream = {get_schema, get_next, get_last_error, release_stream, made.release()};
    return {};
  });
}

}  // extern "C"

}  // namespace crawlstore::c
