// SPDX-License-Identifier: Apache-2.0
#include "crawl_events.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <capnp/any.h>
#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/exception.h>

#include "base/assert.h"
#include "crawl_event.capnp.h"
#include "endian.h"
#include "invalid.h"

namespace crawlstore::format {

namespace {

constexpr std::uint64_t kEventBytes = 6 * 8;  // 3 words of data, 3 pointers
constexpr std::uint64_t kLinkBytes = 3 * 8;
constexpr int kNestingMax = 8;  // batch, list, event, list, link, text: some more than needed
/// Cap'n Proto counts the words that are looked at. Without pointers to the same place they are
/// those of the message, and the tags of lists, and what a reader adds for its own sake.
constexpr std::uint64_t kTraversalSlackWords = 64;

/// Returns the message of a Cap'n Proto exception, as text that lives for ever.
const char* text_of(const kj::Exception& exception) {
  struct Reason {
    std::string_view part;
    const char* text;
  };
  static constexpr std::array kReasons{
      Reason{"out-of-bounds", "a pointer of an event message leads outside"},
      Reason{"traversal limit", "an event message claims more words than it has"},
      Reason{"nested", "an event message is nested too deeply"},
      Reason{"root pointer", "an event message has no root"},
      Reason{"far pointer", "a far pointer of an event message is wrong"},
      Reason{"unknown segment", "a far pointer of an event message is wrong"}};
  const std::string_view said(exception.getDescription().cStr());
  for (const Reason& reason : kReasons) {
    if (said.find(reason.part) != std::string_view::npos) return reason.text;
  }
  return "an event message has a pointer of another kind than the schema says";
}

std::uint64_t padded(std::size_t bytes) {
  return round_up(bytes, 8);
}

capnp::Data::Reader data_of(std::string_view text) {
  const auto bytes = numbers<kj::byte>(std::as_bytes(std::span(text)));
  return {bytes.data(), bytes.size()};
}

capnp::Data::Reader data_of(std::span<const std::byte> bytes) {
  const auto same = numbers<kj::byte>(bytes);
  return {same.data(), same.size()};
}

std::span<const std::byte> bytes_of(capnp::Data::Reader data) {
  return std::as_bytes(std::span(data.begin(), data.size()));
}

std::string_view text_of(capnp::Data::Reader data) {
  const auto letters = numbers<char>(bytes_of(data));
  return {letters.data(), letters.size()};
}

Result<void> check_link(const EventLink& link) {
  if (link.url.size() > kEventUrlBytesMax)
    return fail(Errc::kTooLarge, "the URL of a link of an event is too long");
  if (!std::isfinite(link.score))
    return fail(Errc::kInvalidArgument, "the score of a link of an event is not finite");
  return {};
}

/// Checks an event but for its links.
Result<void> check_fields(const CrawlEvent& event, std::size_t link_count) {
  if (event.kind > CrawlEventKind::kDuplicate)
    return fail(Errc::kInvalidArgument, "the kind of an event is unknown");
  if (event.url.size() > kEventUrlBytesMax)
    return fail(Errc::kTooLarge, "the URL of an event is too long");
  if (event.time_us < 0) return fail(Errc::kInvalidArgument, "the time of an event is negative");
  if (!std::isfinite(event.score))
    return fail(Errc::kInvalidArgument, "the score of an event is not finite");
  if (event.content_hash.size() > kEventHashBytesMax) {
    return fail(Errc::kTooLarge, "the content hash of an event is too long");
  }
  if (link_count != 0 && !has_links(event.kind))
    return fail(Errc::kInvalidArgument, "an event of its kind has no links");
  if (link_count > 1 && event.kind == CrawlEventKind::kRedirect)
    return fail(Errc::kInvalidArgument, "a redirect leads to several pages");
  return {};
}

void write_link(const EventLink& link, wire::Link::Builder out) {
  if (!link.url.empty()) out.setUrl(data_of(link.url));
  out.setIndex(link.index);
  out.setScore(link.score);
}

void write_event(const CrawlEvent& event, wire::Event::Builder out) {
  out.setKind(static_cast<wire::Event::Kind>(event.kind));
  if (!event.url.empty()) out.setUrl(data_of(event.url));
  out.setIndex(event.index);
  out.setTimeUs(event.time_us);
  out.setScore(event.score);
  out.setHttpStatus(event.http_status);
  if (!event.content_hash.empty()) out.setContentHash(data_of(event.content_hash));
  if (event.links.empty()) return;
  auto links = out.initLinks(static_cast<capnp::uint>(event.links.size()));
  capnp::uint i = 0;
  for (const EventLink& link : event.links) write_link(link, links[i++]);
}

template <class T>
void copy_to_end(const T& from, std::vector<char>& bytes) {
  const auto letters = numbers<char>(std::as_bytes(std::span(from)));
  bytes.insert(bytes.end(), letters.begin(), letters.end());
}

/// Takes the events out of a message. It asks for each list and text once: so the words that Cap'n
/// Proto counts are those of the message.
class MessageWalk {
 public:
  MessageWalk(std::span<const std::uint64_t> words, std::vector<CrawlEvent>& events,
              std::vector<EventLink>& links)
      : words_(numbers<capnp::word>(std::as_bytes(words))),
        elements_left_(words.size()),
        events_(events),
        links_(links) {}

  /// nullptr, or the rule that is broken. Throws what Cap'n Proto throws.
  const char* walk() {
    capnp::FlatArrayMessageReader message(kj::arrayPtr(words_.data(), words_.size()),
                                          {words_.size() + kTraversalSlackWords, kNestingMax});
    const auto list = message.getRoot<wire::EventBatch>().getEvents();
    if (const char* broken = reserve(list.size(), events_)) return broken;
    for (const wire::Event::Reader in : list) {
      if (const char* broken = take_event(in)) return broken;
    }
    give_links();
    return nullptr;
  }

  /// The offset of the event that was looked at last.
  [[nodiscard]] std::uint64_t offset_bytes() const { return offset_bytes_; }

 private:
  /// Before memory is taken for the elements of a list.
  template <class T>
  const char* reserve(std::uint64_t count, std::vector<T>& elements) {
    if (count > elements_left_) return "an event message has more events and links than words";
    elements_left_ -= count;
    if (elements.size() + count > elements.capacity()) {
      elements.reserve(std::max(elements.size() + count, elements.capacity() * 2));
    }
    return nullptr;
  }

  const char* take_event(wire::Event::Reader in) {
    const auto place = capnp::AnyStruct::Reader(in).getDataSection().asBytes();
    offset_bytes_ =
        static_cast<std::uint64_t>(bytes_of(place).data() - std::as_bytes(words_).data());
    CrawlEvent event;
    event.kind = static_cast<CrawlEventKind>(in.getKind());
    event.url = text_of(in.getUrl());
    event.index = in.getIndex();
    event.time_us = in.getTimeUs();
    event.score = in.getScore();
    event.http_status = in.getHttpStatus();
    event.content_hash = bytes_of(in.getContentHash());
    const auto links = in.getLinks();
    if (const auto checked = check_fields(event, links.size()); !checked) {
      return checked.error().text;
    }
    if (const char* broken = reserve(links.size(), links_)) return broken;
    for (const wire::Link::Reader link : links) {
      links_.push_back({text_of(link.getUrl()), link.getIndex(), link.getScore()});
      if (const auto checked = check_link(links_.back()); !checked) return checked.error().text;
    }
    event.links = std::span<const EventLink>(links_).last(links.size());
    events_.push_back(event);
    return nullptr;
  }

  /// Links have moved while they were gathered.
  void give_links() {
    std::span<const EventLink> rest = links_;
    for (CrawlEvent& event : events_) {
      event.links = rest.first(event.links.size());
      rest = rest.subspan(event.links.size());
    }
  }

  std::span<const capnp::word> words_;
  std::uint64_t elements_left_;
  std::uint64_t offset_bytes_ = 0;
  std::vector<CrawlEvent>& events_;
  std::vector<EventLink>& links_;
};

}  // namespace

std::uint64_t event_bytes(const CrawlEvent& event) {
  std::uint64_t bytes = kEventBytes + padded(event.url.size()) + padded(event.content_hash.size());
  if (event.links.empty()) return bytes;
  bytes += 8 + event.links.size() * kLinkBytes;
  for (const EventLink& link : event.links) bytes += padded(link.url.size());
  return bytes;
}

Result<void> check_event(const CrawlEvent& event) {
  CRAWLSTORE_TRY(check_fields(event, event.links.size()));
  for (const EventLink& link : event.links) CRAWLSTORE_TRY(check_link(link));
  return {};
}

void encode_event_batch(std::span<const CrawlEvent> events, std::vector<std::byte>& out) {
  std::uint64_t length = kEventMessageHeadBytes;
  for (const CrawlEvent& event : events) {
    CRAWLSTORE_ASSERT(check_event(event).has_value());
    length += event_bytes(event);
  }
  CRAWLSTORE_ASSERT(out.size() % 8 == 0 && length <= kEventMessageBytesMax);
  const std::size_t start = out.size();
  out.resize(start + length);
  std::byte* const segment = out.data() + start + 8;
  const std::uint64_t words = (length - 8) / 8;
  store(segment - 8, std::uint32_t{0});  // one segment
  store(segment - 4, static_cast<std::uint32_t>(words));
  // tidy: raw bytes, Cap'n Proto builds in place
  capnp::FlatMessageBuilder message(kj::arrayPtr(reinterpret_cast<capnp::word*>(segment), words));
  auto list =
      message.initRoot<wire::EventBatch>().initEvents(static_cast<capnp::uint>(events.size()));
  capnp::uint i = 0;
  for (const CrawlEvent& event : events) write_event(event, list[i++]);
  message.requireFilled();
}

Result<void> EventBatchWriter::append(const CrawlEvent& event) {
  CRAWLSTORE_TRY(check_event(event));
  const std::uint64_t bytes = event_bytes(event);
  if (bytes > kEventMessageBytesMax - message_bytes()) {
    return fail(Errc::kTooLarge, "an event does not fit a message");
  }
  copy_to_end(event.url, bytes_);
  copy_to_end(event.content_hash, bytes_);
  for (const EventLink& link : event.links) copy_to_end(link.url, bytes_);
  links_.insert(links_.end(), event.links.begin(), event.links.end());
  events_.push_back(event);
  event_bytes_ += bytes;
  return {};
}

void EventBatchWriter::point_at_copies() {
  const char* next = bytes_.data();
  const auto take = [&next](std::size_t length) {
    const std::string_view text(next, length);
    next += length;
    return text;
  };
  std::span<EventLink> links = links_;
  for (CrawlEvent& event : events_) {
    event.url = take(event.url.size());
    event.content_hash = std::as_bytes(std::span(take(event.content_hash.size())));
    const auto own = links.first(event.links.size());
    links = links.subspan(own.size());
    for (EventLink& link : own) link.url = take(link.url.size());
    event.links = own;
  }
}

void EventBatchWriter::finish(std::vector<std::byte>& out) {
  point_at_copies();
  encode_event_batch(events_, out);
  events_.clear();
  links_.clear();
  bytes_.clear();
  event_bytes_ = 0;
}

Result<std::uint64_t> message_bytes(std::span<const std::byte> bytes) {
  if (bytes.size() < 8) return std::uint64_t{8};
  const std::uint64_t segment_count = std::uint64_t{load<std::uint32_t>(bytes.data())} + 1;
  if (segment_count > kEventSegmentsMax) return invalid("an event message has too many segments");
  const std::uint64_t head_bytes = round_up(4 + segment_count * 4, 8);
  if (bytes.size() < head_bytes) return head_bytes;
  std::uint64_t words = 0;
  for (std::uint64_t i = 0; i < segment_count; ++i) {
    words += load<std::uint32_t>(bytes.data() + 4 + i * 4);
  }
  const std::uint64_t length = head_bytes + words * 8;
  if (length > kEventMessageBytesMax) return invalid("an event message is too long");
  return length;
}

Result<void> EventBatch::parse(std::span<const std::byte> bytes) {
  events_.clear();
  links_.clear();
  if (bytes.size() % 8 != 0 || bytes.size() > kEventMessageBytesMax) {
    return invalid("an event message is cut short or too long");
  }
  words_.resize(bytes.size() / 8);
  const auto copy = std::as_writable_bytes(std::span(words_));
  std::copy(bytes.begin(), bytes.end(), copy.begin());
  const auto length = message_bytes(copy);
  if (!length) return tl::unexpected<Error>(length.error());
  if (*length != copy.size()) return invalid("an event message is cut short or too long");
  auto taken = take_message();
  if (!taken) {
    events_.clear();
    links_.clear();
  }
  return taken;
}

Result<void> EventBatch::take_message() {
  MessageWalk walk(words_, events_, links_);
  const char* broken = nullptr;
  try {
    broken = walk.walk();
  } catch (const kj::Exception& exception) {
    broken = text_of(exception);
  }
  if (broken != nullptr) return invalid(broken, walk.offset_bytes());
  return {};
}

}  // namespace crawlstore::format
