// SPDX-License-Identifier: Apache-2.0
#include "format/crawl_events.h"

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <capnp/message.h>
#include <capnp/schema.h>
#include <capnp/serialize.h>
#include <gtest/gtest.h>

#include "crawl_event.capnp.h"
#include "format/crawl_event_samples.h"
#include "format/spec_text.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;
using Words = std::vector<std::uint64_t>;

/// The events of one message, or what is wrong with it.
struct Parsed {
  std::string text;
  std::uint64_t offset = 0;
  OwnedEvents events;
};

Parsed parsed(std::span<const std::byte> message) {
  EventBatch batch;
  const auto result = batch.parse(message);
  if (result) return {"accepted", 0, owned(batch.events())};
  EXPECT_EQ(result.error().code, Errc::kSegmentInvalid);
  EXPECT_TRUE(batch.events().empty());
  return {result.error().text, result.error().offset, {}};
}

/// A message of one segment.
Bytes framed(const Words& segment) {
  Bytes message(8 + segment.size() * 8);
  store(message.data() + 4, static_cast<std::uint32_t>(segment.size()));
  for (std::size_t i = 0; i < segment.size(); ++i) store(message.data() + 8 + i * 8, segment[i]);
  return message;
}

/// Pointers as in the table of spec/events.md, "Event runs"; `target` from the next word on.
std::uint64_t to_struct(std::uint32_t target, std::uint64_t data, std::uint64_t pointers) {
  return std::uint64_t{target} << 2 | data << 32 | pointers << 48;
}
std::uint64_t to_list(std::uint32_t target, std::uint64_t size_code, std::uint64_t count) {
  return 1 | std::uint64_t{target} << 2 | size_code << 32 | count << 35;
}
constexpr std::uint64_t kBytes = 2;
constexpr std::uint64_t kComposite = 7;

TEST(EventBatch, ReturnsWhatWasEncoded) {
  const Parsed result = parsed(message_of(sample_events()));
  EXPECT_EQ(result.text, "accepted");
  EXPECT_EQ(result.events, sample_events());
}

TEST(EventBatch, ReturnsRandomEventsOfBothEncoders) {
  std::mt19937_64 random(4);
  EventBatchWriter writer;
  EventBatch batch;
  for (const std::size_t count : {0u, 1u, 2u, 7u, 100u, 1000u}) {
    const OwnedEvents events = random_events(random, count);
    const Bytes message = message_of(events);
    for (const OwnedEvent& event : events) {
      ASSERT_TRUE(writer.append(EventViews({event}).events()[0]));  // whose memory is gone at once
    }
    EXPECT_EQ(writer.event_count(), count);
    EXPECT_EQ(writer.message_bytes(), message.size());
    Bytes written;
    writer.finish(written);
    EXPECT_EQ(written, message);
    ASSERT_TRUE(batch.parse(message));
    EXPECT_EQ(owned(batch.events()), events);
  }
}

TEST(EventBatch, TakesBytesAtAnyAddress) {
  const Bytes message = message_of(sample_events());
  for (std::size_t shift = 0; shift < 8; ++shift) {
    Bytes moved(shift);
    moved.insert(moved.end(), message.begin(), message.end());
    EXPECT_EQ(parsed(std::span(moved).subspan(shift)).events, sample_events());
  }
}

TEST(EventBatch, KeepsItsEventsWhenItMoves) {
  EventBatch batch;
  ASSERT_TRUE(batch.parse(message_of(sample_events())));
  const EventBatch other = std::move(batch);
  EXPECT_EQ(owned(other.events()), sample_events());
}

TEST(EventBatch, TakesMessagesOfCapnProtoItselfInManySegments) {
  const OwnedEvents events = sample_events();
  for (const unsigned segment_words : {1u, 2u, 7u, 20u}) {
    capnp::MallocMessageBuilder builder(segment_words, capnp::AllocationStrategy::FIXED_SIZE);
    auto list = builder.initRoot<wire::EventBatch>().initEvents(2);
    for (unsigned i = 0; i < 2; ++i) {
      auto out = list[i];
      out.setKind(static_cast<wire::Event::Kind>(events[i].kind));
      out.setUrl(kj::StringPtr(events[i].url.c_str()).asBytes());
      out.setTimeUs(events[i].time_us);
      out.setScore(events[i].score);
      if (i != 0) continue;
      out.setContentHash({reinterpret_cast<const kj::byte*>(events[i].content_hash.data()), 16});
      auto links = out.initLinks(2);
      for (unsigned j = 0; j < 2; ++j) {
        auto link = links[j];
        link.setUrl(kj::StringPtr(events[i].links[j].url.c_str()).asBytes());
        link.setScore(events[i].links[j].score);
      }
    }
    EXPECT_GT(builder.getSegmentsForOutput().size(), 1u);
    const auto words = capnp::messageToFlatArray(builder);
    const auto bytes = std::as_bytes(std::span(words.asBytes().begin(), words.asBytes().size()));
    EXPECT_EQ(message_bytes(bytes).value_or(0), bytes.size());
    EXPECT_EQ(parsed(bytes).events, (OwnedEvents{events[0], events[1]}));
  }
}

TEST(EventBatch, IgnoresWhatANewerSchemaAdds) {
  const std::uint64_t letters = 0x63626178;             // "xabc"
  const Bytes message = framed({to_struct(1, 1, 2), 0,  // a struct behind a gap
                                77, to_list(1, kComposite, 9), to_list(10, kBytes, 3),
                                to_struct(1, 4, 5),                       // one Event, larger
                                0x3f00'0000'0000'0003, 0, 5, ~0ull,       // failed, 0.5, at 5
                                to_list(4, kBytes, 1), 0, 0, 1ull << 50,  // and what nobody knows
                                to_list(0, kBytes, 4), letters});
  const Parsed result = parsed(message);
  EXPECT_EQ(result.text, "accepted");
  OwnedEvent event;
  event.kind = CrawlEventKind::kFailed;
  event.url = "x";
  event.time_us = 5;
  event.score = 0.5F;
  EXPECT_EQ(result.events, OwnedEvents{event});
}

TEST(EventBatch, TakesStructsThatAreCutAfterTheirLastByteThatIsNotZero) {
  const Bytes message = framed({to_struct(0, 0, 1), to_list(0, kComposite, 2),
                                std::uint64_t{2} << 2 | 1ull << 32, 2, 3});  // two of one word each
  const Parsed result = parsed(message);
  EXPECT_EQ(result.text, "accepted");
  ASSERT_EQ(result.events.size(), 2u);
  EXPECT_EQ(result.events[0].kind, CrawlEventKind::kGone);
  EXPECT_EQ(result.events[1].kind, CrawlEventKind::kFailed);
}

TEST(EventBatch, TakesAMessageWithoutEvents) {
  EXPECT_EQ(parsed(framed({0})).text, "accepted");
  EXPECT_EQ(parsed(message_of({})).text, "accepted");
}

constexpr std::size_t kEventAt = 8 + 24;  // the data of the first event in our messages

Bytes one_page() {
  OwnedEvent event = sample_events()[0];
  event.links.resize(1);
  return message_of({event});
}

// spec: events.md#event-runs rule 5
TEST(EventBatch, RejectsFieldsOutOfRange) {
  const auto verdict = [](std::size_t offset, auto value) {
    return parsed(with(one_page(), kEventAt + offset, value)).text;
  };
  constexpr std::size_t kLinkAt = 48 + 24 + 16 + 8;  // behind the URL, the hash and the tag
  EXPECT_EQ(verdict(0, std::uint16_t{10}), "the kind of an event is unknown");
  EXPECT_EQ(verdict(0, std::uint16_t{0xFFFF}), "the kind of an event is unknown");
  EXPECT_EQ(verdict(16, std::int64_t{-1}), "the time of an event is negative");
  for (const std::uint32_t bits : {0x7f800000u, 0xff800000u, 0x7fc00000u}) {
    EXPECT_EQ(verdict(4, bits), "the score of an event is not finite");
    EXPECT_EQ(verdict(kLinkAt + 8, bits), "the score of a link of an event is not finite");
  }
  EXPECT_EQ(verdict(0, std::uint16_t{5}), "accepted");
}

// spec: events.md#event-runs rule 6
TEST(EventBatch, RejectsLinksOfKindsThatHaveNone) {
  for (std::uint16_t kind = 1; kind <= 3; ++kind) {
    EXPECT_EQ(parsed(with(one_page(), kEventAt, kind)).text, "an event of its kind has no links");
  }
}

TEST(EventBatch, RejectsLongHashesAndUrls) {
  const auto with_bytes = [](std::uint32_t pointer, std::uint64_t length) {
    Words words{
        to_struct(0, 0, 1), to_list(0, kComposite, 6), to_struct(1, 3, 3), 0, 0, 0, 0, 0, 0};
    words[6 + pointer] = to_list(2 - pointer, kBytes, length);
    words.resize(words.size() + (length + 7) / 8, 0x6161616161616161);
    return framed(words);
  };
  EXPECT_EQ(parsed(with_bytes(1, 64)).text, "accepted");
  EXPECT_EQ(parsed(with_bytes(1, 65)).text, "the content hash of an event is too long");
  EXPECT_EQ(parsed(with_bytes(0, kEventUrlBytesMax)).text, "accepted");
  EXPECT_EQ(parsed(with_bytes(0, kEventUrlBytesMax + 1)).text, "the URL of an event is too long");
}

TEST(EventBatch, NamesThePlaceOfTheEventThatIsWrong) {
  const OwnedEvents events = sample_events();
  const Bytes message = message_of(events);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const std::size_t place = kEventAt + i * 48;
    const Parsed result = parsed(with(message, place, std::uint16_t{99}));
    EXPECT_EQ(result.text, "the kind of an event is unknown");
    EXPECT_EQ(result.offset, place);
  }
}

TEST(EventBatch, RejectsEveryCut) {
  const Bytes message = message_of(sample_events());
  for (std::size_t length = 0; length < message.size(); ++length) {
    EXPECT_NE(parsed(std::span(message).first(length)).text, "accepted") << length;
    if (length % 8 != 0 || length < 8) continue;
    const Bytes shorter = with(Bytes(message.begin(), message.begin() + std::ptrdiff_t(length)), 4,
                               static_cast<std::uint32_t>(length / 8 - 1));
    EXPECT_NE(parsed(shorter).text, "accepted") << length;
  }
  Bytes longer = message;
  longer.resize(longer.size() + 8);
  EXPECT_NE(parsed(longer).text, "accepted");
}

/// Whatever is accepted keeps the rules, lies in little memory, and can be encoded again.
void expect_rules(std::span<const std::byte> message) {
  EventBatch batch;
  if (!batch.parse(message)) return;
  std::size_t elements = batch.events().size();
  for (const CrawlEvent& event : batch.events()) {
    EXPECT_TRUE(check_event(event));
    elements += event.links.size();
  }
  EXPECT_LE(elements, message.size() / 8);
  const OwnedEvents events = owned(batch.events());
  EXPECT_EQ(parsed(message_of(events)).events, events);
}

TEST(EventBatch, KeepsTheRulesUnderEveryFlippedBit) {
  const Bytes message = message_of(sample_events());
  for (std::size_t bit = 0; bit < message.size() * 8; ++bit) {
    Bytes flipped = message;
    flipped[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
    expect_rules(flipped);
  }
}

TEST(EventBatch, KeepsTheRulesUnderRandomDamage) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 5000; ++i) {
    Bytes message = message_of(random_events(random, 1 + below<std::size_t>(random, 4)));
    for (std::size_t hits = 1 + below<std::size_t>(random, 4); hits > 0; --hits) {
      message[8 + below<std::size_t>(random, message.size() - 8)] = below<std::byte>(random, 256);
    }
    expect_rules(message);
  }
}

// spec: events.md#event-runs rule 4
TEST(EventBatch, RejectsMoreThanItsWordsCanHold) {
  const std::uint64_t many = (1u << 29) - 1;
  const Bytes of_no_bytes = framed({to_struct(0, 0, 1), to_list(0, kComposite, 0), many << 2});
  EXPECT_EQ(parsed(of_no_bytes).text, "an event message claims more words than it has");

  Words shared{to_struct(0, 0, 1), to_list(0, kComposite, 100 * 6), to_struct(100, 3, 3)};
  for (std::uint32_t i = 0; i < 100; ++i) {  // the links of all of them are one list
    shared.insert(shared.end(), {0, 0, 0, 0, 0, to_list((99 - i) * 6, kComposite, 300)});
  }
  shared.push_back(to_struct(100, 2, 1));
  shared.resize(shared.size() + 300);
  EXPECT_EQ(parsed(framed(shared)).text, "an event message claims more words than it has");

  Words bytes_as_events{to_struct(0, 0, 1), to_list(0, kBytes, 64), 0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(parsed(framed(bytes_as_events)).text,
            "an event message has more events and links than words");
}

TEST(EventBatch, SaysWhatIsWrongWithAPointer) {
  const std::vector<std::pair<Words, std::string>> cases{
      {{to_struct(5, 0, 1), 0}, "a pointer of an event message leads outside"},
      {{to_struct(0, 0, 1), to_list(0, kComposite, 6), to_struct(1, 3, 3)},
       "a pointer of an event message leads outside"},
      {{}, "an event message has no root"},
      {{to_list(0, kBytes, 1), 0},
       "an event message has a pointer of another kind than the schema says"}};
  for (const auto& [words, text] : cases) EXPECT_EQ(parsed(framed(words)).text, text);
}

TEST(EventBatchWriter, RejectsWhatBreaksARuleAndStaysAsItIs) {
  std::string long_url(kEventUrlBytesMax + 1, 'a');
  const Bytes hash(kEventHashBytesMax + 1);
  const float infinite = std::numeric_limits<float>::infinity();
  const std::vector<std::pair<std::function<void(CrawlEvent&)>, Errc>> changes{
      {[](CrawlEvent& event) { event.kind = CrawlEventKind{10}; }, Errc::kInvalidArgument},
      {[](CrawlEvent& event) { event.kind = CrawlEventKind::kGone; }, Errc::kInvalidArgument},
      {[](CrawlEvent& event) { event.kind = CrawlEventKind::kRedirect; }, Errc::kInvalidArgument},
      {[](CrawlEvent& event) { event.time_us = -1; }, Errc::kInvalidArgument},
      {[&](CrawlEvent& event) { event.score = infinite; }, Errc::kInvalidArgument},
      {[&](CrawlEvent& event) { event.content_hash = hash; }, Errc::kTooLarge},
      {[&](CrawlEvent& event) { event.url = long_url; }, Errc::kTooLarge}};
  const OwnedEvents samples = sample_events();
  const EventViews views(samples);
  EventBatchWriter writer;
  ASSERT_TRUE(writer.append(views.events()[0]));
  const auto length = writer.message_bytes();
  for (const auto& [change, code] : changes) {
    CrawlEvent event = views.events()[0];
    change(event);
    EXPECT_EQ(code_of(writer.append(event)), code);
    EXPECT_EQ(writer.message_bytes(), length);
  }
  Bytes message;
  writer.finish(message);
  EXPECT_EQ(parsed(message).events, OwnedEvents{samples[0]});
}

TEST(EventBatchWriter, FillsAMessageToItsLastByte) {
  const std::string url(kEventUrlBytesMax, 'u');
  CrawlEvent event{CrawlEventKind::kKnown, url, 0, 0, 0, {}, {}};
  EventBatchWriter writer;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(writer.append(event));
  event.url = std::string_view(url).substr(0, kEventMessageBytesMax - writer.message_bytes() - 48);
  ASSERT_TRUE(writer.append(event));
  EXPECT_EQ(writer.message_bytes(), kEventMessageBytesMax);
  event.url = {};
  EXPECT_EQ(code_of(writer.append(event)), Errc::kTooLarge);
  Bytes message;
  writer.finish(message);
  EXPECT_EQ(message.size(), kEventMessageBytesMax);
  EXPECT_EQ(parsed(message).events.size(), 4u);
}

TEST(MessageBytes, TellsOfEveryBeginningHowMuchIsNeeded) {
  capnp::MallocMessageBuilder builder(1, capnp::AllocationStrategy::FIXED_SIZE);
  builder.initRoot<wire::EventBatch>().initEvents(3)[1].initUrl(100);
  const auto words = capnp::messageToFlatArray(builder);
  const auto bytes = std::as_bytes(std::span(words.asBytes().begin(), words.asBytes().size()));
  const std::size_t head = round_up(4 + builder.getSegmentsForOutput().size() * 4, 8);
  ASSERT_GT(head, 8u);
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    const auto needed = message_bytes(bytes.first(length));
    EXPECT_EQ(needed.value_or(0), length < 8 ? 8 : length < head ? head : bytes.size()) << length;
  }
}

TEST(MessageBytes, RejectsWhatNoMessageMayBe) {
  const auto said = [](std::uint32_t segments_less_one, std::uint32_t words) {
    Bytes bytes(8 + std::size_t{std::min(segments_less_one, 600u)} * 4 + 4);
    store(bytes.data(), segments_less_one);
    store(bytes.data() + 4, words);
    return text_of(message_bytes(bytes));
  };
  EXPECT_EQ(said(511, 1), "accepted");
  EXPECT_EQ(said(512, 1), "an event message has too many segments");
  EXPECT_EQ(said(~0u, 1), "an event message has too many segments");
  EXPECT_EQ(said(0, kEventMessageBytesMax / 8 - 1), "accepted");
  EXPECT_EQ(said(0, kEventMessageBytesMax / 8), "an event message is too long");
  EXPECT_EQ(said(0, ~0u), "an event message is too long");
}

/// "data 8", "pointer 1": where the schema puts a field.
std::string place_of(capnp::StructSchema::Field field) {
  const auto slot = field.getProto().getSlot();
  const auto type = field.getType();
  if (type.isData() || type.isList()) return "pointer " + std::to_string(slot.getOffset());
  const unsigned size = type.isEnum() || type.isUInt16() ? 2 : type.isFloat32() ? 4 : 8;
  return "data " + std::to_string(slot.getOffset() * size);
}

TEST(SpecOfEvents, PlacesFieldsAsTheSchemaDoes) {
  std::map<std::string, std::string> written;
  const std::string text = section(source_text("spec/events.md"), "## Event runs");
  for (const Row& row : table_after(text, "The structs:")) {
    written[row.at(0) + "." + row.at(1)] = row.at(2);
  }
  std::map<std::string, std::string> computed;
  for (const auto& [name, schema] : {std::pair<std::string, capnp::StructSchema>{
                                         "EventBatch", capnp::Schema::from<wire::EventBatch>()},
                                     {"Event", capnp::Schema::from<wire::Event>()},
                                     {"Link", capnp::Schema::from<wire::Link>()}}) {
    for (const auto field : schema.getFields()) {
      computed[name + "." + field.getProto().getName().cStr()] = place_of(field);
    }
  }
  EXPECT_EQ(written, computed);
}

}  // namespace
}  // namespace crawlstore::format
