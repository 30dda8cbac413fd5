// SPDX-License-Identifier: Apache-2.0
#include "format/field.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include <crawlstore/types.h>

#include "format/dense_index.h"
#include "format/endian.h"
#include "format/layout.h"

namespace crawlstore::format {

namespace {

std::uint64_t load_unsigned(std::span<const std::byte> bytes) {
  switch (bytes.size()) {
    case 1:
      return load<std::uint8_t>(bytes.data());
    case 2:
      return load<std::uint16_t>(bytes.data());
    case 4:
      return load<std::uint32_t>(bytes.data());
    default:
      return load<std::uint64_t>(bytes.data());
  }
}

std::int64_t load_signed(std::span<const std::byte> bytes) {
  return bytes.size() == 4 ? load<std::int32_t>(bytes.data()) : load<std::int64_t>(bytes.data());
}

/// The shortest decimal number that is this one, or "inf" and "nan".
std::string float_text(std::span<const std::byte> bytes) {
  std::array<char, 32> digits{};
  char* const end = digits.data() + digits.size();
  const auto text =
      bytes.size() == sizeof(float)
          ? std::to_chars(digits.data(), end,
                          std::bit_cast<float>(load<std::uint32_t>(bytes.data())))
          : std::to_chars(digits.data(), end, std::bit_cast<double>(load_unsigned(bytes)));
  return {digits.data(), text.ptr};
}

std::string value_of(Form form, std::span<const std::byte> bytes) {
  switch (form) {
    case Form::kUnsigned:
      return std::to_string(load_unsigned(bytes));
    case Form::kSigned:
    case Form::kTime:
      return std::to_string(load_signed(bytes));
    case Form::kHex:
      return hex(load_unsigned(bytes));
    case Form::kUuid: {
      Uuid uuid{};
      std::copy_n(bytes.begin(), uuid.size(), uuid.begin());
      return to_string(uuid);
    }
    case Form::kFloat:
      return float_text(bytes);
    case Form::kZeros:
      return {};
  }
  return {};
}

std::string type_of(Form form, std::size_t length_bytes) {
  const std::string bits = std::to_string(length_bytes * 8);
  switch (form) {
    case Form::kUnsigned:
      return "u" + bits;
    case Form::kSigned:
      return "i" + bits;
    case Form::kHex:
      return "hex" + bits;
    case Form::kTime:
      return "time_us";
    case Form::kUuid:
      return "uuid";
    case Form::kFloat:
      return "f" + bits;
    case Form::kZeros:
      return "zeros";
  }
  return {};
}

constexpr std::array kIdentity{
    Member{"magic", Form::kHex, offsetof(Identity, magic), 8},
    Member{"byte_order", Form::kHex, offsetof(Identity, byte_order), 4},
    Member{"format_version", Form::kUnsigned, offsetof(Identity, format_version), 4},
    Member{"uuid", Form::kUuid, offsetof(Identity, uuid), 16},
    Member{"key_seed", Form::kHex, offsetof(Identity, key_seed), 8},
    Member{"unit_bytes", Form::kUnsigned, offsetof(Identity, unit_bytes), 4},
    Member{"chunk_bytes", Form::kUnsigned, offsetof(Identity, chunk_bytes), 4},
    Member{"created_us", Form::kTime, offsetof(Identity, created_us), 8},
    Member{"reserved", Form::kZeros, offsetof(Identity, reserved), sizeof(Identity::reserved)},
    Member{"checksum", Form::kHex, offsetof(Identity, checksum), 8},
};

constexpr std::array kSuperblock{
    Member{"magic", Form::kHex, offsetof(Superblock, magic), 8},
    Member{"slot_index", Form::kUnsigned, offsetof(Superblock, slot_index), 4},
    Member{"copy_index", Form::kUnsigned, offsetof(Superblock, copy_index), 4},
    Member{"uuid", Form::kUuid, offsetof(Superblock, uuid), 16},
    Member{"generation", Form::kUnsigned, offsetof(Superblock, generation), 8},
    Member{"pass", Form::kUnsigned, offsetof(Superblock, pass), 8},
    Member{"features_compat", Form::kHex, offsetof(Superblock, features_compat), 8},
    Member{"features_ro_compat", Form::kHex, offsetof(Superblock, features_ro_compat), 8},
    Member{"features_incompat", Form::kHex, offsetof(Superblock, features_incompat), 8},
    Member{"commit_time_us", Form::kTime, offsetof(Superblock, commit_time_us), 8},
    Member{"high_water_bytes", Form::kHex, offsetof(Superblock, high_water_bytes), 8},
    Member{"root_offset_bytes", Form::kHex, offsetof(Superblock, root_offset_bytes), 8},
    Member{"root_payload_bytes", Form::kUnsigned, offsetof(Superblock, root_payload_bytes), 8},
    Member{"root_checksum", Form::kHex, offsetof(Superblock, root_checksum), 8},
    Member{"reserved", Form::kZeros, offsetof(Superblock, reserved), sizeof(Superblock::reserved)},
    Member{"checksum", Form::kHex, offsetof(Superblock, checksum), 8},
};

constexpr std::array kRootEnd{
    Member{"magic", Form::kHex, offsetof(RootEnd, magic), 8},
    Member{"format_version", Form::kUnsigned, offsetof(RootEnd, format_version), 4},
    Member{"reserved", Form::kHex, offsetof(RootEnd, reserved), 4},
    Member{"uuid", Form::kUuid, offsetof(RootEnd, uuid), 16},
    Member{"key_seed", Form::kHex, offsetof(RootEnd, key_seed), 8},
    Member{"created_us", Form::kTime, offsetof(RootEnd, created_us), 8},
    Member{"generation", Form::kUnsigned, offsetof(RootEnd, generation), 8},
    Member{"features_compat", Form::kHex, offsetof(RootEnd, features_compat), 8},
    Member{"features_ro_compat", Form::kHex, offsetof(RootEnd, features_ro_compat), 8},
    Member{"features_incompat", Form::kHex, offsetof(RootEnd, features_incompat), 8},
    Member{"commit_time_us", Form::kTime, offsetof(RootEnd, commit_time_us), 8},
    Member{"high_water_bytes", Form::kHex, offsetof(RootEnd, high_water_bytes), 8},
    Member{"root_offset_bytes", Form::kHex, offsetof(RootEnd, root_offset_bytes), 8},
    Member{"root_payload_bytes", Form::kUnsigned, offsetof(RootEnd, root_payload_bytes), 8},
    Member{"root_checksum", Form::kHex, offsetof(RootEnd, root_checksum), 8},
};

constexpr std::array kPartitionFooter{
    Member{"key_count", Form::kUnsigned, offsetof(PartitionFooter, key_count), 8},
    Member{"block_count", Form::kUnsigned, offsetof(PartitionFooter, block_count), 8},
    Member{"index_offset_bytes", Form::kHex, offsetof(PartitionFooter, index_offset_bytes), 8},
    Member{"first_key", Form::kHex, offsetof(PartitionFooter, first_key), 8},
    Member{"last_key", Form::kHex, offsetof(PartitionFooter, last_key), 8},
    Member{"key_bytes", Form::kUnsigned, offsetof(PartitionFooter, key_bytes), 2},
    Member{"codec", Form::kUnsigned, offsetof(PartitionFooter, codec), 2},
    Member{"value_bytes", Form::kSigned, offsetof(PartitionFooter, value_bytes), 4},
    Member{"reserved", Form::kZeros, offsetof(PartitionFooter, reserved), 8},
    Member{"magic", Form::kHex, offsetof(PartitionFooter, magic), 8},
};

constexpr std::array kKeyBlock{
    Member{"first_key", Form::kHex, offsetof(KeyBlockHeader, first_key), 8},
    Member{"key_count", Form::kUnsigned, offsetof(KeyBlockHeader, key_count), 2},
    Member{"upper_words", Form::kUnsigned, offsetof(KeyBlockHeader, upper_words), 2},
    Member{"low_bits", Form::kUnsigned, offsetof(KeyBlockHeader, low_bits), 1},
    Member{"shares_head", Form::kUnsigned, offsetof(KeyBlockHeader, shares_head), 1},
    Member{"reserved", Form::kZeros, offsetof(KeyBlockHeader, reserved), 2},
};

constexpr std::array kKeyRun{
    Member{"magic", Form::kHex, offsetof(KeyRunHeader, magic), 8},
    Member{"record_count", Form::kUnsigned, offsetof(KeyRunHeader, record_count), 8},
    Member{"first_sequence", Form::kUnsigned, offsetof(KeyRunHeader, first_sequence), 8},
    Member{"flags", Form::kHex, offsetof(KeyRunHeader, flags), 4},
    Member{"value_bytes", Form::kSigned, offsetof(KeyRunHeader, value_bytes), 4},
    Member{"uniform_tag", Form::kHex, offsetof(KeyRunHeader, uniform_tag), 2},
    Member{"key_bits", Form::kUnsigned, offsetof(KeyRunHeader, key_bits), 2},
    Member{"key_bytes", Form::kUnsigned, offsetof(KeyRunHeader, key_bytes), 2},
    Member{"reserved", Form::kZeros, offsetof(KeyRunHeader, reserved), 2},
    Member{"key_base", Form::kHex, offsetof(KeyRunHeader, key_base), 8},
};

constexpr std::array kAuxRun{
    Member{"magic", Form::kHex, offsetof(AuxRunHeader, magic), 8},
    Member{"record_count", Form::kUnsigned, offsetof(AuxRunHeader, record_count), 8},
    Member{"flags", Form::kHex, offsetof(AuxRunHeader, flags), 4},
    Member{"uniform_length_bytes", Form::kUnsigned, offsetof(AuxRunHeader, uniform_length_bytes),
           4},
    Member{"codec", Form::kUnsigned, offsetof(AuxRunHeader, codec), 2},
    Member{"reserved", Form::kZeros, offsetof(AuxRunHeader, reserved), 6},
};

constexpr std::array kResultRun{
    Member{"magic", Form::kHex, offsetof(ResultRunHeader, magic), 8},
    Member{"record_count", Form::kUnsigned, offsetof(ResultRunHeader, record_count), 8},
    Member{"value_bytes", Form::kSigned, offsetof(ResultRunHeader, value_bytes), 4},
    Member{"key_bytes", Form::kUnsigned, offsetof(ResultRunHeader, key_bytes), 2},
    Member{"reserved", Form::kZeros, offsetof(ResultRunHeader, reserved), 2},
};

constexpr std::array kEventRun{
    Member{"magic", Form::kHex, offsetof(EventRunHeader, magic), 8},
    Member{"record_count", Form::kUnsigned, offsetof(EventRunHeader, record_count), 8},
    Member{"reserved", Form::kZeros, offsetof(EventRunHeader, reserved), 8},
};

constexpr std::array kLinkBlock{
    Member{"first_page", Form::kUnsigned, offsetof(LinkBlockHeader, first_page), 8},
    Member{"row_count", Form::kUnsigned, offsetof(LinkBlockHeader, row_count), 4},
    Member{"link_count", Form::kUnsigned, offsetof(LinkBlockHeader, link_count), 4},
    Member{"data_bytes", Form::kUnsigned, offsetof(LinkBlockHeader, data_bytes), 4},
    Member{"codec", Form::kUnsigned, offsetof(LinkBlockHeader, codec), 2},
    Member{"flags", Form::kHex, offsetof(LinkBlockHeader, flags), 2},
};

constexpr std::array kLinkIndexEntry{
    Member{"first_page", Form::kUnsigned, offsetof(LinkIndexEntry, first_page), 8},
    Member{"offset_bytes", Form::kHex, offsetof(LinkIndexEntry, offset_bytes), 8},
};

constexpr std::array kDenseIndexGroup{
    Member{"first_page", Form::kUnsigned, offsetof(DenseIndexGroup, first_page), 8},
    Member{"offset_bytes", Form::kHex, offsetof(DenseIndexGroup, offset_bytes), 8},
};

constexpr std::array kLinkRunFooter{
    Member{"row_count", Form::kUnsigned, offsetof(LinkRunFooter, row_count), 8},
    Member{"link_count", Form::kUnsigned, offsetof(LinkRunFooter, link_count), 8},
    Member{"block_count", Form::kUnsigned, offsetof(LinkRunFooter, block_count), 8},
    Member{"index_offset_bytes", Form::kHex, offsetof(LinkRunFooter, index_offset_bytes), 8},
    Member{"first_page", Form::kUnsigned, offsetof(LinkRunFooter, first_page), 8},
    Member{"last_page", Form::kUnsigned, offsetof(LinkRunFooter, last_page), 8},
    Member{"target_max", Form::kUnsigned, offsetof(LinkRunFooter, target_max), 8},
    Member{"codec", Form::kUnsigned, offsetof(LinkRunFooter, codec), 2},
    Member{"reserved", Form::kZeros, offsetof(LinkRunFooter, reserved), 6},
    Member{"magic", Form::kHex, offsetof(LinkRunFooter, magic), 8},
};

constexpr std::array kOriginFooter{
    Member{"first_page", Form::kUnsigned, offsetof(OriginFooter, first_page), 8},
    Member{"page_count", Form::kUnsigned, offsetof(OriginFooter, page_count), 8},
    Member{"block_count", Form::kUnsigned, offsetof(OriginFooter, block_count), 8},
    Member{"url_bytes", Form::kUnsigned, offsetof(OriginFooter, url_bytes), 8},
    Member{"index_offset_bytes", Form::kHex, offsetof(OriginFooter, index_offset_bytes), 8},
    Member{"dictionary_bytes", Form::kUnsigned, offsetof(OriginFooter, dictionary_bytes), 4},
    Member{"codec", Form::kUnsigned, offsetof(OriginFooter, codec), 2},
    Member{"entry_page_bytes", Form::kUnsigned, offsetof(OriginFooter, entry_page_bytes), 1},
    Member{"entry_offset_bytes", Form::kUnsigned, offsetof(OriginFooter, entry_offset_bytes), 1},
    Member{"reserved", Form::kZeros, offsetof(OriginFooter, reserved), 8},
    Member{"magic", Form::kHex, offsetof(OriginFooter, magic), 8},
};

constexpr std::array kOriginBlock{
    Member{"raw_bytes", Form::kUnsigned, offsetof(OriginBlockHeader, raw_bytes), 4},
    Member{"stored_bytes", Form::kUnsigned, offsetof(OriginBlockHeader, stored_bytes), 4},
    Member{"page_count", Form::kUnsigned, offsetof(OriginBlockHeader, page_count), 2},
    Member{"linked_from_bytes", Form::kUnsigned, offsetof(OriginBlockHeader, linked_from_bytes), 1},
    Member{"depth_bytes", Form::kUnsigned, offsetof(OriginBlockHeader, depth_bytes), 1},
    Member{"length_bytes", Form::kUnsigned, offsetof(OriginBlockHeader, length_bytes), 1},
    Member{"reserved", Form::kZeros, offsetof(OriginBlockHeader, reserved), 3},
};
constexpr std::array kTileNode{
    Member{"magic", Form::kHex, offsetof(TileNodeHeader, magic), 8},
    Member{"record_count", Form::kUnsigned, offsetof(TileNodeHeader, record_count), 8},
    Member{"level", Form::kUnsigned, offsetof(TileNodeHeader, level), 2},
    Member{"child_count", Form::kUnsigned, offsetof(TileNodeHeader, child_count), 2},
    Member{"reserved", Form::kZeros, offsetof(TileNodeHeader, reserved), 4},
};

constexpr std::array kTileChild{
    Member{"offset_bytes", Form::kHex, offsetof(TileChild, offset_bytes), 8},
    Member{"born", Form::kUnsigned, offsetof(TileChild, born), 8},
    Member{"run_id", Form::kUnsigned, offsetof(TileChild, run_id), 8},
    Member{"payload_bytes", Form::kUnsigned, offsetof(TileChild, payload_bytes), 8},
    Member{"record_count", Form::kUnsigned, offsetof(TileChild, record_count), 8},
    Member{"checksum", Form::kHex, offsetof(TileChild, checksum), 8},
};

constexpr std::array kRecordTile{
    Member{"magic", Form::kHex, offsetof(RecordTileHeader, magic), 8},
    Member{"page_count", Form::kUnsigned, offsetof(RecordTileHeader, page_count), 4},
    Member{"hash_bytes", Form::kUnsigned, offsetof(RecordTileHeader, hash_bytes), 4},
};

constexpr std::array kRecordColumn{
    Member{"base", Form::kHex, offsetof(RecordColumn, base), 8},
    Member{"width_bytes", Form::kUnsigned, offsetof(RecordColumn, width_bytes), 1},
    Member{"reserved", Form::kZeros, offsetof(RecordColumn, reserved), 7},
};

constexpr std::array kRecordColumnNames{"state",       "crawl_count", "change_count",
                                        "first_crawl", "crawl_span",  "score",
                                        "hash_end",    "status",      "failures"};
static_assert(kRecordColumnNames.size() == std::tuple_size_v<decltype(RecordTileHeader::columns)>);

constexpr std::array kScoreFooter{
    Member{"entry_count", Form::kUnsigned, offsetof(ScoreFooter, entry_count), 8},
    Member{"page_count", Form::kUnsigned, offsetof(ScoreFooter, page_count), 8},
    Member{"link_count", Form::kUnsigned, offsetof(ScoreFooter, link_count), 8},
    Member{"superstep_count", Form::kUnsigned, offsetof(ScoreFooter, superstep_count), 8},
    Member{"generation", Form::kUnsigned, offsetof(ScoreFooter, generation), 8},
    Member{"time_us", Form::kTime, offsetof(ScoreFooter, time_us), 8},
    Member{"damping", Form::kFloat, offsetof(ScoreFooter, damping), 8},
    Member{"precision", Form::kFloat, offsetof(ScoreFooter, precision), 8},
    Member{"residual", Form::kFloat, offsetof(ScoreFooter, residual), 8},
    Member{"sum", Form::kFloat, offsetof(ScoreFooter, sum), 8},
    Member{"iteration_count", Form::kUnsigned, offsetof(ScoreFooter, iteration_count), 4},
    Member{"scorer", Form::kUnsigned, offsetof(ScoreFooter, scorer), 2},
    Member{"subject", Form::kUnsigned, offsetof(ScoreFooter, subject), 2},
    Member{"codec", Form::kUnsigned, offsetof(ScoreFooter, codec), 2},
    Member{"flags", Form::kHex, offsetof(ScoreFooter, flags), 2},
    Member{"reserved", Form::kZeros, offsetof(ScoreFooter, reserved), 4},
    Member{"magic", Form::kHex, offsetof(ScoreFooter, magic), 8},
};

constexpr std::array kQueueTableHeader{
    Member{"magic", Form::kHex, offsetof(QueueTableHeader, magic), 8},
    Member{"entries", Form::kUnsigned, offsetof(QueueTableHeader, entries), 8},
    Member{"entry_count", Form::kUnsigned, offsetof(QueueTableHeader, entry_count), 8},
    Member{"page_count", Form::kUnsigned, offsetof(QueueTableHeader, page_count), 8},
    Member{"run_count", Form::kUnsigned, offsetof(QueueTableHeader, run_count), 4},
    Member{"change_run_count", Form::kUnsigned, offsetof(QueueTableHeader, change_run_count), 4},
};

constexpr std::array kValuesHeader{
    Member{"magic", Form::kHex, offsetof(ValuesHeader, magic), 8},
    Member{"value_count", Form::kUnsigned, offsetof(ValuesHeader, value_count), 4},
    Member{"reserved", Form::kZeros, offsetof(ValuesHeader, reserved), 4},
};

constexpr std::array kQueueRunCut{
    Member{"run_id", Form::kUnsigned, offsetof(QueueRunCut, run_id), 8},
    Member{"cut_order", Form::kHex, offsetof(QueueRunCut, cut_order), 8},
    Member{"cut_page", Form::kUnsigned, offsetof(QueueRunCut, cut_page), 8},
};

constexpr std::array kQueueFragment{
    Member{"lowest_order", Form::kHex, offsetof(QueueFragment, lowest_order), 8},
    Member{"lowest_page", Form::kUnsigned, offsetof(QueueFragment, lowest_page), 8},
    Member{"first_page", Form::kUnsigned, offsetof(QueueFragment, first_page), 8},
    Member{"entry_count", Form::kUnsigned, offsetof(QueueFragment, entry_count), 4},
    Member{"order_shift", Form::kUnsigned, offsetof(QueueFragment, order_shift), 1},
    Member{"order_bytes", Form::kUnsigned, offsetof(QueueFragment, order_bytes), 1},
    Member{"page_bytes", Form::kUnsigned, offsetof(QueueFragment, page_bytes), 1},
    Member{"reserved", Form::kZeros, offsetof(QueueFragment, reserved), 1},
};

constexpr std::array kQueueRunFooter{
    Member{"entry_count", Form::kUnsigned, offsetof(QueueRunFooter, entry_count), 8},
    Member{"highest_order", Form::kHex, offsetof(QueueRunFooter, highest_order), 8},
    Member{"highest_page", Form::kUnsigned, offsetof(QueueRunFooter, highest_page), 8},
    Member{"fragment_count", Form::kUnsigned, offsetof(QueueRunFooter, fragment_count), 4},
    Member{"reserved", Form::kZeros, offsetof(QueueRunFooter, reserved), 4},
    Member{"magic", Form::kHex, offsetof(QueueRunFooter, magic), 8},
};

/// A struct inside another one, as far as the bytes hold it whole.
void add_nested(Fields& fields, std::string name, std::span<const Member> members, Extent place,
                std::span<const std::byte> bytes) {
  if (bytes.size() < place.length_bytes || place.offset_bytes > bytes.size() - place.length_bytes) {
    return;
  }
  fields.push_back({std::move(name), "struct", place.offset_bytes, place.length_bytes, {}, {}, 0});
  for (Field& field :
       describe_members(members, bytes.subspan(place.offset_bytes, place.length_bytes))) {
    field.offset_bytes += place.offset_bytes;
    field.depth = 1;
    fields.push_back(std::move(field));
  }
}

}  // namespace

Fields describe_members(std::span<const Member> members, std::span<const std::byte> bytes) {
  Fields fields;
  for (const Member& member : members) {
    if (member.offset_bytes + member.length_bytes > bytes.size()) break;
    const auto piece = bytes.subspan(member.offset_bytes, member.length_bytes);
    Field field{member.name,
                type_of(member.form, piece.size()),
                member.offset_bytes,
                piece.size(),
                value_of(member.form, piece),
                {},
                0};
    if (member.form == Form::kZeros && !is_zero(piece)) field.problem = "bytes are not zero";
    fields.push_back(std::move(field));
  }
  return fields;
}

std::string hex(std::uint64_t number) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

Fields describe_identity(std::span<const std::byte> bytes) {
  return describe_members(kIdentity, bytes);
}
Fields describe_superblock(std::span<const std::byte> bytes) {
  return describe_members(kSuperblock, bytes);
}
Fields describe_root_end(std::span<const std::byte> bytes) {
  return describe_members(kRootEnd, bytes);
}
Fields describe_partition_footer(std::span<const std::byte> bytes) {
  return describe_members(kPartitionFooter, bytes);
}
Fields describe_key_block(std::span<const std::byte> bytes) {
  return describe_members(kKeyBlock, bytes);
}
Fields describe_key_run(std::span<const std::byte> bytes) {
  return describe_members(kKeyRun, bytes);
}
Fields describe_aux_run(std::span<const std::byte> bytes) {
  return describe_members(kAuxRun, bytes);
}
Fields describe_result_run(std::span<const std::byte> bytes) {
  return describe_members(kResultRun, bytes);
}
Fields describe_origin_footer(std::span<const std::byte> bytes) {
  return describe_members(kOriginFooter, bytes);
}
Fields describe_origin_block(std::span<const std::byte> bytes) {
  return describe_members(kOriginBlock, bytes);
}
Fields describe_event_run(std::span<const std::byte> bytes) {
  return describe_members(kEventRun, bytes);
}
Fields describe_link_block(std::span<const std::byte> bytes) {
  return describe_members(kLinkBlock, bytes);
}
Fields describe_link_index_entry(std::span<const std::byte> bytes) {
  return describe_members(kLinkIndexEntry, bytes);
}
Fields describe_dense_index_group(std::span<const std::byte> bytes) {
  return describe_members(kDenseIndexGroup, bytes);
}
Fields describe_link_run_footer(std::span<const std::byte> bytes) {
  return describe_members(kLinkRunFooter, bytes);
}
Fields describe_record_tile(std::span<const std::byte> bytes) {
  Fields fields = describe_members(kRecordTile, bytes);
  for (std::size_t i = 0; i < kRecordColumnNames.size(); ++i) {
    const Extent place{offsetof(RecordTileHeader, columns) + i * sizeof(RecordColumn),
                       sizeof(RecordColumn)};
    add_nested(fields, kRecordColumnNames[i], kRecordColumn, place, bytes);
  }
  return fields;
}
Fields describe_score_footer(std::span<const std::byte> bytes) {
  return describe_members(kScoreFooter, bytes);
}
Fields describe_queue_table(std::span<const std::byte> bytes) {
  return describe_members(kQueueTableHeader, bytes);
}
Fields describe_values_header(std::span<const std::byte> bytes) {
  return describe_members(kValuesHeader, bytes);
}
Fields describe_queue_run_cut(std::span<const std::byte> bytes) {
  return describe_members(kQueueRunCut, bytes);
}
Fields describe_queue_fragment(std::span<const std::byte> bytes) {
  return describe_members(kQueueFragment, bytes);
}
Fields describe_queue_run_footer(std::span<const std::byte> bytes) {
  return describe_members(kQueueRunFooter, bytes);
}
Fields describe_numbers(const NumberList& list, std::span<const std::byte> bytes) {
  const Form form = list.is_float ? Form::kFloat : Form::kUnsigned;
  Fields fields;
  for (std::uint64_t at = 0; at + list.width <= bytes.size(); at += list.width) {
    const auto number = bytes.subspan(at, list.width);
    fields.push_back(
        {std::string(list.name) + "[" + std::to_string(list.first + at / list.width) + "]",
         type_of(form, list.width),
         at,
         list.width,
         value_of(form, number),
         {},
         0});
  }
  return fields;
}
Fields describe_tile_node(std::span<const std::byte> bytes, std::size_t entries_max) {
  Fields fields = describe_members(kTileNode, bytes);
  if (bytes.size() < sizeof(TileNodeHeader)) return fields;
  const auto header = load_struct<TileNodeHeader>(bytes.data());
  for (std::size_t i = 0; i < std::min<std::size_t>(header.child_count, entries_max); ++i) {
    const Extent place{sizeof(TileNodeHeader) + i * sizeof(TileChild), sizeof(TileChild)};
    add_nested(fields, "children[" + std::to_string(i) + "]", kTileChild, place, bytes);
  }
  return fields;
}

}  // namespace crawlstore::format
