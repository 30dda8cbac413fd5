// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/links.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "model/host_name.h"

namespace crawlstore::inspector {
namespace {

constexpr std::array<std::string_view, 6> kSegmentColumns{"segment", "owner",   "partition",
                                                          "key_log", "aux_log", "segment_id"};
constexpr std::array<std::string_view, 4> kGenerationColumns{"generation", "born", "retired",
                                                             "newest"};

constexpr std::array<std::string_view, 3> kPageColumns{"index", "linked_from", "first_page"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::optional<std::uint64_t> number_of(const model::Cell& cell) {
  if (const auto* number = std::get_if<std::uint64_t>(&cell)) return *number;
  return std::nullopt;
}

}  // namespace

Thing thing_of(const model::Column& column, const model::Cell& cell, const std::string& drum,
               const std::string& pages) {
  if (const auto* text = std::get_if<std::string>(&cell); text != nullptr && column.name == "key") {
    if (const auto location = parse_location("key/x/" + *text)) {
      KeyThing thing = std::get<KeyThing>(location->thing);
      thing.drum = drum;
      return thing;
    }
    return {};
  }
  if (const auto* text = std::get_if<std::string>(&cell);
      text != nullptr && column.name == "host") {
    return HostThing{pages, model::host_of_name(*text)};
  }
  const auto number = number_of(cell);
  if (!number) return {};
  if (column.unit == model::Unit::kOffset) return ExtentThing{{*number, 0}};
  if (is_one_of(kSegmentColumns, column.name)) {
    return *number == 0 ? Thing{} : SegmentThing{SegmentId{*number}};
  }
  if (is_one_of(kGenerationColumns, column.name)) {
    return *number == 0 ? Thing{} : GenerationThing{Generation{*number}};
  }
  if (is_one_of(kPageColumns, column.name)) return PageThing{pages, *number};
  if (column.name == "bucket" && !drum.empty()) return BucketThing{drum, *number};
  return {};
}

Thing thing_in_row(const std::vector<model::Column>& columns, const model::Row& row,
                   std::size_t column, const std::string& drum, const std::string& pages) {
  const std::string* name = &drum;
  for (std::size_t i = 0; i < columns.size() && i < row.size(); ++i) {
    const auto* text = std::get_if<std::string>(&row[i]);
    if (text != nullptr && columns[i].name == "drum") name = text;
  }
  return thing_of(columns[column], row[column], *name, pages);
}

}  // namespace crawlstore::inspector
