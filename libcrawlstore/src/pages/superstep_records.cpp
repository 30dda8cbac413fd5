// SPDX-License-Identifier: Apache-2.0
//
// Records of a superstep: tile after tile, those with a page that is new or that an edit names.
#include <algorithm>
#include <limits>
#include <utility>

#include "container/tile_writer.h"
#include "pages/put_links.h"
#include "pages/superstep.h"

namespace crawlstore::pages {
namespace {

/// At which counts of crawls stop.
constexpr std::uint32_t kCountMax = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kNoTile = std::numeric_limits<std::uint64_t>::max();

/// Adds the time of a crawl to a record that has some. Crawls may come out of order. A time that
/// lies ahead of now is of a clock that ran ahead: one that does not replaces it.
void add_crawl_time(std::int64_t time_us, std::int64_t now_us, format::PageRecord& record) {
  if (record.last_crawl_us > now_us && time_us <= now_us) {
    record.last_crawl_us = record.first_crawl_us <= now_us ? record.first_crawl_us : time_us;
  }
  record.first_crawl_us = std::min(record.first_crawl_us, time_us);
  record.last_crawl_us = std::max(record.last_crawl_us, time_us);
}

/// The score of an edit, unless it has no opinion: then what the page is worth stays.
void take_opinion(const BatchEdit& edit, format::PageRecord& record) {
  if (edit.score != 0) record.score = edit.score;
}

/// Sets what became of the page, which is no failure.
void set_outcome(PageState state, format::PageRecord& record) {
  record.state = state;
  record.failures = 0;
}

/// Counts a crawl of the page, whatever it brought.
void count_crawl(const BatchEdit& edit, std::int64_t now_us, format::PageRecord& record) {
  if (record.crawl_count == 0) record.first_crawl_us = record.last_crawl_us = edit.time_us;
  add_crawl_time(edit.time_us, now_us, record);
  if (record.crawl_count < kCountMax) ++record.crawl_count;
  set_outcome(PageState::kCrawled, record);
}

/// Takes the content that a crawl brought, before the crawl is counted. Returns whether it is
/// another one than that which was known.
bool take_content(const BatchEdit& edit, std::span<const std::byte> hash,
                  format::PageRecord& record) {
  const std::span<const std::byte> old(record.hash.data(), record.hash_bytes);
  const bool is_other = !std::ranges::equal(old, hash);
  if (record.crawl_count != 0 && is_other && record.change_count < kCountMax - 1) {
    ++record.change_count;  // stays below crawl_count
  }
  take_opinion(edit, record);
  record.hash = {};
  record.hash_bytes = static_cast<std::uint8_t>(hash.size());
  std::copy(hash.begin(), hash.end(), record.hash.begin());
  return is_other;
}

/// Makes the record of a page that is new, and counts it.
void begin_record(const Batch& batch, LocalId page, PagesState& state, format::PageRecord& record) {
  record.score = batch.first_score(page);
  if (!state.is_elsewhere(batch.url(page))) return;
  record.state = PageState::kElsewhere;
  ++state.table.elsewhere_count;
}

}  // namespace

void Superstep::apply_edit(const BatchEdit& edit, format::PageRecord& record,
                           NewContents& contents) {
  if (record.state == PageState::kElsewhere) return;
  if (edit.http_status != 0) record.status = edit.http_status;
  switch (edit.kind) {
    case CrawlEventKind::kPage:
      if (take_content(edit, batch_.content_hash(edit), record) && state_.table.has_contents) {
        contents.add(record, indexes_[edit.page], writer_.identity().key_seed);
      }
      [[fallthrough]];
    case CrawlEventKind::kUnchanged:
      if (record.crawl_count == 0) ++state_.table.crawled_count;
      count_crawl(edit, now_us_, record);
      return;
    case CrawlEventKind::kKnown:
      if (record.crawl_count == 0) take_opinion(edit, record);
      if (record.state == PageState::kGone) {
        record.state = record.crawl_count == 0 ? PageState::kKnown : PageState::kCrawled;
      }
      return;
    case CrawlEventKind::kGone:
      return set_outcome(PageState::kGone, record);
    case CrawlEventKind::kFailed:
      record.state = PageState::kFailed;
      if (record.failures < kCountMax) ++record.failures;
      return;
    case CrawlEventKind::kRedirect:
      return set_outcome(PageState::kRedirect, record);
    case CrawlEventKind::kDenied:
      return set_outcome(PageState::kDenied, record);
    case CrawlEventKind::kDuplicate:
      return set_outcome(PageState::kDuplicate, record);
    case CrawlEventKind::kLinkAdded:
    case CrawlEventKind::kLinkRemoved:
      return;
  }
}

Result<container::TileWriter> Superstep::open_records() {
  if (state_.table.records) return container::TileWriter::open(writer_, state_.table.records);
  return container::TileWriter::create(writer_, SegmentKind::kPageRecords, state_.id);
}

Result<void> Superstep::write_records() {
  const std::uint64_t page_count = state_.table.page_count;
  if (page_count == 0) return {};
  const auto& edits = batch_.edits();
  CRAWLSTORE_TRY(auto tiles, open_records());
  state_.table.records = tiles.segment();

  auto edit = edit_order_.begin();
  auto new_page = new_pages_.begin();
  std::uint64_t next_new = first_new_;
  std::vector<std::byte> payload;
  std::vector<format::PageRecord> records;
  NewContents contents;
  const auto tile_of_edit = [&] {
    return edit == edit_order_.end() ? kNoTile
                                     : indexes_[edits[*edit].page] / format::kTilePagesMax;
  };
  while (edit != edit_order_.end() || next_new < page_count) {
    const std::uint64_t new_tile =
        next_new < page_count ? next_new / format::kTilePagesMax : kNoTile;
    const std::uint64_t tile = std::min(tile_of_edit(), new_tile);
    const std::uint64_t first_page = tile * format::kTilePagesMax;
    records.clear();
    if (tile < tiles.tile_count()) {
      CRAWLSTORE_TRY(tiles.read(tile, payload));
      CRAWLSTORE_TRY(decode_records(payload, state_.table.records, records));
    }
    if (tile == new_tile) {
      next_new = std::min(page_count, first_page + format::kTilePagesMax);
      records.resize(next_new - first_page);
      for (; new_page != new_pages_.end() && indexes_[*new_page] < next_new; ++new_page) {
        begin_record(batch_, *new_page, state_, records[indexes_[*new_page] - first_page]);
      }
    }
    for (; tile_of_edit() == tile; ++edit) {
      const std::uint64_t place = indexes_[edits[*edit].page] - first_page;
      if (place >= records.size()) {
        return fail(Errc::kSegmentInvalid, "a tile of records has fewer pages than there are",
                    Error::kNoOffset, state_.table.records);
      }
      apply_edit(edits[*edit], records[place], contents);
    }
    CRAWLSTORE_TRY(steps_.add(records.size()));
    payload.clear();
    format::encode_record_tile(records, payload);
    CRAWLSTORE_TRY(tiles.write(tile, payload, records.size()));
  }
  CRAWLSTORE_TRY(tiles.finish());
  return contents.empty() ? Result<void>{}
                          : add_contents(writer_, state_, std::move(contents), steps_);
}

}  // namespace crawlstore::pages
