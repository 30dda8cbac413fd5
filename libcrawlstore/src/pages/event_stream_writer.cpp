// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
//   - `batch` holds the events that were added and not yet written, never more than a message;
//   - after an error of the sink, `failure` is what every call gives.
#include <algorithm>
#include <utility>
#include <vector>

#include <crawlstore/event_stream.h>

#include "format/crawl_events.h"
#include "io/descriptor_stream.h"

namespace crawlstore {

struct EventStreamWriter::Impl {
  Impl(EventSink given, std::size_t batch_bytes_max)
      : sink(std::move(given)), batch_bytes(std::min(batch_bytes_max, kEventMessageBytesMax)) {}

  Result<void> flush() {
    if (failure) return tl::unexpected<Error>(*failure);
    if (batch.event_count() == 0) return {};
    message.clear();
    batch.finish(message);
    const auto written = sink(message);
    if (!written) failure = written.error();
    if (written) written_bytes += message.size();
    return written;
  }

  Result<void> add(const CrawlEvent& event) {
    if (failure) return tl::unexpected<Error>(*failure);
    if (batch.event_count() != 0 &&
        batch.message_bytes() + format::event_bytes(event) > batch_bytes) {
      CRAWLSTORE_TRY(flush());
    }
    CRAWLSTORE_TRY(batch.append(event));
    ++event_count;
    return {};
  }

  EventSink sink;
  std::uint64_t batch_bytes;
  format::EventBatchWriter batch;
  std::vector<std::byte> message;
  std::uint64_t event_count = 0;
  std::uint64_t written_bytes = 0;
  std::optional<Error> failure;
};

EventStreamWriter::EventStreamWriter(EventSink sink, std::size_t batch_bytes)
    : impl_(std::make_unique<Impl>(std::move(sink), batch_bytes)) {}
EventStreamWriter::EventStreamWriter(EventStreamWriter&&) noexcept = default;
EventStreamWriter& EventStreamWriter::operator=(EventStreamWriter&&) noexcept = default;
EventStreamWriter::~EventStreamWriter() = default;

Result<void> EventStreamWriter::add(const CrawlEvent& event) {
  return impl_->add(event);
}

Result<void> EventStreamWriter::flush() {
  return impl_->flush();
}

std::uint64_t EventStreamWriter::event_count() const {
  return impl_->event_count;
}

std::uint64_t EventStreamWriter::written_bytes() const {
  return impl_->written_bytes;
}

EventSource descriptor_source(int descriptor) {
  return [descriptor](std::span<std::byte> into) { return io::read_some(descriptor, into); };
}

EventSink descriptor_sink(int descriptor) {
  return
      [descriptor](std::span<const std::byte> bytes) { return io::write_all(descriptor, bytes); };
}

}  // namespace crawlstore
