// SPDX-License-Identifier: Apache-2.0
#include "cli/content_groups.h"

#include <string>

#include <fmt/format.h>

#include <crawlstore/external_sort.h>
#include <crawlstore/page_order.h>

#include "cli/page_source.h"
#include "model/json.h"

namespace crawlstore::cli {
namespace {

constexpr std::size_t kNumberBytes = 8;

/// Numbers in this form ascend as their bytes do.
void append_number(std::string& to, std::uint64_t number) {
  for (std::size_t i = kNumberBytes; i != 0; --i) {
    to.push_back(static_cast<char>(number >> (8 * (i - 1)) & 0xFF));
  }
}

std::uint64_t number_in(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char byte : bytes.substr(0, kNumberBytes)) {
    number = number << 8U | static_cast<unsigned char>(byte);
  }
  return number;
}

/// Sorts the contents: those of most pages first.
Result<ExternalSort> sort_groups(const PageView& view, const Progress& progress) {
  CRAWLSTORE_TRY(auto sort, ExternalSort::make());
  Result<void> added;
  std::string record;
  std::string payload;
  PageOrderOptions options;
  options.progress = progress;
  CRAWLSTORE_TRY(for_each_content(view, options, [&](const ContentGroup& group) {
    record.clear();
    payload.clear();
    append_number(record, ~group.page_count);
    for (const std::byte byte : group.content_hash) record.push_back(static_cast<char>(byte));
    append_number(payload, group.first_page);
    added = sort.add(record, payload);
    return added.has_value();
  }));
  CRAWLSTORE_TRY(added);
  CRAWLSTORE_TRY(sort.finish());
  return sort;
}

void append_json(std::string& to, const std::string& hash, std::uint64_t page_count,
                 std::uint64_t first_page, const std::string& url) {
  fmt::format_to(std::back_inserter(to),
                 "{{\"content_hash\":\"{}\",\"page_count\":{},\"first_page\":{}", hash, page_count,
                 first_page);
  to += ',';
  model::append_json_bytes(to, "url", url);
  to += '}';
}

}  // namespace

std::vector<model::Column> content_groups_columns() {
  return {{"content_hash", model::Unit::kText},
          {"page_count", model::Unit::kCount},
          {"first_page", model::Unit::kId},
          {"url", model::Unit::kText}};
}

Result<void> print_content_groups(const PageView& view, const ContentGroupsOptions& options,
                                  const model::TableLines& lines, OutputFile& output) {
  CRAWLSTORE_TRY(auto groups, sort_groups(view, options.progress));
  std::string& tail = output.tail();
  if (options.form.as_json) {
    tail += "{\n  \"contents\": [";
  } else {
    lines.append_header(tail);
  }
  std::uint64_t count = 0;
  const std::uint64_t limit = options.limit.value_or(view.info().page_count);
  while (count < limit) {
    CRAWLSTORE_TRY(const bool is_there, groups.next());
    if (!is_there) break;
    std::string hash;
    model::append_hex(hash, groups.record().substr(kNumberBytes));
    const std::uint64_t page_count = ~number_in(groups.record());
    const std::uint64_t first_page = number_in(groups.payload());
    CRAWLSTORE_TRY(const auto url, view.url(first_page));
    if (options.form.as_json) {
      tail += count == 0 ? "\n    " : ",\n    ";
      append_json(tail, hash, page_count, first_page, url);
    } else {
      lines.append_row(tail, {hash, page_count, first_page, url});
    }
    ++count;
    CRAWLSTORE_TRY(output.room());
  }
  if (options.form.as_json) tail += count == 0 ? "]\n}\n" : "\n  ]\n}\n";
  return output.finish();
}

}  // namespace crawlstore::cli
