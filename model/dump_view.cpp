// SPDX-License-Identifier: Apache-2.0
#include "model/dump_view.h"

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
    table.rows.push_back({std::string(std::size_t{3} * field.depth, ' ') + field.name, field.value,
                          field.type, field.offset_bytes, field.length_bytes, field.problem});
  }
  return table;
}

}  // namespace crawlstore::model
