// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Crawl events: what happened to a page, as programs tell each other. The bytes that carry them
/// are Cap'n Proto messages, spec/crawl_event.capnp, installed as share/crawlstore/; streams of
/// them are read and written with event_stream.h. Field by field these are the structs there.
///
/// Ownership: as in crawlstore.hpp, but an event only views its text, hashes and links. They belong
/// to the maker of the event; what a reader gives lives as long as the reader says.
/// Threads: plain values.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#pragma GCC visibility push(default)
namespace crawlstore {

/// The kind of an event: what happened to the page. The numbers are those of the schema.
enum class CrawlEventKind : std::uint16_t {
  kPage = 0,         ///< was crawled: fetched, with content
  kKnown = 1,        ///< is worth remembering, not crawled: a seed, a score of such a page
  kGone = 2,         ///< was deleted: its out-links go; kKnown brings it back, without them
  kFailed = 3,       ///< could not be fetched this time: all else stays; kKnown changes no state
  kLinkAdded = 4,    ///< has the listed links more than before
  kLinkRemoved = 5,  ///< has the listed links no longer
  kUnchanged = 6,    ///< was crawled, and is as it was (304 Not Modified): hash, score, links stay
  kRedirect = 7,     ///< leads to the one listed link, its only out-link then; no crawl is counted
  kDenied = 8,       ///< was not fetched, as robots.txt forbids it: all else stays
  kDuplicate = 9,    ///< has the content of another page: all else stays
};

/// Whether events of this kind may have links.
constexpr bool has_links(CrawlEventKind kind) {
  return kind == CrawlEventKind::kPage || kind == CrawlEventKind::kLinkAdded ||
         kind == CrawlEventKind::kLinkRemoved || kind == CrawlEventKind::kRedirect;
}

/// Limits of the schema. What exceeds them is neither written nor read.
inline constexpr std::size_t kEventMessageBytesMax = 64 * 1024 * 1024;  ///< with its framing
inline constexpr std::size_t kEventUrlBytesMax = 16 * 1024 * 1024;
inline constexpr std::size_t kEventHashBytesMax = 64;

/// A link from the page of an event.
///   url    of the target, as found; empty in stores whose pages have no URLs
///   index  of the target there; not looked at beside a URL
///   score  what the target is worth, going by this link; finite, 0 = no opinion
struct EventLink {
  std::string_view url{};
  std::uint64_t index = 0;
  float score = 0;
};

/// One thing that happened to one page.
///   url, index    the page, as in EventLink
///   time_us       microseconds since 1970 in UTC, from 0 on; 0 = not known
///   score         what the page is worth, of kPage and kKnown; finite, 0 = no opinion: what the
///                 page has stays
///   content_hash  of kPage, at most 64 bytes; empty = not known
///   links         of kPage all links, in order; of kLinkAdded and kLinkRemoved those; of kRedirect
///                 one, the target; else none
///   http_status   of any kind: what the server answered, such as 404; 0 = not known: what the page
///                 has stays
struct CrawlEvent {
  CrawlEventKind kind = CrawlEventKind::kPage;
  std::string_view url{};
  std::uint64_t index = 0;
  std::int64_t time_us = 0;
  float score = 0;
  std::span<const std::byte> content_hash{};
  std::span<const EventLink> links{};
  std::uint16_t http_status = 0;
};

/// The spelling of the schema: "page", "known", "linkAdded" ...; "unknown" for other numbers.
std::string_view name_of(CrawlEventKind kind);

}  // namespace crawlstore
#pragma GCC visibility pop
