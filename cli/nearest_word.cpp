// SPDX-License-Identifier: Apache-2.0
#include "cli/nearest_word.h"

#include <algorithm>
#include <vector>

namespace crawlstore::cli {
namespace {

/// Cost: the product of the lengths, of words that people type.
std::size_t distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> costs((a.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& {
    return costs[i * width + j];
  };
  for (std::size_t i = 0; i <= a.size(); ++i) at(i, 0) = i;
  for (std::size_t j = 0; j <= b.size(); ++j) at(0, j) = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t wrong = a[i - 1] == b[j - 1] ? 0 : 1;
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + wrong});
      const bool are_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (are_swapped) at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
    }
  }
  return at(a.size(), b.size());
}

}  // namespace

std::optional<std::string> nearest_word(std::string_view word, std::span<const std::string> known) {
  constexpr std::size_t kLettersMax = 40;
  if (word.size() > kLettersMax) return std::nullopt;
  const std::string* nearest = nullptr;
  std::size_t least = std::max<std::size_t>(word.size() / 3, 1) + 1;
  for (const std::string& one : known) {
    const std::size_t cost = distance(word, one);
    if (cost >= least) continue;
    least = cost;
    nearest = &one;
  }
  return nearest == nullptr ? std::nullopt : std::optional(*nearest);
}

}  // namespace crawlstore::cli
