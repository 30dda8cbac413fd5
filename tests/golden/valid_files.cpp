// SPDX-License-Identifier: Apache-2.0
//
// The valid golden files: each one thing that a file can hold or be. All numbers are fixed, so the
// same code writes the same bytes.
#include <cstring>

#include <crawlstore/drum.h>
#include <crawlstore/url_seen.h>

#include "format/checksum.h"
#include "format/drum_table.h"
#include "format/root_extent.h"
#include "golden/valid_maker.h"

namespace crawlstore::testing {
namespace {

DrumOptions options(std::uint32_t buckets) {
  DrumOptions result;
  result.log_first = true;  // more of what a file can hold
  result.bucket_count = buckets;
  result.parallel = false;
  return result;
}

/// A DRUM of keys alone, `merged` of them merged and `pending` waiting.
std::vector<std::byte> keys_file(std::uint32_t buckets, std::uint64_t merged,
                                 std::uint64_t pending) {
  Scratch scratch;
  auto drum = must(Drum<std::uint64_t>::open(*scratch.store, "urls", options(buckets)));
  NullDispatcher nobody;
  drum.attach(nobody);
  for (std::uint64_t i = 0; i < merged; ++i) must(drum.check_update(mix(i)));
  must(drum.merge());
  for (std::uint64_t i = 0; i < pending; ++i) must(drum.check_update(mix(i * 3)));
  must(drum.close());
  return scratch.close();
}

/// A writer that goes by the bytes of logs. The low ones of its buckets are fuller, so that the
/// lowest are to be merged, and their partitions to be split.
std::vector<std::byte> thresholds_file() {
  Scratch scratch;
  DrumOptions by_bytes = options(8);
  by_bytes.auto_merge = false;
  auto drum = must(Drum<std::uint64_t>::open(*scratch.store, "urls", by_bytes));
  NullDispatcher nobody;
  drum.attach(nobody);
  for (std::uint64_t i = 0; i < 400; ++i) must(drum.check_update(mix(i) >> i % 3));
  must(drum.merge());
  by_bytes.bucket_bytes = 1500;
  by_bytes.partition_keys_max = 110;
  must(drum.core().tune(by_bytes));
  for (std::uint64_t i = 0; i < 600; ++i) must(drum.check(mix(i * 7) >> i % 3));
  must(drum.close());
  return scratch.close();
}

/// The file of a writer that states none of its thresholds.
std::vector<std::byte> without_thresholds(std::vector<std::byte> bytes) {
  CraftedFile file(std::move(bytes));
  auto& drum = file.segment(SegmentKind::kDrum);
  auto table = must(format::parse_drum_table(file.payload(drum)));
  table.merge_bytes = table.merge_requests = table.partition_keys_max = 0;
  file.set_payload(drum, format::encode_drum_table(table));
  file.assemble();
  return file.bytes;
}

template <class Value>
std::vector<std::byte> values_file(const std::vector<std::pair<std::uint64_t, Value>>& entries) {
  Scratch scratch;
  auto drum = must(Drum<std::uint64_t, Value>::open(*scratch.store, "values", options(2)));
  NullDispatcher nobody;
  drum.attach(nobody);
  for (const auto& [key, value] : entries) must(drum.update(key, value));
  must(drum.merge());
  for (const auto& [key, value] : entries) must(drum.check(key));
  must(drum.close());
  return scratch.close();
}

/// Bytes that cannot be compressed.
std::string noise(std::size_t length) {
  std::string text(length, '\0');
  for (std::size_t i = 0; i < length; ++i) text[i] = static_cast<char>(mix(i) & 0xFF);
  return text;
}
/// Bytes that can.
std::string similar(std::size_t length) {
  std::string text;
  for (std::uint64_t i = 0; text.size() < length; ++i) text += std::to_string(mix(i) % 100) + '/';
  text.resize(length);
  return text;
}

std::vector<std::byte> aux_file(const std::vector<std::string>& auxes) {
  Scratch scratch;
  auto drum =
      must(Drum<std::uint64_t, NoValue, std::string>::open(*scratch.store, "aux", options(2)));
  std::uint64_t i = 0;
  for (const auto& aux : auxes) must(drum.check_update(mix(i++), {}, aux));
  must(drum.close());
  return scratch.close();
}

std::vector<std::byte> operations_file() {
  Scratch scratch;
  auto drum = must(
      Drum<std::uint64_t, std::uint32_t, std::string>::open(*scratch.store, "mixed", options(4)));
  const auto consumer = must(drum.consumer("other"));
  for (std::uint64_t i = 0; i < 40; ++i) {
    must(drum.check(mix(i), std::string(i % 5, 'c'), i % 2 == 0 ? ConsumerId{} : consumer));
    must(drum.update(mix(i), static_cast<std::uint32_t>(i), "u"));
    must(drum.check_update(mix(i / 2), static_cast<std::uint32_t>(i), "", consumer));
  }
  must(drum.close());
  return scratch.close();
}

std::vector<std::byte> results_file() {
  Scratch scratch;
  auto drum = must(
      Drum<std::uint64_t, std::string, std::string>::open(*scratch.store, "results", options(2)));
  const auto consumer = must(drum.consumer("later"));
  for (std::uint64_t i = 0; i < 20; ++i) {
    must(drum.check_update(mix(i % 15), std::string(i, 'v'), "aux",
                           i % 3 == 0 ? ConsumerId{} : consumer));
    must(drum.check(mix(i % 4), "look", consumer));
  }
  must(drum.merge());
  must(drum.close());
  return scratch.close();
}

std::vector<std::byte> urls_file(UrlKeyKind key) {
  Scratch scratch;
  UrlSeen::Options url_options;
  url_options.drum.bucket_count = 16;
  url_options.key = key;
  auto seen = must(UrlSeen::open(*scratch.store, "urls", url_options));
  NullDispatcher nobody;
  seen.drum().attach(nobody);
  for (const char* url : {"http://example.com/", "HTTP://EXAMPLE.com:80/#top", "not a url",
                          "http://example.com/a/../b", "http://example.com/%7euser"}) {
    must(seen.check_update(url));
  }
  must(seen.drum().merge());
  must(seen.check_update("http://example.org/pending"));
  must(seen.drum().close());
  return scratch.close();
}

/// The possible parts of URLs and names: scripts, code points of each length, bytes that are no
/// text, and much of it.
std::vector<std::byte> unicode_file() {
  Scratch scratch;
  UrlSeen::Options url_options;
  url_options.drum = options(1);
  url_options.normalizer = UrlNormalizer::raw();
  auto seen = must(UrlSeen::open(
      *scratch.store, "\u540d\u524d ## \u0645\u0631\u062d\u0628\u0627 \U0001f577", url_options));
  NullDispatcher nobody;
  seen.drum().attach(nobody);
  must(seen.check_update("http://\u4f8b\u3048.jp/"));
  must(seen.drum().merge());
  for (const std::string& url : {
           std::string("http://\u4f8b\u3048.jp/\u65e5\u672c\u8a9e?q=\u6f22\u5b57"),
           std::string("http://\u0645\u0648\u0642\u0639.example/\u0635\u0641\u062d\u0629"),
           std::string(
               "http://\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444/\u00fc?\u03bb=\u0444"),
           std::string("http://example.org/\U0001f600/\U0001f577"),
           std::string("http://example.org/\xff\xed\xa0\x80\xc3 no UTF-8"),
           std::string("nul \0, escape \x1b[31m, tab \t, line\r\nbreak", 39),
           std::string("quotes \", comma, back\\slash \\x00"),
           "http://example.org/" + similar(65'517),
       }) {
    must(seen.check_update(url));
  }
  must(seen.drum().close());
  return scratch.close();
}

/// Keys of 16 bytes: hashes; more with one head than a block holds; and a few with another.
std::vector<std::byte> wide_file() {
  Scratch scratch;
  auto drum =
      must(Drum<Key16, std::uint8_t, std::string>::open(*scratch.store, "wide", options(2)));
  const auto consumer = must(drum.consumer("later"));
  for (std::uint64_t i = 0; i < 600; ++i) must(drum.update({7, mix(i)}, std::uint8_t{1}));
  for (std::uint64_t i = 0; i < 30; ++i) must(drum.update({mix(i + 1), mix(i)}, std::uint8_t{2}));
  for (const std::uint64_t tail : {0ULL, 1ULL, ~0ULL}) must(drum.update({~0ULL, tail}));
  NullDispatcher nobody;
  drum.attach(nobody);
  must(drum.merge());
  for (std::uint64_t i = 0; i < 3; ++i) must(drum.check({7, mix(i)}, "kept", consumer));
  must(drum.merge());
  for (std::uint64_t i = 0; i < 3; ++i) must(drum.check({7, i}, "pending"));
  must(drum.close());
  return scratch.close();
}

std::vector<std::byte> split_file() {
  Scratch scratch;
  auto drum_options = options(1);
  drum_options.partition_keys_max = 600;
  auto drum = must(Drum<std::uint64_t>::open(*scratch.store, "split", drum_options));
  NullDispatcher nobody;
  drum.attach(nobody);
  for (std::uint64_t round = 0; round < 4; ++round) {
    for (std::uint64_t i = 0; i < 500; ++i) must(drum.check_update(mix(round * 500 + i)));
    must(drum.merge());
  }
  must(drum.close());
  return scratch.close();
}

/// Runs of a log that were joined: their sequences are a column.
std::vector<std::byte> many_runs_file(int commits) {
  Scratch scratch;
  auto drum_options = options(1);
  drum_options.durability = Durability::kRequest;
  auto drum = must(Drum<std::uint64_t>::open(*scratch.store, "runs", drum_options));
  for (int i = 0; i < commits; ++i) must(drum.check_update(mix(static_cast<std::uint64_t>(i))));
  must(drum.close());
  return scratch.close();
}

std::vector<std::byte> many_drums_file(int count) {
  Scratch scratch;
  for (int i = 0; i < count; ++i) {
    auto drum =
        must(Drum<std::uint64_t>::open(*scratch.store, "drum " + std::to_string(i), options(1)));
    must(drum.check_update(mix(static_cast<std::uint64_t>(i))));
    must(drum.close());
  }
  return scratch.close();
}

/// The bytes that a pinned generation keeps: the partitions of all buckets, and the directory.
std::vector<std::byte> pinned_file(std::uint32_t buckets) {
  Scratch scratch;
  auto drum = must(Drum<std::uint64_t>::open(*scratch.store, "urls", options(buckets)));
  NullDispatcher nobody;
  drum.attach(nobody);
  for (std::uint64_t i = 0; i < 100; ++i) must(drum.check_update(mix(i)));
  must(drum.merge());
  const auto reader = must(scratch.store->snapshot());
  for (std::uint64_t i = 0; i < 300; ++i) must(drum.check_update(mix(1000 + i)));
  must(drum.merge());
  must(drum.close());
  return scratch.close();
}

std::vector<std::byte> rolled_back_file() {
  Scratch scratch;
  auto drum = must(Drum<std::uint64_t>::open(*scratch.store, "urls", options(2)));
  must(drum.check_update(7));
  must(scratch.store->commit());
  must(drum.check_update(8));
  must(drum.close());
  must(scratch.store->rollback());
  return scratch.close();
}

std::vector<std::byte> with_torn_copy(std::vector<std::byte> bytes, std::size_t offset) {
  bytes[offset + 100] ^= std::byte{1};
  return bytes;
}

/// The file is like one after a snapshot was copied: the other slot is empty.
std::vector<std::byte> without_previous(std::vector<std::byte> bytes) {
  CraftedFile file(std::move(bytes));
  file.write_superblocks();  // of one generation, and a tombstone
  return file.bytes;
}

/// The file of a commit that was killed before it wrote a superblock: both slots hold what they
/// held before it.
std::vector<std::byte> unfinished_file() {
  Scratch scratch;
  std::vector<std::byte> before;
  for (const char* name : {"keys", "more"}) {
    before = contents(*scratch.file);
    auto drum = must(Drum<std::uint64_t>::open(*scratch.store, name, options(2)));
    must(drum.close());
    must(scratch.store->commit());
  }
  auto bytes = scratch.close();
  std::copy_n(before.begin(), format::kDataStart, bytes.begin());
  return bytes;
}

std::vector<std::byte> longer(std::vector<std::byte> bytes) {
  bytes.resize(bytes.size() + 8192, std::byte{0xEE});
  return bytes;
}

/// Bytes that no part of a FlatBuffer holds, and that readers do not look at: behind the parts of
/// root, tables, held tables and drum.
std::vector<std::byte> with_dirty_padding(std::vector<std::byte> bytes) {
  using format::ChecksumDomain;
  CraftedFile file(std::move(bytes));
  auto& drum = file.segment(SegmentKind::kDrum);
  auto payload = file.payload(drum);
  payload.resize(payload.size() + 8, std::byte{0xEE});
  file.set_payload(drum, payload);
  const auto soil = [&file](Extent extent, ChecksumDomain domain, Generation born,
                            std::uint64_t behind = 0) {
    file.bytes[extent.end_bytes() - behind - 1] = std::byte{0xEE};
    const std::uint64_t uncovered = behind == 0 ? 0 : sizeof(format::RootEnd::root_checksum);
    return format::checksum(
        std::span(file.bytes).subspan(extent.offset_bytes, extent.length_bytes - uncovered),
        format::extent_seed(file.identity.uuid, domain, born, extent.offset_bytes));
  };
  file.write_pieces();
  for (auto& ref : file.root.tables) {
    ref.checksum = soil(ref.extent(), ChecksumDomain::kTable, ref.born);
  }
  for (auto& ref : file.root.held_tables) {
    ref.checksum = soil(ref.extent(), ChecksumDomain::kHeldTable, ref.born);
  }
  file.assemble();
  auto& superblock = file.superblock;
  const Extent root = format::root_extent(superblock);
  superblock.root_checksum =
      soil(root, ChecksumDomain::kRoot, file.root.generation, sizeof(format::RootEnd));
  format::store(file.bytes.data() + root.end_bytes() - sizeof superblock.root_checksum,
                superblock.root_checksum);
  file.write_superblocks();
  return file.bytes;
}

std::vector<std::byte> extremes_file() {
  Scratch scratch;
  auto drum = must(Drum<std::uint64_t>::open(*scratch.store, "extremes", options(16)));
  NullDispatcher nobody;
  drum.attach(nobody);
  for (const std::uint64_t key : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    must(drum.check_update(key));
  }
  must(drum.merge());
  must(drum.close());
  return scratch.close();
}

std::vector<std::pair<std::uint64_t, std::string>> strings() {
  std::vector<std::pair<std::uint64_t, std::string>> all;
  for (std::uint64_t i = 0; i < 30; ++i)
    all.emplace_back(mix(i), std::string(i * i, char('a' + i % 26)));
  all.emplace_back(5, std::string("nul\0inside", 10));
  return all;
}

/// A value that is as long as can be, one without bytes, and none that was taken away again.
std::vector<std::byte> small_values_file() {
  Scratch scratch;
  const auto set = [&](std::string_view name, std::string_view text) {
    must(scratch.store->set(name, std::as_bytes(std::span(text))));
  };
  set("pages", "12");
  set("gone", "soon");
  must(scratch.store->commit());
  set("pages", std::string(4096, 'p'));
  set("\xc3\xa9tat", "");
  must(scratch.store->remove("gone"));
  return scratch.close();
}

}  // namespace

std::vector<GoldenFile> valid_files() {
  const auto two = keys_file(2, 10, 3);
  std::vector<GoldenFile> files{
      {"empty", Scratch().close()},
      {"drum_without_keys", keys_file(16, 0, 0)},
      {"one_key", keys_file(1, 1, 0)},
      {"one_pending", keys_file(1, 0, 1)},
      {"keys_and_pending", two},
      {"block_full", keys_file(1, 512, 0)},
      {"block_full_plus_one", keys_file(1, 513, 0)},
      {"many_blocks", keys_file(1, 5000, 0)},
      {"two_chunks", keys_file(1, 11000, 0)},
      {"buckets_not_a_power_of_two", keys_file(3, 300, 30)},
      {"buckets_64", keys_file(64, 500, 500)},
      {"key_extremes", extremes_file()},
      {"values_fixed_1", values_file<std::uint8_t>({{1, 2}, {3, 4}, {~0ULL, 255}})},
      {"values_fixed_8", values_file<std::uint64_t>({{1, 2}, {9, 1ULL << 60}})},
      {"values_fixed_16", values_file<std::array<std::uint64_t, 2>>({{1, {2, 3}}, {4, {5, 6}}})},
      {"values_variable", values_file<std::string>(strings())},
      {"values_variable_empty", values_file<std::string>({{1, ""}, {2, ""}})},
      {"aux_uniform", aux_file({"aa", "bb", "cc"})},
      {"aux_variable", aux_file({"a", "", "long auxiliary", std::string(3000, 'x')})},
      {"aux_of_many_chunks", aux_file({noise(200'000), "z"})},
      {"aux_compressed", aux_file({std::string(100, 'a') + noise(300) + std::string(70'000, 'b'),
                                   "c", noise(20'000), std::string(9000, 'd'), ""})},
      {"aux_compressed_uniform", aux_file(std::vector<std::string>(50, similar(3000)))},
      {"operations_and_consumers", operations_file()},
      {"results_wait", results_file()},
      {"urls", urls_file(UrlKeyKind::kXxh3)},
      {"urls_xxh3_128", urls_file(UrlKeyKind::kXxh3Wide)},
      {"urls_rabin", urls_file(UrlKeyKind::kRabin)},
      {"unicode", unicode_file()},
      {"wide_keys", wide_file()},
      {"split_buckets", split_file()},
      {"runs_many", many_runs_file(60)},
      {"runs_joined", many_runs_file(200)},
      {"tables_several", many_drums_file(150)},
      {"held_inline", pinned_file(32)},
      {"held_tables", pinned_file(80)},
      {"rolled_back", rolled_back_file()},
      {"copy_0_torn", with_torn_copy(two, 16384)},
      {"copy_1_torn", with_torn_copy(two, 65536)},
      {"other_slot_tombstone", without_previous(two)},
      {"unfinished_commit", unfinished_file()},
      {"longer_than_high_water", longer(two)},
      {"thresholds_by_bytes", thresholds_file()},
      {"thresholds_not_stated", without_thresholds(two)},
      {"small_values", small_values_file()},
      {"padding_of_flatbuffers_not_zero", with_dirty_padding(pinned_file(80))},
  };
  add_valid_pages(files);
  add_valid_frontiers(files);
  return files;
}

}  // namespace crawlstore::testing
