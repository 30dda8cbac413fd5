// SPDX-License-Identifier: Apache-2.0
//
// The checks that rule 1 of Directory asks of a piece, and FlatBuffers' own verifier does not.
#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "container/kind.h"
#include "format/directory.h"
#include "format/drum_table.h"
#include "format/format_samples.h"

namespace crawlstore::format {
namespace {

using namespace crawlstore::testing;

const ParseLimits kLimits{{10}, std::uint64_t{1} << 40, kDataStart, container::all_kinds().rules()};

/// A piece of a schema, and where its tables stand.
struct Piece {
  Bytes bytes;
  std::function<std::string(const Bytes&)> verdict;
  std::string refusal;
  std::vector<std::size_t> tables;
  std::size_t elements = 0;  // where the offsets of its vector of tables stand

  Piece(Bytes piece, std::string text, std::function<std::string(const Bytes&)> parse)
      : bytes(std::move(piece)), verdict(std::move(parse)), refusal(std::move(text)) {
    tables.push_back(u32(0));
  }
  /// Adds the tables of the vector that is field `n` of the root table.
  Piece with_elements(std::size_t n) && {
    const std::size_t field = tables[0] + u16(vtable(tables[0]) + 4 + 2 * n);
    elements = field + u32(field) + 4;
    for (std::size_t i = 0; i < u32(elements - 4); ++i) {
      tables.push_back(elements + 4 * i + u32(elements + 4 * i));
    }
    return std::move(*this);
  }

  [[nodiscard]] std::uint16_t u16(std::size_t at) const {
    return load<std::uint16_t>(bytes.data() + at);
  }
  [[nodiscard]] std::uint32_t u32(std::size_t at) const {
    return load<std::uint32_t>(bytes.data() + at);
  }
  [[nodiscard]] std::size_t vtable(std::size_t table) const {
    return static_cast<std::size_t>(static_cast<std::int64_t>(table) -
                                    load<std::int32_t>(bytes.data() + table));
  }
  /// The last of the tables that share a vtable with this one.
  [[nodiscard]] std::size_t last_sharer(std::size_t table) const {
    std::size_t last = table;
    for (const std::size_t other : tables) {
      if (vtable(other) == vtable(table)) last = std::max(last, other);
    }
    return last;
  }
};

std::vector<Piece> pieces() {
  DirectoryRoot root;
  root.generation = {10};
  root.tables = {{kDataStart, {3}, 111, {1}, 800, 5}};
  root.next_segment_id = 6;
  const RunRef run{kDataStart, {1}, {1}, 8, 1, 1};
  const std::vector<SegmentEntry> segments{
      {{4}, SegmentKind::kDrum, StorageClass::kBlob, {0}, "urls", {run}},
      {{6}, SegmentKind::kDrumKeyLog, StorageClass::kLog, {4}, "", {}}};
  const std::vector<HeldExtent> held{{{kDataStart, 4096}, {1}, {2}}};
  DrumTable drum;
  drum.buckets = {{0, {0}, {0}, {0}, 0, 0}};
  drum.consumers = {{0, "", {0}, 0}, {5, "fetcher", {16}, 100}};
  const std::string kind = " is not a FlatBuffer of its schema";
  return {{encode_root(root), "the directory root" + kind,
           [](const Bytes& b) { return text_of(parse_root(b, kLimits)); }},
          Piece(encode_table(segments), "a table" + kind,
                [](const Bytes& b) { return text_of(parse_table(b, kLimits)); })
              .with_elements(0),
          {encode_held_table(held), "a held table" + kind,
           [](const Bytes& b) { return text_of(parse_held_table(b, kLimits)); }},
          Piece(encode_drum_table(drum), "a drum" + kind, [](const Bytes& b) {
            return text_of(parse_drum_table(b));
          }).with_elements(7)};
}

TEST(FlatbufferInput, AcceptsTheSamples) {
  for (const Piece& piece : pieces()) EXPECT_EQ(piece.verdict(piece.bytes), "accepted");
  EXPECT_EQ(pieces()[1].tables.size(), 3U);
  EXPECT_EQ(pieces()[3].tables.size(), 3U);
}

// spec: container.md#directory rule 1
TEST(FlatbufferInput, RejectsAVtableThatIsTooShort) {
  for (const Piece& piece : pieces()) {
    for (const std::size_t table : piece.tables) {
      for (const std::uint16_t bytes : std::array<std::uint16_t, 2>{0, 2}) {
        EXPECT_EQ(piece.verdict(with(piece.bytes, piece.vtable(table), bytes)), piece.refusal);
      }
    }
  }
}

// spec: container.md#directory rule 1
TEST(FlatbufferInput, RejectsATableThatIsShorterThanItsFirstNumber) {
  for (const Piece& piece : pieces()) {
    for (const std::size_t table : piece.tables) {
      const std::size_t size = piece.vtable(table) + 2;
      for (const std::uint16_t bytes : std::array<std::uint16_t, 3>{0, 1, 3}) {
        EXPECT_EQ(piece.verdict(with(piece.bytes, size, bytes)), piece.refusal);
      }
      EXPECT_EQ(piece.verdict(with(piece.bytes, size, std::uint16_t{4})), "accepted")
          << "its fields need not lie inside";
    }
  }
}

// spec: container.md#directory rule 1
TEST(FlatbufferInput, RejectsATableThatEndsOutside) {
  for (const Piece& piece : pieces()) {
    for (const std::size_t table : piece.tables) {
      const std::size_t size = piece.vtable(table) + 2;
      const auto most = static_cast<std::uint16_t>(piece.bytes.size() - piece.last_sharer(table));
      EXPECT_EQ(piece.verdict(with(piece.bytes, size, most)), "accepted");
      EXPECT_EQ(piece.verdict(with(piece.bytes, size, static_cast<std::uint16_t>(most + 1))),
                piece.refusal);
    }
  }
}

// spec: container.md#directory rule 1
TEST(FlatbufferInput, RejectsAnOffsetOfZeroInAVectorOfTables) {
  for (const Piece& piece : pieces()) {
    if (piece.elements == 0) continue;
    EXPECT_EQ(piece.verdict(with(piece.bytes, piece.elements, std::uint32_t{0})), piece.refusal);
  }
}

}  // namespace
}  // namespace crawlstore::format
