// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Outbox blocks, and blocks of which each breaks a rule.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "format/format_samples.h"
#include "format/outbox_block.h"

namespace crawlstore::testing {

inline format::OutboxHeader sample_outbox_header() {
  return {.step = 7, .crawl_key = 0x0123456789abcdef, .shard_count = 3, .from = 2, .to = 1};
}

/// Puts the right checksum into a block; the codec does without the copy.
inline Bytes resealed(Bytes block) {
  Bytes covered(block.begin(), block.begin() + 56);
  covered.insert(covered.end(), block.begin() + 64, block.end());
  format::store(block.data() + 56, format::checksum(covered, 0));
  return block;
}

/// A block that is the last of its message.
inline Bytes outbox_block(const std::vector<std::string>& urls) {
  const std::vector<std::string_view> views(urls.begin(), urls.end());
  format::OutboxHeader header = sample_outbox_header();
  header.is_last = true;
  format::FrameCompressor compressor({}, 3);
  Bytes block;
  format::append_outbox_block(header, views, compressor, block);
  return block;
}

/// A block with `payload` as it is, whether it keeps the rules or not.
inline Bytes outbox_block_of(std::uint32_t url_count, std::uint32_t raw_bytes,
                             const Bytes& payload) {
  Bytes block = with(outbox_block({}), 40, url_count);
  block = with(with(block, 44, raw_bytes), 48, static_cast<std::uint32_t>(payload.size()));
  block.insert(block.end(), payload.begin(), payload.end());
  return resealed(block);
}

/// Three URLs of a block that does not get shorter: 16 bytes of payload.
inline Bytes sample_outbox_block() {
  return outbox_block({"http://a/", "b", std::string("\xff\0\n", 3)});
}

/// URLs that get shorter.
inline std::vector<std::string> sample_outbox_urls() {
  std::vector<std::string> urls;
  for (int i = 0; i < 40; ++i) urls.push_back("http://host.test/page/" + std::to_string(i * i));
  return urls;
}

inline Bytes text_block(std::uint32_t url_count, std::string_view payload) {
  return outbox_block_of(url_count, static_cast<std::uint32_t>(payload.size()), bytes_of(payload));
}

/// A block of one frame with another byte at a place of the frame.
inline Bytes frame_block(std::size_t place, std::uint8_t byte) {
  return resealed(with(outbox_block(sample_outbox_urls()), 64 + place, byte));
}

/// Blocks by name: what begins with "rule_N_" breaks rule N of shards.md#outbox-blocks, all others
/// keep all rules. The library and spec/outbox.py are both held to it.
inline std::map<std::string, Bytes> sample_outbox_blocks() {
  const Bytes three = sample_outbox_block();
  const Bytes frame = outbox_block(sample_outbox_urls());
  const auto sealed_with = [&three](std::size_t offset, std::uint32_t number) {
    return resealed(with(three, offset, number));
  };
  const Bytes longer = [&frame] {
    Bytes bytes = frame;
    bytes.push_back(std::byte{0});
    return resealed(with(bytes, 48, static_cast<std::uint32_t>(bytes.size() - 64)));
  }();
  const auto cut = [](Bytes bytes, std::size_t length) {
    bytes.resize(length);
    return bytes;
  };
  return {
      {"three", three},
      {"frame", frame},
      {"last_and_empty", outbox_block({})},
      {"not_last", sealed_with(52, 0)},
      {"most_shards", resealed(with(sealed_with(24, 4096), 28, 4095u))},
      {"long_url", outbox_block({std::string(300, 'u') + std::string(200, 'r')})},
      {"most_urls", outbox_block(std::vector<std::string>(65'536, "aa"))},
      {"rule_1_checksum", with(three, 56, std::uint8_t{1})},
      {"rule_1_other_shard", with(three, 32, 0u)},
      {"rule_1_other_step", with(three, 8, std::uint64_t{8})},
      {"rule_1_payload_bit", with(three, 70, std::uint8_t{0})},
      {"rule_1_payload_cut", cut(three, 70)},
      {"rule_2_header_cut", cut(three, 63)},
      {"rule_2_magic", sealed_with(0, 0)},
      {"rule_2_flags", sealed_with(52, 3)},
      {"rule_2_payload_shorter", resealed(cut(three, 70))},
      {"rule_2_payload_longer", resealed(cut(three, 90))},
      {"rule_3_step", resealed(with(three, 8, std::uint64_t{0}))},
      {"rule_3_one_shard", resealed(with(with(sealed_with(24, 1), 28, 0u), 32, 0u))},
      {"rule_3_shards", sealed_with(24, 4097)},
      {"rule_3_from", sealed_with(28, 3)},
      {"rule_3_to", sealed_with(32, 3)},
      {"rule_3_to_itself", sealed_with(32, 2)},
      {"rule_4_too_many", outbox_block_of(65'537, 131'074, Bytes(131'074, std::byte{1}))},
      {"rule_4_empty_not_last", resealed(with(outbox_block({}), 52, 0u))},
      {"rule_4_bytes_without_urls", text_block(0, "\1a")},
      {"rule_4_urls_without_bytes", text_block(1, "")},
      {"rule_4_raw_too_short", text_block(2, "\1a\1")},
      {"rule_4_raw_too_long", outbox_block_of(3, 33'554'433, Bytes(131'600, std::byte{7}))},
      {"rule_5_payload_too_long", outbox_block_of(1, 3, bytes_of("\2ab ~"))},
      {"rule_5_expands_too_much", outbox_block_of(9, 256, Bytes(1))},
      {"rule_6_no_frame", outbox_block_of(1, 9, bytes_of("\2ab"))},
      {"rule_6_magic", frame_block(0, 0)},
      {"rule_6_has_checksum", frame_block(4, 0x64)},
      {"rule_6_other_size",
       resealed(with(frame, 44, format::load<std::uint32_t>(frame.data() + 44) + 1))},
      {"rule_6_longer", longer},
      {"rule_7_empty_url", text_block(3, std::string_view("\2ab\1b\0", 6))},
      {"rule_7_long_form", text_block(1, std::string_view("\x81\0a", 3))},
      {"rule_7_length_cut", text_block(1, "\x81\x81")},
      {"rule_7_long_url", text_block(1, "\x81\x80\x80\x08u")},
      {"rule_7_url_cut", text_block(2, "\1a\2b")},
      {"rule_7_no_more_urls", text_block(2, "\3abc")},
      {"rule_7_no_more_urls_in_frame", resealed(with(frame, 40, 41u))},
      {"rule_7_more_bytes", text_block(1, "\1a\1b")},
  };
}

}  // namespace crawlstore::testing
