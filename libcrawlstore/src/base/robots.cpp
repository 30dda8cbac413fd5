// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>
#include <tuple>
#include <utility>

#include <crawlstore/robots.h>

#include "base/url_bytes.h"

namespace crawlstore {
namespace {

using url_text::append_escaped;
using url_text::escaped_byte;
using url_text::is_in;
using url_text::is_letter;
using url_text::kUnreserved;
using url_text::lower;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Bytes with a meaning of their own in a URI. "#" is none here: it ends paths and patterns.
constexpr std::string_view kReserved = ":/?[]@!$&'()*+,;=";
/// Reserved bytes that are escaped in paths, since patterns give them another meaning.
constexpr std::string_view kSpecial = "*$";

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kWhiteSpace = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(kWhiteSpace), text.size()));
  return text.substr(0, text.find_last_not_of(kWhiteSpace) + 1);
}

bool equals_ignoring_case(std::string_view text, std::string_view other) {
  return std::ranges::equal(text, other, {}, lower, lower);
}

std::string_view product_token(std::string_view name) {
  const auto* const end =
      std::ranges::find_if_not(name, [](char c) { return is_letter(c) || c == '-' || c == '_'; });
  return {name.begin(), end};
}

/// Appends the byte or the escape at `i` in the form that is compared; returns where it ends.
std::size_t append_normal(std::string& out, std::string_view text, std::size_t i,
                          std::string_view escaped) {
  const int byte = escaped_byte(text, i);
  const char c = byte < 0 ? text[i] : static_cast<char>(byte);
  const bool is_plain = is_in(c, kUnreserved) || (byte < 0 && kReserved.find(c) != kReserved.npos &&
                                                  escaped.find(c) == escaped.npos);
  if (is_plain) {
    out += c;
  } else {
    append_escaped(out, c);
  }
  return i + (byte < 0 ? 1 : 3);
}

/// The normal form of a pattern; a "$" in it is its last byte.
std::string normal_pattern(std::string_view text) {
  const bool is_anchored = text.ends_with('$');
  if (is_anchored) text.remove_suffix(1);
  std::string pattern;
  for (std::size_t i = 0; i < text.size();) i = append_normal(pattern, text, i, "$");
  if (is_anchored) pattern += '$';
  return pattern;
}

/// The rest of an absolute URL after its host; a text that begins with a path as it is.
std::string_view without_host(std::string_view url) {
  const std::size_t scheme_end = url.find(':');
  if (scheme_end < url.find_first_of("/?#") && url.substr(scheme_end).starts_with("://")) {
    url.remove_prefix(scheme_end + 3);
    url.remove_prefix(std::min(url.find_first_of("/?#"), url.size()));
  }
  return url;
}

struct Path {
  std::string text;
  bool is_whole = true;
};

Path normal_path(std::string_view url) {
  const std::string_view text = without_host(url.substr(0, url.find('#')));
  Path path;
  if (!text.starts_with('/')) path.text = "/";
  std::size_t i = 0;
  while (i < text.size() && path.text.size() <= kRobotsPathBytesMax) {
    i = append_normal(path.text, text, i, kSpecial);
  }
  path.is_whole = path.text.size() <= kRobotsPathBytesMax;
  if (!path.is_whole) path.text.resize(kRobotsPathBytesMax);
  return path;
}

/// Whether a pattern matches. Each piece between two "*" is taken where it comes first: no later
/// place leaves more room for the pieces after it.
bool matches(std::string_view pattern, const Path& path) {
  const bool is_anchored = pattern.ends_with('$');
  if (is_anchored) pattern.remove_suffix(1);
  if (is_anchored && !path.is_whole) return false;
  std::string_view rest = path.text;
  std::size_t star = pattern.find('*');
  if (!rest.starts_with(pattern.substr(0, star))) return false;
  if (star == pattern.npos) return !is_anchored || rest == pattern;
  rest.remove_prefix(star);
  for (pattern.remove_prefix(star + 1); (star = pattern.find('*')) != pattern.npos;
       pattern.remove_prefix(star + 1)) {
    const std::size_t found = rest.find(pattern.substr(0, star));
    if (found == rest.npos) return false;
    rest.remove_prefix(found + star);
  }
  return is_anchored ? rest.ends_with(pattern) : rest.find(pattern) != rest.npos;
}

std::optional<std::uint64_t> parse_delay_ms(std::string_view value) {
  constexpr double kMsPerSecond = 1000;
  double seconds = 0;
  const char* const end = value.data() + value.size();
  const auto [stopped, error] =
      std::from_chars(value.data(), end, seconds, std::chars_format::fixed);
  // Written so that what is no number fails.
  const bool is_delay = error == std::errc{} && stopped == end && seconds >= 0 &&
                        seconds * kMsPerSecond <= double{kRobotsDelayMsMax};
  if (!is_delay) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(seconds * kMsPerSecond));
}

/// The bytes that are read: whole lines, and no more than kRobotsBytesMax.
std::string_view limited(std::string_view text) {
  constexpr std::string_view kLineEnds = "\r\n";
  if (text.size() <= kRobotsBytesMax) return text;
  const bool is_line_whole = kLineEnds.find(text[kRobotsBytesMax]) != kLineEnds.npos;
  text = text.substr(0, kRobotsBytesMax);
  return is_line_whole ? text : text.substr(0, text.find_last_of(kLineEnds) + 1);
}

}  // namespace

/// Reads the lines of a robots.txt, and collects what is said to one crawler and to all.
class RobotsRules::Reader {
 public:
  explicit Reader(std::string_view token) : token_(token) {}

  void read(std::string_view text) {
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    while (!text.empty()) {
      const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
      read_line(text.substr(0, std::min(end, text.find('#'))));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  RobotsRules result() {
    Said& said = ours_.is_named ? ours_ : all_;
    const auto order = [](const Rule& rule) {
      return std::tuple(~rule.pattern.size(), !rule.is_allowed, std::string_view(rule.pattern));
    };
    std::ranges::sort(said.rules, {}, order);
    said.rules.erase(std::unique(said.rules.begin(), said.rules.end()), said.rules.end());
    said.rules.shrink_to_fit();
    RobotsRules result;
    result.rules_ = std::move(said.rules);
    result.delay_ms_ = said.delay_ms;
    result.sitemaps_ = std::move(sitemaps_);
    return result;
  }

 private:
  /// The groups of one name.
  struct Said {
    std::vector<Rule> rules;
    std::optional<std::uint64_t> delay_ms;
    bool is_named = false;
    bool is_in_group = false;  ///< whether the group that is being read holds for the name
  };

  void read_line(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == line.npos) return;
    const std::string_view keyword = trimmed(line.substr(0, colon));
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (equals_ignoring_case(keyword, "user-agent")) {
      read_name(value);
    } else if (equals_ignoring_case(keyword, "allow")) {
      read_rule(value, true);
    } else if (equals_ignoring_case(keyword, "disallow")) {
      read_rule(value, false);
    } else if (equals_ignoring_case(keyword, "crawl-delay")) {
      read_delay(value);
    } else if (equals_ignoring_case(keyword, "sitemap") && !value.empty()) {
      sitemaps_.emplace_back(value);
    }
  }

  void read_name(std::string_view value) {
    if (std::exchange(has_rules_, false)) ours_.is_in_group = all_.is_in_group = false;
    const bool is_all = value == "*" || value.starts_with("* ") || value.starts_with("*\t");
    const bool is_ours = !token_.empty() && equals_ignoring_case(product_token(value), token_);
    if (!is_all && !is_ours) return;
    Said& said = is_all ? all_ : ours_;
    said.is_named = said.is_in_group = true;
  }

  void read_rule(std::string_view value, bool is_allowed) {
    has_rules_ = true;
    if (!value.starts_with('/') && !value.starts_with('*')) return;
    for (Said* said : {&ours_, &all_}) {
      // A group of ours makes those for all void, wherever they stand.
      if (!said->is_in_group || (said == &all_ && ours_.is_named)) continue;
      said->rules.push_back({normal_pattern(value), is_allowed});
    }
  }

  void read_delay(std::string_view value) {
    for (Said* said : {&ours_, &all_}) {
      if (said->is_in_group) said->delay_ms = std::max(said->delay_ms, parse_delay_ms(value));
    }
  }

  const std::string_view token_;
  Said ours_;
  Said all_;
  std::vector<std::string> sitemaps_;
  bool has_rules_ = false;  // whether the group has, so that the next name begins another
};

RobotsRules RobotsRules::parse(std::string_view text, std::string_view user_agent) {
  Reader reader(product_token(user_agent));
  reader.read(limited(text));
  return reader.result();
}

RobotsRules RobotsRules::from_text(std::string_view text) {
  Reader reader("");
  reader.read(text);
  return reader.result();
}

std::string RobotsRules::to_text() const {
  constexpr std::uint64_t kMsPerSecond = 1000;
  std::string text;
  if (!rules_.empty() || delay_ms_) text += "User-agent: *\n";
  for (const Rule& rule : rules_) {
    text += rule.is_allowed ? "Allow: " : "Disallow: ";
    text += rule.pattern + '\n';
  }
  if (delay_ms_) {
    // The fraction of 1,007 ms is the "007" of 1007.
    text += "Crawl-delay: " + std::to_string(*delay_ms_ / kMsPerSecond) + '.' +
            std::to_string(kMsPerSecond + *delay_ms_ % kMsPerSecond).substr(1) + '\n';
  }
  for (const std::string& sitemap : sitemaps_) text += "Sitemap: " + sitemap + '\n';
  return text;
}

bool RobotsRules::allows(std::string_view url) const {
  const Path path = normal_path(url);
  if (path.text == "/robots.txt") return true;
  const auto decides = std::ranges::find_if(
      rules_, [&path](const Rule& rule) { return matches(rule.pattern, path); });
  return decides == rules_.end() || decides->is_allowed;
}

}  // namespace crawlstore
