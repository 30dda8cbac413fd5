// SPDX-License-Identifier: Apache-2.0
// The test vectors and the hex dump of spec/vectors.md, computed again.
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <xxhash.h>

#include "format/crawl_event_samples.h"
#include "format/dense_block.h"
#include "format/event_run.h"
#include "format/format_samples.h"
#include "format/key_block.h"
#include "format/link_samples.h"
#include "format/origin_index.h"
#include "format/partition_index.h"
#include "format/queue_run.h"
#include "format/record_tile.h"
#include "format/request_run.h"
#include "format/run_end.h"
#include "format/short_numbers.h"
#include "format/spec_text.h"
#include "format/tile_node.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;
using Vectors = std::map<std::string, std::string>;

constexpr auto kChunkDomain = ChecksumDomain::kChunk;
const RunName kRun{sample_uuid(), {5}, {9}};

/// The end of the run, a partition with 3 keys, of the drum 4.
RunEnd end_of(std::uint64_t payload_bytes) {
  return run_end({kRun.segment, SegmentKind::kDrumPartition, {4}, kRun.run}, payload_bytes, 3);
}

ChecksumTreeBuilder::Tail tail_of(std::span<const std::byte> payload) {
  ChecksumTreeBuilder builder(kRun);
  for (std::size_t start = 0; start < payload.size(); start += kChunkBytes) {
    builder.add_chunk(
        payload.subspan(start, std::min<std::size_t>(kChunkBytes, payload.size() - start)));
  }
  return builder.finish(end_of(payload.size()));
}

/// A payload of `count` chunks of zeros.
ChecksumTreeBuilder::Tail tail_of_zeros(std::size_t count) {
  const Bytes chunk(kChunkBytes);
  ChecksumTreeBuilder builder(kRun);
  for (std::size_t i = 0; i < count; ++i) builder.add_chunk(chunk);
  return builder.finish(end_of(count * kChunkBytes));
}

/// The halves of XXH3-128 of Pattern(n) for lengths of all its branches.
void add_wide_hashes(std::map<std::string, std::uint64_t>& values) {
  for (const std::size_t length : {3U, 8U, 10U, 100U, 200U, 300U}) {
    const auto bytes = pattern(length);
    const auto hash = XXH3_128bits_withSeed(bytes.data(), bytes.size(), 1);
    const std::string name = "XXH3-128 of Pattern(" + std::to_string(length) + "), seed 1: ";
    values[name + "high half"] = hash.high64;
    values[name + "low half"] = hash.low64;
  }
}

Vectors seeds() {
  const Uuid uuid = sample_uuid();
  const auto chunk = checksum_seed(uuid, kChunkDomain, 5, 9, 0);
  const auto tail = tail_of(pattern(200'000));
  const auto entry = [&](std::size_t i) { return load<std::uint64_t>(tail.bytes.data() + i * 8); };
  std::map<std::string, std::uint64_t> values{
      {"seed of the identity page", checksum_seed({}, ChecksumDomain::kIdentity, 0, 0, 0)},
      {"seed of slot 1, copy 0", checksum_seed(uuid, ChecksumDomain::kSuperblock, 1, 0, 0)},
      {"seed of the root of generation 1 at 81,920",
       extent_seed(uuid, ChecksumDomain::kRoot, {1}, 81'920)},
      {"seed of a table born in 2 at 86,016",
       extent_seed(uuid, ChecksumDomain::kTable, {2}, 86'016)},
      {"seed of a held table born in 2 at 86,016",
       extent_seed(uuid, ChecksumDomain::kHeldTable, {2}, 86'016)},
      {"seed of segment 5, run 9, level 0, piece number 0", chunk},
      {"seed of segment 5, run 9, level 2, piece number 3", chunk_seed(kRun, 2, 3)},
      {"checksum of no bytes, seed 0", checksum({}, 0)},
      {"checksum of Pattern(1), seed 0", checksum(pattern(1), 0)},
      {"checksum of Pattern(8), seed 0", checksum(pattern(8), 0)},
      {"checksum of Pattern(16), seed 0", checksum(pattern(16), 0)},
      {"checksum of Pattern(16), seed 1", checksum(pattern(16), 1)},
      {"checksum of Pattern(100), seed 0", checksum(pattern(100), 0)},
      {"checksum of Pattern(200), seed 1", checksum(pattern(200), 1)},
      {"checksum of Pattern(4096), seed 0x0123456789abcdef",
       checksum(pattern(4096), 0x0123456789abcdef)},
      {"payload Pattern(200000) in run 9 of segment 5: entry 0 of level 0", entry(0)},
      {"payload Pattern(200000) in run 9 of segment 5: entry 3 of level 0", entry(3)},
      {"payload Pattern(200000) in run 9 of segment 5: checksum in the directory", tail.checksum},
      {"payload of 8,193 * 65,536 zeros in run 9 of segment 5: checksum in the directory",
       tail_of_zeros(8193).checksum}};
  add_wide_hashes(values);
  Vectors result;
  for (const auto& [name, value] : values) result[name] = hex_of(value);
  return result;
}

std::string block(const std::vector<std::uint64_t>& keys, std::int32_t value_bytes = 0,
                  std::string_view values = {}, const std::vector<std::uint32_t>& lengths = {}) {
  Bytes out;
  encode_key_block(keys, value_bytes, bytes_of(values), lengths, out);
  return hex_of(out);
}

std::string wide_block(const std::vector<std::uint64_t>& heads,
                       const std::vector<std::uint64_t>& tails) {
  Bytes out;
  encode_wide_key_block(heads, tails, {}, out);
  return hex_of(out);
}

Vectors blocks() {
  return {
      {"5 (0)", block({5})},
      {"0, 18446744073709551615 (0)", block({0, ~std::uint64_t{0}})},
      {"10, 20, 30, 1000, 1001 (0)", block({10, 20, 30, 1000, 1001})},
      {"0, 2^40, 2^41, 3 * 2^40, 2^42 + 5 (0)",
       block({0, 1ull << 40, 1ull << 41, 3ull << 40, (1ull << 42) + 5})},
      {"7 with \"ab\", 9 with \"cd\" (2)", block({7, 9}, 2, "abcd")},
      {"7 with \"a\", 9 with \"\", 12 with \"bcd\" (-1)", block({7, 9, 12}, -1, "abcd", {1, 0, 3})},
      {"of 16 bytes: 3 and 9, 3 and 10, 8 and 1 (0)", wide_block({3, 3, 8}, {9, 10, 1})},
      {"of 16 bytes: 3 and 9, 3 and 10, 3 and 31 (0)", wide_block({3, 3, 3}, {9, 10, 31})},
      {"of 16 bytes: 3 and 9 (0)", wide_block({3}, {9})}};
}

std::string short_numbers(const std::vector<std::uint32_t>& numbers) {
  Bytes selectors(selector_bytes(numbers.size()));
  Bytes data(numbers.size() * 4);
  data.resize(encode_short_numbers(numbers, selectors, data));
  return hex_of(selectors) + " and " + hex_of(data);
}

Vectors link_parts() {
  return {{"short numbers 0, 1, 255, 256, 65535, 65536, 4294967295",
           short_numbers({0, 1, 255, 256, 65'535, 65'536, 0xffffffff})},
          {"block: 5 to 3, 6, 1000; 6 to none; 7 to 7",
           hex_of(link_block({{5, {3, 6, 1000}}, {6, {}}, {7, {7}}}))},
          {"block: 5 to 4; 300 to 5, 6", hex_of(link_block({{5, {4}}, {300, {5, 6}}}))},
          {"block: 5 to 2, 2^40 - 1; 8 to 9", hex_of(link_block({{5, {2, kPageMax}}, {8, {9}}}))}};
}

/// By the model of the spec's vectors.
std::string dense_block(std::uint64_t first_page, const Rows& rows) {
  DenseLengths model;
  for (auto& lengths : model) {
    std::fill(std::fill_n(lengths.begin(), 32, std::uint8_t{6}), lengths.end(), std::uint8_t{7});
  }
  Bytes out;
  DenseBlockEncoder(model).encode(first_page, RowColumns(rows).spans(), out);
  return hex_of(out);
}

Vectors dense_blocks() {
  std::vector<std::uint64_t> many(10);
  std::iota(many.begin(), many.end(), 5);
  return {
      {"5 to 5", dense_block(5, {{5, {5}}})},
      {"5 to 5, 6, 7, 8", dense_block(5, {{5, {5, 6, 7, 8}}})},
      {"5 to 5 ... 9, 12 ... 15, 20", dense_block(5, {{5, {5, 6, 7, 8, 9, 12, 13, 14, 15, 20}}})},
      {"5 to 5, 6 ... 14; 8 to 7, 8 ... 14 and 2^40 - 1; 9 to the same",
       dense_block(5, {{5, many},
                       {8, {7, 8, 9, 10, 11, 12, 13, 14, kPageMax}},
                       {9, {7, 8, 9, 10, 11, 12, 13, 14, kPageMax}}})}};
}

std::string partition() {
  Bytes out;
  PartitionIndex index;
  const std::vector<std::vector<std::uint64_t>> parts{{1, 2, 3}, {100}};
  for (const auto& keys : parts) {
    index.first_keys.push_back(keys.front());
    index.block_offsets.push_back(static_cast<std::uint32_t>(out.size() / 8));
    encode_key_block(keys, kNoValue, {}, {}, out);
  }
  encode_partition_tail(index, 4, 100, kNoValue, out.size(), out);
  return hex_of(out);
}

std::string key_run(bool has_columns) {
  const std::vector<std::uint64_t> keys{3, 1};
  const std::vector<std::uint16_t> tags{make_tag(Operation::kCheck, {0}),
                                        make_tag(Operation::kUpdate, {2})};
  const std::vector<std::uint32_t> sequences{0, 5};
  const std::vector<std::uint32_t> lengths{0, 3};
  const Bytes values = bytes_of("abc");
  KeyRun run;
  run.first_sequence = 7;
  run.uniform_tag = make_tag(Operation::kCheckUpdate, {0});
  run.keys = keys;
  if (has_columns) {
    run.value_bytes = kVariableValue;
    run.tags = tags;
    run.sequences = sequences;
    run.lengths = lengths;
    run.values = values;
  }
  Bytes out;
  encode_key_run(run, out);
  return hex_of(out);
}

std::string aux_run(bool is_uniform) {
  const std::vector<std::uint32_t> lengths{1, 3};
  const Bytes bytes = bytes_of("abcd");
  AuxRun run;
  run.record_count = 2;
  run.uniform_length_bytes = 2;
  if (!is_uniform) run.lengths = lengths;
  run.bytes = bytes;
  Bytes out;
  encode_aux_run(run, out);
  return hex_of(out);
}

std::string compressed_aux_run() {
  const Bytes bytes(4200, std::byte{'a'});
  AuxRun run;
  run.record_count = 2;
  run.uniform_length_bytes = 2100;
  run.bytes = bytes;
  Bytes out;
  encode_aux_run(run, out);
  return hex_of(out);
}

std::string result_run() {
  const std::vector<std::uint64_t> keys{8, 9};
  const std::vector<std::uint64_t> sequences{70, 4};
  const std::vector<std::uint16_t> tags(2, make_tag(Operation::kCheckUpdate, {1}));
  const std::vector<std::uint8_t> verdicts{1, 0};
  const std::vector<std::uint32_t> aux_lengths{0, 2};
  const Bytes values = bytes_of("wxyz");
  const Bytes auxes = bytes_of("aa");
  ResultRun run;
  run.value_bytes = 2;
  run.keys = keys;
  run.sequences = sequences;
  run.tags = tags;
  run.verdicts = verdicts;
  run.aux_lengths = aux_lengths;
  run.values = values;
  run.auxes = auxes;
  Bytes out;
  encode_result_run(run, out);
  return hex_of(out);
}

std::string event_run() {
  const Bytes hash = bytes_of("hash");
  const EventLink link{"b:", 0, 0.25F};
  const CrawlEvent page{CrawlEventKind::kPage, "a:", 0, 7, 0.5F, hash, std::span(&link, 1)};
  const CrawlEvent gone{CrawlEventKind::kGone, {}, 9, 8, 0, {}, {}};
  const CrawlEvent events[] = {page, gone};
  Bytes message;
  encode_event_batch(events, message);
  Bytes out;
  encode_event_run(2, message, out);
  return hex_of(out);
}

const Origin kSeed{"http://h.test/", std::nullopt, 0};
const Origin kLinked{"http://h.test/a", 8, 1};

std::string origins() {
  OriginBatch batch(8);
  batch.add(kSeed);
  batch.add(kLinked);
  Bytes out;
  batch.encode(nullptr, out);
  OriginFooter footer{};
  footer.first_page = 8;
  footer.page_count = 2;
  footer.url_bytes = kSeed.url.size() + kLinked.url.size();
  encode_origin_tail(std::vector<OriginEntry>(1), footer, out.size(), out);
  return hex_of(out);
}

std::string queue_changes() {
  const std::vector<QueueEntry> entries{{queue_order(1), 7}, {kQueueGone, 9}};
  Bytes out;
  const QueueFragment fragment = encode_queue_fragment(entries, out);
  encode_queue_tail({&fragment, 1}, entries.back(), out);
  return hex_of(out);
}

Vectors payloads() {
  return {
      {"partition of the blocks 1, 2, 3 and 100; value_bytes 0", partition()},
      {"key run: check_update of 3 and 1, consumer 0, from sequence 7; value_bytes 0",
       key_run(false)},
      {"key run: check of 3, consumer 0, sequence 7; update of 1 to \"abc\", consumer 2, "
       "sequence 12; value_bytes -1",
       key_run(true)},
      {"auxiliary run: \"ab\", \"cd\"", aux_run(true)},
      {"auxiliary run: \"a\", \"bcd\"", aux_run(false)},
      {"auxiliary run: two of 2,100 bytes \"a\", as one LZ4 block", compressed_aux_run()},
      {"result run, consumer 1: check_update of 8, sequence 70, duplicate, \"wx\", no "
       "auxiliary; check_update of 9, sequence 4, unique, \"yz\", auxiliary \"aa\"; "
       "value_bytes 2",
       result_run()},
      {"event run: page \"a:\" at 7, score 0.5, hash \"hash\", a link to \"b:\" with score 0.25; "
       "gone, index 9, at 8",
       event_run()},
      {"link run of two blocks: 0 to 1, 2; and 2 to 0; 3 to none",
       hex_of(link_run({{{0, {1, 2}}}, {{2, {0}}, {3, {}}}}))},
      {"origin run of page 8, \"http://h.test/\", a seed, and page 9, \"http://h.test/a\", linked "
       "from it; codec 0",
       origins()},
      {"queue run of changes: page 7 gets the priority 1, page 9 waits no more", queue_changes()}};
}

std::string tile_node() {
  TileNode node;
  node.children = {{90112, {2}, {7}, 128, 8192, 0x0123456789abcdef}};
  Bytes out;
  encode_tile_node(node, out);
  return hex_of(out);
}

/// Page 0 was never crawled; with `crawled` page 1 was, twice.
std::string record_tile(bool crawled) {
  std::vector<PageRecord> records(1);
  if (crawled) {
    PageRecord record;
    record.state = PageState::kCrawled;
    record.crawl_count = 2;
    record.change_count = 1;
    record.first_crawl_us = 1'700'000'000'000'000;
    record.last_crawl_us = 1'700'000'000'000'300;
    record.score = 0.5F;
    record.hash_bytes = 3;
    record.hash = {std::byte{'a'}, std::byte{'b'}, std::byte{'c'}};
    records.push_back(record);
  }
  Bytes out;
  encode_record_tile(records, out);
  return hex_of(out);
}

Vectors tile_payloads() {
  return {{"tile node of level 0: a tile of 8,192 records in run 7, at 90,112, born in 2, payload "
           "of 128 bytes, checksum 0x0123456789abcdef",
           tile_node()},
          {"record tile: a page that was never crawled", record_tile(false)},
          {"record tile: the same, and a page crawled at 1,700,000,000,000,000 and 300 later, "
           "changed, score 0.5, hash \"abc\"",
           record_tile(true)}};
}

/// 16 bytes a line, lines of zeros left out.
std::string dump_of(const Bytes& file) {
  std::string text;
  for (std::size_t offset = 0; offset < file.size(); offset += 16) {
    const auto line = std::span(file).subspan(offset, 16);
    if (is_zero(line)) continue;
    text += hex_of(offset).substr(12) + "  " + hex_of(line) + "\n";
  }
  return text;
}

void expect_table(const std::string& mark, const Vectors& computed) {
  const std::string text = section(source_text("spec/vectors.md"), "## Test vectors");
  Vectors written;
  for (const Row& row : table_after(text, mark)) written[row.at(0)] = row.at(1);
  EXPECT_EQ(written, computed);
}

TEST(SpecVectors, MatchesSeedsAndChecksums) {
  expect_table("Seeds and checksums", seeds());
}

TEST(SpecVectors, MatchesKeyBlocks) {
  expect_table("Key blocks", blocks());
}

TEST(SpecVectors, MatchesLinkBlocks) {
  expect_table("Short numbers (selectors and data) and link blocks", link_parts());
}

TEST(SpecVectors, MatchesDenseBlocks) {
  expect_table("Dense blocks", dense_blocks());
}

TEST(SpecVectors, MatchesPayloads) {
  Vectors all = payloads();
  all.merge(tile_payloads());
  expect_table("Payloads", all);
}

TEST(SpecVectors, MatchesExtentLengths) {
  const auto text = source_text("spec/container.md");
  for (const Row& row : table_after(text, "follows from that of its payload")) {
    std::vector<std::uint64_t> numbers;
    for (std::string cell : row) {
      std::erase(cell, ',');
      numbers.push_back(std::stoull(cell));
    }
    const ChecksumTree tree = checksum_tree(numbers.at(0));
    std::uint64_t entries = 0;
    for (const auto& level : tree.levels) entries += level.entry_count;
    EXPECT_EQ(numbers,
              (std::vector<std::uint64_t>{numbers[0], tree.chunk_count(), tree.levels.size(),
                                          entries, tree.extent_bytes}));
  }
}

TEST(SpecVectors, MatchesTheSmallestFile) {
  const std::string text = section(source_text("spec/vectors.md"), "## The smallest file");
  std::string dump;
  std::istringstream lines(fenced_after(text, "86,016 bytes"));
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] == '0') dump += line.substr(0, 55) + "\n";
  }
  EXPECT_EQ(smallest_file().size(), 86'016u);
  EXPECT_EQ(dump, dump_of(smallest_file()));
}

}  // namespace
}  // namespace crawlstore::format
