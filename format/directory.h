// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The directory as plain structs, and its FlatBuffers codec: spec/container.md#directory.
/// Parsing copies: the structs never point into the input. Pure functions; any thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

namespace crawlstore::format {

/// One append to a log, or the whole of a blob.
struct RunRef {
  std::uint64_t offset_bytes = 0;
  Generation born;
  RunId run_id;
  std::uint64_t payload_bytes = 0;
  std::uint64_t record_count = 0;
  std::uint64_t checksum = 0;
  friend bool operator==(const RunRef&, const RunRef&) = default;
  [[nodiscard]] Extent extent() const;  ///< length follows from payload_bytes
};

struct SegmentEntry {
  SegmentId id;
  SegmentKind kind{};
  StorageClass storage_class{};
  SegmentId owner;   ///< the segment this one belongs to; 0 = none
  std::string name;  ///< at most kNameBytesMax bytes; may be empty
  /// Ascending run ids. A tiled segment in a loaded directory has all its tiles and nodes here, the
  /// root last; in a parsed table it has the root alone.
  std::vector<RunRef> runs;
  /// For a loaded tiled segment, the places in `runs`: of the tiles in their order, then of the
  /// nodes of level 0 in theirs, and so on. Otherwise empty.
  std::vector<std::uint32_t> tree_order{};
  friend bool operator==(const SegmentEntry&, const SegmentEntry&) = default;

  /// The run of this id, or nullptr. O(log n).
  [[nodiscard]] const RunRef* find_run(RunId run) const;
};

/// The rules that the kind of a segment decides: spec/container.md#segments.
struct KindRule {
  SegmentKind kind{};
  std::string_view name;  ///< of spec/registry.md
  StorageClass storage_class{};
  SegmentKind owner{};        ///< the kind of its owner; 0: it has a name and no owner
  std::uint64_t feature = 0;  ///< the bit of features_incompat that it asks for
  bool is_named = false;      ///< it has a name although it has an owner
};

/// The place of one table of the directory.
struct TableRef {
  std::uint64_t offset_bytes = 0;
  Generation born;
  std::uint64_t checksum = 0;
  SegmentId first_segment;
  std::uint32_t payload_bytes = 0;
  std::uint32_t segment_count = 0;
  friend bool operator==(const TableRef&, const TableRef&) = default;
  [[nodiscard]] Extent extent() const;  ///< payload rounded up to the unit
};

/// Allocated, but not referred to by the generation of the directory that lists it.
struct HeldExtent {
  Extent extent;
  Generation born;
  Generation retired;
  friend bool operator==(const HeldExtent&, const HeldExtent&) = default;
};

struct HeldTableRef {
  std::uint64_t offset_bytes = 0;
  Generation born;
  std::uint64_t checksum = 0;
  std::uint32_t payload_bytes = 0;
  std::uint32_t entry_count = 0;
  friend bool operator==(const HeldTableRef&, const HeldTableRef&) = default;
  [[nodiscard]] Extent extent() const;
};

struct DirectoryRoot {
  Generation generation;
  std::uint64_t next_segment_id = 1;
  std::uint64_t next_run_id = 1;
  std::vector<TableRef> tables;  ///< ascending first_segment, disjoint id ranges
  std::vector<HeldExtent> held;  ///< we write at most kHeldInlineMax, any count is read
  std::vector<HeldTableRef> held_tables;
  Generation taken_back;  ///< the newest that a rollback took back; 0: none
};

/// Bytes as FlatBuffers, padded with zeros to a multiple of 8. Deterministic. Only the last run of
/// a tiled segment is written.
std::vector<std::byte> encode_root(const DirectoryRoot& root);
std::vector<std::byte> encode_table(std::span<const SegmentEntry> segments);
std::vector<std::byte> encode_held_table(std::span<const HeldExtent> entries);

/// Verify and copy. Checks everything that one piece alone can show: FlatBuffers structure, counts
/// against limits, alignment, ranges inside [kDataStart, high_water), ascending ids, kinds' storage
/// class, run counts (blob: exactly 1), names, born <= generation, born < retired <= generation;
/// in a root also that the extents it names are disjoint, so that what they hold fits the file.
///   errors  kDirectoryInvalid, text names the rule; offset is `base_offset` (the piece's place)
struct ParseLimits {
  Generation generation;  ///< of the directory
  std::uint64_t high_water_bytes = 0;
  std::uint64_t base_offset = 0;      ///< where the bytes came from, for errors
  std::span<const KindRule> kinds{};  ///< of segments in tables; others are refused
};

/// Checks the rules that a reference to a run must keep by itself, whoever makes it: nullptr, or
/// the text that names the broken rule.
const char* check_run_ref(const RunRef& run, const ParseLimits& limits);

Result<DirectoryRoot> parse_root(std::span<const std::byte> bytes, const ParseLimits& limits);
Result<std::vector<SegmentEntry>> parse_table(std::span<const std::byte> bytes,
                                              const ParseLimits& limits);
Result<std::vector<HeldExtent>> parse_held_table(std::span<const std::byte> bytes,
                                                 const ParseLimits& limits);

/// errors kDirectoryInvalid at the start of the first extent that overlaps another one. Sorts.
Result<void> check_disjoint(std::vector<Extent>& extents);

}  // namespace crawlstore::format
