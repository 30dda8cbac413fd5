// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lines of `crawlstore done`: ID, and TAB OUTCOME, and TAB STATUS. Ownership: views of the text
/// that was parsed. Threads: plain values.

#include <cstdint>
#include <optional>
#include <string_view>

#include <crawlstore/crawl_event.h>
#include <crawlstore/frontier.h>
#include <crawlstore/url.h>

namespace crawlstore::cli {

/// The fate of a leased item.
enum class DoneStep : std::uint8_t { kFinished, kRetried, kFailed };

struct DoneLine {
  std::uint64_t id = 0;
  DoneStep step = DoneStep::kFinished;
  std::uint64_t time_ms = 0;  ///< of a retry: 0, after so long, or not before
  bool is_after = false;
  std::optional<CrawlEventKind> event{};  ///< that tells the outcome to a page database
  std::string_view redirect_url{};
  std::uint16_t http_status = 0;  ///< 0: none was told

  /// Whether the line has no meaning in a frontier that is not of pages.
  [[nodiscard]] bool needs_pages() const {
    return http_status != 0 ||
           (event && *event != CrawlEventKind::kGone && *event != CrawlEventKind::kFailed);
  }
  /// The item as Frontier::give_back() takes it, where it is not finished.
  [[nodiscard]] GivenBack given_back(std::uint64_t now_ms) const {
    return {id, is_after ? now_ms + time_ms : time_ms, step == DoneStep::kFailed};
  }
};

/// Returns what is wrong with the text, as a sentence without its subject; empty: nothing.
///   normalizer  by which URLs of redirects are judged
std::string_view parse_done_line(std::string_view text, UrlNormalizer& normalizer, DoneLine& line);

}  // namespace crawlstore::cli
