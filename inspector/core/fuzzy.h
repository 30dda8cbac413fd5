// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Finding a command by some of its letters, or by words about it.

#include <optional>
#include <string_view>

namespace crawlstore::inspector {

/// Returns a score of how well the letters of `wanted` are found in `text` in their order, ignoring
/// ASCII case and the blanks of `wanted`; higher is better; nullopt = they are not all there.
/// Starts of words and runs of letters count more, the first few letters that are skipped before
/// cost a little.
std::optional<int> fuzzy_score(std::string_view wanted, std::string_view text);

/// Returns how well the words of `wanted` are found in a sentence, ignoring ASCII case: each must
/// be the beginning of one of its words; nullopt = one is not, or `wanted` is empty. Comparable
/// with fuzzy_score(): less than for the same letters in a row, more than for letters that lie
/// apart inside of words.
std::optional<int> words_score(std::string_view wanted, std::string_view sentence);

}  // namespace crawlstore::inspector
