// SPDX-License-Identifier: Apache-2.0
#include "cli/done_line.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include "model/parse_text.h"

namespace crawlstore::cli {
namespace {

struct OutcomeWord {
  std::string_view word;
  DoneStep step;
  CrawlEventKind event;
};
/// Outcomes that are one word and tell an event.
constexpr std::array kOutcomeWords{
    OutcomeWord{"failed", DoneStep::kFailed, CrawlEventKind::kFailed},
    OutcomeWord{"gone", DoneStep::kFinished, CrawlEventKind::kGone},
    OutcomeWord{"not_modified", DoneStep::kFinished, CrawlEventKind::kUnchanged},
    OutcomeWord{"denied", DoneStep::kFinished, CrawlEventKind::kDenied},
    OutcomeWord{"duplicate", DoneStep::kFinished, CrawlEventKind::kDuplicate},
};

/// Takes nothing (at once), a duration, or a time.
std::string_view parse_retry(std::string_view text, DoneLine& line) {
  line.step = DoneStep::kRetried;
  if (text.empty()) return {};
  if (const auto time = model::parse_duration(text)) {
    line.is_after = true;
    line.time_ms = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(*time).count());
    return {};
  }
  const auto time_us = model::parse_time(text);
  if (!time_us) return "has a retry without a time such as 5min, up to 106751d, after it";
  line.time_ms = static_cast<std::uint64_t>(*time_us) / 1000;
  return {};
}

std::string_view parse_redirect(std::string_view url, UrlNormalizer& normalizer, DoneLine& line) {
  if (!normalizer.normalize(url).parsed) return "has a redirect without an absolute URL after it";
  line.event = CrawlEventKind::kRedirect;
  line.redirect_url = url;
  return {};
}

std::string_view parse_outcome(std::string_view text, UrlNormalizer& normalizer, DoneLine& line) {
  const auto blank = text.find(' ');
  const std::string_view word = text.substr(0, blank);
  const std::string_view rest = blank == text.npos ? std::string_view() : text.substr(blank + 1);
  if (word == "retry") return parse_retry(rest, line);
  if (word == "redirect") return parse_redirect(rest, normalizer, line);
  if (text.empty()) return {};
  const auto* const known = std::ranges::find(kOutcomeWords, text, &OutcomeWord::word);
  if (known == kOutcomeWords.end()) {
    return "has another word after the ID than `retry`, `failed`, `gone`, `not_modified`, "
           "`redirect URL`, `denied` or `duplicate`";
  }
  line.step = known->step;
  line.event = known->event;
  return {};
}

std::string_view parse_status(std::string_view text, DoneLine& line) {
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, line.http_status);
  if (error != std::errc{} || stopped != end || line.http_status < 100 || line.http_status > 599) {
    return "has another third column than an HTTP status from 100 to 599";
  }
  return line.event ? std::string_view()
                    : "has an HTTP status, but no outcome that a page database is told";
}

}  // namespace

std::string_view parse_done_line(std::string_view text, UrlNormalizer& normalizer, DoneLine& line) {
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, line.id);
  if (error != std::errc{} || (stopped != end && *stopped != '\t')) {
    return "does not begin with the ID of an item, which a TAB or the line's end follows";
  }
  if (stopped == end) return {};
  const std::string_view columns(stopped + 1, static_cast<std::size_t>(end - stopped) - 1);
  const auto tab = columns.find('\t');
  const std::string_view problem = parse_outcome(columns.substr(0, tab), normalizer, line);
  if (!problem.empty() || tab == columns.npos) return problem;
  return parse_status(columns.substr(tab + 1), line);
}

}  // namespace crawlstore::cli
