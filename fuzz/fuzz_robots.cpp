// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no input crashes the reader, and none makes it read outside its bounds;
//   - the canonical text is read as the same rules, by any name, and written as the same bytes;
//   - it is printable ASCII, but for its sitemaps, and has no rule twice;
//   - a URL and its path have one answer, and so have a path and its escaped spelling;
//   - for a path of plain bytes, the answer is that of the table over pattern and path that defines
//     what "*" matches.
// An input is a line with the name of a crawler, one with a URL, and a robots.txt.

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/robots.h>

#include "require.h"

namespace {

using crawlstore::RobotsRules;
using crawlstore::fuzz::require;

// Whether a pattern matches: row by row of the pattern, at which bytes of the path it may end.
bool matches(std::string_view pattern, std::string_view path) {
  const bool is_anchored = pattern.ends_with('$');
  if (is_anchored) pattern.remove_suffix(1);
  std::vector<bool> ends(path.size() + 1);
  ends[0] = true;
  for (const char c : pattern) {
    std::vector<bool> next(path.size() + 1);
    for (std::size_t i = 0; i <= path.size(); ++i) {
      next[i] =
          c == '*' ? ends[i] || (i > 0 && next[i - 1]) : i > 0 && ends[i - 1] && path[i - 1] == c;
    }
    ends = next;
  }
  return is_anchored ? ends.back() : std::ranges::find(ends, true) != ends.end();
}

// The answer of the lines of a canonical text, which begin with the one that decides.
bool allowed_by(std::string_view text, std::string_view path) {
  std::set<std::string_view> seen;
  bool is_allowed = true;
  bool is_decided = false;
  for (std::size_t end = 0; !text.empty(); text.remove_prefix(end + 1)) {
    end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (line.starts_with("Sitemap: ")) break;
    for (const char c : line) require(c >= ' ' && c <= '~');
    const bool is_rule = line.starts_with("Allow: ") || line.starts_with("Disallow: ");
    if (!is_rule) continue;
    require(seen.insert(line).second);
    if (is_decided || !matches(line.substr(line.find(' ') + 1), path)) continue;
    is_decided = true;
    is_allowed = line.front() == 'A';
  }
  return is_allowed;
}

std::string_view line_of(std::string_view& rest) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::string_view name = line_of(rest);
  const std::string_view url = line_of(rest);
  const RobotsRules rules = RobotsRules::parse(rest, name);
  const std::string text = rules.to_text();
  require(RobotsRules::from_text(text) == rules && rules.to_text() == text);
  if (text.size() <= crawlstore::kRobotsBytesMax) require(RobotsRules::parse(text, name) == rules);

  std::string plain = "/";
  std::string escaped = "/";
  for (const char c : url.substr(0, 64)) {
    const bool is_kept = c == '/' || c == '?';
    plain += is_kept ? c : static_cast<char>('a' + static_cast<unsigned char>(c) % 26);
    escaped += plain.back() == 'a' ? "%61" : std::string(1, plain.back());
  }
  const bool is_allowed = rules.allows(plain);
  require(is_allowed == allowed_by(text, plain));
  require(is_allowed == rules.allows(escaped) && is_allowed == rules.allows("x://h" + plain + "#"));
  if (url.starts_with('/')) {
    require(rules.allows(url) == rules.allows("x://h" + std::string(url)));
  }
  static_cast<void>(rules.allows(url));
  return 0;
}
