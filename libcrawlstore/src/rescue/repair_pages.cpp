// SPDX-License-Identifier: Apache-2.0
//
// Invariants: indexes stay. A page whose URL is lost is forgotten: no key, no links, no record. A
// link is kept when one of both directions has it. Counts are those of what is written.
#include <algorithm>
#include <optional>
#include <utility>

#include <crawlstore/page_key.h>
#include <crawlstore/shard.h>
#include <crawlstore/tools/page_gaps.h>

#include "container/tile_writer.h"
#include "container/work_steps.h"
#include "pages/content_index.h"
#include "pages/origins_pieces.h"
#include "pages/unparsed_urls.h"
#include "rescue/lost_pages.h"
#include "rescue/page_database.h"
#include "rescue/readable_origins.h"
#include "rescue/repair_keys.h"

namespace crawlstore::rescue {
namespace {

using pages::is_damage;

class PagesRepair {
 public:
  explicit PagesRepair(PageDatabase& database) : database_(database) {}

  Result<void> repair() {
    CRAWLSTORE_TRY(repair_origins());
    CRAWLSTORE_TRY(repair_records());
    CRAWLSTORE_TRY(repair_links(database_));
    repair_events();
    CRAWLSTORE_TRY(repair_contents());
    KeysRepair keys(database_);
    const bool needs_keys = keys.is_needed();
    if (needs_keys) CRAWLSTORE_TRY(keys.drop());
    CRAWLSTORE_TRY(pages::put_state(database_.writer, database_.state));
    CRAWLSTORE_TRY(database_.writer.commit());
    return needs_keys ? keys.make() : Result<void>{};
  }

 private:
  /// Makes the index of contents again: from records that may be others.
  Result<void> repair_contents() {
    if (!table().has_contents) return {};
    if (table().contents) database_.writer.remove(table().contents);
    table().contents = {};
    const Progress look = [this](std::uint64_t, std::uint64_t) {
      return database_.patient.advance(0).has_value();
    };
    container::WorkSteps steps(nullptr, look);
    return pages::rebuild_contents(database_.writer, database_.state, steps);
  }

  Result<void> repair_origins() {
    if (!database_.is_damaged(table().origins)) return {};
    auto log = *database_.writer.directory()->find(table().origins);
    const ReadableOrigins origins(database_.reader(), log);
    LostPages gaps;
    pages::OriginsPlan plan;
    plan.page_count = table().page_count;
    for (std::uint64_t page = 0; page < table().page_count; ++page) {
      CRAWLSTORE_TRY(database_.look());
      const auto origin = origins.find(page);
      if (origin) {
        plan.url_bytes += origin->url.size();
        continue;
      }
      if (!is_damage(origin.error())) return tl::unexpected<Error>(origin.error());
      database_.forgotten[page] = true;
      gaps.add(page, origin.error());
    }
    database_.is_any_forgotten = !gaps.empty();
    gaps.tell(database_.patient, LostPart::kUrls, database_.state.name);
    return write_origins(origins, std::move(log), plan);
  }

  Result<void> write_origins(const ReadableOrigins& origins, format::SegmentEntry log,
                             const pages::OriginsPlan& plan) {
    const std::uint64_t piece_bytes = pages::origin_piece_bytes(plan.url_bytes);
    const RunId first_run =
        database_.writer.new_run_ids(pages::origin_pieces_max(plan, piece_bytes));
    pages::OriginsPieces runs(database_.writer, label_of(log, first_run), plan, piece_bytes);
    pages::UnparsedUrls unparsed(database_.writer.identity().key_seed);
    std::vector<std::uint32_t> depths(table().page_count);
    table().unparsed_count = 0;
    for (std::uint64_t page = 0; page < table().page_count; ++page) {
      CRAWLSTORE_TRY(database_.look());
      format::Origin origin{{}, std::nullopt, 0};
      if (!database_.forgotten[page]) {
        CRAWLSTORE_TRY(origin, origins.find(page));
        if (origin.linked_from && *origin.linked_from < page &&
            !database_.forgotten[*origin.linked_from]) {
          origin.depth = depths[page] =
              format::depth_from(depths[*origin.linked_from], origin.by_redirect);
        } else {
          origin.linked_from = std::nullopt;
          origin.by_redirect = false;
          origin.depth = 0;
        }
        if (!origin.url.empty() && table().keys &&
            unparsed.contains(page_key(origin.url, database_.writer.identity().key_seed).key,
                              origin.url)) {
          ++table().unparsed_count;
        }
      }
      CRAWLSTORE_TRY(runs.append(origin));
    }
    CRAWLSTORE_TRY(log.runs, runs.finish());
    database_.writer.put(std::move(log));
    runs.give_back();
    return {};
  }

  [[nodiscard]] bool is_elsewhere(std::uint64_t page, const Shard& shard) const {
    if (shard.is_alone() || !table().origins) return false;
    const auto url = database_.view.url(page);
    return url && !url->empty() && !shard.has(url_host(*url));
  }

  Result<void> repair_records() {
    const Shard shard = read_shard(database_.inside().snapshot).value_or(Shard());
    const bool needs_repair = database_.is_damaged(table().records) || database_.is_any_forgotten ||
                              database_.is_doubtful() || !shard.is_alone();
    if (!table().records || !needs_repair) return {};
    CRAWLSTORE_TRY(auto tiles, container::TileWriter::open(database_.writer, table().records));
    LostPages gaps;
    std::vector<std::byte> payload;
    std::vector<format::PageRecord> records;
    table().crawled_count = 0;
    table().elsewhere_count = 0;
    for (std::uint64_t tile = 0; tile < tiles.tile_count(); ++tile) {
      CRAWLSTORE_TRY(database_.patient.advance(0));
      const std::uint64_t first = tile * format::kTilePagesMax;
      const std::uint64_t end = std::min(table().page_count, first + format::kTilePagesMax);
      records.clear();
      const auto read = read_tile(tiles, tile, payload, records);
      bool changes = !read;
      if (!read) {
        if (!is_damage(read.error())) return read;
        gaps.add(first, end, read.error());
        records.assign(end - first, format::PageRecord{});
      }
      for (std::uint64_t page = first; page < end; ++page) {
        auto& record = records[page - first];
        if (database_.forgotten[page]) {
          record = {};
          record.state = PageState::kGone;
          changes = true;
        } else if (record.state == PageState::kKnown && is_elsewhere(page, shard)) {
          record.state = PageState::kElsewhere;  // its own record was lost
          changes = true;
        }
        table().crawled_count += record.crawl_count != 0 ? 1 : 0;
        table().elsewhere_count += record.state == PageState::kElsewhere ? 1 : 0;
      }
      if (!changes) continue;
      payload.clear();
      format::encode_record_tile(records, payload);
      CRAWLSTORE_TRY(tiles.write(tile, payload, records.size()));
    }
    gaps.tell(database_.patient, LostPart::kRecords, database_.state.name);
    return tiles.finish();
  }

  Result<void> read_tile(container::TileWriter& tiles, std::uint64_t tile,
                         std::vector<std::byte>& payload,
                         std::vector<format::PageRecord>& records) const {
    CRAWLSTORE_TRY(tiles.read(tile, payload));
    CRAWLSTORE_TRY(pages::decode_records(payload, table().records, records));
    const std::uint64_t count =
        std::min(table().page_count - tile * format::kTilePagesMax, format::kTilePagesMax + 0UL);
    if (records.size() == count) return {};
    return fail(Errc::kSegmentInvalid, "a tile has another number of records", Error::kNoOffset,
                table().records);
  }

  // Edits that wait

  void repair_events() {
    if (!database_.is_damaged(table().events)) return;
    auto entry = *database_.writer.directory()->find(table().events);
    std::erase_if(entry.runs, [this](const format::RunRef& run) {
      if (!database_.patient.is_damaged(run)) return false;
      database_.patient.lose({LostPart::kEdits, database_.state.name, 0, 0, run.record_count,
                              damage_of(run, table().events)});
      table().event_count -= std::min(table().event_count, run.record_count);
      return true;
    });
    if (!entry.runs.empty()) {
      database_.writer.put(std::move(entry));
      return;
    }
    database_.writer.remove(table().events);
    table().events = {};
  }

  [[nodiscard]] format::PagesTable& table() const { return database_.table; }

  PageDatabase& database_;
};

Result<void> repair_database(Patient& patient, const format::SegmentEntry& entry, bool is_only) {
  auto state = pages::load_state(patient.writer, entry);
  auto view = open_past_damage(patient.snapshot(), entry.name);
  if (!state || !view) {
    const Error error = state ? view.error() : state.error();
    if (!is_damage(error)) return tl::unexpected<Error>(error);
    patient.lose({LostPart::kPages, entry.name, 0, 0, 0, error});
    if (const auto* keys = patient.writer.directory()->find_named(SegmentKind::kDrum, entry.name)) {
      patient.remove(*keys);
    }
    patient.remove(entry);
    patient.is_all_forgotten = is_only;
    CRAWLSTORE_TRY(patient.writer.commit());
    return {};
  }
  PageDatabase database(patient, std::move(*state), std::move(*view));
  CRAWLSTORE_TRY(PagesRepair(database).repair());
  if (is_only) patient.forget(database.forgotten);
  return {};
}

}  // namespace

Result<void> repair_pages(Patient& patient) {
  const auto databases = patient.segments(SegmentKind::kPages);
  for (const auto& entry : databases) {
    const auto* keys = patient.writer.directory()->find_named(SegmentKind::kDrum, entry.name);
    const bool is_damaged = patient.has_damage(entry) || patient.doubtful.contains(entry.id) ||
                            (keys != nullptr && patient.has_damage(*keys));
    if (is_damaged) CRAWLSTORE_TRY(repair_database(patient, entry, databases.size() == 1));
  }
  return {};
}

}  // namespace crawlstore::rescue
