// SPDX-License-Identifier: Apache-2.0
#include "format/item_block.h"

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/format_samples.h"
#include "format/item_samples.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

/// Decodes and checks one block that lies at offset 1000; by group, all items have group 0.
Result<SampleItems> decoded(std::span<const std::byte> bytes, std::uint32_t item_count,
                            bool is_by_time, ItemBlock& block) {
  const ItemBlockFrame frame{.offset = 1000, .item_count = item_count, .is_by_time = is_by_time};
  CRAWLSTORE_TRY(decode_item_block(frame, bytes, block));
  CRAWLSTORE_TRY(check_item_block(frame, bytes, block, std::nullopt));
  SampleItems items;
  for (std::size_t i = 0; i < block.items.size(); ++i) {
    SampleItem item{block.items[i], {}};
    for (const std::byte byte : block.body(i)) item.body += static_cast<char>(byte);
    EXPECT_EQ(read_item(frame, bytes, static_cast<std::uint32_t>(i)).value(), block.items[i]);
    EXPECT_TRUE(std::ranges::equal(
        read_item_body(frame, bytes, static_cast<std::uint32_t>(i)).value(), block.body(i)));
    items.push_back(std::move(item));
  }
  return items;
}

using MakeBody = std::function<std::string(std::mt19937_64&, int)>;

std::string url_body(std::mt19937_64& random, int number) {
  return "https://www.example.org/articles/2026/" + std::to_string(random() % 1000) + "/page-" +
         std::to_string(number) + ".html?session=" + std::to_string(random());
}
std::string no_body(std::mt19937_64&, int) {
  return {};
}
std::string short_body(std::mt19937_64& random, int) {
  std::string text;
  for (int i = 0; i < 5; ++i) text += static_cast<char>(random());
  return text;
}
std::string any_body(std::mt19937_64& random, int) {
  return std::string(random() % 700, 'x');
}

SampleItems random_items(std::mt19937_64& random, int count, bool is_by_time,
                         const MakeBody& body) {
  SampleItems items;
  const bool has_one_order = random() % 2 == 0;
  const unsigned id_shift = 1 + static_cast<unsigned>(random() % 60);
  for (int i = 0; i < count; ++i) {
    const double priority = has_one_order ? 0.5 : static_cast<double>(random() % 1000) / 8 - 60;
    items.push_back({item_of(0, priority, random() >> id_shift), body(random, i)});
    if (!is_by_time) continue;
    items.back().item.time = 1'700'000'000'000 + random() % 1'000'000;
    items.back().item.group = static_cast<std::uint32_t>(random() % 100'000);
  }
  std::sort(items.begin(), items.end(),
            [](const SampleItem& a, const SampleItem& b) { return a.item < b.item; });
  const auto is_same = [](const SampleItem& a, const SampleItem& b) { return a.item == b.item; };
  items.erase(std::unique(items.begin(), items.end(), is_same), items.end());
  return items;
}

TEST(ItemBlock, ReturnsWhatWasEncoded) {
  std::mt19937_64 random(3);
  ItemBlock block;  // used again
  for (const bool is_by_time : {false, true}) {
    for (const auto& body : {no_body, short_body, url_body, any_body}) {
      for (const int count : {1, 2, 7, 100, 350}) {
        const SampleItems items = random_items(random, count, is_by_time, body);
        for (const AuxCodec codec : {AuxCodec::kRaw, AuxCodec::kLz4}) {
          Bytes bytes;
          const auto encoded = encode_sample_block(items, bytes, codec);
          EXPECT_EQ(encoded.place.stored_bytes, bytes.size());
          const auto found = decoded(bytes, encoded.place.item_count, is_by_time, block);
          ASSERT_TRUE(found) << text_of(found);
          EXPECT_EQ(*found, items);
          EXPECT_EQ(block.bodies.size(), encoded.body_bytes);
        }
      }
    }
  }
}

TEST(ItemBlock, TakesTheMostThatMayBe) {
  SampleItems items;
  for (std::uint32_t i = 0; i < kBlockItemsMax; ++i) {
    items.push_back({item_of(0, 1, i), std::string(i < 2 ? kItemBodyBytesMax : 0, 'y')});
  }
  Bytes bytes;
  ItemBlock block;
  for (const AuxCodec codec : {AuxCodec::kRaw, AuxCodec::kLz4}) {
    bytes.clear();
    encode_sample_block(items, bytes, codec);
    const auto found = decoded(bytes, kBlockItemsMax, false, block);
    ASSERT_TRUE(found) << text_of(found);
    EXPECT_EQ(*found, items);
  }
  EXPECT_EQ(block.header.codec, 1);
}

// Layout as in the spec: header, orders, ids, lengths, bodies.
TEST(ItemBlock, WritesTheseBytesByGroup) {
  Bytes bytes;
  encode_sample_block(sample_item_blocks().front(), bytes);
  EXPECT_EQ(hex_of(bytes),
            "ff ff ff ff ff ff 0f 40 05 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
            "00 00 00 00 01 00 00 00 05 00 00 00 33 01 01 00 00 01 00 00 00 00 00 00 "
            "00 01 01 02 00 04 01 00 01 61 62 63 64 65");
}

// Times and groups lie before the lengths.
TEST(ItemBlock, WritesTheseBytesByTime) {
  Bytes bytes;
  encode_sample_block(sample_timed_items(), bytes);
  EXPECT_EQ(hex_of(bytes),
            "ff ff ff ff ff ff 0f 40 01 00 00 00 00 00 00 00 e8 03 00 00 00 00 00 00 "
            "02 00 00 00 00 00 00 00 03 00 00 00 34 01 01 03 01 01 00 00 00 00 00 00 "
            "00 00 01 02 07 00 00 00 00 00 00 00 a8 5b 01 02 02 00 01 00 02 61 62 63");
}

TEST(ItemBlock, CompressesBodiesOnlyWhereThatPays) {
  Bytes bytes;
  encode_sample_block(sample_long_items(), bytes);
  EXPECT_EQ(load_struct<ItemBlockHeader>(bytes.data()).codec, 1);
  EXPECT_LT(bytes.size(), 48U + 30);
  bytes.clear();
  encode_sample_block({{item_of(0, 1, 1), "no byte twice"}}, bytes);
  EXPECT_EQ(load_struct<ItemBlockHeader>(bytes.data()).codec, 0);
  bytes.clear();
  encode_sample_block(sample_long_items(), bytes, AuxCodec::kRaw);
  EXPECT_EQ(load_struct<ItemBlockHeader>(bytes.data()).codec, 0);
}

TEST(ItemBlock, NamesThePlaceOfABrokenBlock) {
  Bytes bytes;
  const auto encoded = encode_sample_block(sample_timed_items(), bytes);
  ItemBlock block;
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const auto found =
        decoded(std::span(bytes).first(length), encoded.place.item_count, true, block);
    ASSERT_FALSE(found) << length;
    EXPECT_EQ(found.error().offset, 1000U);
  }
}

TEST(ItemBlock, KnowsWhatIsAnItem) {
  EXPECT_TRUE(is_item(item_of(kGroupMax, 1, kItemIdMax, kItemTimeMax)));
  EXPECT_TRUE(is_item(item_of(0, 0, 0)));
  EXPECT_FALSE(is_item(item_of(kGroupMax + 1, 1, 1)));
  EXPECT_FALSE(is_item(item_of(1, 1, kItemIdMax + 1)));
  EXPECT_FALSE(is_item(item_of(1, 1, 1, kItemTimeMax + 1)));
  EXPECT_FALSE(is_item({.order = kQueueGone}));
  EXPECT_FALSE(is_item({.order = 0}));
}

}  // namespace
}  // namespace crawlstore::format
