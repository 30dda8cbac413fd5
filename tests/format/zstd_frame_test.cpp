// SPDX-License-Identifier: Apache-2.0
#include "format/zstd_frame.h"

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <zstd.h>

#include "format/format_samples.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

/// URLs of one site, `length` bytes of them.
Bytes urls(std::size_t length, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::string text;
  while (text.size() < length) {
    text += "http://host.test/section" + std::to_string(random() % 20) + "/page" +
            std::to_string(random() % 100'000) + ".html";
  }
  text.resize(length);
  return bytes_of(text);
}

Bytes trained() {
  const Bytes samples = urls(200'000);
  return train_dictionary(samples, std::vector<std::size_t>(200, 1000), 4096);
}

Bytes frame_of(const Bytes& raw, const Bytes& dictionary = {}) {
  Bytes frame;
  EXPECT_TRUE(FrameCompressor(dictionary, 6).compress(raw, frame));
  return frame;
}

/// A frame as zstd makes it with one parameter set otherwise.
Bytes frame_with(const Bytes& raw, ZSTD_cParameter parameter, int value,
                 const Bytes& dictionary = {}) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  EXPECT_FALSE(ZSTD_isError(ZSTD_CCtx_setParameter(context, parameter, value)));
  ZSTD_CCtx_loadDictionary(context, dictionary.data(), dictionary.size());
  Bytes frame(ZSTD_compressBound(raw.size()));
  frame.resize(ZSTD_compress2(context, frame.data(), frame.size(), raw.data(), raw.size()));
  ZSTD_freeCCtx(context);
  return frame;
}

/// "" for what is decompressed to `raw`, else what is wrong.
std::string verdict(const Bytes& frame, const Bytes& raw, const Bytes& dictionary = {}) {
  auto decompressor = FrameDecompressor::make(dictionary);
  if (!decompressor) return decompressor.error().text;
  Bytes found(raw.size());
  if (const char* broken = decompressor->decompress(frame, found)) return broken;
  return found == raw ? "" : "other bytes";
}

constexpr auto kBadHeader = "the header of a zstd frame is not one that is allowed";
constexpr auto kBadSize = "a zstd frame states another content size than what it is in";
constexpr auto kBadEnd = "a zstd frame does not end where it should";

TEST(ZstdFrame, ReturnsWhatWasCompressed) {
  const Bytes raw_dictionary = urls(3000, 2);
  for (const auto& dictionary : {Bytes{}, raw_dictionary, trained()}) {
    for (const std::size_t length : {100u, 255u, 256u, 300u, 65'791u, 65'792u, 400'000u}) {
      const Bytes raw = urls(length, length);
      const Bytes frame = frame_of(raw, dictionary);
      EXPECT_LT(frame.size(), raw.size());
      EXPECT_EQ(verdict(frame, raw, dictionary), "") << length;
    }
  }
}

TEST(ZstdFrame, IsSmallerWithADictionaryOfItsLike) {
  const Bytes raw = urls(3000, 9);
  ASSERT_FALSE(trained().empty());
  EXPECT_EQ(trained(), trained());
  EXPECT_LT(frame_of(raw, trained()).size(), frame_of(raw).size() * 9 / 10);
}

TEST(ZstdFrame, IsNotMadeWhereItWouldBeNoShorter) {
  std::mt19937_64 random(3);
  Bytes noise(1000);
  for (auto& byte : noise) byte = static_cast<std::byte>(random());
  Bytes out = bytes_of("kept");
  FrameCompressor compressor({}, 6);
  EXPECT_FALSE(compressor.compress(noise, out));
  EXPECT_FALSE(compressor.compress({}, out));
  EXPECT_FALSE(compressor.compress(bytes_of("a"), out));
  EXPECT_FALSE(compressor.compress(bytes_of("aaaaaaaaaaaa"), out));
  EXPECT_EQ(out, bytes_of("kept"));
}

TEST(ZstdFrame, IsNotMadeWhereItWouldGrowMoreThan255Times) {
  Bytes out;
  FrameCompressor compressor({}, 6);
  EXPECT_FALSE(compressor.compress(Bytes(1 << 20), out));
  EXPECT_TRUE(out.empty());
  EXPECT_TRUE(compressor.compress(Bytes(3000), out));
}

TEST(ZstdFrame, RefusesWhatTheSubsetLeavesOut) {
  const Bytes raw = urls(5000);
  EXPECT_EQ(verdict(frame_with(raw, ZSTD_c_checksumFlag, 1), raw), kBadHeader);
  EXPECT_EQ(verdict(frame_with(raw, ZSTD_c_contentSizeFlag, 0), raw), kBadHeader);
  EXPECT_EQ(verdict(frame_with(raw, ZSTD_c_dictIDFlag, 1, trained()), raw, trained()), kBadHeader);
  EXPECT_EQ(verdict(frame_with(raw, ZSTD_c_dictIDFlag, 0, trained()), raw, trained()), "");
  Bytes reserved = frame_of(raw);
  reserved[4] |= std::byte{8};
  EXPECT_EQ(verdict(reserved, raw), kBadHeader);
  Bytes skippable{std::byte{0x50}, std::byte{0x2a}, std::byte{0x4d}, std::byte{0x18}};
  skippable.resize(28);
  EXPECT_EQ(verdict(skippable, raw), kBadHeader);
}

TEST(ZstdFrame, RefusesWindowsOfMoreThan8MiB) {
  Bytes raw = urls(100'000);
  for (int i = 0; i < 8; ++i) raw.insert(raw.end(), raw.begin(), raw.end());  // 25.6 MB
  EXPECT_EQ(verdict(frame_with(raw, ZSTD_c_windowLog, 23), raw), kBadSize) << "grows 255 times";
  std::mt19937_64 random(4);
  for (std::size_t i = 0; i < raw.size(); i += 200) raw[i] = static_cast<std::byte>(random());
  EXPECT_EQ(verdict(frame_with(raw, ZSTD_c_windowLog, 23), raw), "");
  EXPECT_EQ(verdict(frame_with(raw, ZSTD_c_windowLog, 24), raw), kBadHeader);
}

TEST(ZstdFrame, RefusesAnotherLengthThanItStates) {
  const Bytes raw = urls(5000);
  const Bytes frame = frame_of(raw);
  Bytes found(raw.size() + 1);
  auto decompressor = FrameDecompressor::make({}).value();
  EXPECT_STREQ(decompressor.decompress(frame, found), kBadSize);
  EXPECT_STREQ(decompressor.decompress(frame, std::span(found).first(raw.size() - 1)), kBadSize);
  EXPECT_STREQ(decompressor.decompress(frame, {}), kBadSize);
}

TEST(ZstdFrame, RefusesBombsBeforeItUnpacksThem) {
  const Bytes raw(1 << 20);
  Bytes bomb = frame_with(raw, ZSTD_c_compressionLevel, 3);
  ASSERT_LT(bomb.size() * 255, raw.size());
  EXPECT_EQ(verdict(bomb, raw), kBadSize);
}

TEST(ZstdFrame, RefusesMoreOrLessThanOneFrame) {
  const Bytes raw = urls(5000);
  Bytes frame = frame_of(raw);
  for (std::size_t length = 0; length < frame.size(); ++length) {
    const Bytes cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_NE(verdict(cut, raw), "") << length;
  }
  Bytes twice = frame;
  twice.insert(twice.end(), frame.begin(), frame.end());
  EXPECT_EQ(verdict(twice, raw), kBadEnd);
  frame.push_back({});
  EXPECT_EQ(verdict(frame, raw), kBadEnd);
}

TEST(ZstdFrame, ReadsNothingRightWithAnotherDictionary) {
  const Bytes raw = urls(5000, 7);
  const Bytes frame = frame_of(raw, trained());
  EXPECT_NE(verdict(frame, raw), "");
  EXPECT_NE(verdict(frame, raw, urls(3000, 2)), "");
}

TEST(ZstdFrame, RefusesADictionaryThatIsBroken) {
  Bytes dictionary = trained();
  EXPECT_TRUE(FrameDecompressor::make(dictionary));
  EXPECT_TRUE(FrameDecompressor::make(bytes_of("x"))) << "content of one byte";
  std::fill(dictionary.begin() + 8, dictionary.begin() + 40, std::byte{0xff});
  EXPECT_EQ(text_of(FrameDecompressor::make(dictionary)), "a dictionary is broken");
}

TEST(ZstdFrame, SurvivesEveryFlippedBit) {
  const Bytes raw = urls(2000);
  const Bytes frame = frame_of(raw, trained());
  auto decompressor = FrameDecompressor::make(trained()).value();
  Bytes found(raw.size());
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < frame.size() * 8; ++bit) {
    Bytes flipped = frame;
    flipped[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
    refused += decompressor.decompress(flipped, found) != nullptr ? 1 : 0;
  }
  EXPECT_GT(refused, 100u);
  EXPECT_EQ(decompressor.decompress(frame, found), nullptr) << "nothing is left of them";
  EXPECT_EQ(found, raw);
}

}  // namespace
}  // namespace crawlstore::format
