// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
//   - bytes_[begin_, end_) are what the source gave and no message has taken; offset_ is the place
//     of the first of them in the stream;
//   - bytes_ grows only when it is full of such bytes, to twice its size: never because a message
//     says how long it is;
//   - after an error, `failure` is what every call gives.
#include <algorithm>
#include <utility>
#include <vector>

#include <crawlstore/event_stream.h>

#include "format/crawl_events.h"

namespace crawlstore {

namespace {

constexpr std::size_t kChunkBytes = std::size_t{64} * 1024;

}  // namespace

struct EventStreamReader::Impl {
  using Batch = std::optional<std::span<const CrawlEvent>>;

  explicit Impl(EventSource given) : source(std::move(given)) {}

  [[nodiscard]] std::span<const std::byte> waiting() const {
    return std::span(bytes).subspan(begin, end - begin);
  }

  void make_room() {
    if (end < bytes.size()) return;
    std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(begin), bytes.end(), bytes.begin());
    end -= begin;
    begin = 0;
    if (end == bytes.size()) bytes.resize(std::max(kChunkBytes, bytes.size() * 2));
  }

  /// false: the source has ended.
  Result<bool> read_more() {
    make_room();
    CRAWLSTORE_TRY(const auto got, source(std::span(bytes).subspan(end)));
    end += got;
    return got != 0;
  }

  /// The length of the message that begins at begin, all of which is there then; 0: the end.
  Result<std::size_t> read_message() {
    for (;;) {
      const auto length = format::message_bytes(waiting());
      if (!length) return at(length.error());
      if (*length <= end - begin) return *length;
      CRAWLSTORE_TRY(const auto more, read_more());
      if (more) continue;
      if (begin == end) return std::size_t{0};
      return fail(Errc::kTruncated, "the stream of events ends inside a message",
                  offset_bytes + (end - begin));
    }
  }

  Result<Batch> next() {
    offset_bytes += std::exchange(length_bytes, 0);
    ++number;
    CRAWLSTORE_TRY(const auto length, read_message());
    if (length == 0) return Batch{};
    const auto parsed = batch.parse(waiting().first(length));
    if (!parsed) return at(parsed.error());
    begin += length;
    length_bytes = length;
    return Batch{batch.events()};
  }

  /// An error inside the message, with its place in the stream.
  [[nodiscard]] tl::unexpected<Error> at(Error error) const {
    error.offset += offset_bytes;
    return tl::unexpected<Error>(error);
  }

  EventSource source;
  std::vector<std::byte> bytes;
  std::size_t begin = 0;
  std::size_t end = 0;
  format::EventBatch batch;
  std::uint64_t offset_bytes = 0;
  std::uint64_t length_bytes = 0;  // of the message that was given
  std::uint64_t number = 0;
  std::optional<Error> failure;
};

EventStreamReader::EventStreamReader(EventSource source)
    : impl_(std::make_unique<Impl>(std::move(source))) {}
EventStreamReader::EventStreamReader(EventStreamReader&&) noexcept = default;
EventStreamReader& EventStreamReader::operator=(EventStreamReader&&) noexcept = default;
EventStreamReader::~EventStreamReader() = default;

Result<std::optional<std::span<const CrawlEvent>>> EventStreamReader::next() {
  if (impl_->failure) return tl::unexpected<Error>(*impl_->failure);
  auto batch = impl_->next();
  if (!batch) impl_->failure = batch.error();
  return batch;
}

std::uint64_t EventStreamReader::message_offset_bytes() const {
  return impl_->offset_bytes;
}

std::uint64_t EventStreamReader::message_number() const {
  return impl_->number;
}

}  // namespace crawlstore
