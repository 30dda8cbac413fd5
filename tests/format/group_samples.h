// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Small group runs, and what breaks each of their rules.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "format/endian.h"
#include "format/format_samples.h"
#include "format/group_run.h"

namespace crawlstore::testing {

/// A run of these keys.
inline Bytes group_run(std::uint32_t first_group, const std::vector<std::string>& keys) {
  std::vector<std::uint16_t> lengths;
  std::string all;
  for (const auto& key : keys) {
    lengths.push_back(static_cast<std::uint16_t>(key.size()));
    all += key;
  }
  Bytes payload;
  format::encode_group_run({first_group, lengths, std::as_bytes(std::span(all.data(), all.size()))},
                           payload);
  return payload;
}

/// Keys that fill a block of 64 KiB and some of another, and can be compressed.
inline std::vector<std::string> sample_hosts() {
  std::vector<std::string> keys;
  for (int i = 0; i < 4'000; ++i) keys.push_back("host" + std::to_string(i * 7) + ".example.org");
  return keys;
}

/// Header 40 bytes, lengths at 40, keys at 48: 56 bytes.
inline Bytes sample_group_run() {
  return group_run(9, {"a.b", "", "cd"});
}

template <class Change>
Bytes with_group_header(Bytes payload, Change change) {
  auto header = format::load_struct<format::GroupRunHeader>(payload.data());
  change(header);
  format::store_struct(payload.data(), header);
  return payload;
}

/// A run with codec 1 of one key of `key_bytes` bytes, in one block that is `block`.
inline Bytes group_run_of_block(std::uint16_t key_bytes, const Bytes& block) {
  Bytes payload =
      bytes_of_struct(format::GroupRunHeader{format::kGroupRunMagic, 0, 1, key_bytes, 1, 0, 0, 1});
  payload.resize(56);
  format::store(payload.data() + 40, key_bytes);
  format::store(payload.data() + 48, static_cast<std::uint32_t>(block.size()));
  payload.insert(payload.end(), block.begin(), block.end());
  payload.resize(format::round_up(payload.size(), 8));
  return payload;
}

/// Payloads by name: what begins with "rule_N_" breaks rule N of frontier.md#group-runs, all others
/// keep all rules. The library and spec/frontier_steps.py are both held to it.
inline std::map<std::string, Bytes> sample_group_payloads() {
  using Header = format::GroupRunHeader;
  const Bytes sample = sample_group_run();
  const auto with_header = [&](auto change) { return with_group_header(sample, change); };
  Bytes longer = sample;
  longer.resize(longer.size() + 8);
  const Bytes stored = group_run_of_block(3, bytes_of("abc"));
  return {
      {"sample", sample},
      {"one_empty", group_run(0xFFFF'FFFE, {""})},
      {"hosts", group_run(0, sample_hosts())},
      {"stored_block", stored},
      // One literal, then a match of 19 bytes, then five literals.
      {"lz4_block", group_run_of_block(25, bytes_of(std::string("\x1f"
                                                                "a\x01\0\0\x50"
                                                                "bcdef",
                                                                11)))},
      {"rule_1_empty", {}},
      {"rule_1_length", Bytes(sample.begin(), sample.end() - 4)},
      {"rule_1_cut", Bytes(sample.begin(), sample.end() - 8)},
      {"rule_1_cut_lengths", Bytes(sample.begin(), sample.begin() + 40)},
      {"rule_1_long", longer},
      {"rule_2_magic", with_header([](Header& h) { ++h.magic; })},
      {"rule_2_reserved_1", with_header([](Header& h) { h.reserved_1 = 1; })},
      {"rule_2_reserved_2", with_header([](Header& h) { h.reserved_2 = 1; })},
      {"rule_2_padding_lengths", with(sample, 47, std::uint8_t{1})},
      {"rule_2_padding_keys", with(sample, 55, std::uint8_t{1})},
      {"rule_3_none", with_header([](Header& h) { h.group_count = 0; })},
      {"rule_3_first", with_header([](Header& h) { h.first_group = ~0U; })},
      {"rule_3_last", with_header([](Header& h) { h.first_group = ~0U - 2; })},
      {"rule_4_key_bytes", with_header([](Header& h) { ++h.key_bytes; })},
      {"rule_4_lengths", with(sample, 40, std::uint16_t{4})},
      {"rule_4_codec", with_header([](Header& h) { h.codec = 2; })},
      {"rule_4_blocks", with_header([](Header& h) { h.block_count = 1; })},
      {"rule_4_no_blocks", with_group_header(stored, [](Header& h) { h.block_count = 0; })},
      {"rule_4_no_keys", with_group_header(group_run(0, {""}), [](Header& h) { h.codec = 1; })},
      {"rule_4_block_long", group_run_of_block(3, bytes_of("abcd"))},
      {"rule_4_block_short", group_run_of_block(3, {})},
      {"rule_4_block", group_run_of_block(4, bytes_of("abc"))},
  };
}

/// Reads all keys of a payload, and verifies it.
inline Result<std::vector<std::string>> check_group_run(std::span<const std::byte> payload) {
  CRAWLSTORE_TRY(const auto run, format::parse_group_run(payload));
  CRAWLSTORE_TRY(format::check_group_blocks(run));
  std::vector<std::string> keys;
  format::AuxReader reader = format::keys_of(run);
  for (const std::uint16_t length : run.lengths) {
    CRAWLSTORE_TRY(const auto key, reader.next(length));
    std::string text;
    for (const std::byte byte : key) text += static_cast<char>(byte);
    keys.push_back(std::move(text));
    reader.forget();
  }
  return keys;
}

}  // namespace crawlstore::testing
