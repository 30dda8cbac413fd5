// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The robots.txt of each scheme, host and port, kept in the file for a day, as RFC 9309 wants it.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <crawlstore/must.h>
#include <crawlstore/robots.h>
#include <crawlstore/timed_drum.h>

/// The scheme, host and port of an absolute URL, up to its path.
inline std::string origin_of(const std::string& url) {
  return url.substr(0, url.find_first_of("/?#", url.find("//") + 2));
}

class RobotsCache {
 public:
  struct Answer {
    bool is_known = true;  ///< whether the server said something: if not, nothing is allowed
    std::uint64_t expires_ms = 0;
    crawlstore::RobotsRules rules{};
    [[nodiscard]] std::uint64_t delay_ms() const {
      return std::min(rules.crawl_delay_ms().value_or(0), kLongestDelayMs);
    }
  };

  explicit RobotsCache(crawlstore::Store& store)
      : texts_(crawlstore::must(crawlstore::TimedDrum::open(store, "robots"))) {}

  /// Returns nothing if the robots.txt is to be asked for.
  std::optional<Answer> find(const std::string& origin, std::uint64_t now_ms) {
    const auto kept = crawlstore::must(texts_.get(origin, now_ms));
    if (!kept) return std::nullopt;
    if (kept->value == kUnreachable) return Answer{false, kept->expires_ms};
    return Answer{true, kept->expires_ms, crawlstore::RobotsRules::from_text(kept->value)};
  }
  void put(const std::string& origin, const crawlstore::RobotsRules& rules, std::uint64_t now_ms) {
    crawlstore::must(texts_.put(origin, rules.to_text(), now_ms + kDayMs));
  }
  void put_unreachable(const std::string& origin, std::uint64_t expires_ms) {
    crawlstore::must(texts_.put(origin, kUnreachable, expires_ms));
  }

 private:
  static constexpr std::uint64_t kDayMs = 86'400'000;
  static constexpr std::uint64_t kLongestDelayMs = 60'000;
  static constexpr std::string_view kUnreachable = "unreachable";  // no text of rules

  crawlstore::TimedDrum texts_;
};
