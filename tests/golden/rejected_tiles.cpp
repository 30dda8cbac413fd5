// SPDX-License-Identifier: Apache-2.0
//
// The rejected golden files with a broken tiled segment or record tile.
#include "format/record_tile.h"
#include "format/tile_node.h"
#include "golden/rejected_maker.h"

namespace crawlstore::testing {
namespace {

constexpr std::uint64_t kPages = 200;  // of the base

format::SegmentEntry& records_of(CraftedFile& file) {
  return file.segment(SegmentKind::kPageRecords);
}

/// The beginning of a child of a node.
constexpr std::size_t child(std::size_t i) {
  return 24 + 48 * i;
}

/// The payload of the root node changed.
void add_nodes(Maker& make) {
  const auto node = [&make](const std::string& name, const std::function<void(Bytes&)>& change) {
    make.directory(name, "graph", [&](CraftedFile& f) {
      auto& records = records_of(f);
      const std::size_t root = records.runs.size() - 1;
      Bytes bytes = f.payload(records, root);
      change(bytes);
      f.set_payload(records, bytes, root);
    });
  };
  const auto reference = [&make](const std::string& name,
                                 const std::function<void(format::RunRef&)>& change) {
    make.directory(name, "graph", [&](CraftedFile& f) { change(records_of(f).runs.back()); });
  };
  node("node_too_long", [](Bytes& b) { b.resize(b.size() + 8); });
  node("node_shorter_than_a_child", [](Bytes& b) { b.resize(24); });
  node("node_of_65_children", [](Bytes& b) { b.resize(child(65)); });
  node("node_length_of_other_children", [](Bytes& b) { put<std::uint16_t>(b, 18, 2); });
  node("node_magic", [](Bytes& b) { b[0] ^= std::byte{1}; });
  node("node_reserved", [](Bytes& b) { put<std::uint32_t>(b, 20, 1); });
  node("node_level_over_4", [](Bytes& b) { put<std::uint16_t>(b, 16, 5); });
  node("node_without_children", [](Bytes& b) { put<std::uint16_t>(b, 18, 0); });
  node("node_child_count_over_64", [](Bytes& b) { put<std::uint16_t>(b, 18, 65); });
  node("node_record_count", [](Bytes& b) { add<std::uint64_t>(b, 8, 1); });
  node("node_record_count_of_a_child", [](Bytes& b) { add<std::uint64_t>(b, child(0) + 32, 1); });
  node("node_record_counts_overflow", [](Bytes& b) {
    b.insert(b.end(), b.begin() + child(0), b.end());
    put<std::uint16_t>(b, 18, 2);
    for (const std::size_t i : {0U, 1U}) {
      put<std::uint64_t>(b, child(i) + 32, std::uint64_t{1} << 63 | 100);
    }
  });
  reference("node_record_count_of_its_reference", [](auto& ref) { ref.record_count += 1; });
  node("node_child_without_payload", [](Bytes& b) { put<std::uint64_t>(b, child(0) + 24, 0); });
  node("node_child_payload_too_long",
       [](Bytes& b) { put<std::uint64_t>(b, child(0) + 24, std::uint64_t{1} << 48); });
  node("node_child_unaligned", [](Bytes& b) { add<std::uint64_t>(b, child(0), 512); });
  node("node_child_in_superblocks", [](Bytes& b) { put<std::uint64_t>(b, child(0), 0); });
  node("node_child_behind_end",
       [](Bytes& b) { put<std::uint64_t>(b, child(0), std::uint64_t{1} << 40); });
  node("node_child_born_zero", [](Bytes& b) { put<std::uint64_t>(b, child(0) + 8, 0); });
  node("node_child_born_after_it", [](Bytes& b) { add<std::uint64_t>(b, child(0) + 8, 1); });
  node("node_child_run_id_zero", [](Bytes& b) { put<std::uint64_t>(b, child(0) + 16, 0); });
  make.directory("node_child_run_id_not_below_its_own", "graph", [](CraftedFile& f) {
    auto& records = records_of(f);
    const std::size_t root = records.runs.size() - 1;
    Bytes bytes = f.payload(records, root);
    put<std::uint64_t>(bytes, child(0) + 16, records.runs[root].run_id.value);
    f.set_payload(records, bytes, root);
  });
  make.directory(
      "node_checksum", "graph", [](auto& f) { records_of(f).runs.back().checksum ^= 1; },
      Errc::kDirectoryDamaged);
  make.directory(
      "tile_checksum", "graph",
      [](auto& f) { f.bytes[records_of(f).runs.front().offset_bytes] ^= std::byte{1}; },
      Errc::kChunkDamaged);
}

/// Trees with more nodes than one.
void add_trees(Maker& make) {
  using Refs = std::vector<format::RunRef>;
  const auto tree =
      [&make](const std::string& name,
              const std::function<format::RunRef(
                  CraftedFile&, const std::function<format::RunRef(std::uint16_t, Refs)>& node)>&
                  root) {
        make.directory(name, "graph", [&](CraftedFile& f) {
          auto& records = records_of(f);
          records.runs.back() = root(f, [&](std::uint16_t level, Refs children) {
            Bytes payload;
            const format::TileNode node{level, std::move(children)};
            format::encode_tile_node(node, payload);
            return f.add_run(records.id, payload, node.record_count());
          });
        });
      };
  const auto tile = [](CraftedFile& f) {
    const auto& records = records_of(f);
    return f.add_run(records.id, f.payload(records), kPages);
  };
  tree("tree_child_is_no_node", [&](auto& f, const auto& node) {
    return node(1, {node(0, {tile(f)}), tile(f)});
  });
  tree("tree_child_of_another_level", [&](auto& f, const auto& node) {
    return node(2, {node(0, {tile(f)}), node(0, {tile(f)})});
  });
  tree("tree_child_of_its_own_level", [&](auto& f, const auto& node) {
    const auto pair = [&] { return node(1, {node(0, {tile(f)}), node(0, {tile(f)})}); };
    return node(1, {pair(), pair()});
  });
  tree("tree_node_not_full", [&](auto& f, const auto& node) {
    return node(1, {node(0, {tile(f)}), node(0, {tile(f)})});
  });
  tree("tree_root_with_one_child",
       [&](auto& f, const auto& node) { return node(1, {node(0, {tile(f)})}); });
  tree("tree_node_twice", [&](auto& f, const auto& node) {
    const auto leaf = node(0, Refs(64, tile(f)));
    return node(1, {leaf, leaf});
  });
  tree("tree_tile_twice", [&](auto& f, const auto& node) { return node(0, Refs(2, tile(f))); });
  tree("tree_tiles_overlap", [&](auto& f, const auto& node) {
    Refs tiles{tile(f), tile(f)};
    tiles[1].offset_bytes = tiles[0].offset_bytes;
    return node(0, tiles);
  });
  tree("tree_run_id_twice", [&](auto& f, const auto& node) {
    Refs tiles{tile(f), tile(f)};
    tiles[1].run_id = tiles[0].run_id;
    return node(0, tiles);
  });
  tree("tree_run_id_of_another_segment", [&](auto& f, const auto& node) {
    Refs tiles{tile(f)};
    tiles[0].run_id = f.segment(SegmentKind::kOutLinks).runs.front().run_id;
    return node(0, tiles);
  });
}

enum Column : std::size_t {
  kState,
  kCrawls,
  kChanges,
  kFirst,
  kSpan,
  kScore,
  kHashEnd,
  kStatus,
  kFailures
};

constexpr std::size_t column(Column which) {
  return 16 + 16 * static_cast<std::size_t>(which);
}

/// The stored number of a page, which must fit the width of the column.
void store(Bytes& b, Column which, std::size_t page, std::uint64_t number) {
  std::size_t place = sizeof(format::RecordTileHeader);
  for (std::size_t i = 0; i < which; ++i)
    place += kPages * std::to_integer<std::size_t>(b[24 + 16 * i]);
  const auto width = std::to_integer<std::size_t>(b[column(which) + 8]);
  if (width < 8 && number >> 8 * width != 0) std::abort();
  for (std::size_t i = 0; i < width; ++i) {
    b[place + page * width + i] = static_cast<std::byte>(number >> 8 * i);
  }
}

/// The same of a number that is not stored as it is.
void store_value(Bytes& b, Column which, std::size_t page, std::uint64_t value) {
  store(b, which, page, value - format::load<std::uint64_t>(&b[column(which)]));
}

void add_record_tiles(Maker& make) {
  const auto tile = [&make](const std::string& name, const std::function<void(Bytes&)>& change,
                            std::uint64_t record_count = kPages) {
    make.directory(
        name, "graph_of_crawled_pages",
        [&](CraftedFile& f) {
          Bytes bytes = f.payload(records_of(f));
          change(bytes);
          f.set_tile(records_of(f), 0, bytes, record_count);
        },
        Errc::kSegmentInvalid);
  };
  constexpr std::uint64_t kTimeMax = ~std::uint64_t{0} >> 1;
  tile("record_tile_too_long", [](Bytes& b) { b.resize(b.size() + 8); });
  tile("record_tile_cut", [](Bytes& b) { b.resize(120); });
  tile("record_tile_padding", [](Bytes& b) { b.back() = std::byte{1}; });
  tile("record_tile_magic", [](Bytes& b) { b[0] ^= std::byte{1}; });
  tile("record_tile_without_pages", [](Bytes& b) { put<std::uint32_t>(b, 8, 0); });
  tile("record_tile_of_8193_pages", [](Bytes& b) { put<std::uint32_t>(b, 8, 8193); });
  tile("record_tile_width_over_8", [](Bytes& b) { b[column(kState) + 8] = std::byte{9}; });
  tile("record_tile_reserved", [](Bytes& b) { b[column(kHashEnd) + 15] = std::byte{1}; });
  tile("record_state", [](Bytes& b) { store_value(b, kState, 0, 8); });
  tile("record_elsewhere_crawled", [](Bytes& b) { store_value(b, kState, 0, 7); });
  tile("record_crawl_count",
       [](Bytes& b) { put<std::uint64_t>(b, column(kCrawls), std::uint64_t{1} << 32); });
  tile("record_change_count",
       [](Bytes& b) { put<std::uint64_t>(b, column(kChanges), std::uint64_t{1} << 32); });
  tile("record_first_crawl", [](Bytes& b) { put<std::uint64_t>(b, column(kFirst), kTimeMax + 1); });
  tile("record_crawl_span", [](Bytes& b) { put<std::uint64_t>(b, column(kSpan), kTimeMax + 1); });
  tile("record_score_overflows",
       [](Bytes& b) { put<std::uint64_t>(b, column(kScore), std::uint64_t{1} << 32); });
  tile("record_sum_overflows",
       [](Bytes& b) { put<std::uint64_t>(b, column(kState), ~std::uint64_t{0}); });
  tile("record_hash_end_outside", [](Bytes& b) { store_value(b, kHashEnd, 199, 72); });
  tile("record_last_crawl",
       [](Bytes& b) { put<std::uint64_t>(b, column(kSpan), kTimeMax - 8000); });
  tile("record_uncrawled_is_crawled", [](Bytes& b) { store_value(b, kState, 2, 1); });
  tile("record_uncrawled_changed", [](Bytes& b) { store_value(b, kChanges, 2, 1); });
  tile("record_uncrawled_first_crawl", [](Bytes& b) { store(b, kFirst, 2, 1); });
  tile("record_uncrawled_span", [](Bytes& b) { store_value(b, kSpan, 2, 1); });
  tile("record_uncrawled_hash", [](Bytes& b) { store_value(b, kHashEnd, 2, 70); });
  tile("record_crawled_is_known", [](Bytes& b) { store_value(b, kState, 0, 0); });
  tile("record_crawled_without_first_crawl", [](Bytes& b) { store(b, kFirst, 0, 0); });
  tile("record_changes_not_below_crawls", [](Bytes& b) { store_value(b, kChanges, 0, 3); });
  tile("record_score_infinite", [](Bytes& b) { store_value(b, kScore, 0, 0x7F800000); });
  tile("record_score_not_a_number", [](Bytes& b) { store_value(b, kScore, 0, 0x7FC00000); });
  tile("record_hash_ends_descend", [](Bytes& b) { store_value(b, kHashEnd, 2, 67); });
  tile("record_hash_over_64", [](Bytes& b) { store_value(b, kHashEnd, 0, 65); });
  tile("record_status_over_65535",
       [](Bytes& b) { put<std::uint64_t>(b, column(kStatus), std::uint64_t{1} << 16); });
  tile("record_failures_over_32_bits",
       [](Bytes& b) { put<std::uint64_t>(b, column(kFailures), std::uint64_t{1} << 32); });
  tile("record_failures_of_no_failed_page",
       [](Bytes& b) { put<std::uint64_t>(b, column(kFailures), 1); });
  tile("record_failed_without_a_failure", [](Bytes& b) { store_value(b, kState, 0, 3); });
  tile("record_hash_bytes_left_over", [](Bytes& b) { add<std::uint32_t>(b, 12, 1); });
  tile(
      "record_count_of_a_tile", [](Bytes&) {}, kPages - 1);
  make.directory(
      "record_tile_not_full", "graph",
      [](CraftedFile& f) {
        Bytes half;
        format::encode_record_tile(std::vector<format::PageRecord>(kPages / 2), half);
        for (const std::uint64_t i : {0U, 1U}) f.set_tile(records_of(f), i, half, kPages / 2);
      },
      Errc::kSegmentInvalid);
}

}  // namespace

void add_rejected_tiles(Maker& make) {
  add_nodes(make);
  add_trees(make);
  add_record_tiles(make);
}

}  // namespace crawlstore::testing
