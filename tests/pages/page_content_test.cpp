// SPDX-License-Identifier: Apache-2.0
#include "pages/page_content.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/crawl_event_samples.h"
#include "format/event_run.h"
#include "format/field.h"

namespace crawlstore::pages {
namespace {

using namespace crawlstore::testing;

Bytes event_run() {
  Bytes messages;
  format::encode_event_batch(EventViews(sample_events()).events(), messages);
  Bytes payload;
  format::encode_event_run(sample_events().size(), messages, payload);
  return payload;
}

Result<container::RunContentPtr> checked(const Bytes& payload) {
  return check_event_run(payload);
}

TEST(PageContent, CountsTheEventsOfAnEventRun) {
  const auto content = checked(event_run());
  ASSERT_TRUE(content) << content.error().text;
  EXPECT_EQ((*content)->record_count, sample_events().size());
}

TEST(PageContent, NamesThePlaceOfAnEventThatIsWrong) {
  const auto content = checked(with(event_run(), 24 + 32, std::uint16_t{10}));
  EXPECT_EQ(text_of(content), "the kind of an event is unknown");
  EXPECT_EQ(content.error().offset, 24u + 32u);
  EXPECT_EQ(code_of(checked(with(event_run(), 8, std::uint64_t{1}))), Errc::kSegmentInvalid);
}

TEST(PageContent, EndsWhenProgressSaysSo) {
  const Bytes payload = event_run();
  const auto content = container::check_whole<check_event_run>(
      container::payload_in_memory(payload),
      [](std::uint64_t) { return Result<void>(fail(Errc::kCancelled, "enough")); });
  EXPECT_EQ(code_of(content), Errc::kCancelled);
}

TEST(PageContent, HasTheFieldsOfItsHeader) {
  std::vector<std::string> shown;
  for (const format::Field& field : format::describe_event_run(event_run())) {
    shown.push_back(field.name + " " + field.type + " " + field.value + field.problem);
  }
  EXPECT_EQ(shown, (std::vector<std::string>{"magic hex64 0x314e52544e564543",
                                             "record_count u64 10", "reserved zeros "}));
}

}  // namespace
}  // namespace crawlstore::pages
