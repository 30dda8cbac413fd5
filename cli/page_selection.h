// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The pages that `pages` shows, and their order. Memory: none in the order of indexes; else a key
/// for each page that matches, of `limit` at most, by scores 16 bytes for one page in 64 as well;
/// of a host or domain 8 bytes for each of its pages. Threads: one.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/page_view.h>
#include <crawlstore/scores.h>

#include "model/page_fields.h"

namespace re2 {
class RE2;
}

namespace crawlstore::cli {

/// A regular expression (RE2) that finds something in a URL, byte by byte.
class UrlPattern {
 public:
  /// The pattern, or nothing and what is wrong with it.
  static std::optional<UrlPattern> parse(const std::string& text, std::string& problem);
  [[nodiscard]] bool finds(const std::string& url) const;

 private:
  std::shared_ptr<const re2::RE2> expression_;
};

struct PageSelection {
  std::optional<UrlPattern> pattern;
  std::optional<std::string> host;    ///< normalised
  std::optional<std::string> domain;  ///< registered_domain() of the hosts that are meant
  model::PageColumn column = model::PageColumn::kIndex;
  std::optional<ScoreView> scores;  ///< by these, not by a column: best first, none last
  bool descending = false;          ///< of `scores`: worst first, none last
  std::optional<std::uint64_t> limit;
  bool goes_past_damage = false;  ///< as the view: finds hosts by URLs, for keys may be damaged
};

/// The host as keys have it: "Example.ORG" -> "example.org". Nothing: it is no host.
std::optional<std::string> normalised_host(const std::string& host);

/// The registered domain that the text names, or nothing and what is wrong with it: "Example.ORG"
/// -> "example.org"; "www.example.org" is a host of another.
std::optional<std::string> parse_domain(const std::string& text, std::string& problem);

/// The URL is one of a host of the domain.
bool is_of_domain(std::string_view url, const std::string& domain);

/// Calls `visit` for each page of the selection, ties by index, until it fails.
///   look    told how far the work is, now and then
///   errors  of damage, and those of the visitor
Result<void> for_each_selected(
    const PageView& view, const PageSelection& selection,
    const std::function<void(std::uint64_t done, std::uint64_t total)>& look,
    const std::function<Result<void>(const PageInfo&)>& visit);

}  // namespace crawlstore::cli
