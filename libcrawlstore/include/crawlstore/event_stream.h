// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Streams of crawl events, for exchange with other programs: Cap'n Proto messages one behind the
/// other, unpacked, each an EventBatch of spec/crawl_event.capnp. A stream has neither head nor
/// tail: streams can be joined with `cat`, and an empty one holds no events.
///
///     auto reader = EventStreamReader(descriptor_source(0));
///     for (auto batch = reader.next(); batch; batch = reader.next()) {
///       if (!*batch) return finish();                      // the end, behind a whole message
///       for (const CrawlEvent& event : **batch) take(event);
///     }                                                    // an error: batch.error()
///
/// Errors have the place in the stream as their offset, counted from its first byte.
/// Threads: an object belongs to one thread at a time. Sources and sinks are called by the thread
/// that calls the reader or writer.
/// Memory: a reader holds one message, its copy and its events: at most 30 times the bytes that it
/// has got of the longest, however long it says to be; a writer holds its batch, twice.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include <crawlstore/crawl_event.h>
#include <crawlstore/error.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// Fills the beginning of `into`, of at least 1 byte, and says how many bytes; 0 = the end.
using EventSource = std::function<Result<std::size_t>(std::span<std::byte> into)>;

/// Takes all of `bytes`.
using EventSink = std::function<Result<void>(std::span<const std::byte> bytes)>;

/// Over a file descriptor: file, pipe or socket that blocks. It is borrowed.
///   errors  kIo and the other codes of the system, with its errno
EventSource descriptor_source(int descriptor);
EventSink descriptor_sink(int descriptor);

/// Reads a stream message by message. Hostile bytes are an ordinary error.
class EventStreamReader {
 public:
  explicit EventStreamReader(EventSource source);
  EventStreamReader(EventStreamReader&&) noexcept;
  EventStreamReader& operator=(EventStreamReader&&) noexcept;
  ~EventStreamReader();

  /// The events of the next message, in order; valid until the next call. Nothing: the stream has
  /// ended behind a whole message. A message may have no events.
  ///   errors  kTruncated: the stream ends inside a message; offset = its length. All messages
  ///           before were given. kSegmentInvalid: a message that breaks a rule, offset = the event
  ///           that does, or the beginning of the message where Cap'n Proto says no. Those of the
  ///           source. After an error every call gives the same error again
  ///   cost    one copy and one pass
  [[nodiscard]] Result<std::optional<std::span<const CrawlEvent>>> next();

  /// Offset of the message that next() gave, or failed at, or would give if it had not ended.
  [[nodiscard]] std::uint64_t message_offset_bytes() const;
  /// Its number, from 1 on; 0 before the first call.
  [[nodiscard]] std::uint64_t message_number() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Writes a stream. Events are gathered into messages; what is gathered reaches the sink when the
/// batch is full and with flush(), never in the destructor, which could not tell of an error.
class EventStreamWriter {
 public:
  static constexpr std::size_t kBatchBytes = std::size_t{1} << 20;

  ///   batch_bytes  a message is written when the next event would make it longer; one event alone
  ///                may be longer. At most kEventMessageBytesMax
  explicit EventStreamWriter(EventSink sink, std::size_t batch_bytes = kBatchBytes);
  EventStreamWriter(EventStreamWriter&&) noexcept;
  EventStreamWriter& operator=(EventStreamWriter&&) noexcept;
  ~EventStreamWriter();

  /// Adds an event at the end of the stream; what it points at is copied.
  ///   errors  kInvalidArgument, kTooLarge: the event breaks a rule of the schema or takes more
  ///           than a message, and was not added. Those of the sink: from then on every call gives
  ///           that error, for nobody knows how much of the message was written
  [[nodiscard]] Result<void> add(const CrawlEvent& event);

  /// Writes what is gathered. Nothing is written if nothing is.
  ///   errors  those of the sink, as in add()
  [[nodiscard]] Result<void> flush();

  /// Events that were added, and bytes that the sink took.
  [[nodiscard]] std::uint64_t event_count() const;
  [[nodiscard]] std::uint64_t written_bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace crawlstore
#pragma GCC visibility pop
