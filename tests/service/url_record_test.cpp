// SPDX-License-Identifier: Apache-2.0
#include "service/core/url_record.h"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/seeded.h"

namespace crawlstore::service {
namespace {

using crawlstore::testing::SeededRandom;
using namespace std::string_literals;
using namespace std::string_view_literals;

std::string every_byte() {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.push_back(static_cast<char>(byte));
  return bytes;
}

TEST(UrlRecord, ComesBackAsItWas) {
  const std::string long_url = "http://a.test/" + std::string(65'536, 'x');
  const std::vector<std::string> urls{"",
                                      "http://",
                                      "http://a.test",
                                      "http://a.test/",
                                      "https://a.test/x?y",
                                      "https://a.testing/",
                                      "http://a.test:80/",
                                      "ftp://a.test/",
                                      "HTTP://a.test/",
                                      "a.test/x",
                                      "x",
                                      every_byte(),
                                      "http://" + every_byte(),
                                      long_url};
  const std::string big(1 << 20, '\0');
  for (const std::string& queue : {""s, "a.test"s, "a"s, "no host"s, every_byte()}) {
    for (const std::string& url : urls) {
      for (const std::string& metadata : {""s, "m"s, every_byte(), big}) {
        for (const std::uint64_t created_s : {std::uint64_t{0}, std::uint64_t{127}, UINT64_MAX}) {
          const UrlRecord record{url, created_s, metadata};
          const std::string bytes = encode(record, queue);
          EXPECT_EQ(decode(bytes, queue), record);
          EXPECT_EQ(created_of(bytes), created_s);
          EXPECT_FALSE(bytes.empty()) << "that is the value of a URL that waits";
        }
      }
    }
  }
}

TEST(UrlRecord, LeavesOutTheHostThatItsQueueHas) {
  const UrlRecord record{"https://a.test/x", 100, "m"};
  EXPECT_EQ(encode(record, "a.test"), "\x64\x08/xm");
  EXPECT_EQ(encode(record, "b.test").size(), 2 + record.url.size() + 1);
}

TEST(UrlRecord, IsCutNowhereBeforeItsMetadata) {
  const UrlRecord record{"ftp://a.test/x", 1'700'000'000, ""};
  const std::string bytes = encode(record, "a.test");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(decode(std::string_view(bytes).substr(0, size), "a.test"), std::nullopt) << size;
  }
  EXPECT_EQ(created_of(std::string_view(bytes).substr(0, 4)), std::nullopt);
}

TEST(UrlRecord, HasNoMoreThanItsBytesAndItsQueue) {
  SeededRandom random;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes;
    for (std::uint64_t left = random.below(24); left > 0; --left) {
      bytes.push_back(static_cast<char>(random.one_in(3) ? 0xFF : random.below(256)));
    }
    (void)created_of(bytes);
    (void)decode_counts(bytes);
    const auto record = decode(bytes, "a.test");
    if (!record) continue;
    EXPECT_LT(record->url.size() + record->metadata.size(),
              bytes.size() + "https://a.test"s.size());
    EXPECT_EQ(decode(encode(*record, "a.test"), "a.test"), record);
  }
}

/// The bytes of the spec.
TEST(UrlRecord, HasEachForm) {
  // 300 seconds; a text of two bytes, in its form; a date in the last; three bytes of metadata.
  for (const auto& [bytes, url] : {std::pair{"\xAC\x02\x06/xabc"sv, "/x"},
                                   {"\xAC\x02\x07/xabc"sv, "http://a.test/x"},
                                   {"\xAC\x02\x08/xabc"sv, "https://a.test/x"},
                                   {"\xAC\x02\x87\x80\x10\x05/xabc"sv, "http://a.test/x"}}) {
    const auto record = decode(bytes, "a.test");
    ASSERT_TRUE(record);
    EXPECT_EQ(record->url, url);
    EXPECT_EQ(record->created_s, 300U);
    EXPECT_EQ(record->metadata, "abc");
  }
}

TEST(UrlRecord, HasATimeOfItsOwn) {
  UrlRecord record{"http://a.test/x", 7, "m"};
  const std::string without = encode(record, "a.test");
  for (const std::uint64_t time_s : {std::uint64_t{0}, std::uint64_t{1} << 40, UINT64_MAX}) {
    record.refetch_s = time_s;
    const std::string bytes = encode(record, "a.test");
    EXPECT_EQ(decode(bytes, "a.test"), record);
    EXPECT_EQ(refetch_of(record, -5), time_s);
  }
  record.refetch_s = {};
  EXPECT_EQ(decode(without, "a.test"), record);
  EXPECT_EQ(decode(std::string("\x07\x87\x80\x10\xFF", 5), "a.test"), std::nullopt);
}

TEST(RefetchOf, TakesPrioritiesThatAreNoTimesForNone) {
  EXPECT_EQ(refetch_of({}, -1'700'000'000), 1'700'000'000U);
  for (const double priority : {1.0, -1e300, HUGE_VAL, -HUGE_VAL}) {
    EXPECT_EQ(refetch_of({}, priority), 0U) << priority;
  }
}

TEST(PriorityOf, IsANumberThatIsFinite) {
  EXPECT_EQ(priority_of("0.25"), 0.25);
  EXPECT_EQ(priority_of("-3e2"), -300);
  for (const char* const text : {"", "high", "1 ", " 1", "0x10", "inf", "nan", "1e999"}) {
    EXPECT_EQ(priority_of(text), 0) << text;
  }
}

TEST(UrlRecord, RefusesNumbersBeyond64Bits) {
  const std::string most = std::string(9, '\xFF') + "\x01";
  EXPECT_EQ(created_of(most), UINT64_MAX);
  EXPECT_EQ(created_of(std::string(9, '\xFF') + "\x02"), std::nullopt);
  EXPECT_EQ(created_of(std::string(10, '\xFF') + "\x01"), std::nullopt);
  EXPECT_EQ(decode("\x01" + most, "a.test"), std::nullopt) << "no URL is so long";
}

TEST(Counts, ComeBackAsTheyWere) {
  SeededRandom random;
  for (int i = 0; i < 1000; ++i) {
    const Counts counts{random.number(), random.number(), random.number(), random.number()};
    const std::string bytes = encode(counts);
    EXPECT_EQ(decode_counts(bytes), counts);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_EQ(decode_counts(std::string_view(bytes).substr(0, size)), std::nullopt);
    }
  }
}

TEST(HostOf, EndsWhereAPortAPathOrAQueryBegins) {
  EXPECT_EQ(host_of("http://a.test:80/x?y"), "a.test");
  EXPECT_EQ(host_of("https://gac.icann.org?language_id=9"), "gac.icann.org");
  EXPECT_EQ(host_of("gac.icann.org?language_id=9"), "gac.icann.org");
  EXPECT_EQ(host_of("http://a.test&x"), "a.test");
  EXPECT_EQ(host_of("a.test"), "a.test");
  EXPECT_EQ(host_of("http://[::1]:8080/"), "[::1]");
  EXPECT_EQ(host_of("http://user:password@A.Test/"), "a.test");
  EXPECT_EQ(host_of("http://a.test#x"), "a.test");
  EXPECT_EQ(host_of("a.test/http://b.test/"), "b.test") << "as other services of the protocol";
  for (const char* const url : {"", "http://", "http:///x", "/x", "?", ":80"}) {
    EXPECT_EQ(host_of(url), std::nullopt) << url;
  }
}

/// A store of today is read tomorrow.
TEST(KnownKey, StaysForEver) {
  const Key16 key = known_key({"a.test", "http://a.test/"}, 0x5EED);
  EXPECT_EQ(key.head, 3'171'434'098'088'603'297U);
  EXPECT_EQ(key.tail, 1'181'872'265'542'555'130U);
  EXPECT_EQ(item_id(key), 617'521'689'925'069'496U);
  EXPECT_EQ(item_id({1, 2}), 953'928'531'469'711'929U);
}

TEST(KnownKey, HasTheHeadOfItsQueue) {
  const Key16 of_queue = queue_key("a.test", 7);
  const Key16 key = known_key({"a.test", "http://a.test/"}, 7);
  EXPECT_EQ(key.head, of_queue.head);
  EXPECT_TRUE(is_of_url(key));
  EXPECT_FALSE(is_of_url(of_queue));
  EXPECT_FALSE(is_of_url(kCrawlKey));
  EXPECT_NE(of_queue.head, kCrawlKey.head);
  EXPECT_NE(key.tail, known_key({"a.test", "http://a.test/1"}, 7).tail);
  EXPECT_NE(key.head, known_key({"b.test", "http://a.test/"}, 7).head);
  EXPECT_NE(key.head, queue_key("a.test", 8).head);
  EXPECT_LT(item_id({UINT64_MAX, UINT64_MAX}), std::uint64_t{1} << 63);
}

}  // namespace
}  // namespace crawlstore::service
