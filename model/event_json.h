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
/// over. A link whose URL is a broken string (broken_strings.h) is left out alone.
/// A line of up to 1 MiB that is right is read at once by simdjson, into 14 bytes a byte; of
/// any other, what it holds besides strings takes 32 bytes a link, however it is nested.
/// Ownership: what a parser gives are views into it. Threads: one at a time.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/crawl_event.h>
#include <crawlstore/error.h>

namespace crawlstore::model {

/// The way in which an event names pages.
enum class PageNaming : std::uint8_t { kUrls, kIndexes };

/// The kind of that name.
std::optional<CrawlEventKind> find_event_kind(std::string_view name);

class EventLineParser {
 public:
  /// Lines that are longer than `quick_bytes_max` are read in little memory, and slowly.
  explicit EventLineParser(std::size_t quick_bytes_max = std::size_t{1} << 20);
  EventLineParser(const EventLineParser&) = delete;
  EventLineParser& operator=(const EventLineParser&) = delete;
  ~EventLineParser();

  /// The event of a line; valid until the next call.
  ///   errors  kInvalidArgument; the text says what is wrong with the line
  Result<CrawlEvent> parse(std::string_view line);
  /// The way in which that event names its page and its links: all of them the same.
  [[nodiscard]] PageNaming naming() const { return naming_; }
  /// The number of links of that event that were left out.
  [[nodiscard]] std::uint64_t broken_link_count() const { return broken_link_count_; }
  /// The reason that they were.
  [[nodiscard]] const char* broken_link_text() const { return broken_text_; }

 private:
  /// Links that fit the message of an event, of 64 MiB.
  static constexpr std::size_t kLinksMax = std::size_t{1} << 21;
  struct Reader;
  struct Line;
  struct Quick;
  /// Nothing: the line is wrong, or unusual.
  std::optional<CrawlEvent> parse_quickly(std::string_view line);
  Result<CrawlEvent> parse_slowly(std::string_view line);
  /// `broken_strings` of those in the text, counted as they come, are broken.
  Result<CrawlEvent> parse_text(std::string_view text, std::span<const std::size_t> broken_strings);

  std::string bytes_;  // of URLs and the hash; never moves while a line is read
  std::vector<EventLink> links_;
  PageNaming naming_ = PageNaming::kUrls;
  std::uint64_t broken_link_count_ = 0;
  const char* broken_text_ = "";  // what is wrong with the URLs of the line that are broken
  std::size_t quick_bytes_max_;
  std::unique_ptr<Quick> quick_;
};

/// Appends the line of an event, its end included.
void append_event_line(std::string& to, const CrawlEvent& event, PageNaming naming);

}  // namespace crawlstore::model
