// SPDX-License-Identifier: Apache-2.0
#include "model/table.h"

#include <algorithm>

namespace crawlstore::model {

const Field* find_field(const Document& document, const std::string& name) {
  const auto found = std::find_if(document.fields.begin(), document.fields.end(),
                                  [&name](const Field& field) { return field.name == name; });
  return found == document.fields.end() ? nullptr : &*found;
}

}  // namespace crawlstore::model
