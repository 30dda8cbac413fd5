// SPDX-License-Identifier: Apache-2.0
#include "event_run.h"

#include "base/assert.h"
#include "endian.h"
#include "invalid.h"
#include "layout.h"

namespace crawlstore::format {

namespace {

/// The message that `rest` begins with.
Result<std::span<const std::byte>> first_message(std::span<const std::byte> rest) {
  const auto length = message_bytes(rest);
  if (!length) return tl::unexpected<Error>(length.error());
  if (*length > rest.size()) return invalid("an event run is cut short", 0);
  if (load<std::uint32_t>(rest.data()) != 0) {
    return invalid("a message of an event run has several segments", 0);
  }
  return rest.first(*length);
}

}  // namespace

void encode_event_run(std::uint64_t event_count, std::span<const std::byte> messages,
                      std::vector<std::byte>& out) {
  CRAWLSTORE_ASSERT(event_count != 0 && !messages.empty() && messages.size() % 8 == 0);
  const EventRunHeader header{kEventRunMagic, event_count, 0};
  const auto bytes = std::as_bytes(std::span(&header, 1));
  out.reserve(out.size() + bytes.size() + messages.size());
  out.insert(out.end(), bytes.begin(), bytes.end());
  out.insert(out.end(), messages.begin(), messages.end());
}

EventRunReader::EventRunReader(std::span<const std::byte> payload, std::uint64_t record_count)
    : payload_(payload), record_count_(record_count), offset_bytes_(sizeof(EventRunHeader)) {}

Result<EventRunReader> EventRunReader::open(std::span<const std::byte> payload) {
  if (payload.size() < sizeof(EventRunHeader) || payload.size() % 8 != 0) {
    return invalid("an event run is cut short in its header", 0);
  }
  const auto header = load_struct<EventRunHeader>(payload.data());
  if (header.magic != kEventRunMagic) {
    return invalid("the magic number of an event run is wrong", 0);
  }
  if (header.record_count == 0 || header.reserved != 0) {
    return invalid("a number in the header of an event run is out of range", 0);
  }
  return EventRunReader(payload, header.record_count);
}

Result<bool> EventRunReader::next(EventBatch& batch) {
  if (offset_bytes_ == payload_.size()) {
    if (seen_count_ == record_count_) return false;
    return invalid("an event run has another number of events than its header says", 0);
  }
  const auto message = first_message(payload_.subspan(offset_bytes_));
  auto broken = message ? batch.parse(*message) : tl::unexpected<Error>(message.error());
  if (broken && batch.events().empty()) broken = invalid("a message of an event run is empty", 0);
  if (!broken) {
    Error error = broken.error();
    error.offset += offset_bytes_;
    return tl::unexpected<Error>(error);
  }
  seen_count_ += batch.events().size();
  offset_bytes_ += message->size();
  return true;
}

}  // namespace crawlstore::format
