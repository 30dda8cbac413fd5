// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Runs of the log in which crawl events wait for the next superstep: spec/events.md#event-runs.
/// Pure functions over bytes; any thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/error.h>

#include "format/crawl_events.h"

namespace crawlstore::format {

/// Appends the payload of a run.
///   event_count  in all messages; at least 1
///   messages     those of encode_event_batch() one behind the other, none without events
void encode_event_run(std::uint64_t event_count, std::span<const std::byte> messages,
                      std::vector<std::byte>& out);

/// Message by message through a payload: hostile bytes, which may change meanwhile and lie at any
/// address. Borrows the payload.
class EventRunReader {
 public:
  /// errors  kSegmentInvalid, offset relative to the payload: the header is wrong
  static Result<EventRunReader> open(std::span<const std::byte> payload);

  /// The count in the header; true only when next() has come to the end.
  [[nodiscard]] std::uint64_t record_count() const { return record_count_; }

  /// Parses the next message into `batch`; false behind the last.
  ///   errors  kSegmentInvalid, offset relative to the payload
  Result<bool> next(EventBatch& batch);

 private:
  EventRunReader(std::span<const std::byte> payload, std::uint64_t record_count);

  std::span<const std::byte> payload_;
  std::uint64_t record_count_;
  std::uint64_t seen_count_ = 0;
  std::size_t offset_bytes_;
};

}  // namespace crawlstore::format
