// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no message, run or stream crashes the readers or makes them read outside it;
//   - events that are accepted keep the rules of the schema, and are, with their links, no more
//   than
//     the words of the message: what they take is a small multiple of the input;
//   - encoded again they are the same events;
//   - a stream gives the same events, and ends in the same way, in whatever pieces it comes; its
//     errors lie inside it.
//
// Input: one byte (0: a message, 1: the payload of an event run, 2: a stream; modulo 3), then it.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <crawlstore/event_stream.h>

#include "format/event_run.h"
#include "require.h"

namespace {

using namespace crawlstore;
using namespace crawlstore::format;
using crawlstore::fuzz::require;
using Bytes = std::vector<std::byte>;

void check_events(std::span<const CrawlEvent> events, std::size_t message_bytes) {
  std::size_t elements = events.size();
  for (const CrawlEvent& event : events) {
    require(check_event(event).has_value());
    elements += event.links.size();
  }
  require(elements * 8 <= message_bytes);
  std::uint64_t bytes = kEventMessageHeadBytes;
  for (const CrawlEvent& event : events) bytes += event_bytes(event);
  if (bytes > kEventMessageBytesMax) return;  // a reader takes texts that overlap
  Bytes once;
  encode_event_batch(events, once);
  EventBatch batch;
  require(batch.parse(once).has_value() && batch.events().size() == events.size());
  Bytes twice;
  encode_event_batch(batch.events(), twice);
  require(once == twice);
}

void check_message(std::span<const std::byte> bytes) {
  EventBatch batch;
  const auto parsed = batch.parse(bytes);
  require(parsed || parsed.error().offset <= bytes.size());
  if (parsed) check_events(batch.events(), bytes.size());
}

void check_run(std::span<const std::byte> bytes) {
  auto reader = EventRunReader::open(bytes);
  if (!reader) return;
  EventBatch batch;
  auto more = reader->next(batch);
  for (; more && *more; more = reader->next(batch)) check_events(batch.events(), bytes.size());
  require(more || more.error().offset <= bytes.size());
}

/// Returns the number of events and of messages, and the end of the stream.
std::vector<std::uint64_t> read_stream(std::span<const std::byte> rest, std::size_t piece_bytes) {
  const std::size_t size = rest.size();
  EventStreamReader reader([&](std::span<std::byte> into) -> Result<std::size_t> {
    const auto piece = rest.first(std::min({rest.size(), into.size(), piece_bytes}));
    std::copy(piece.begin(), piece.end(), into.begin());
    rest = rest.subspan(piece.size());
    return piece.size();
  });
  std::uint64_t event_count = 0;
  auto batch = reader.next();
  for (; batch && *batch; batch = reader.next()) event_count += (*batch)->size();
  require(batch || batch.error().offset <= size);
  const std::uint64_t code = batch ? 0 : static_cast<std::uint64_t>(batch.error().code);
  return {event_count, reader.message_number(), reader.message_offset_bytes(), code};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  if (data[0] % 3 == 0) check_message(bytes);
  if (data[0] % 3 == 1) check_run(bytes);
  if (data[0] % 3 == 2) require(read_stream(bytes, 7) == read_stream(bytes, size));
  return 0;
}
