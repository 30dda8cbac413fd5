// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/script.h"

#include <algorithm>

namespace crawlstore::inspector {
namespace {

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

std::vector<ScriptStep> parse_script(std::string_view text) {
  std::vector<ScriptStep> steps;
  std::size_t line = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view content = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line;
    if (content.empty() || content.starts_with("#")) continue;
    const auto blank = std::min(content.find_first_of(" \t"), content.size());
    const std::string_view verb = content.substr(0, blank);
    steps.push_back({line, std::string(verb), std::string(trim(content.substr(blank)))});
  }
  return steps;
}

}  // namespace crawlstore::inspector
