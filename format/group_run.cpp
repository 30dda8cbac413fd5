// SPDX-License-Identifier: Apache-2.0
#include "group_run.h"

#include <numeric>

#include "base/assert.h"
#include "endian.h"
#include "invalid.h"

namespace crawlstore::format {

namespace {

constexpr std::uint64_t kGroupColumnUnit = 8;

template <class T>
std::uint64_t sum_of_lengths(std::span<const T> lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0});
}

/// Appends a column, and zeros up to a multiple of 8.
template <class T>
void append_group_column(std::span<const T> column, std::vector<std::byte>& out) {
  const auto bytes = std::as_bytes(column);
  out.insert(out.end(), bytes.begin(), bytes.end());
  out.resize(out.size() + (round_up(bytes.size(), kGroupColumnUnit) - bytes.size()));
}

/// Columns that are taken from the front of hostile bytes, whose length is a multiple of 8.
struct GroupColumns {
  std::span<const std::byte> rest;

  template <class T>
  Result<std::span<const T>> take(std::uint64_t count, std::uint64_t payload_bytes) {
    const std::uint64_t place = payload_bytes - rest.size();
    if (count > rest.size() / sizeof(T)) return invalid("a group run is cut short", 0);
    const auto column = rest.first(count * sizeof(T));
    const auto end = round_up(column.size(), kGroupColumnUnit);
    if (!is_zero(rest.first(end).subspan(column.size()))) {
      return invalid("padding of a group run is not zero", place + column.size());
    }
    rest = rest.subspan(end);
    return numbers<T>(column);
  }
};

const char* check_group_header(const GroupRunHeader& header) {
  if (header.magic != kGroupRunMagic) return "the magic number of a group run is wrong";
  if (header.reserved_1 != 0 || header.reserved_2 != 0) {
    return "reserved bytes of a group run are not zero";
  }
  if (header.codec > static_cast<std::uint16_t>(AuxCodec::kLz4)) {
    return "the codec of a group run is unknown";
  }
  if (header.group_count == 0 ||
      header.group_count > std::uint64_t{kGroupMax} + 1 - header.first_group) {
    return "the groups of a group run are out of range";
  }
  const bool has_blocks = header.codec == static_cast<std::uint16_t>(AuxCodec::kLz4);
  if (header.block_count != (has_blocks ? aux_block_count(header.key_bytes) : 0) ||
      has_blocks != (header.block_count != 0)) {
    return "the block count of a group run is not that of its keys";
  }
  return nullptr;
}

}  // namespace

void encode_group_run(const GroupRun& run, std::vector<std::byte>& out) {
  CRAWLSTORE_ASSERT(!run.lengths.empty() && run.first_group <= kGroupMax &&
                    run.lengths.size() <= std::uint64_t{kGroupMax} + 1 - run.first_group);
  CRAWLSTORE_ASSERT(run.keys.size() == sum_of_lengths(run.lengths));
  const auto blocks = compress_auxes(run.keys);
  const std::span<const std::byte> stored = blocks ? blocks->bytes : run.keys;
  std::span<const std::uint32_t> block_lengths;
  if (blocks) block_lengths = blocks->lengths;
  const GroupRunHeader header{
      .magic = kGroupRunMagic,
      .first_group = run.first_group,
      .group_count = static_cast<std::uint32_t>(run.lengths.size()),
      .key_bytes = run.keys.size(),
      .codec = static_cast<std::uint16_t>(blocks ? AuxCodec::kLz4 : AuxCodec::kRaw),
      .reserved_1 = 0,
      .reserved_2 = 0,
      .block_count = block_lengths.size()};
  out.reserve(out.size() + sizeof header + run.lengths.size_bytes() + block_lengths.size_bytes() +
              stored.size() + 3 * kGroupColumnUnit);
  out.resize(out.size() + sizeof header);
  store_struct(out.data() + out.size() - sizeof header, header);
  append_group_column(run.lengths, out);
  append_group_column(block_lengths, out);
  append_group_column(stored, out);
}

Result<GroupRun> parse_group_run(std::span<const std::byte> bytes) {
  CRAWLSTORE_ASSERT(reinterpret_cast<std::uintptr_t>(bytes.data()) % kGroupColumnUnit == 0);
  if (bytes.size() < sizeof(GroupRunHeader) || bytes.size() % kGroupColumnUnit != 0) {
    return invalid("the length of a group run is out of range", 0);
  }
  const auto header = load_struct<GroupRunHeader>(bytes.data());
  if (const char* broken = check_group_header(header)) return invalid(broken, 0);
  GroupColumns columns{bytes.subspan(sizeof header)};
  GroupRun run;
  run.first_group = header.first_group;
  CRAWLSTORE_TRY(run.lengths, columns.take<std::uint16_t>(header.group_count, bytes.size()));
  if (sum_of_lengths(run.lengths) != header.key_bytes) {
    return invalid("the keys of a group run have another length than its header says", 0);
  }
  if (header.codec == static_cast<std::uint16_t>(AuxCodec::kRaw)) {
    CRAWLSTORE_TRY(run.keys, columns.take<std::byte>(header.key_bytes, bytes.size()));
  } else {
    const std::uint64_t place = bytes.size() - columns.rest.size();
    run.blocks.raw_bytes = header.key_bytes;
    CRAWLSTORE_TRY(run.blocks.lengths,
                   columns.take<std::uint32_t>(header.block_count, bytes.size()));
    if (const char* broken = check_block_lengths(run.blocks)) return invalid(broken, place);
    CRAWLSTORE_TRY(run.blocks.bytes,
                   columns.take<std::byte>(sum_of_lengths(run.blocks.lengths), bytes.size()));
  }
  if (!columns.rest.empty()) {
    return invalid("a group run is too long", bytes.size() - columns.rest.size());
  }
  return run;
}

Result<void> check_group_blocks(const GroupRun& run) {
  if (const char* broken = check_blocks(run.blocks)) return invalid(broken, 0);
  return {};
}

}  // namespace crawlstore::format
