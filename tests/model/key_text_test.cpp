// SPDX-License-Identifier: Apache-2.0
#include "model/key_text.h"

#include <gtest/gtest.h>

#include <crawlstore/page_key.h>
#include <crawlstore/url_seen.h>

#include "drum/memory_store.h"
#include "support/seeded.h"

namespace crawlstore::model {
namespace {

using testing::MemoryStore;
using testing::must;

TEST(FormatKey, ComesBackFromItsText) {
  testing::SeededRandom random;
  for (int i = 0; i < 2000; ++i) {
    DrumInfo info;
    info.key_bytes = random.one_in(2) ? 8 : 16;
    info.key_scheme = static_cast<KeyScheme>(random.below(4));
    const bool is_wide = info.key_bytes == 16;
    const Key16 key(random.number(), is_wide ? random.number() : 0);
    const std::string text = format_key(key, is_wide);
    EXPECT_EQ(text.size(), is_wide ? 32U : 16U);
    EXPECT_EQ(parse_key(text, info, random.next()), key);
  }
}

TEST(ParseKey, RefusesWhatIsNeitherDigitsNorAUrlKey) {
  testing::SeededRandom random;
  const DrumInfo opaque;
  for (const char* text : {"", "12", "9f3c0081aa55110", "9f3c0081aa5511000", "9f3c0081aa55110g",
                           "http://h.test/", " 9f3c0081aa551100", "0x3c0081aa551100"}) {
    EXPECT_EQ(parse_key(text, opaque, 1), std::nullopt) << text;
  }
  EXPECT_EQ(parse_key("9F3C0081AA551100", opaque, 1), Key16(0x9f3c0081aa551100));
  DrumInfo wide;
  wide.key_bytes = 16;
  EXPECT_EQ(parse_key("9f3c0081aa551100", wide, 1), std::nullopt);
  for (int i = 0; i < 2000; ++i) static_cast<void>(parse_key(random.hostile_text(9), opaque, 1));
}

TEST(ParseKey, FindsUrlsByTheirPageKeys) {
  DrumInfo info;
  info.key_bytes = 16;
  info.key_scheme = KeyScheme::kPage;
  EXPECT_EQ(parse_key("HTTP://Example.com:80", info, 5), page_key("http://example.com/", 5).key);
  EXPECT_EQ(parse_key("no url", info, 5), page_key("no url", 5).key);
  EXPECT_EQ(parse_key("", info, 5), std::nullopt);
}

// Each scheme: what is asked for is what the writer keyed.
TEST(ParseKey, FindsUrlsAsUrlSeenKeysThem) {
  testing::SeededRandom random;
  for (const UrlKeyKind kind : {UrlKeyKind::kXxh3, UrlKeyKind::kXxh3Wide, UrlKeyKind::kRabin}) {
    MemoryStore store;
    UrlSeen::Options options;
    options.key = kind;
    auto seen = must(UrlSeen::open(*store, "urls", options));
    std::vector<std::string> urls = {"http://example.com/", "HTTP://EXAMPLE.com:80/#top",
                                     "http://h.test/a b?c=\xc3\xa9", "no url at all"};
    for (int i = 0; i < 100; ++i) urls.push_back("http://h.test/x" + random.hostile_text(9));
    for (const std::string& url : urls) must(seen.check_update(url));
    NullDispatcher nobody;
    must(seen.drum().merge(nobody));
    const auto view = testing::drum_view(*store, "urls");
    for (const std::string& url : urls) {
      const auto key = parse_key(url, view.info(), store->key_seed());
      ASSERT_EQ(key, seen.key_of(url)) << url;
      EXPECT_TRUE(must(view.lookup(*key)).has_value()) << url;
    }
    EXPECT_EQ(parse_key("", view.info(), 1), std::nullopt);
  }
}

// Digits are digits: no separators, as numbers may have, no prefix, no sign.
TEST(ParseHex, TakesOneToSixteenDigits) {
  EXPECT_EQ(parse_hex("0"), 0U);
  EXPECT_EQ(parse_hex("fF"), 255U);
  EXPECT_EQ(parse_hex("ffffffffffffffff"), ~std::uint64_t{0});
  for (const char* text : {"", "0x1", "1_0", "1,0", "+1", "g", "1 ", "00000000000000000"}) {
    EXPECT_EQ(parse_hex(text), std::nullopt) << text;
  }
}

TEST(ParseKeyDigits, TellsTheLengthOfTheKey) {
  const auto narrow = parse_key_digits("00000000000000Ff");
  ASSERT_TRUE(narrow);
  EXPECT_EQ(narrow->key, Key16(255));
  EXPECT_FALSE(narrow->is_wide);
  const auto wide = parse_key_digits("00000000000000010000000000000002");
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->key, Key16(1, 2));
  EXPECT_TRUE(wide->is_wide);
  for (const char* text :
       {"", "1", "000000000000000000", "0000000000000001000000000000000g", "0000_0000_0000_1"}) {
    EXPECT_FALSE(parse_key_digits(text)) << text;
  }
}

}  // namespace
}  // namespace crawlstore::model
