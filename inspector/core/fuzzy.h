// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Finding a command by some of its letters.

#include <optional>
#include <string_view>

namespace crawlstore::inspector {

/// How well the letters of `wanted` are found in `text` in their order, ignoring ASCII case
/// and the blanks of `wanted`; higher is better; nullopt = they are not all there. Starts of words
/// and runs of letters count more, the first few letters that are skipped before cost a little.
std::optional<int> fuzzy_score(std::string_view wanted, std::string_view text);

}  // namespace crawlstore::inspector
