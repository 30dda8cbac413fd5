// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The word that somebody meant who mistyped one. Threads: pure functions.

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace crawlstore::cli {

/// The known word that is nearest, by letters that are wrong, missing, too many or swapped (optimal
/// string alignment); the first of several. Nothing: more than a third of the letters,
/// and more than one, would be wrong.
std::optional<std::string> nearest_word(std::string_view word, std::span<const std::string> known);

}  // namespace crawlstore::cli
