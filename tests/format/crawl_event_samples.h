// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Crawl events for tests: one of every kind, random ones, and what they are in words, to compare.

#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include <crawlstore/crawl_event.h>

#include "format/crawl_events.h"
#include "format/format_samples.h"

namespace crawlstore::testing {

/// A link and an event that own what they point at.
struct OwnedLink {
  std::string url;
  std::uint64_t index = 0;
  float score = 0;

  friend bool operator==(const OwnedLink&, const OwnedLink&) = default;
};

struct OwnedEvent {
  CrawlEventKind kind = CrawlEventKind::kPage;
  std::string url;
  std::uint64_t index = 0;
  std::int64_t time_us = 0;
  float score = 0;
  Bytes content_hash;
  std::vector<OwnedLink> links;
  std::uint16_t http_status = 0;

  friend bool operator==(const OwnedEvent&, const OwnedEvent&) = default;
};
using OwnedEvents = std::vector<OwnedEvent>;

inline OwnedEvents owned(std::span<const CrawlEvent> events) {
  OwnedEvents result;
  for (const CrawlEvent& event : events) {
    std::vector<OwnedLink> links;
    for (const EventLink& link : event.links) {
      links.push_back({std::string(link.url), link.index, link.score});
    }
    result.push_back({event.kind,
                      std::string(event.url),
                      event.index,
                      event.time_us,
                      event.score,
                      {event.content_hash.begin(), event.content_hash.end()},
                      links,
                      event.http_status});
  }
  return result;
}

/// Views of owned events, which must stay.
class EventViews {
 public:
  explicit EventViews(const OwnedEvents& events) {
    for (const OwnedEvent& event : events) {
      auto& links = links_.emplace_back();
      for (const OwnedLink& link : event.links) links.push_back({link.url, link.index, link.score});
      events_.push_back({event.kind, event.url, event.index, event.time_us, event.score,
                         event.content_hash, links, event.http_status});
    }
  }
  [[nodiscard]] std::span<const CrawlEvent> events() const { return events_; }

 private:
  std::deque<std::vector<EventLink>> links_;
  std::vector<CrawlEvent> events_;
};

/// One event of every kind, with every field that the kind has.
inline OwnedEvents sample_events() {
  using enum CrawlEventKind;
  const OwnedLink first{"http://a.example/x", 0, 0.25F};
  const OwnedLink second{"http://b.example/", 0, -1.5F};
  return {{kPage, "http://a.example/", 0, kSampleTimeUs, 0.5F, pattern(16), {first, second}},
          {kKnown, "http://c.example/seed", 0, 0, 3.0F, {}, {}},
          {kGone, "http://a.example/old", 0, kSampleTimeUs + 1, 0, {}, {}},
          {kFailed, "http://d.example/", 0, kSampleTimeUs + 2, 0, {}, {}, 503},
          {kLinkAdded, "http://a.example/", 0, kSampleTimeUs + 3, 0, {}, {second}},
          {kLinkRemoved, "http://a.example/", 0, kSampleTimeUs + 4, 0, {}, {first}},
          {kUnchanged, "http://a.example/", 0, kSampleTimeUs + 5, 0, {}, {}, 304},
          {kRedirect, "http://d.example/", 0, kSampleTimeUs + 6, 0, {}, {first}, 301},
          {kDenied, "http://e.example/", 0, kSampleTimeUs + 7, 0, {}, {}},
          {kDuplicate, "http://b.example/", 0, kSampleTimeUs + 8, 0, {}, {}, 200}};
}

inline std::string random_text(std::mt19937_64& random, std::size_t length_end) {
  std::string text(below<std::size_t>(random, length_end), ' ');
  for (char& letter : text) letter = below<char>(random, 256);
  return text;
}

/// Keeps every rule; half of its pages are named by URL, half by index.
inline OwnedEvent random_event(std::mt19937_64& random) {
  const auto score = [&random] { return static_cast<float>(below(random, 2001)) / 8 - 125; };
  OwnedEvent event;
  event.kind = static_cast<CrawlEventKind>(below(random, 10));
  const bool has_urls = below(random, 2) == 0;
  if (has_urls) event.url = random_text(random, 100);
  event.index = has_urls ? 0 : random();
  event.time_us = static_cast<std::int64_t>(random() >> (1 + below(random, 63)));
  event.score = score();
  event.content_hash = pattern(below<std::size_t>(random, kEventHashBytesMax + 1));
  event.http_status = below<std::uint16_t>(random, 600);
  const bool is_redirect = event.kind == CrawlEventKind::kRedirect;
  if (has_links(event.kind)) event.links.resize(below<std::size_t>(random, is_redirect ? 2 : 6));
  for (OwnedLink& link : event.links) {
    link = {has_urls ? random_text(random, 40) : "", has_urls ? 0 : random(), score()};
  }
  return event;
}

inline OwnedEvents random_events(std::mt19937_64& random, std::size_t count) {
  OwnedEvents events;
  for (std::size_t i = 0; i < count; ++i) events.push_back(random_event(random));
  return events;
}

/// The message that our encoder makes of them.
inline Bytes message_of(const OwnedEvents& events) {
  Bytes message;
  format::encode_event_batch(EventViews(events).events(), message);
  return message;
}

}  // namespace crawlstore::testing
