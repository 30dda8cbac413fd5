// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Rules of a robots.txt: which URLs of a host a crawler may fetch, by RFC 9309.
///
///     const auto rules = RobotsRules::parse(text, "ExampleBot/1.0");
///     if (rules.allows("http://a.test/private?x")) ...
///
/// A help for crawlers, and no part of the file format. Of a robots.txt only the rules for one
/// crawler are kept; their canonical text is short and may be stored, for example in a DRUM.
///
/// The RFC leaves some things open, or to the crawler. They are done like this:
///   - Nothing is guessed. A misspelt keyword, a line without a colon, and a pattern that begins
///     neither with "/" nor with "*" are no rules. Lines with other keywords end no group.
///   - Names of crawlers are compared up to the first byte that is no letter, "-" or "_".
///   - Before they are compared, patterns and paths are brought to one form. Escapes of unreserved
///     bytes are decoded, others raised. Bytes that no URI has are escaped, a lone "%" among them.
///   - A reserved byte and its escape are different in paths and queries, as "/" and "%2F" must be;
///     a row in a table of section 2.2.2 escapes two. Only "$", and "*" in a path, equal their
///     escapes: "%24" and "%2A" in a pattern mean these bytes.
///   - The octets of a pattern are counted in that form, "*" and a last "$" included.
///   - A "$" that is not last is an ordinary byte.
///
/// The caller decides what it means that there is no text: by the RFC, a status of 400 to 499
/// allows all, and a server that fails or cannot be reached allows nothing (section 2.3.1).
///
/// Ownership: as in crawlstore.hpp.
/// Threads: a value; const calls may come from any number of threads at a time.
/// Errors: none. Every byte string is a robots.txt. Only memory may run out (std::bad_alloc).
/// Source: Koster, Illyes, Zeller, Sassman, "Robots Exclusion Protocol", RFC 9309, September 2022.
/// Crawl-delay and Sitemap are extensions that the RFC does not define.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace crawlstore {

/// Bytes of a robots.txt that are read: 500 KiB, the least that the RFC demands. What comes after
/// them is ignored, and so is a line that they cut.
inline constexpr std::size_t kRobotsBytesMax = 512'000;

/// Bytes of a path and its query, in the form that is compared, beyond which it counts as cut: what
/// follows them matches nothing, and no pattern with "$" matches such a path. It bounds the time
/// that hostile patterns take.
inline constexpr std::size_t kRobotsPathBytesMax = 4096;

/// The longest delay that is believed: a day, in milliseconds.
inline constexpr std::uint64_t kRobotsDelayMsMax = 86'400'000;

/// The rules for one crawler. Two are equal if they have the same rules, delay and sitemaps,
/// whatever the order and spelling of the rules was.
class RobotsRules {
 public:
  /// Allows everything, as an empty robots.txt does.
  RobotsRules() = default;

  /// Reads a robots.txt.
  ///   text        the bytes as they came, with or without a BOM; lines end with CR, LF or both
  ///   user_agent  the crawler's product token, or a name that begins with it: "Bot/1.0". All
  ///               groups of this name hold together; only if there is none, those of "*" do. A
  ///               name without a token has the rules of "*"
  ///   cost        O(n log n) of the bytes that are read; takes some 10 times their memory at most
  ///   source      RFC 9309, sections 2.2.1 and 2.2.4
  [[nodiscard]] static RobotsRules parse(std::string_view text, std::string_view user_agent);

  /// Reads what to_text() wrote, whatever its length. Other texts are read as by parse() for a
  /// crawler that they do not name.
  [[nodiscard]] static RobotsRules from_text(std::string_view text);

  /// Writes a robots.txt that says to every crawler what this one says to its own: patterns in
  /// their normal form, the longest first, and nothing twice. Printable ASCII, but for sitemaps.
  ///   returns  from_text() of it equals this; empty if nothing was said
  [[nodiscard]] std::string to_text() const;

  /// Whether the crawler may fetch a URL of the host. The matching rule whose pattern has the most
  /// octets decides, of two that have equally many the one that allows. Without any, and for
  /// "/robots.txt", it may.
  ///   url      a path with its query, or an absolute URL, of which scheme and host are not looked
  ///            at; a fragment is left out
  ///   cost     one comparison for each rule, longest first. Patterns with "*" look for one piece
  ///            after another and never turn back: at most O(bytes of patterns * bytes of path).
  ///            Microseconds as a rule; the worst that hostile patterns can demand is a second
  ///   source   RFC 9309, sections 2.2.2 and 2.2.3
  [[nodiscard]] bool allows(std::string_view url) const;

  /// The Crawl-delay in milliseconds, as FrontierRule::delay_ms takes it; the longest if there are
  /// several. A line holds for the crawlers named above it in its group. It is in seconds, with a
  /// fraction or not, and ignored if it is negative, above a day, or no number.
  [[nodiscard]] std::optional<std::uint64_t> crawl_delay_ms() const { return delay_ms_; }

  /// The values of all Sitemap lines, in or outside of groups, in their order and as written.
  [[nodiscard]] const std::vector<std::string>& sitemaps() const { return sitemaps_; }

  bool operator==(const RobotsRules&) const = default;

 private:
  class Reader;
  struct Rule {
    std::string pattern;  // in its normal form
    bool is_allowed = false;
    bool operator==(const Rule&) const = default;
  };

  std::vector<Rule> rules_;  // the one that decides first; none twice
  std::optional<std::uint64_t> delay_ms_;
  std::vector<std::string> sitemaps_;
};

}  // namespace crawlstore
#pragma GCC visibility pop
