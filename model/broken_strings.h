// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Strings of JSON that hold bytes that are no UTF-8, or half of a surrogate pair such as `\udc80`,
/// as Python writes such a byte. Readers of JSON refuse the whole text. Threads: pure functions.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace crawlstore::model {

struct MendedJson {
  std::string text;                           ///< with `?` for each half and each such byte
  std::vector<std::size_t> broken_strings{};  ///< numbers of those that had any
  bool has_bytes = false;                     ///< that are no UTF-8, in one of them
};

/// Returns the text without halves and bytes that are no UTF-8, and which of its strings had any,
/// ascending from 0; nullopt if none had. Text that is no JSON becomes no JSON. Cost: one pass; the
/// text once more at most, and 8 bytes a string that had any.
std::optional<MendedJson> mend_broken_strings(std::string_view json);

}  // namespace crawlstore::model
