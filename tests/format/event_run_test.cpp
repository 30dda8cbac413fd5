// SPDX-License-Identifier: Apache-2.0
#include "format/event_run.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/crawl_event_samples.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

Bytes run_of(std::uint64_t count, const Bytes& messages) {
  Bytes payload;
  encode_event_run(count, messages, payload);
  return payload;
}

Bytes joined(Bytes first, const Bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

struct Events {
  std::string text = "accepted";
  std::uint64_t offset = 0;
  OwnedEvents events;
};

/// All events of a payload, or those before the message that is wrong.
Events read(std::span<const std::byte> payload) {
  Events result;
  auto reader = EventRunReader::open(payload);
  if (!reader) return {reader.error().text, reader.error().offset, {}};
  EventBatch batch;
  auto more = reader->next(batch);
  for (; more && *more; more = reader->next(batch)) {
    for (const OwnedEvent& event : owned(batch.events())) result.events.push_back(event);
  }
  if (!more) {
    EXPECT_EQ(more.error().code, Errc::kSegmentInvalid);
    result.text = more.error().text;
    result.offset = more.error().offset;
  }
  return result;
}

TEST(EventRun, ReturnsTheEventsOfAllMessages) {
  std::mt19937_64 random(6);
  OwnedEvents all;
  Bytes messages;
  for (int i = 0; i < 5; ++i) {
    const OwnedEvents some = random_events(random, 1 + below<std::size_t>(random, 50));
    messages = joined(messages, message_of(some));
    all.insert(all.end(), some.begin(), some.end());
  }
  const Bytes payload = run_of(all.size(), messages);
  EXPECT_EQ(read(payload).text, "accepted");
  EXPECT_EQ(read(payload).events, all);
  EXPECT_EQ(EventRunReader::open(payload)->record_count(), all.size());
}

// spec: events.md#event-runs rule 1
TEST(EventRun, RejectsEveryCut) {
  const Bytes payload = run_of(6, message_of(sample_events()));
  for (std::size_t length = 0; length < payload.size(); ++length) {
    EXPECT_NE(read(std::span(payload).first(length)).text, "accepted") << length;
  }
  EXPECT_EQ(read(joined(payload, Bytes(8))).text, "an event message has no root");
}

// spec: events.md#event-runs rule 2
TEST(EventRun, RejectsAWrongHeader) {
  const Bytes payload = run_of(6, message_of(sample_events()));
  EXPECT_EQ(read(with(payload, 0, kEventRunMagic + 1)).text,
            "the magic number of an event run is wrong");
  EXPECT_EQ(read(with(payload, 8, std::uint64_t{0})).text,
            "a number in the header of an event run is out of range");
  EXPECT_EQ(read(with(payload, 16, std::uint64_t{1})).text,
            "a number in the header of an event run is out of range");
  for (const std::uint64_t count : {std::uint64_t{5}, std::uint64_t{7}, ~std::uint64_t{0}}) {
    EXPECT_EQ(read(with(payload, 8, count)).text,
              "an event run has another number of events than its header says");
  }
}

// spec: events.md#event-runs rule 3
TEST(EventRun, RejectsMessagesWithoutEventsOrOfSeveralSegments) {
  const Bytes first = message_of(sample_events());
  const Events empty = read(run_of(6, joined(first, message_of({}))));
  EXPECT_EQ(empty.text, "a message of an event run is empty");
  EXPECT_EQ(empty.offset, 24 + first.size());
  EXPECT_EQ(empty.events, sample_events());

  Bytes several(8);  // a table of two segments, the second of no words
  several = joined(
      with(with(several, 0, std::uint32_t{1}), 4, static_cast<std::uint32_t>(first.size() / 8 - 1)),
      joined(Bytes(8), {first.begin() + 8, first.end()}));
  EventBatch batch;
  EXPECT_TRUE(batch.parse(several));
  EXPECT_EQ(read(run_of(6, several)).text, "a message of an event run has several segments");
}

TEST(EventRun, NamesThePlaceOfTheEventThatIsWrong) {
  const Bytes first = message_of(sample_events());
  const std::size_t place = 24 + first.size() + 32;
  const Bytes payload = with(run_of(12, joined(first, first)), place, std::uint16_t{77});
  EXPECT_EQ(read(payload).text, "the kind of an event is unknown");
  EXPECT_EQ(read(payload).offset, place);
}

TEST(EventRun, SurvivesEveryFlippedBit) {
  const Bytes payload = run_of(6, message_of(sample_events()));
  for (std::size_t bit = 0; bit < payload.size() * 8; ++bit) {
    Bytes flipped = payload;
    flipped[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
    EXPECT_LE(read(flipped).events.size(), payload.size() / 8);
  }
}

}  // namespace
}  // namespace crawlstore::format
