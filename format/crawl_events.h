// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Crawl events as bytes: messages of spec/crawl_event.capnp in Cap'n Proto's stream framing. Only
/// the source of this header knows Cap'n Proto. Pure functions over bytes; any thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/crawl_event.h>
#include <crawlstore/error.h>

namespace crawlstore::format {

/// Segments of a message, as in Cap'n Proto's own readers.
inline constexpr std::uint32_t kEventSegmentsMax = 512;

/// Bytes of our messages besides those of events: the framing, two pointers, the tag of the list.
inline constexpr std::size_t kEventMessageHeadBytes = 8 + 3 * 8;

/// Bytes of the event in a message, with all that it points at.
std::uint64_t event_bytes(const CrawlEvent& event);

/// Keeps the event the rules of the schema? Whether it fits a message is for event_bytes().
///   errors  kTooLarge: a URL or the content hash; kInvalidArgument: any other rule
Result<void> check_event(const CrawlEvent& event);

/// Appends one message of one segment.
///   events  keep check_event(); with kEventMessageHeadBytes at most kEventMessageBytesMax
///   out     a multiple of 8 long
///   cost    two passes over the events, one copy of what they point at
void encode_event_batch(std::span<const CrawlEvent> events, std::vector<std::byte>& out);

/// Gathers events until a message is worth writing. Copies what it is given.
class EventBatchWriter {
 public:
  /// Takes one event.
  ///   errors  kInvalidArgument: it breaks a rule of the schema. kTooLarge: its URL is too long, or
  ///           the message would be: finish() first, and if the message is empty, split the event
  Result<void> append(const CrawlEvent& event);

  [[nodiscard]] std::size_t event_count() const { return events_.size(); }
  /// Bytes that finish() would append.
  [[nodiscard]] std::uint64_t message_bytes() const {
    return kEventMessageHeadBytes + event_bytes_;
  }

  /// Appends one message with all events to `out`, a multiple of 8 long, and is empty then.
  void finish(std::vector<std::byte>& out);

 private:
  void point_at_copies();

  // The bytes that events and links point at lie one after another in bytes_. They move as bytes_
  // grows, so that the pointers are right only after point_at_copies().
  std::vector<CrawlEvent> events_;
  std::vector<EventLink> links_;
  std::vector<char> bytes_;
  std::uint64_t event_bytes_ = 0;
};

/// The events of one message, and the copy of the message that they point into. Movable.
class EventBatch {
 public:
  EventBatch() = default;
  EventBatch(EventBatch&&) = default;
  EventBatch& operator=(EventBatch&&) = default;

  /// Replaces the batch by the events of the one message that `bytes` are, no more and no less. The
  /// bytes may lie at any address, and change meanwhile.
  ///   errors  kSegmentInvalid, offset relative to `bytes`: of the event that breaks a rule, or 0
  ///           where Cap'n Proto says no; the batch is then empty
  ///   cost    one copy and one pass; memory, kept for the next message, at most 24 times the
  ///           longest so far, which only bare events without text come near
  Result<void> parse(std::span<const std::byte> bytes);

  /// Valid until the next parse().
  [[nodiscard]] std::span<const CrawlEvent> events() const { return events_; }

 private:
  Result<void> take_message();

  std::vector<std::uint64_t> words_;
  std::vector<CrawlEvent> events_;
  std::vector<EventLink> links_;
};

/// The length of the message that `bytes` begin with, as far as they tell. If it is more than there
/// are, so many are needed to go on; otherwise it is the whole length. A multiple of 8, at least 8.
///   errors  kSegmentInvalid: more segments or bytes than a message may have
Result<std::uint64_t> message_bytes(std::span<const std::byte> bytes);

}  // namespace crawlstore::format
