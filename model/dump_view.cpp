// SPDX-License-Identifier: Apache-2.0
#include "model/dump_view.h"

#include <charconv>

#include "model/format_text.h"

namespace crawlstore::model {

Document dump_view(const std::vector<FieldInfo>& fields) {
  Table table{"fields",
              {{"depth", Unit::kId},
               {"offset_bytes", Unit::kOffset},
               {"length_bytes", Unit::kId},
               {"name", Unit::kText},
               {"type", Unit::kText},
               {"value", Unit::kText},
               {"problem", Unit::kText}},
              {}};
  for (const FieldInfo& field : fields) {
    table.rows.push_back({std::uint64_t{field.depth}, field.offset_bytes, field.length_bytes,
                          field.name, field.type, format_printable(field.value), field.problem});
  }
  return {{}, {std::move(table)}};
}

std::string field_text(const FieldInfo& field) {
  if (field.type != "time_us") return field.value;
  std::int64_t time_us = 0;
  const char* const end = field.value.data() + field.value.size();
  const auto [rest, error] = std::from_chars(field.value.data(), end, time_us);
  if (error != std::errc() || rest != end) return field.value;
  return field.value + " (" + format_time(time_us) + ")";
}

Table field_tree(const std::vector<FieldInfo>& fields) {
  Table table{"fields",
              {{"name", Unit::kText},
               {"value", Unit::kText},
               {"type", Unit::kText},
               {"offset_bytes", Unit::kOffset},
               {"length_bytes", Unit::kCount},
               {"problem", Unit::kText}},
              {}};
  for (const FieldInfo& field : fields) {
    table.rows.push_back({std::string(std::size_t{3} * field.depth, ' ') + field.name,
                          field_text(field), field.type, field.offset_bytes, field.length_bytes,
                          field.problem});
  }
  return table;
}

}  // namespace crawlstore::model
