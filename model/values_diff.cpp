// SPDX-License-Identifier: Apache-2.0
#include "model/values_diff.h"

#include <optional>
#include <string>
#include <utility>

#include <crawlstore/tools/diff.h>

namespace crawlstore::model {
namespace {

Cell bytes_cell(const SmallValues& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? Cell{} : Cell{std::uint64_t{found->second.size()}};
}

Table changes_between(const SmallValues& older, const SmallValues& newer) {
  Table table{"small_values",
              {{"change", Unit::kText},
               {"old_value_bytes", Unit::kBytes},
               {"new_value_bytes", Unit::kBytes},
               {"name", Unit::kText}},
              {}};
  SmallValues names = older;
  names.insert(newer.begin(), newer.end());
  for (const auto& [name, bytes] : names) {
    const auto was = older.find(name);
    const auto is = newer.find(name);
    if (was != older.end() && is != newer.end() && was->second == is->second) continue;
    const Change change = was == older.end()  ? Change::kAdded
                          : is == newer.end() ? Change::kGone
                                              : Change::kChanged;
    table.rows.push_back(
        {std::string(name_of(change)), bytes_cell(older, name), bytes_cell(newer, name), name});
  }
  return table;
}

}  // namespace

Result<void> add_values_diff(const Snapshot& older, const Snapshot& newer,
                             const std::function<void(bool in_new)>& failed, DiffGaps* gaps,
                             Document& document) {
  // nothing: the state is left out
  const auto read = [&](const Snapshot& state, bool in_new) -> Result<std::optional<SmallValues>> {
    auto values = read_values(state);
    if (values) return std::optional(std::move(*values));
    if (gaps != nullptr && DiffGaps::is_damage(values.error())) {
      gaps->add(in_new, "small_values", {}, values.error());
      return std::optional<SmallValues>();
    }
    if (failed) failed(in_new);
    return tl::unexpected<Error>(values.error());
  };
  CRAWLSTORE_TRY(const auto was, read(older, false));
  CRAWLSTORE_TRY(const auto is, read(newer, true));
  Table table = was && is ? changes_between(*was, *is) : changes_between({}, {});
  if (!table.rows.empty()) document.fields.front().value = true;  // `is_different`
  document.tables.push_back(std::move(table));
  return {};
}

}  // namespace crawlstore::model
