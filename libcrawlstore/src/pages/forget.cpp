// SPDX-License-Identifier: Apache-2.0
#include "pages/forget.h"

#include <algorithm>

#include <crawlstore/page_key.h>
#include <crawlstore/url.h>

#include "container/tile_writer.h"
#include "pages/fresh_keys.h"
#include "pages/link_rows.h"
#include "pages/origins_run.h"
#include "pages/unparsed_urls.h"

namespace crawlstore::pages {
namespace {

/// Walks the origins of all pages in the order of their indexes.
template <class Visit>
Result<void> for_each_origin(container::Writer& writer, SegmentId segment,
                             container::WorkSteps& steps, const Visit& visit) {
  const format::SegmentEntry log = *writer.find(segment);
  for (const auto& run : log.runs) {
    const auto name = container::run_name(writer.identity(), segment, run.run_id);
    CRAWLSTORE_TRY(auto cursor, OriginsCursor::open(writer.storage(), name, run));
    while (!cursor->at_end()) {
      CRAWLSTORE_TRY(steps.add(1));
      CRAWLSTORE_TRY(visit(cursor->page(), cursor->origin()));
      CRAWLSTORE_TRY(cursor->advance());
    }
    CRAWLSTORE_TRY(cursor->finish());
  }
  return {};
}

}  // namespace

Result<ForgetReport> Forgetting::run(const std::function<bool(std::string_view url)>& is_meant) {
  if (state_.table.page_count == 0) return report_;
  // Twice its URL, and its row. Records of few pages, and keys, come on top.
  steps_.expect(3 * state_.table.page_count + state_.table.link_count);
  CRAWLSTORE_TRY(find_pages(is_meant));
  if (pages_.empty()) return report_;
  CRAWLSTORE_TRY(remove_keys());
  CRAWLSTORE_TRY(write_origins());
  CRAWLSTORE_TRY(write_records());
  if (state_.table.out_links) CRAWLSTORE_TRY(write_links());
  CRAWLSTORE_TRY(put_state(writer_, state_));
  return report_;
}

/// Pages that were forgotten before have no URL, and so no key: they are not meant again.
Result<void> Forgetting::find_pages(const std::function<bool(std::string_view url)>& is_meant) {
  const std::uint64_t page_count = state_.table.page_count;
  is_forgotten_.assign(page_count, false);
  return for_each_origin(writer_, state_.table.origins, steps_,
                         [&](std::uint64_t page, const format::Origin& origin) -> Result<void> {
                           if (page >= page_count) {
                             return fail(Errc::kSegmentInvalid, "there are more origins than pages",
                                         Error::kNoOffset, state_.table.origins);
                           }
                           CRAWLSTORE_TRY(const bool is_gone, steps_.call([&] {
                             return !origin.url.empty() && is_meant(origin.url);
                           }));
                           if (!is_gone) {
                             url_bytes_ += origin.url.size();
                             return {};
                           }
                           is_forgotten_[page] = true;
                           pages_.push_back(page);
                           urls_.emplace_back(origin.url);
                           return {};
                         });
}

Result<void> Forgetting::remove_keys() {
  report_.page_count = pages_.size();
  std::vector<drum::KeyEdit> edits;
  edits.reserve(urls_.size());
  UnparsedUrls unparsed(writer_.identity().key_seed);
  std::uint64_t unparsed_count = 0;
  for (const std::string& url : urls_) {
    const Key16 key = page_key(url, writer_.identity().key_seed).key;
    if (unparsed.contains(key, url)) ++unparsed_count;
    edits.push_back({key, true, {}});
  }
  // For display: a file in which it is too low is no reason to refuse.
  state_.table.unparsed_count -= std::min(state_.table.unparsed_count, unparsed_count);
  std::sort(edits.begin(), edits.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  return settle_keys(writer_, state_, keys_, edits, steps_);
}

/// All origins as one run, without the URLs of the pages that are forgotten. Pages that these
/// linked to first become seeds, and depths behind them follow.
Result<void> Forgetting::write_origins() {
  const SegmentId segment = state_.table.origins;
  CRAWLSTORE_TRY(auto run, OriginsWriter::start(writer_, segment, writer_.new_run_ids(1),
                                                {0, state_.table.page_count, url_bytes_, true}));
  std::vector<std::uint32_t> depths;  // of the pages so far
  depths.reserve(state_.table.page_count);
  const auto copied = for_each_origin(
      writer_, segment, steps_, [&](std::uint64_t page, format::Origin origin) -> Result<void> {
        // The file is read a second time, and may have changed.
        if (page < is_forgotten_.size() && is_forgotten_[page]) origin = {};
        if (origin.linked_from && *origin.linked_from < depths.size()) {
          const std::uint64_t linker = *origin.linked_from;
          origin.depth = is_forgotten_[linker] ? 0 : depths[linker] + 1;
          if (is_forgotten_[linker]) origin.linked_from.reset();
        }
        depths.push_back(origin.depth);
        return run.append(origin);
      });
  if (!copied) return copied;
  CRAWLSTORE_TRY(const auto ref, run.finish());
  run.give_back();
  writer_.put({segment, SegmentKind::kPageOrigins, StorageClass::kLog, state_.id, {}, {ref}});
  return {};
}

Result<void> Forgetting::write_records() {
  CRAWLSTORE_TRY(auto tiles, container::TileWriter::open(writer_, state_.table.records));
  std::vector<std::byte> payload;
  std::vector<format::PageRecord> records;
  for (auto page = pages_.begin(); page != pages_.end();) {
    const std::uint64_t tile_index = *page / format::kTilePagesMax;
    CRAWLSTORE_TRY(tiles.read(tile_index, payload));
    CRAWLSTORE_TRY(decode_records(payload, state_.table.records, records));
    for (; page != pages_.end() && *page / format::kTilePagesMax == tile_index; ++page) {
      const std::uint64_t place = *page % format::kTilePagesMax;
      if (place >= records.size()) {
        return fail(Errc::kSegmentInvalid, "a tile of records has fewer pages than there are",
                    Error::kNoOffset, state_.table.records);
      }
      if (records[place].crawl_count != 0) CRAWLSTORE_TRY(take_off(state_.table.crawled_count, 1));
      records[place] = {};
      records[place].state = PageState::kGone;
    }
    CRAWLSTORE_TRY(steps_.add(records.size()));
    payload.clear();
    format::encode_record_tile(records, payload);
    CRAWLSTORE_TRY(tiles.write(tile_index, payload, records.size()));
  }
  return tiles.finish();
}

/// Rows of pages that are forgotten become empty; links to them go from all others.
Result<void> Forgetting::write_links() {
  const links::LinkSegments segments = make_link_segments(writer_, state_);
  CRAWLSTORE_TRY(const auto view, links::LinkView::open(writer_, segments));
  CRAWLSTORE_TRY(auto rows, view.out_rows());
  CRAWLSTORE_TRY(auto run, links::LinksWriter::start(writer_, segments.out, writer_.new_run_ids(1),
                                                     links::joined_bytes_max(view.out_runs())));
  std::vector<std::uint64_t> kept;
  for (;;) {
    CRAWLSTORE_TRY(const auto more, rows.next());
    if (!more) break;
    const std::uint64_t page = rows.page();
    CRAWLSTORE_TRY(steps_.add(1 + rows.links().size()));
    kept.clear();
    for (const std::uint64_t link : rows.links()) {
      if (page >= is_forgotten_.size() || link >= is_forgotten_.size()) {
        return fail(Errc::kSegmentInvalid, "a link leads to or from a page that does not exist",
                    Error::kNoOffset, segments.out);
      }
      if (is_forgotten_[page] || is_forgotten_[link]) {
        gone_.emplace_back(link, page);
      } else {
        kept.push_back(link);
      }
    }
    if (kept.size() != rows.links().size()) CRAWLSTORE_TRY(run.append(page, kept));
  }
  CRAWLSTORE_TRY(put_run(writer_, segments.out, run));
  CRAWLSTORE_TRY(put_gone_links(writer_, {segments.gone, state_.table.page_count}, gone_, steps_));
  report_.link_count = gone_.size();
  CRAWLSTORE_TRY(take_off(state_.table.link_count, gone_.size()));
  CRAWLSTORE_TRY(links::bound_out_runs(writer_, segments, steps_));
  return links::bound_in_runs(writer_, segments, steps_);
}

Result<void> forget_seen(container::Writer& writer, drum::KeyTable& seen,
                         const std::vector<std::string>& urls, container::WorkSteps& steps) {
  const std::uint64_t key_seed = writer.identity().key_seed;
  steps.expect(seen.key_count());
  std::vector<drum::KeyEdit> edits;
  for (const std::string& url : urls) {
    Key16 key{url_key(url, key_seed)};
    if (seen.key_bytes() == format::kWideKeyBytes) key = url_key16(url, key_seed);
    if (seen.key_scheme() == format::KeyScheme::kUrlRabin) key = {rabin_fingerprint(url)};
    edits.push_back({key, true, {}});
  }
  std::sort(edits.begin(), edits.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  edits.erase(std::unique(edits.begin(), edits.end(),
                          [](const auto& a, const auto& b) { return a.key == b.key; }),
              edits.end());
  drum::EditKeys source(edits);
  return seen.apply(writer, source, steps);
}

}  // namespace crawlstore::pages
