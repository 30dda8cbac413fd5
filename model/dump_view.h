// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Decoded fields as a table, one row a field.

#include <string>
#include <vector>

#include <crawlstore/tools/inspect.h>

#include "model/table.h"

namespace crawlstore::model {

/// The table `fields`: depth, offset_bytes, length_bytes, name, type, value, problem. Bytes in
/// values are shown as format_printable() shows them.
Document dump_view(const std::vector<FieldInfo>& fields);

/// The value of a field, and of a time what it is in UTC: "0 (1970-01-01T00:00:00Z)".
std::string field_text(const FieldInfo& field);

/// The table `fields` for the screen: name, value, type, offset_bytes, length_bytes, problem; names
/// are indented by their depth.
Table field_tree(const std::vector<FieldInfo>& fields);

}  // namespace crawlstore::model
