// SPDX-License-Identifier: Apache-2.0
// The struct tables and schemas of spec/format.md against layout.h and the .fbs files, and the
// table of spec/shards.md.
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/dense_index.h"
#include "format/layout.h"
#include "format/outbox_block.h"
#include "format/spec_text.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

struct Member {
  std::string name;
  std::size_t offset_bytes;
  std::size_t length_bytes;
};

/// Compares the table behind "`struct Name`, n bytes:" with the code, row by row.
void expect_struct(const std::string& name, std::size_t length_bytes,
                   const std::vector<Member>& members, const std::string& page = "spec/format.md") {
  const std::string mark = "`struct " + name + "`, " + std::to_string(length_bytes) + " bytes:";
  const auto rows = table_after(source_text(page), mark);
  ASSERT_EQ(rows.size(), members.size()) << name;
  std::size_t end = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].at(0), std::to_string(members[i].offset_bytes)) << members[i].name;
    EXPECT_EQ(rows[i].at(1), std::to_string(members[i].length_bytes)) << members[i].name;
    EXPECT_EQ(rows[i].at(2), members[i].name);
    EXPECT_EQ(members[i].offset_bytes, end) << "gap before " << members[i].name;
    end = members[i].offset_bytes + members[i].length_bytes;
  }
  EXPECT_EQ(end, length_bytes) << name;
}

// The one macro of the tests: a member's name, place and length, each written once.
#define MEMBER(Struct, name)                            \
  Member {                                              \
#name, offsetof(Struct, name), sizeof(Struct::name) \
  }

TEST(SpecOffsets, MatchesIdentity) {
  expect_struct(
      "Identity", sizeof(Identity),
      {MEMBER(Identity, magic), MEMBER(Identity, byte_order), MEMBER(Identity, format_version),
       MEMBER(Identity, uuid), MEMBER(Identity, key_seed), MEMBER(Identity, unit_bytes),
       MEMBER(Identity, chunk_bytes), MEMBER(Identity, created_us), MEMBER(Identity, reserved),
       MEMBER(Identity, checksum)});
}

TEST(SpecOffsets, MatchesSuperblock) {
  expect_struct(
      "Superblock", sizeof(Superblock),
      {MEMBER(Superblock, magic), MEMBER(Superblock, slot_index), MEMBER(Superblock, copy_index),
       MEMBER(Superblock, uuid), MEMBER(Superblock, generation), MEMBER(Superblock, pass),
       MEMBER(Superblock, features_compat), MEMBER(Superblock, features_ro_compat),
       MEMBER(Superblock, features_incompat), MEMBER(Superblock, commit_time_us),
       MEMBER(Superblock, high_water_bytes), MEMBER(Superblock, root_offset_bytes),
       MEMBER(Superblock, root_payload_bytes), MEMBER(Superblock, root_checksum),
       MEMBER(Superblock, reserved), MEMBER(Superblock, checksum)});
}

TEST(SpecOffsets, MatchesRootEnd) {
  expect_struct("RootEnd", sizeof(RootEnd),
                {MEMBER(RootEnd, magic), MEMBER(RootEnd, format_version), MEMBER(RootEnd, reserved),
                 MEMBER(RootEnd, uuid), MEMBER(RootEnd, key_seed), MEMBER(RootEnd, created_us),
                 MEMBER(RootEnd, generation), MEMBER(RootEnd, features_compat),
                 MEMBER(RootEnd, features_ro_compat), MEMBER(RootEnd, features_incompat),
                 MEMBER(RootEnd, commit_time_us), MEMBER(RootEnd, high_water_bytes),
                 MEMBER(RootEnd, root_offset_bytes), MEMBER(RootEnd, root_payload_bytes),
                 MEMBER(RootEnd, root_checksum)});
}

TEST(SpecOffsets, MatchesRunEnd) {
  expect_struct("RunEnd", sizeof(RunEnd),
                {MEMBER(RunEnd, magic), MEMBER(RunEnd, kind), MEMBER(RunEnd, reserved),
                 MEMBER(RunEnd, segment_id), MEMBER(RunEnd, run_id), MEMBER(RunEnd, owner),
                 MEMBER(RunEnd, payload_bytes), MEMBER(RunEnd, record_count), MEMBER(RunEnd, first),
                 MEMBER(RunEnd, checksum)});
}

TEST(SpecOffsets, MatchesKeyBlockHeader) {
  expect_struct("KeyBlockHeader", sizeof(KeyBlockHeader),
                {MEMBER(KeyBlockHeader, first_key), MEMBER(KeyBlockHeader, key_count),
                 MEMBER(KeyBlockHeader, upper_words), MEMBER(KeyBlockHeader, low_bits),
                 MEMBER(KeyBlockHeader, shares_head), MEMBER(KeyBlockHeader, reserved)});
}

TEST(SpecOffsets, MatchesPartitionFooter) {
  expect_struct("PartitionFooter", sizeof(PartitionFooter),
                {MEMBER(PartitionFooter, key_count), MEMBER(PartitionFooter, block_count),
                 MEMBER(PartitionFooter, index_offset_bytes), MEMBER(PartitionFooter, first_key),
                 MEMBER(PartitionFooter, last_key), MEMBER(PartitionFooter, key_bytes),
                 MEMBER(PartitionFooter, codec), MEMBER(PartitionFooter, value_bytes),
                 MEMBER(PartitionFooter, reserved), MEMBER(PartitionFooter, magic)});
}

TEST(SpecOffsets, MatchesKeyRunHeader) {
  expect_struct("KeyRunHeader", sizeof(KeyRunHeader),
                {MEMBER(KeyRunHeader, magic), MEMBER(KeyRunHeader, record_count),
                 MEMBER(KeyRunHeader, first_sequence), MEMBER(KeyRunHeader, flags),
                 MEMBER(KeyRunHeader, value_bytes), MEMBER(KeyRunHeader, uniform_tag),
                 MEMBER(KeyRunHeader, key_bits), MEMBER(KeyRunHeader, key_bytes),
                 MEMBER(KeyRunHeader, reserved), MEMBER(KeyRunHeader, key_base)});
}

TEST(SpecOffsets, MatchesAuxRunHeader) {
  expect_struct("AuxRunHeader", sizeof(AuxRunHeader),
                {MEMBER(AuxRunHeader, magic), MEMBER(AuxRunHeader, record_count),
                 MEMBER(AuxRunHeader, flags), MEMBER(AuxRunHeader, uniform_length_bytes),
                 MEMBER(AuxRunHeader, codec), MEMBER(AuxRunHeader, reserved)});
}

TEST(SpecOffsets, MatchesResultRunHeader) {
  expect_struct("ResultRunHeader", sizeof(ResultRunHeader),
                {MEMBER(ResultRunHeader, magic), MEMBER(ResultRunHeader, record_count),
                 MEMBER(ResultRunHeader, value_bytes), MEMBER(ResultRunHeader, key_bytes),
                 MEMBER(ResultRunHeader, reserved)});
}

TEST(SpecOffsets, MatchesEventRunHeader) {
  expect_struct("EventRunHeader", sizeof(EventRunHeader),
                {MEMBER(EventRunHeader, magic), MEMBER(EventRunHeader, record_count),
                 MEMBER(EventRunHeader, reserved)});
}

TEST(SpecOffsets, MatchesLinkBlockHeader) {
  expect_struct("LinkBlockHeader", sizeof(LinkBlockHeader),
                {MEMBER(LinkBlockHeader, first_page), MEMBER(LinkBlockHeader, row_count),
                 MEMBER(LinkBlockHeader, link_count), MEMBER(LinkBlockHeader, data_bytes),
                 MEMBER(LinkBlockHeader, codec), MEMBER(LinkBlockHeader, flags)});
}

TEST(SpecOffsets, MatchesLinkIndexEntry) {
  expect_struct("LinkIndexEntry", sizeof(LinkIndexEntry),
                {MEMBER(LinkIndexEntry, first_page), MEMBER(LinkIndexEntry, offset_bytes)});
}

TEST(SpecOffsets, MatchesLinkRunFooter) {
  expect_struct("LinkRunFooter", sizeof(LinkRunFooter),
                {MEMBER(LinkRunFooter, row_count), MEMBER(LinkRunFooter, link_count),
                 MEMBER(LinkRunFooter, block_count), MEMBER(LinkRunFooter, index_offset_bytes),
                 MEMBER(LinkRunFooter, first_page), MEMBER(LinkRunFooter, last_page),
                 MEMBER(LinkRunFooter, target_max), MEMBER(LinkRunFooter, codec),
                 MEMBER(LinkRunFooter, reserved), MEMBER(LinkRunFooter, magic)});
}

TEST(SpecOffsets, MatchesDenseIndexGroup) {
  expect_struct("DenseIndexGroup", sizeof(DenseIndexGroup),
                {MEMBER(DenseIndexGroup, first_page), MEMBER(DenseIndexGroup, offset_bytes),
                 MEMBER(DenseIndexGroup, page_counts), MEMBER(DenseIndexGroup, block_bytes)});
}

TEST(SpecOffsets, MatchesOriginBlockHeader) {
  expect_struct(
      "OriginBlockHeader", sizeof(OriginBlockHeader),
      {MEMBER(OriginBlockHeader, raw_bytes), MEMBER(OriginBlockHeader, stored_bytes),
       MEMBER(OriginBlockHeader, page_count), MEMBER(OriginBlockHeader, linked_from_bytes),
       MEMBER(OriginBlockHeader, depth_bytes), MEMBER(OriginBlockHeader, length_bytes),
       MEMBER(OriginBlockHeader, reserved)});
}

TEST(SpecOffsets, MatchesOriginFooter) {
  expect_struct("OriginFooter", sizeof(OriginFooter),
                {MEMBER(OriginFooter, first_page), MEMBER(OriginFooter, page_count),
                 MEMBER(OriginFooter, block_count), MEMBER(OriginFooter, url_bytes),
                 MEMBER(OriginFooter, index_offset_bytes), MEMBER(OriginFooter, dictionary_bytes),
                 MEMBER(OriginFooter, codec), MEMBER(OriginFooter, entry_page_bytes),
                 MEMBER(OriginFooter, entry_offset_bytes), MEMBER(OriginFooter, reserved),
                 MEMBER(OriginFooter, magic)});
}

TEST(SpecOffsets, MatchesOutboxBlockHeader) {
  expect_struct("OutboxBlockHeader", sizeof(OutboxBlockHeader),
                {MEMBER(OutboxBlockHeader, magic), MEMBER(OutboxBlockHeader, step),
                 MEMBER(OutboxBlockHeader, crawl_key), MEMBER(OutboxBlockHeader, shard_count),
                 MEMBER(OutboxBlockHeader, from), MEMBER(OutboxBlockHeader, to),
                 MEMBER(OutboxBlockHeader, number), MEMBER(OutboxBlockHeader, url_count),
                 MEMBER(OutboxBlockHeader, raw_bytes), MEMBER(OutboxBlockHeader, payload_bytes),
                 MEMBER(OutboxBlockHeader, flags), MEMBER(OutboxBlockHeader, checksum)},
                "spec/shards.md");
}

TEST(SpecOffsets, MatchesTileNodes) {
  expect_struct("TileNodeHeader", sizeof(TileNodeHeader),
                {MEMBER(TileNodeHeader, magic), MEMBER(TileNodeHeader, record_count),
                 MEMBER(TileNodeHeader, level), MEMBER(TileNodeHeader, child_count),
                 MEMBER(TileNodeHeader, reserved)});
  expect_struct("TileChild", sizeof(TileChild),
                {MEMBER(TileChild, offset_bytes), MEMBER(TileChild, born),
                 MEMBER(TileChild, run_id), MEMBER(TileChild, payload_bytes),
                 MEMBER(TileChild, record_count), MEMBER(TileChild, checksum)});
}

TEST(SpecOffsets, MatchesRecordTiles) {
  expect_struct("RecordTileHeader", sizeof(RecordTileHeader),
                {MEMBER(RecordTileHeader, magic), MEMBER(RecordTileHeader, page_count),
                 MEMBER(RecordTileHeader, hash_bytes), MEMBER(RecordTileHeader, columns)});
  expect_struct("RecordColumn", sizeof(RecordColumn),
                {MEMBER(RecordColumn, base), MEMBER(RecordColumn, width_bytes),
                 MEMBER(RecordColumn, reserved)});
}

TEST(SpecOffsets, MatchesQueueTable) {
  expect_struct("QueueTableHeader", sizeof(QueueTableHeader),
                {MEMBER(QueueTableHeader, magic), MEMBER(QueueTableHeader, entries),
                 MEMBER(QueueTableHeader, entry_count), MEMBER(QueueTableHeader, page_count),
                 MEMBER(QueueTableHeader, run_count), MEMBER(QueueTableHeader, change_run_count)});
  expect_struct(
      "QueueRunCut", sizeof(QueueRunCut),
      {MEMBER(QueueRunCut, run_id), MEMBER(QueueRunCut, cut_order), MEMBER(QueueRunCut, cut_page)});
}

TEST(SpecOffsets, MatchesSmallValues) {
  expect_struct("ValuesHeader", sizeof(ValuesHeader),
                {MEMBER(ValuesHeader, magic), MEMBER(ValuesHeader, value_count),
                 MEMBER(ValuesHeader, reserved)});
  expect_struct("ValueLengths", sizeof(ValueLengths),
                {MEMBER(ValueLengths, name_bytes), MEMBER(ValueLengths, value_bytes)});
}

TEST(SpecOffsets, MatchesQueueFragment) {
  expect_struct("QueueFragment", sizeof(QueueFragment),
                {MEMBER(QueueFragment, lowest_order), MEMBER(QueueFragment, lowest_page),
                 MEMBER(QueueFragment, first_page), MEMBER(QueueFragment, entry_count),
                 MEMBER(QueueFragment, order_shift), MEMBER(QueueFragment, order_bytes),
                 MEMBER(QueueFragment, page_bytes), MEMBER(QueueFragment, reserved)});
}

TEST(SpecOffsets, MatchesQueueRunFooter) {
  expect_struct("QueueRunFooter", sizeof(QueueRunFooter),
                {MEMBER(QueueRunFooter, entry_count), MEMBER(QueueRunFooter, highest_order),
                 MEMBER(QueueRunFooter, highest_page), MEMBER(QueueRunFooter, fragment_count),
                 MEMBER(QueueRunFooter, reserved), MEMBER(QueueRunFooter, magic)});
}

TEST(SpecOffsets, MatchesScoreFooter) {
  expect_struct(
      "ScoreFooter", sizeof(ScoreFooter),
      {MEMBER(ScoreFooter, entry_count), MEMBER(ScoreFooter, page_count),
       MEMBER(ScoreFooter, link_count), MEMBER(ScoreFooter, superstep_count),
       MEMBER(ScoreFooter, generation), MEMBER(ScoreFooter, time_us), MEMBER(ScoreFooter, damping),
       MEMBER(ScoreFooter, precision), MEMBER(ScoreFooter, residual), MEMBER(ScoreFooter, sum),
       MEMBER(ScoreFooter, iteration_count), MEMBER(ScoreFooter, scorer),
       MEMBER(ScoreFooter, subject), MEMBER(ScoreFooter, codec), MEMBER(ScoreFooter, flags),
       MEMBER(ScoreFooter, reserved), MEMBER(ScoreFooter, magic)});
}

/// A schema without its comment lines and without empty lines at both ends.
std::string schema(const std::string& path) {
  std::istringstream lines(source_text(path));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    const bool is_first_empty = text.empty() && line.empty();
    if (!line.starts_with("//") && !is_first_empty) text += line + "\n";
  }
  return text;
}

TEST(SpecOffsets, QuotesTheSchemasInFull) {
  const std::string text = source_text("spec/format.md");
  EXPECT_EQ(fenced_after(text, "The schemas, in full", "fbs"), schema("format/directory.fbs"));
  EXPECT_EQ(fenced_after(text, "\n## Drum\n", "fbs"), schema("format/drum.fbs"));
}

}  // namespace
}  // namespace crawlstore::format
