// SPDX-License-Identifier: Apache-2.0
// The seeds of the fuzz targets of format/. With CRAWLSTORE_WRITE_SEEDS=1 in the environment this
// writes them; otherwise it says which are missing. fuzz/seeds.py tells how a corpus is written.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "format/crawl_event_samples.h"
#include "format/dense_samples.h"
#include "format/drum_table.h"
#include "format/event_run.h"
#include "format/format_samples.h"
#include "format/frontier_table.h"
#include "format/group_samples.h"
#include "format/item_samples.h"
#include "format/key_block.h"
#include "format/link_samples.h"
#include "format/origin_samples.h"
#include "format/outbox_samples.h"
#include "format/pages_table.h"
#include "format/partition_index.h"
#include "format/queue_samples.h"
#include "format/queue_table.h"
#include "format/record_tile.h"
#include "format/request_run.h"
#include "format/root_extent.h"
#include "format/score_samples.h"
#include "format/short_numbers.h"
#include "format/step_samples.h"
#include "format/tile_node.h"
#include "format/value_samples.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;
using Seeds = std::map<std::string, Bytes>;

/// `bytes` behind the selector byte.
Bytes chosen(int selector, const Bytes& bytes) {
  Bytes result{static_cast<std::byte>(selector)};
  result.insert(result.end(), bytes.begin(), bytes.end());
  return result;
}

/// A FlatBuffer whose root table has another size.
Bytes with_table_bytes(const Bytes& bytes, std::uint16_t table_bytes) {
  const auto table = std::int64_t{load<std::uint32_t>(bytes.data())};
  const auto vtable = table - load<std::int32_t>(bytes.data() + table);
  return with(bytes, static_cast<std::size_t>(vtable) + 2, table_bytes);
}

void add_pages(Seeds& seeds) {
  const Bytes identity = bytes_of_struct(sample_identity());
  seeds["fuzz_superblock/identity"] = chosen(4, identity);
  seeds["fuzz_superblock/identity_newer"] = chosen(4, with(identity, 12, kFormatVersion + 1));
  seeds["fuzz_superblock/identity_magic_only"] =
      chosen(4, {identity.begin(), identity.begin() + 8});
  for (std::uint32_t place = 0; place < 4; ++place) {
    Superblock superblock = sample_superblock();
    superblock.generation = 2 + place / 2;
    superblock.root_payload_bytes = 80;
    seeds["fuzz_superblock/slot_" + std::to_string(place / 2) + "_copy_" +
          std::to_string(place % 2)] =
        chosen(static_cast<int>(place),
               bytes_of_struct(seal_superblock(superblock, sample_uuid(), place / 2, place % 2)));
  }
  Superblock superblock = sample_superblock();
  superblock.features_incompat = 1ull << 40;
  seeds["fuzz_superblock/unknown_feature"] = chosen(2, bytes_of_struct(sealed(superblock)));
  superblock = sample_superblock();
  Bytes root = seal_root(Bytes(80), sample_identity(), superblock);
  root.resize(root.size() + 8);
  store(root.data() + root.size() - 8, kDataStart + kUnitBytes);
  seeds["fuzz_root_end/sealed"] = {root.end() - 8 - sizeof(RootEnd), root.end()};
  seeds["fuzz_superblock/empty"] = chosen(0, Bytes(16));
}

RunRef run(std::uint64_t id) {
  return {kDataStart + id * 65'536, {1 + id % 10}, {id}, 100 * id, id, id * 77};
}

void add_directory(Seeds& seeds) {
  DirectoryRoot root;
  root.generation = {1};
  seeds["fuzz_directory/root_empty"] = chosen(0, encode_root(root));
  root.generation = {10};
  root.next_segment_id = 100;
  root.tables = {{kDataStart + 4096, {3}, 111, {1}, 800, 5},
                 {kDataStart + 8192, {10}, 222, {6}, 5000, 94}};
  root.held = {{{kDataStart + 65'536, 8192}, {2}, {9}}};
  root.held_tables = {{kDataStart + 32'768, {9}, 333, 1000, 30}};
  seeds["fuzz_directory/root"] = chosen(0, encode_root(root));
  seeds["fuzz_directory/root_table_short"] = chosen(0, with_table_bytes(encode_root(root), 3));
  const std::vector<SegmentEntry> segments{
      {{4}, SegmentKind::kDrum, StorageClass::kBlob, {0}, "urls", {run(1)}},
      {{5}, SegmentKind::kDrumPartition, StorageClass::kBlob, {4}, "", {run(2)}},
      {{6}, SegmentKind::kDrumKeyLog, StorageClass::kLog, {4}, "", {run(20), run(22)}},
      {{7}, SegmentKind::kDrumAuxLog, StorageClass::kLog, {4}, "", {run(21)}},
      {{9}, SegmentKind::kDrumResults, StorageClass::kLog, {4}, "", {}}};
  seeds["fuzz_directory/table"] = chosen(1, encode_table(segments));
  seeds["fuzz_directory/table_empty"] = chosen(1, encode_table({}));
  const std::vector<HeldExtent> held{{{kDataStart, 4096}, {1}, {2}},
                                     {{kDataStart + 8192, 4096}, {3}, {10}}};
  seeds["fuzz_directory/held_table"] = chosen(2, encode_held_table(held));
}

void add_blocks(Seeds& seeds) {
  std::mt19937_64 random(11);
  for (const unsigned width : {1u, 7u, 20u, 38u, 60u, 64u}) {
    std::set<std::uint64_t> numbers;
    for (int i = 0; i < 60; ++i) numbers.insert(random() >> (64 - width));
    const std::vector<std::uint64_t> keys(numbers.begin(), numbers.end());
    Bytes block;
    encode_key_block(keys, 0, {}, {}, block);
    seeds["fuzz_key_block/width_" + std::to_string(width)] = chosen(0, block);
    Bytes numbers_only;
    for (const std::uint64_t key : keys) {
      numbers_only.resize(numbers_only.size() + 8);
      store(numbers_only.data() + numbers_only.size() - 8, key);
    }
    seeds["fuzz_key_block/keys_" + std::to_string(width)] = chosen(4, numbers_only);
  }
  const std::vector<std::uint64_t> keys{3, 4, 900};
  Bytes block;
  encode_key_block(keys, 3, bytes_of("abcdefghi"), {}, block);
  seeds["fuzz_key_block/values_fixed"] = chosen(1, block);
  block.clear();
  encode_key_block(keys, -1, bytes_of("abcd"), std::vector<std::uint32_t>{1, 0, 3}, block);
  seeds["fuzz_key_block/values_variable"] = chosen(3, block);
  const std::vector<std::uint64_t> tails{9, 10, 0};
  block.clear();
  encode_wide_key_block(keys, tails, {3, bytes_of("abcdefghi"), {}}, block);
  seeds["fuzz_wide_key_block/heads"] = chosen(1, block);
  block.clear();
  encode_wide_key_block(std::vector<std::uint64_t>{5, 5, 5}, keys, {}, block);
  seeds["fuzz_wide_key_block/shares_head"] = chosen(0, block);
  seeds["fuzz_wide_key_block/keys"] = chosen(4, block);
  Bytes partition;
  encode_key_block(keys, 0, {}, {}, partition);
  encode_partition_tail({{3}, {0}}, 3, 900, 0, partition.size(), partition);
  seeds["fuzz_key_block/partition"] = chosen(8, partition);
  Bytes wide;
  encode_wide_key_block(keys, tails, {}, wide);
  encode_partition_tail({{3}, {0}, {9}}, 3, 900, 0, wide.size(), wide);
  seeds["fuzz_key_block/wide_partition"] = chosen(8, wide);
}

void add_runs(Seeds& seeds) {
  const std::vector<std::uint64_t> keys{7, 8};
  const std::vector<std::uint64_t> long_sequences{70, 4};
  const std::vector<std::uint16_t> tags{0, 5};
  const std::vector<std::uint32_t> sequences{0, 4};
  const std::vector<std::uint32_t> lengths{0, 3};
  const std::vector<std::uint8_t> verdicts{1, 0};
  const Bytes abc = bytes_of("abc");
  const Bytes eight = pattern(16);
  KeyRun plain;
  plain.keys = keys;
  plain.uniform_tag = 2;
  KeyRun full{9, -1, 0, keys, tags, sequences, lengths, abc};
  KeyRun fixed{9, 8, 1, keys, {}, {}, {}, eight};
  AuxRun uniform{2, 8, {}, eight};
  AuxRun each{2, 0, lengths, abc};
  const Bytes zeros(70'000);
  AuxRun blocks{1000, 70, {}, zeros};
  ResultRun results{-1, keys, long_sequences, tags, verdicts, lengths, lengths, abc, abc};
  encode_key_run(plain, seeds["fuzz_request_run/key_plain"] = chosen(0, {}));
  plain.tails = long_sequences;
  encode_key_run(plain, seeds["fuzz_request_run/key_wide"] = chosen(0, {}));
  encode_key_run(full, seeds["fuzz_request_run/key_full"] = chosen(3, {}));
  encode_key_run(fixed, seeds["fuzz_request_run/key_fixed"] = chosen(0, {}));
  encode_aux_run(uniform, seeds["fuzz_request_run/aux_uniform"] = chosen(1, {}));
  encode_aux_run(each, seeds["fuzz_request_run/aux_each"] = chosen(1, {}));
  encode_aux_run(blocks, seeds["fuzz_aux_blocks/zeros"] = chosen(1, {}));
  const std::vector<std::uint32_t> half{40'000, 5'000};
  AuxRun blocks_each{2, 0, half, std::span(zeros).first(45'000)};
  encode_aux_run(blocks_each, seeds["fuzz_aux_blocks/each_length"] = chosen(60, {}));
  Bytes words;
  for (std::size_t i = 0; words.size() < 5'000; ++i) {
    const Bytes word = bytes_of("http://host/" + std::to_string(i * i % 97) + '/');
    words.insert(words.end(), word.begin(), word.end());
  }
  words.resize(5'000);
  AuxRun urls{100, 50, {}, words};
  encode_aux_run(urls, seeds["fuzz_aux_blocks/urls"] = chosen(7, {}));
  encode_aux_run(each, seeds["fuzz_aux_blocks/raw"] = chosen(0, {}));
  encode_result_run(results, seeds["fuzz_request_run/results"] = chosen(2, {}));
  results.tails = keys;
  encode_result_run(results, seeds["fuzz_request_run/results_wide"] = chosen(2, {}));
}

void add_drums(Seeds& seeds) {
  DrumTable table;
  table.buckets = {{0, {0}, {0}, {0}, 0, 0}};
  table.consumers = {{0, "", {0}, 0}};
  seeds["fuzz_drum_table/empty"] = encode_drum_table(table);
  table.key_scheme = KeyScheme::kUrl;
  table.value_bytes = -1;
  table.next_sequence = 1000;
  table.buckets = {{0, {10}, {0}, {0}, 500, 0}, {1ull << 63, {13}, {14}, {15}, 7, 9}};
  table.consumers = {{0, "", {0}, 0}, {5, "fetcher", {16}, 100}};
  seeds["fuzz_drum_table/full"] = encode_drum_table(table);
  seeds["fuzz_drum_table/table_long"] = with_table_bytes(encode_drum_table(table), 0xFFFF);
  table.key_bytes = 16;
  table.merge_bytes = 1 << 20;
  table.merge_requests = 70'000;
  table.partition_keys_max = 1 << 26;
  seeds["fuzz_drum_table/wide"] = encode_drum_table(table);
  PagesTable pages;
  pages.keys = {2};
  seeds["fuzz_pages_table/empty"] = encode_pages_table(pages);
  pages.keys = {};
  pages.has_urls = false;
  seeds["fuzz_pages_table/indexes"] = encode_pages_table(pages);
  seeds["fuzz_pages_table/full"] = encode_pages_table(
      {true, 100, 40, 0, 250, 3, 7, 1, 2, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {}, "", false, {}});
  seeds["fuzz_pages_table/fresh_keys"] =
      encode_pages_table({true, 100, 40,  0,   250, 3,   7,   1,     2,     {2},
                          {3},  {4}, {5}, {6}, {7}, {8}, {9}, "raw", false, {}});
  seeds["fuzz_pages_table/contents"] = encode_pages_table(
      {true, 9, 4, 0, 0, 0, 7, 1, 2, {2}, {3}, {4}, {}, {}, {}, {}, {}, "", true, {10}});
}

void add_events(Seeds& seeds) {
  std::mt19937_64 random(12);
  const Bytes all = message_of(sample_events());
  seeds["fuzz_crawl_events/message"] = chosen(0, all);
  seeds["fuzz_crawl_events/message_empty"] = chosen(0, message_of({}));
  seeds["fuzz_crawl_events/message_random"] = chosen(0, message_of(random_events(random, 4)));
  Bytes run;
  encode_event_run(sample_events().size(), all, run);
  seeds["fuzz_crawl_events/run"] = chosen(1, run);
  Bytes stream = all;
  for (int i = 0; i < 3; ++i) {
    const Bytes more = message_of(random_events(random, 1));
    stream.insert(stream.end(), more.begin(), more.end());
  }
  seeds["fuzz_crawl_events/stream"] = chosen(2, stream);
}

void add_origins(Seeds& seeds) {
  const Bytes dictionary = bytes_of("http://site1.test/section/page.html");
  seeds["fuzz_origin_run/one"] = origin_run({{"http://h.test/", {}, 0}}, 0);
  seeds["fuzz_origin_run/raw"] = origin_run(site_pages(70, 3), 3, {}, OriginCodec::kRaw);
  seeds["fuzz_origin_run/zstd"] = origin_run(site_pages(70, 3), 3);
  seeds["fuzz_origin_run/dictionary"] = origin_run(site_pages(30, 9), 9, dictionary);
  seeds["fuzz_origin_run/odd"] = origin_run(odd_pages(9, 1ull << 50, 60, 4), 1ull << 50);
  seeds["fuzz_origin_run/empty_urls"] = origin_run(Pages(65), 0);
}

void add_links(Seeds& seeds) {
  Random random(3);
  const Rows dense = random_rows(random, 20, 0, 20);
  const Rows sparse = random_rows(random, 20, 1'000, 900'000);
  const Rows plain{{7, {7, kPageMax}}, {kPageMax, {0}}};
  seeds["fuzz_link_block/dense"] = chosen(0, link_block(dense));
  seeds["fuzz_link_block/sparse"] = chosen(0, link_block(sparse));
  seeds["fuzz_link_block/plain"] = chosen(0, link_block(plain));
  seeds["fuzz_link_block/empty_rows"] = chosen(0, link_block({{1, {}}, {2, {}}, {9, {}}}));
  const std::vector<std::uint32_t> numbers{0, 1, 255, 256, 65'535, 65'536, ~0U};
  Bytes parts(1 + selector_bytes(numbers.size()) + numbers.size() * 4);
  parts[0] = static_cast<std::byte>(numbers.size());
  const auto selectors = std::span(parts).subspan(1, selector_bytes(numbers.size()));
  parts.resize(
      1 + selectors.size() +
      encode_short_numbers(numbers, selectors, std::span(parts).subspan(1 + selectors.size())));
  seeds["fuzz_short_numbers/each_length"] = parts;
  seeds["fuzz_link_block/rows"] = chosen(1, pattern(300));
  seeds["fuzz_link_run/one_block"] = link_run({dense});
  seeds["fuzz_link_run/blocks"] = link_run({{{1, {2, 3}}, {2, {}}}, {{9, {1}}}, {{12, {12}}}});
  seeds["fuzz_link_run/plain"] = link_run({plain});
}

void add_dense_links(Seeds& seeds) {
  const Rows rows{{1000, {1, 2, 3, 90}}, {1001, {1, 2, 3, 90}}, {1004, {2, 3, 1004, 1005}}};
  const DenseSample sample = dense_block(rows, 1000);
  Bytes block;
  encode_dense_model(sample.model, block);
  block.push_back(static_cast<std::byte>(sample.page_count));
  block.insert(block.end(), sample.bytes.begin(), sample.bytes.end());
  seeds["fuzz_dense_block/own_model"] = chosen(0, block);
  seeds["fuzz_dense_block/rough_model"] = chosen(1, pattern(60));
  seeds["fuzz_link_run/dense"] = dense_run(rows);
}

/// A node of `count` children with a record each, behind its record count.
Bytes node_seed(std::uint16_t level, std::uint64_t count) {
  TileNode node{level, {}};
  for (std::uint64_t i = 1; i <= count; ++i) {
    node.children.push_back({kDataStart + i * kUnitBytes, {1 + i % 10}, {i}, 72, 1, i * 77});
  }
  Bytes bytes(8);
  store(bytes.data(), node.record_count());
  encode_tile_node(node, bytes);
  return bytes;
}

Bytes record_seed(std::span<const PageRecord> records) {
  Bytes bytes{std::byte{200}, std::byte{0}, std::byte{1}};
  encode_record_tile(records, bytes);
  return bytes;
}

void add_tiles(Seeds& seeds) {
  seeds["fuzz_tile_node/leaf"] = node_seed(0, 2);
  seeds["fuzz_tile_node/inner"] = node_seed(3, 5);
  seeds["fuzz_tile_node/full"] = node_seed(4, 64);
  std::vector<PageRecord> records(3);
  seeds["fuzz_record_tile/known"] = record_seed(records);
  records[1].state = PageState::kCrawled;
  records[1].crawl_count = 3;
  records[1].change_count = 1;
  records[1].first_crawl_us = kSampleTimeUs;
  records[1].last_crawl_us = kSampleTimeUs + 1'000'000'000;
  records[1].score = 0.75F;
  records[1].hash_bytes = 16;
  records[1].hash[3] = std::byte{7};
  records[2] = records[1];
  records[2].state = PageState::kFailed;
  records[2].failures = 2;
  records[2].status = 503;
  records[2].crawl_count = 1;
  records[2].change_count = 0;
  records[2].first_crawl_us += 40;
  seeds["fuzz_record_tile/crawled"] = record_seed(records);
  records[0].state = PageState::kGone;
  records[0].score = -1e30F;
  records.resize(40, records[1]);
  seeds["fuzz_record_tile/many"] = record_seed(records);
}

void add_scores(Seeds& seeds) {
  for (const auto& [name, payload] : sample_score_payloads()) {
    seeds["fuzz_score_array/" + name] = payload;
  }
}

void add_small_values(Seeds& seeds) {
  for (const auto& [name, payload] : sample_value_payloads()) {
    seeds["fuzz_small_values/" + name] = payload;
  }
}

void add_outbox_blocks(Seeds& seeds) {
  for (const auto& [name, block] : sample_outbox_blocks()) {
    seeds["fuzz_outbox_block/" + name] = block;
  }
}

void add_items(Seeds& seeds) {
  for (const auto& [name, payload] : sample_item_payloads()) {
    seeds["fuzz_item_run/" + name] = payload;
  }
}

void add_queue(Seeds& seeds) {
  seeds["fuzz_queue_table/empty"] = encode_queue_table({});
  seeds["fuzz_queue_table/runs"] =
      encode_queue_table({{9}, 70, 60, {{{3}, {}}, {{8}, {queue_order(0.5), 12}}}, {{4}, {9}}});
  for (const auto& [name, payload] : sample_queue_payloads()) {
    seeds["fuzz_queue_run/" + name] = payload;
  }
}

void add_frontier_tables(Seeds& seeds) {
  FrontierTable table;
  seeds["fuzz_frontier_table/empty"] = encode_frontier_table(table);
  table.has_own_ids = true;
  table.groups = {5};
  table.items = {6};
  table.steps = {7};
  table.group_count = 40;
  table.waiting_count = 900;
  table.step_count = 70;
  table.default_rule = {4000, 1000, 3, 2, 5, 4};
  table.runs = {{{3}, 1, 0}, {{8}, 20, 70}};
  table.pieces = {{14}, {12}};
  seeds["fuzz_frontier_table/full"] = encode_frontier_table(table);
  table.has_own_ids = false;
  table.runs.clear();
  table.items = {};
  seeds["fuzz_frontier_table/steps"] = encode_frontier_table(table);
}

void add_frontier_steps(Seeds& seeds) {
  constexpr std::size_t kSeedBytesMax = 4096;
  for (const auto& [name, payload] : sample_group_payloads()) {
    seeds["fuzz_group_run/" + name] = payload;
  }
  for (const auto& [name, payload] : sample_step_payloads()) {
    if (payload.size() <= kSeedBytesMax) seeds["fuzz_step_run/" + name] = payload;
  }
}

/// The inputs of a target: name -> bytes in hex.
using Corpus = std::map<std::string, std::string>;

std::string corpus_path(const std::string& target) {
  return std::string(CRAWLSTORE_SOURCE_DIR) + "/fuzz/corpus/" + target + ".txt";
}

Corpus read_corpus(const std::string& target) {
  Corpus corpus;
  std::ifstream file(corpus_path(target));
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    words >> corpus[name];
  }
  return corpus;
}

void write_corpora(const std::map<std::string, Corpus>& corpora) {
  for (const auto& [target, corpus] : corpora) {
    std::ofstream file(corpus_path(target), std::ios::binary);
    for (const auto& [name, hex] : corpus) file << name << (hex.empty() ? "" : " ") << hex << '\n';
  }
}

std::string hex_of(const Bytes& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<std::size_t>(byte) / 16];
    text += kDigits[std::to_integer<std::size_t>(byte) % 16];
  }
  return text;
}

TEST(FuzzSeeds, AreInTheCorpus) {
  Seeds seeds;
  add_pages(seeds);
  add_directory(seeds);
  add_blocks(seeds);
  add_runs(seeds);
  add_drums(seeds);
  add_events(seeds);
  add_origins(seeds);
  add_links(seeds);
  add_dense_links(seeds);
  add_tiles(seeds);
  add_scores(seeds);
  add_small_values(seeds);
  add_queue(seeds);
  add_frontier_tables(seeds);
  add_frontier_steps(seeds);
  add_items(seeds);
  add_outbox_blocks(seeds);
  std::map<std::string, Corpus> corpora;
  for (const auto& [name, bytes] : seeds) {
    const std::string target = name.substr(0, name.find('/'));
    const std::string seed = name.substr(target.size() + 1);
    Corpus& corpus = corpora.try_emplace(target, read_corpus(target)).first->second;
    if (std::getenv("CRAWLSTORE_WRITE_SEEDS") != nullptr) corpus[seed] = hex_of(bytes);
    EXPECT_TRUE(corpus.contains(seed)) << name;
  }
  if (std::getenv("CRAWLSTORE_WRITE_SEEDS") != nullptr) write_corpora(corpora);
}

}  // namespace
}  // namespace crawlstore::format
