// SPDX-License-Identifier: Apache-2.0
//
// Invariants: a tile is kept when it is whole and a whole node names it. The others are records of
// pages that are known, and nothing more.
#include <algorithm>
#include <utility>

#include "container/tile_writer.h"
#include "format/pages_table.h"
#include "format/record_tile.h"
#include "pages/pages_state.h"
#include "rescue/lost_pages.h"
#include "rescue/patient.h"

namespace crawlstore::rescue {
namespace {

/// Gives a page database a new segment of records, of the tiles that a damaged tree still has.
class TreeRepair {
 public:
  TreeRepair(Patient& patient, container::Reader& source,
             const container::DirectoryDamage::Tree& tree, const format::SegmentEntry& pages,
             format::PagesTable table)
      : patient_(patient),
        source_(source),
        tree_(tree),
        state_{pages.id, pages.name, std::move(table)} {}

  Result<void> repair() {
    auto tiles = container::TileWriter::create(patient_.writer, tree_.entry.kind, state_.id);
    const std::uint64_t page_count = state_.table.page_count;
    state_.table.crawled_count = 0;
    state_.table.elsewhere_count = 0;
    std::vector<std::byte> payload;
    std::vector<format::PageRecord> records;
    for (std::uint64_t first = 0; first < page_count; first += format::kTilePagesMax) {
      CRAWLSTORE_TRY(patient_.advance(0));
      const std::uint64_t index = first / format::kTilePagesMax;
      const std::uint64_t end = std::min(page_count, first + format::kTilePagesMax);
      const auto read = read_tile(index, payload, records);
      if (!read || records.size() != end - first) {
        lost_.add(first, end, read ? tree_.error : read.error());
        records.assign(end - first, format::PageRecord{});
        payload.clear();
        format::encode_record_tile(records, payload);
      }
      for (const auto& record : records) {
        state_.table.crawled_count += record.crawl_count != 0;
        state_.table.elsewhere_count += record.state == PageState::kElsewhere;
      }
      CRAWLSTORE_TRY(tiles.write(index, payload, records.size()));
    }
    // Then repair_pages() finds the pages of a shard that are of others.
    const bool is_shard =
        (patient_.writer.directory()->superblock.features_incompat & format::kShardsFeature) != 0;
    if (is_shard && !lost_.empty()) patient_.doubtful.insert(state_.id);
    lost_.tell(patient_, LostPart::kRecords, state_.name);
    state_.table.records = tiles.segment();
    CRAWLSTORE_TRY(tiles.finish());
    CRAWLSTORE_TRY(pages::put_state(patient_.writer, state_));
    CRAWLSTORE_TRY(patient_.writer.commit());
    return {};
  }

 private:
  Result<void> read_tile(std::uint64_t index, std::vector<std::byte>& payload,
                         std::vector<format::PageRecord>& records) {
    records.clear();
    if (index >= tree_.tiles.size() || !tree_.tiles[index]) {
      return tl::unexpected<Error>(tree_.error);
    }
    const auto& run = *tree_.tiles[index];
    CRAWLSTORE_TRY(container::read_run(
        *source_.storage(), container::run_name(source_.identity(), tree_.entry.id, run.run_id),
        run, payload));
    return pages::decode_records(payload, tree_.entry.id, records);
  }

  Patient& patient_;
  container::Reader& source_;
  const container::DirectoryDamage::Tree& tree_;
  pages::PagesState state_;
  LostPages lost_;
};

}  // namespace

Result<void> repair_trees(Patient& patient, container::Reader& source,
                          const container::DirectoryDamage& damage) {
  for (const auto& tree : damage.trees) {
    const auto* pages = patient.writer.directory()->find(tree.entry.owner);
    if (pages == nullptr || pages->kind != SegmentKind::kPages) continue;
    const auto& run = pages->runs.front();
    std::vector<std::byte> payload;
    const auto name = container::run_name(patient.writer.identity(), pages->id, run.run_id);
    // A damaged table takes the database with it, which repair_pages() tells.
    if (!container::read_run(patient.copy, name, run, payload)) continue;
    auto table = format::parse_pages_table(payload);
    // Each tile has a unit of the file.
    const std::uint64_t tiles_max =
        source.directory().superblock.high_water_bytes / format::kUnitBytes;
    if (!table || table->page_count / format::kTilePagesMax > tiles_max) continue;
    const auto entry = *pages;
    CRAWLSTORE_TRY(TreeRepair(patient, source, tree, entry, std::move(*table)).repair());
  }
  return {};
}

}  // namespace crawlstore::rescue
