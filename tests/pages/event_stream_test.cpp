// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <crawlstore/event_stream.h>

#include "format/crawl_event_samples.h"
#include "format/format_samples.h"

namespace crawlstore {
namespace {

using namespace crawlstore::testing;

/// Gives `stream` in pieces of random lengths up to `piece_max`.
EventSource source_of(const Bytes& stream, std::size_t piece_max = 1000) {
  return [&stream, piece_max, at = std::size_t{0},
          random = std::mt19937_64(1)](std::span<std::byte> into) mutable -> Result<std::size_t> {
    EXPECT_FALSE(into.empty());
    const std::size_t length =
        std::min({into.size(), stream.size() - at, 1 + below<std::size_t>(random, piece_max)});
    std::copy_n(stream.begin() + static_cast<std::ptrdiff_t>(at), length, into.begin());
    at += length;
    return length;
  };
}

EventSink sink_into(Bytes& stream) {
  return [&stream](std::span<const std::byte> bytes) -> Result<void> {
    stream.insert(stream.end(), bytes.begin(), bytes.end());
    return {};
  };
}

/// The events that a reader gives, up to the end or an error.
struct Read {
  OwnedEvents events;
  std::uint64_t message_count = 0;
  std::uint64_t message_offset_bytes = 0;  // of the one that failed, or of the end
  std::optional<Error> error;
};

Read read_all(EventSource source) {
  Read result;
  EventStreamReader reader(std::move(source));
  auto batch = reader.next();
  for (; batch && *batch; batch = reader.next()) {
    ++result.message_count;
    EXPECT_EQ(reader.message_number(), result.message_count);
    for (const OwnedEvent& event : owned(**batch)) result.events.push_back(event);
  }
  if (!batch) {
    result.error = batch.error();
    EXPECT_EQ(reader.next().error(), batch.error());
    EXPECT_EQ(reader.message_number(), result.message_count + 1);
  }
  result.message_offset_bytes = reader.message_offset_bytes();
  return result;
}

Bytes stream_of(const OwnedEvents& events, std::size_t batch_bytes) {
  Bytes stream;
  EventStreamWriter writer(sink_into(stream), batch_bytes);
  const EventViews views(events);
  for (const CrawlEvent& event : views.events()) EXPECT_TRUE(writer.add(event));
  EXPECT_TRUE(writer.flush());
  EXPECT_EQ(writer.event_count(), events.size());
  EXPECT_EQ(writer.written_bytes(), stream.size());
  return stream;
}

TEST(EventStream, ReturnsWhatWasWritten) {
  std::mt19937_64 random(2);
  for (const std::size_t batch_bytes : {std::size_t{0}, std::size_t{1000}, std::size_t{40'000}}) {
    for (const std::size_t count : {0u, 1u, 50u, 2000u}) {
      const OwnedEvents events = random_events(random, count);
      const Bytes stream = stream_of(events, batch_bytes);
      for (const std::size_t piece_max : {std::size_t{1}, std::size_t{100}, std::size_t{1} << 20}) {
        const Read read = read_all(source_of(stream, piece_max));
        EXPECT_FALSE(read.error);
        EXPECT_EQ(read.events, events);
        EXPECT_EQ(read.message_offset_bytes, stream.size());
      }
    }
  }
}

TEST(EventStream, WritesMessagesOfTheLengthAskedFor) {
  const OwnedEvents events(100, sample_events()[1]);  // a message of one: 32 + 48 + 24 bytes
  EXPECT_EQ(read_all(source_of(stream_of(events, 0))).message_count, 100u);
  EXPECT_EQ(read_all(source_of(stream_of(events, 32 + 2 * 72))).message_count, 50u);
  EXPECT_EQ(read_all(source_of(stream_of(events, 32 + 3 * 72 - 1))).message_count, 50u);
  EXPECT_EQ(read_all(source_of(stream_of(events, 1 << 20))).message_count, 1u);
}

TEST(EventStream, JoinsWithOthers) {
  Bytes stream = stream_of(sample_events(), 0);
  const Bytes again = stream;
  stream.insert(stream.end(), again.begin(), again.end());
  OwnedEvents twice = sample_events();
  for (const OwnedEvent& event : sample_events()) twice.push_back(event);
  EXPECT_EQ(read_all(source_of(stream)).events, twice);
}

TEST(EventStream, GivesAllWholeMessagesOfACutStreamBeforeItSaysSo) {
  const OwnedEvents events = sample_events();
  const Bytes stream = stream_of(events, 0);  // a message an event
  std::vector<std::size_t> ends{0};
  for (const OwnedEvent& event : events) ends.push_back(ends.back() + message_of({event}).size());
  ASSERT_EQ(ends.back(), stream.size());
  for (std::size_t length = 0, whole = 0; length <= stream.size(); ++length) {
    if (length == ends[whole + 1] && whole + 1 < ends.size() - 1) ++whole;
    const bool is_cut = length != ends[whole] && length != stream.size();
    const std::size_t count = length == stream.size() ? events.size() : whole;
    const Read read =
        read_all(source_of({stream.begin(), stream.begin() + std::ptrdiff_t(length)}));
    EXPECT_EQ(read.events.size(), count);
    ASSERT_EQ(read.error.has_value(), is_cut) << length;
    if (!is_cut) continue;
    EXPECT_EQ(read.error->code, Errc::kTruncated);
    EXPECT_EQ(read.error->offset, length);
    EXPECT_EQ(read.message_offset_bytes, ends[whole]);
  }
}

TEST(EventStream, NamesThePlaceAndTheNumberOfAMessageThatIsWrong) {
  const OwnedEvents events = sample_events();
  const std::size_t first = message_of({events[0]}).size();
  const std::size_t kind = first + message_of({events[1]}).size() + 32;
  const Bytes stream = with(stream_of(events, 0), kind, std::uint16_t{50});
  const Read read = read_all(source_of(stream));
  EXPECT_EQ(read.message_count, 2u);
  ASSERT_TRUE(read.error);
  EXPECT_EQ(read.error->code, Errc::kSegmentInvalid);
  EXPECT_EQ(read.error->offset, kind);
  EXPECT_EQ(read.message_offset_bytes, kind - 32);
}

TEST(EventStream, TakesNoMemoryForWhatAMessageOnlyPromises) {
  std::size_t longest = 0;
  const Bytes promise = with(Bytes(8), 4, std::uint32_t{kEventMessageBytesMax / 8 - 1});
  const Read read = read_all([&, given = false](std::span<std::byte> into) mutable {
    longest = std::max(longest, into.size());
    const std::size_t length = given ? 0 : promise.size();
    std::copy_n(promise.begin(), length, into.begin());
    given = true;
    return Result<std::size_t>(length);
  });
  EXPECT_EQ(read.error->code, Errc::kTruncated);
  EXPECT_LE(longest, 64u * 1024);
}

TEST(EventStream, GivesErrorsOfTheSourceOnAndOn) {
  int calls = 0;
  const Read read = read_all([&calls](std::span<std::byte>) -> Result<std::size_t> {
    ++calls;
    return fail(Errc::kIo, "broken");
  });
  ASSERT_TRUE(read.error);
  EXPECT_EQ(read.error->code, Errc::kIo);
  EXPECT_EQ(calls, 1);
}

TEST(EventStream, WritesNothingMoreOnceItsSinkHasFailed) {
  int calls = 0;
  EventStreamWriter writer(
      [&calls](std::span<const std::byte>) -> Result<void> {
        return ++calls == 2 ? Result<void>(fail(Errc::kNoSpace, "full")) : Result<void>();
      },
      0);
  const OwnedEvents events = sample_events();
  const EventViews views(events);
  EXPECT_TRUE(writer.add(views.events()[0]));
  EXPECT_TRUE(writer.add(views.events()[1]));
  EXPECT_EQ(code_of(writer.add(views.events()[2])), Errc::kNoSpace);
  EXPECT_EQ(code_of(writer.add(views.events()[3])), Errc::kNoSpace);
  EXPECT_EQ(code_of(writer.flush()), Errc::kNoSpace);
  EXPECT_EQ(calls, 2);
}

TEST(EventStream, RefusesAnEventThatBreaksARuleAndGoesOn) {
  Bytes stream;
  EventStreamWriter writer(sink_into(stream));
  const OwnedEvents events = sample_events();
  const EventViews views(events);
  CrawlEvent wrong = views.events()[0];
  wrong.time_us = -1;
  EXPECT_TRUE(writer.add(views.events()[0]));
  EXPECT_EQ(code_of(writer.add(wrong)), Errc::kInvalidArgument);
  EXPECT_TRUE(writer.add(views.events()[1]));
  EXPECT_TRUE(writer.flush());
  EXPECT_EQ(read_all(source_of(stream)).events, (OwnedEvents{events[0], events[1]}));
}

TEST(EventStream, GoesThroughAPipe) {
  std::mt19937_64 random(3);
  const OwnedEvents events = random_events(random, 5000);  // more than a pipe holds
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  std::thread thread([&] {
    EventStreamWriter writer(descriptor_sink(ends[1]), 100'000);
    const EventViews views(events);
    for (const CrawlEvent& event : views.events()) EXPECT_TRUE(writer.add(event));
    EXPECT_TRUE(writer.flush());
    ::close(ends[1]);
  });
  const Read read = read_all(descriptor_source(ends[0]));
  thread.join();
  EXPECT_FALSE(read.error);
  EXPECT_EQ(read.events, events);
  ::close(ends[0]);
  EXPECT_EQ(read_all(descriptor_source(ends[0])).error->system_errno, EBADF);
}

}  // namespace
}  // namespace crawlstore
