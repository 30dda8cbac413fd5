// SPDX-License-Identifier: Apache-2.0
#include "format/outbox_block.h"

#include <gtest/gtest.h>

#include "format/origin_block.h"
#include "format/outbox_samples.h"
#include "support/seeded.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

/// A block as its reader takes it: the header, then as many bytes as that says, if they are there.
struct ReadBlock {
  explicit ReadBlock(std::span<const std::byte> block) {
    const auto head = block.first(std::min<std::size_t>(block.size(), 64));
    header = parse_outbox_header(head);
    urls = parse_outbox_urls(head, block.subspan(head.size()), raw);
  }

  Bytes raw;
  Result<OutboxHeader> header;
  Result<std::vector<std::string_view>> urls;
};

/// Appends a block behind other bytes and expects the same URLs of it.
Bytes expect_round_trip(OutboxHeader header, const std::vector<std::string>& urls) {
  const std::vector<std::string_view> views(urls.begin(), urls.end());
  FrameCompressor compressor({}, 1);
  Bytes out(5, std::byte{9});
  append_outbox_block(header, views, compressor, out);
  EXPECT_EQ(Bytes(out.begin(), out.begin() + 5), Bytes(5, std::byte{9}));
  Bytes block(out.begin() + 5, out.end());
  const ReadBlock found(block);
  EXPECT_TRUE(found.urls) << found.urls.error().text;
  if (!found.header || !found.urls) return block;
  EXPECT_EQ(*found.urls, views);
  header.url_count = static_cast<std::uint32_t>(urls.size());
  header.raw_bytes = static_cast<std::uint32_t>(found.raw.size());
  header.payload_bytes = static_cast<std::uint32_t>(block.size() - 64);
  EXPECT_EQ(*found.header, header);
  std::size_t raw_bytes = 0;
  for (const std::string& url : urls) raw_bytes += outbox_url_bytes(url.size());
  EXPECT_EQ(found.raw.size(), raw_bytes);
  return block;
}

/// A URL whose bytes are of `kinds` values.
std::string random_url(SeededRandom& random, std::uint64_t bytes_max, std::uint64_t kinds) {
  std::string url(1 + random.below(bytes_max), ' ');
  for (char& letter : url) letter = static_cast<char>(random.below(kinds));
  return url;
}

TEST(OutboxBlocks, GiveTheirHeaderAndUrls) {
  const Bytes block = sample_outbox_block();
  ASSERT_EQ(block.size(), 64u + 16);
  const ReadBlock found(block);
  ASSERT_TRUE(found.header && found.urls);
  OutboxHeader header = sample_outbox_header();
  header.url_count = 3;
  header.raw_bytes = header.payload_bytes = 16;
  header.is_last = true;
  EXPECT_EQ(*found.header, header);
  const std::vector<std::string_view> urls{"http://a/", "b", std::string_view("\xff\0\n", 3)};
  EXPECT_EQ(*found.urls, urls);
  EXPECT_EQ(static_cast<const void*>((*found.urls)[0].data()),
            static_cast<const void*>(found.raw.data() + 1));
}

TEST(OutboxBlocks, GiveWhatWasPutIntoThem) {
  SeededRandom random;
  for (int i = is_long() ? 5000 : 300; i > 0; --i) {
    OutboxHeader header{.step = 1 + random.number() / 2, .crawl_key = random.number()};
    header.shard_count = 2 + static_cast<std::uint32_t>(random.below(kOutboxShardsMax - 1));
    header.from = static_cast<std::uint32_t>(random.below(header.shard_count));
    header.to = (header.from + 1) % header.shard_count;
    header.number = static_cast<std::uint32_t>(random.number());
    std::vector<std::string> urls(random.one_in(9) ? 0 : 1 + random.below(60));
    const std::uint64_t kinds = random.one_in(2) ? 256 : 3;
    for (std::string& url : urls) url = random_url(random, random.one_in(9) ? 5000 : 60, kinds);
    if (random.one_in(2) && !urls.empty()) urls.push_back(urls.front());
    header.is_last = urls.empty() || random.one_in(2);
    expect_round_trip(header, urls);
    if (HasFailure()) return;
  }
}

TEST(OutboxBlocks, TakeTheLongestUrls) {
  std::string longest(kUrlBytesMax, 'u');
  EXPECT_EQ(expect_round_trip(sample_outbox_header(), {longest}).size(), 64u + 4 + kUrlBytesMax);
  SeededRandom random;
  for (std::size_t i = 0; i < longest.size() / 2; ++i) {
    longest[i] = static_cast<char>(random.next());
  }
  const std::string shorter(kUrlBytesMax - 8, 'v');
  const Bytes block = expect_round_trip(sample_outbox_header(), {longest, shorter});
  EXPECT_LT(block.size(), kUrlBytesMax);
  std::vector<std::string> most(65'536, std::string(510, 'w'));
  for (std::string& url : most) {
    for (char& letter : std::span(url).first(9)) letter = static_cast<char>(random.next());
  }
  EXPECT_EQ(ReadBlock(expect_round_trip(sample_outbox_header(), most)).raw.size(),
            kOutboxRawBytesMax);
}

TEST(OutboxBlocks, AreShorterOnlyAsAFrame) {
  SeededRandom random;
  const Bytes random_block = expect_round_trip(
      sample_outbox_header(),
      {random_url(random, 1, 256) + std::string(9, 'a'), random_url(random, 4000, 256)});
  EXPECT_EQ(load<std::uint32_t>(random_block.data() + 44),
            load<std::uint32_t>(random_block.data() + 48));
  const Bytes frame = outbox_block(sample_outbox_urls());
  EXPECT_LT(load<std::uint32_t>(frame.data() + 48), load<std::uint32_t>(frame.data() + 44) / 2);
}

TEST(OutboxBlocks, HaveARoomThatIsForeseen) {
  EXPECT_EQ(outbox_url_bytes(1), 2u);
  EXPECT_EQ(outbox_url_bytes(127), 128u);
  EXPECT_EQ(outbox_url_bytes(128), 130u);
  EXPECT_EQ(outbox_url_bytes(kUrlBytesMax), kUrlBytesMax + 4);
}

/// The text of the rule that a name says is broken.
std::map<std::string, std::string> texts_of_names() {
  const std::string checksum = "the checksum of an outbox block is wrong";
  const std::string length =
      "the payload of an outbox block has another length than its header says";
  const std::string shards = "the shard count of an outbox block is out of range";
  const std::string from_to = "an outbox block is not of one shard for another";
  const std::string count = "the URL count of an outbox block is out of range";
  const std::string raw = "the URLs of an outbox block have a length that cannot be";
  const std::string payload = "the payload of an outbox block has a length that cannot be";
  const std::string frame = "the header of a zstd frame is not one that is allowed";
  const std::string url_length = "the length of a URL of an outbox block is broken";
  return {
      {"rule_1_checksum", checksum},
      {"rule_1_other_shard", checksum},
      {"rule_1_other_step", checksum},
      {"rule_1_payload_bit", checksum},
      {"rule_1_payload_cut", checksum},
      {"rule_2_header_cut", "the header of an outbox block is cut short"},
      {"rule_2_magic", "the magic number of an outbox block is wrong"},
      {"rule_2_flags", "unknown flags of an outbox block are set"},
      {"rule_2_payload_shorter", length},
      {"rule_2_payload_longer", length},
      {"rule_3_step", "the step of an outbox block is 0"},
      {"rule_3_one_shard", shards},
      {"rule_3_shards", shards},
      {"rule_3_from", from_to},
      {"rule_3_to", from_to},
      {"rule_3_to_itself", from_to},
      {"rule_4_too_many", count},
      {"rule_4_empty_not_last", count},
      {"rule_4_bytes_without_urls", raw},
      {"rule_4_urls_without_bytes", raw},
      {"rule_4_raw_too_short", raw},
      {"rule_4_raw_too_long", raw},
      {"rule_5_payload_too_long", payload},
      {"rule_5_expands_too_much", payload},
      {"rule_6_no_frame", frame},
      {"rule_6_magic", frame},
      {"rule_6_has_checksum", frame},
      {"rule_6_other_size", "a zstd frame states another content size than what it is in"},
      {"rule_6_longer", "a zstd frame does not end where it should"},
      {"rule_7_empty_url", "a URL of an outbox block is empty or too long"},
      {"rule_7_long_url", "a URL of an outbox block is empty or too long"},
      {"rule_7_long_form", url_length},
      {"rule_7_length_cut", url_length},
      {"rule_7_no_more_urls", url_length},
      {"rule_7_no_more_urls_in_frame", url_length},
      {"rule_7_url_cut", "a URL of an outbox block is cut short"},
      {"rule_7_more_bytes", "an outbox block has more bytes than its URLs"},
  };
}

// spec: shards.md#outbox-blocks rule 1
// spec: shards.md#outbox-blocks rule 2
// spec: shards.md#outbox-blocks rule 3
// spec: shards.md#outbox-blocks rule 4
// spec: shards.md#outbox-blocks rule 5
// spec: shards.md#outbox-blocks rule 6
// spec: shards.md#outbox-blocks rule 7
TEST(OutboxBlocks, KeepOrBreakTheRuleOfTheirName) {
  auto texts = texts_of_names();
  for (const auto& [name, block] : sample_outbox_blocks()) {
    const ReadBlock found(block);
    const auto text = texts.extract(name);
    if (text.empty()) {
      EXPECT_EQ(name.find("rule_"), std::string::npos) << name;
      EXPECT_TRUE(found.header && found.urls) << name;
      continue;
    }
    ASSERT_FALSE(found.urls) << name;
    EXPECT_EQ(found.urls.error().text, text.mapped()) << name;
    EXPECT_EQ(found.urls.error().code,
              name.starts_with("rule_1_") ? Errc::kChunkDamaged : Errc::kSegmentInvalid)
        << name;
    EXPECT_LT(found.urls.error().offset, block.size()) << name;
    // A header is refused by itself exactly where the rule is one of headers.
    const bool is_of_header = name[5] >= '2' && name[5] <= '5' && !name.starts_with("rule_2_pay");
    EXPECT_EQ(!found.header, is_of_header) << name;
    if (!found.header) {
      EXPECT_EQ(found.header.error().text, text.mapped()) << name;
    }
  }
  EXPECT_TRUE(texts.empty()) << texts.begin()->first;
}

TEST(OutboxBlocks, HaveNoBitThatCanFlip) {
  for (const Bytes& block : {sample_outbox_block(), outbox_block(sample_outbox_urls())}) {
    for (std::size_t bit = 0; bit < 8 * block.size(); ++bit) {
      Bytes flipped = block;
      flipped[bit / 8] ^= std::byte{1} << bit % 8;
      const ReadBlock found(flipped);
      ASSERT_FALSE(found.urls) << bit;
      ASSERT_EQ(found.urls.error().code, Errc::kChunkDamaged) << bit;
      ASSERT_TRUE(found.raw.empty()) << bit;
    }
  }
}

TEST(OutboxBlocks, CannotBeCut) {
  for (const Bytes& block : {sample_outbox_block(), outbox_block(sample_outbox_urls())}) {
    for (std::size_t length = 0; length < block.size(); ++length) {
      const ReadBlock found{std::span(block).first(length)};
      ASSERT_FALSE(found.urls) << length;
      ASSERT_EQ(found.header.has_value(), length >= 64) << length;
      ASSERT_LE(found.urls.error().offset, length) << length;
      ASSERT_TRUE(found.raw.empty()) << length;
    }
  }
}

}  // namespace
}  // namespace crawlstore::format
