// SPDX-License-Identifier: Apache-2.0
#include "pages/pages_state.h"

#include <array>
#include <utility>

#include "container/run_io.h"
#include "container/tile_tree.h"
#include "format/layout.h"

namespace crawlstore::pages {
namespace {

/// That a segment which the table names is there, and is what the table takes it for.
Result<void> check_part(const container::SegmentWriter& writer, SegmentId owner, SegmentId id,
                        SegmentKind kind) {
  if (!id) return {};
  const auto* entry = writer.find(id);
  if (entry != nullptr && entry->kind == kind && entry->owner == owner) return {};
  return fail(Errc::kSegmentInvalid, "a page database names a segment that is not its own",
              Error::kNoOffset, owner);
}

}  // namespace

Result<void> check_page_count(const format::PagesTable& table,
                              const format::SegmentEntry* records) {
  if (table.page_count == 0) return {};
  const std::uint64_t tile_count = (table.page_count - 1) / format::kTilePagesMax + 1;
  if (records != nullptr && records->runs.back().record_count == table.page_count &&
      container::tile_count(*records) == tile_count) {
    return {};
  }
  return fail(Errc::kSegmentInvalid, "there are not as many records as pages", Error::kNoOffset,
              table.records);
}

Result<PagesState> load_state(container::SegmentWriter& writer, const format::SegmentEntry& entry) {
  const format::RunRef& run = entry.runs.front();
  if (run.payload_bytes > format::kPagesTableBytesMax) {
    return fail(Errc::kSegmentInvalid, "the table of a page database is too long", run.offset_bytes,
                entry.id);
  }
  std::vector<std::byte> payload;
  const auto name = container::run_name(writer.identity(), entry.id, run.run_id);
  CRAWLSTORE_TRY(container::read_run(writer.storage(), name, run, payload));
  const auto table = format::parse_pages_table(payload);
  if (!table) {
    return fail(Errc::kSegmentInvalid, table.error().text, run.offset_bytes, entry.id);
  }
  const std::array parts{std::pair{table->origins, SegmentKind::kPageOrigins},
                         std::pair{table->records, SegmentKind::kPageRecords},
                         std::pair{table->out_links, SegmentKind::kOutLinks},
                         std::pair{table->in_links, SegmentKind::kInLinks},
                         std::pair{table->gone_links, SegmentKind::kGoneLinks},
                         std::pair{table->events, SegmentKind::kPageEvents},
                         std::pair{table->fresh_keys, SegmentKind::kFreshKeys},
                         std::pair{table->contents, SegmentKind::kPageContents}};
  for (const auto& [id, kind] : parts) CRAWLSTORE_TRY(check_part(writer, entry.id, id, kind));
  CRAWLSTORE_TRY(check_page_count(*table, writer.find(table->records)));
  return PagesState{entry.id, entry.name, *table};
}

Result<void> put_state(container::SegmentWriter& writer, const PagesState& state) {
  const auto payload = format::encode_pages_table(state.table);
  CRAWLSTORE_TRY(
      const auto run,
      container::write_run(writer, {state.id, SegmentKind::kPages, {}, writer.new_run_ids(1)},
                           payload, 1));
  writer.put({state.id, SegmentKind::kPages, StorageClass::kBlob, {}, state.name, {run}});
  return {};
}

Result<void> subtract_gone(std::uint64_t& count, std::uint64_t gone) {
  if (gone > count) {
    return fail(Errc::kSegmentInvalid, "a page database holds more than its table counts");
  }
  count -= gone;
  return {};
}

Result<void> decode_records(std::span<const std::byte> payload, SegmentId segment,
                            std::vector<format::PageRecord>& records) {
  const auto broken = [segment](const Error& error) {
    return fail(error.code, error.text, Error::kNoOffset, segment);
  };
  const auto tile = format::RecordTile::parse(payload);
  if (!tile) return broken(tile.error());
  records.clear();
  records.reserve(format::kTilePagesMax);
  for (std::uint32_t i = 0; i < tile->page_count(); ++i) {
    const auto record = tile->record(i);
    if (!record) return broken(record.error());
    records.push_back(*record);
  }
  return {};
}

}  // namespace crawlstore::pages
