// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Crawl events as lines of JSON, one object a line:
///
///   {"kind":"page","url":"http://a.test/","time":"2026-11-21T10:11:12.345678Z","score":0.5,
///    "content_hash":"00ff","links":["http://b.test/",{"url":"http://c.test/","score":2}]}
///
/// `kind` is a name of the schema: page, known, gone, failed, linkAdded, linkRemoved. A URL whose
/// bytes are no UTF-8 comes as hexadecimal digits, `url_hex`. Where pages have no URLs there is
/// `index` instead, and a link without a score is a number. `time` may be microseconds since the
/// epoch. Only `kind` and a name of the page must be there; keys that are not known are passed
/// over. What a line holds besides strings takes 32 bytes a link, however it is nested.
/// Ownership: what a parser gives are views into it. Threads: one at a time.

#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/crawl_event.h>
#include <crawlstore/error.h>

namespace crawlstore::model {

/// How an event names pages.
enum class PageNaming : std::uint8_t { kUrls, kIndexes };

class EventLineParser {
 public:
  /// The event of a line; valid until the next call.
  ///   errors  kInvalidArgument; the text says what is wrong with the line
  Result<CrawlEvent> parse(std::string_view line);
  /// How that event names its page and its links: all of them in the same way.
  [[nodiscard]] PageNaming naming() const { return naming_; }

 private:
  /// So many fit the message of an event, of 64 MiB.
  static constexpr std::size_t kLinksMax = std::size_t{1} << 21;
  struct Reader;
  struct Line;
  std::string bytes_;  // of URLs and the hash; never moves while a line is read
  std::vector<EventLink> links_;
  PageNaming naming_ = PageNaming::kUrls;
};

/// Appends the line of an event, its end included.
void append_event_line(std::string& to, const CrawlEvent& event, PageNaming naming);

}  // namespace crawlstore::model
