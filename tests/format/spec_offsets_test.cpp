// SPDX-License-Identifier: Apache-2.0
// The struct tables and schemas of the format against the fields that field.cpp describes and the
// .fbs files, and the table of spec/shards.md.
#include <algorithm>
#include <cstddef>
#include <span>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "format/dense_index.h"
#include "format/field.h"
#include "format/format_samples.h"
#include "format/frontier_field.h"
#include "format/frontier_layout.h"
#include "format/layout.h"
#include "format/outbox_block.h"
#include "format/spec_text.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

/// Compares the table behind "`struct Name`, n bytes:" with the fields that describe the struct,
/// row by row.
void expect_struct(const std::string& name, std::size_t length_bytes, const Fields& fields,
                   const std::string& text = format_text()) {
  const std::string mark = "`struct " + name + "`, " + std::to_string(length_bytes) + " bytes:";
  const auto rows = table_after(text, mark);
  ASSERT_EQ(rows.size(), fields.size()) << name;
  std::size_t end = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].at(0), std::to_string(fields[i].offset_bytes)) << name << fields[i].name;
    EXPECT_EQ(rows[i].at(1), std::to_string(fields[i].length_bytes)) << name << fields[i].name;
    EXPECT_EQ(rows[i].at(2), fields[i].name) << name;
    EXPECT_EQ(fields[i].offset_bytes, end) << name << ": gap before " << fields[i].name;
    end = fields[i].offset_bytes + fields[i].length_bytes;
  }
  EXPECT_EQ(end, length_bytes) << name;
}

/// Compares the spec with the table by which programs describe the struct.
template <class Struct>
void expect_described(const std::string& name, Fields (*describe)(std::span<const std::byte>)) {
  expect_struct(name, sizeof(Struct), describe(Bytes(sizeof(Struct))));
}

/// The members of the first struct among the fields, relative to it.
Fields inside_of_struct(const Fields& fields) {
  const auto is_struct = [](const Field& field) { return field.type == "struct"; };
  const auto parent = std::find_if(fields.begin(), fields.end(), is_struct);
  Fields inside;
  for (auto at = parent; at != fields.end() && ++at != fields.end() && at->depth > 0;) {
    inside.push_back(*at);
    inside.back().offset_bytes -= parent->offset_bytes;
  }
  return inside;
}

/// Returns the place of a member that no program describes.
template <class Struct, class Type>
Field member(std::string name, Type Struct::*place) {
  const Struct object{};
  const auto* const start = reinterpret_cast<const std::byte*>(&object);
  const auto* const at = reinterpret_cast<const std::byte*>(&(object.*place));
  return {std::move(name), {}, static_cast<std::uint64_t>(at - start), sizeof(Type), {}, {}, 0};
}

TEST(SpecOffsets, MatchesTheHeadsOfAFile) {
  expect_described<Identity>("Identity", describe_identity);
  expect_described<Superblock>("Superblock", describe_superblock);
  expect_described<RootEnd>("RootEnd", describe_root_end);
}

TEST(SpecOffsets, MatchesRunsOfDrums) {
  expect_described<PartitionFooter>("PartitionFooter", describe_partition_footer);
  expect_described<KeyBlockHeader>("KeyBlockHeader", describe_key_block);
  expect_described<KeyRunHeader>("KeyRunHeader", describe_key_run);
  expect_described<AuxRunHeader>("AuxRunHeader", describe_aux_run);
  expect_described<ResultRunHeader>("ResultRunHeader", describe_result_run);
}

TEST(SpecOffsets, MatchesRunsOfPages) {
  expect_described<EventRunHeader>("EventRunHeader", describe_event_run);
  expect_described<LinkBlockHeader>("LinkBlockHeader", describe_link_block);
  expect_described<LinkIndexEntry>("LinkIndexEntry", describe_link_index_entry);
  expect_described<LinkRunFooter>("LinkRunFooter", describe_link_run_footer);
  expect_described<OriginBlockHeader>("OriginBlockHeader", describe_origin_block);
  expect_described<OriginFooter>("OriginFooter", describe_origin_footer);
  expect_described<ScoreFooter>("ScoreFooter", describe_score_footer);
  expect_described<ValuesHeader>("ValuesHeader", describe_values_header);
}

TEST(SpecOffsets, MatchesQueuesAndFrontiers) {
  expect_described<QueueTableHeader>("QueueTableHeader", describe_queue_table);
  expect_described<QueueRunCut>("QueueRunCut", describe_queue_run_cut);
  expect_described<QueueFragment>("QueueFragment", describe_queue_fragment);
  expect_described<QueueRunFooter>("QueueRunFooter", describe_queue_run_footer);
  expect_described<GroupRunHeader>("GroupRunHeader", describe_group_run);
  expect_described<ItemBlockPlace>("ItemBlockPlace", describe_item_place);
  expect_described<ItemRunFooter>("ItemRunFooter", describe_item_footer);
  expect_described<StepRunHeader>("StepRunHeader", describe_step_run);
}

TEST(SpecOffsets, MatchesTileNodes) {
  TileNodeHeader header{};
  header.child_count = 1;
  Bytes node = bytes_of_struct(header);
  node.resize(sizeof(TileNodeHeader) + sizeof(TileChild));
  const auto children = inside_of_struct(describe_tile_node(node, 1));
  expect_struct("TileNodeHeader", sizeof(TileNodeHeader), describe_tile_node(node, 0));
  expect_struct("TileChild", sizeof(TileChild), children);
}

TEST(SpecOffsets, MatchesRecordTiles) {
  Fields fields = describe_record_tile(Bytes(sizeof(RecordTileHeader)));
  expect_struct("RecordColumn", sizeof(RecordColumn), inside_of_struct(fields));
  ASSERT_GT(fields.size(), 3u);
  fields.resize(3);
  fields.push_back(member("columns", &RecordTileHeader::columns));
  expect_struct("RecordTileHeader", sizeof(RecordTileHeader), fields);
}

TEST(SpecOffsets, MatchesWhatNoProgramDescribes) {
  expect_struct("RunEnd", sizeof(RunEnd),
                {member("magic", &RunEnd::magic), member("kind", &RunEnd::kind),
                 member("reserved", &RunEnd::reserved), member("segment_id", &RunEnd::segment_id),
                 member("run_id", &RunEnd::run_id), member("owner", &RunEnd::owner),
                 member("payload_bytes", &RunEnd::payload_bytes),
                 member("record_count", &RunEnd::record_count), member("first", &RunEnd::first),
                 member("checksum", &RunEnd::checksum)});
  expect_struct("ValueLengths", sizeof(ValueLengths),
                {member("name_bytes", &ValueLengths::name_bytes),
                 member("value_bytes", &ValueLengths::value_bytes)});
  Fields group = describe_dense_index_group(Bytes(sizeof(DenseIndexGroup)));
  group.push_back(member("page_counts", &DenseIndexGroup::page_counts));
  group.push_back(member("block_bytes", &DenseIndexGroup::block_bytes));
  expect_struct("DenseIndexGroup", sizeof(DenseIndexGroup), group);
}

TEST(SpecOffsets, MatchesOutboxBlockHeader) {
  using Header = OutboxBlockHeader;
  expect_struct(
      "OutboxBlockHeader", sizeof(Header),
      {member("magic", &Header::magic), member("step", &Header::step),
       member("crawl_key", &Header::crawl_key), member("shard_count", &Header::shard_count),
       member("from", &Header::from), member("to", &Header::to), member("number", &Header::number),
       member("url_count", &Header::url_count), member("raw_bytes", &Header::raw_bytes),
       member("payload_bytes", &Header::payload_bytes), member("flags", &Header::flags),
       member("checksum", &Header::checksum)},
      source_text("spec/shards.md"));
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
  const std::string container = source_text("spec/container.md");
  const std::string drum = source_text("spec/drum.md");
  EXPECT_EQ(fenced_after(container, "The schemas, in full", "fbs"), schema("format/directory.fbs"));
  EXPECT_EQ(fenced_after(drum, "\n## Drum\n", "fbs"), schema("format/drum.fbs"));
}

}  // namespace
}  // namespace crawlstore::format
