// SPDX-License-Identifier: Apache-2.0
//
// Invariants: pages from end_page_ on are as they will be in the end, and so are the origins of all
// other pages there; below it nothing has changed but rows that had links to pages above.
#include "pages/forget.h"

#include <algorithm>
#include <limits>

#include <crawlstore/page_key.h>
#include <crawlstore/url.h>

#include "container/tile_tree.h"
#include "container/tile_writer.h"
#include "pages/origins_pieces.h"
#include "pages/put_links.h"
#include "pages/unparsed_urls.h"

namespace crawlstore::pages {
namespace {

/// Room for what compresses worse than before: a part of what there was, and some.
constexpr std::uint64_t kOriginsPartMore = 32;
constexpr std::uint64_t kOriginsBytesMore = 8 * 1024;
/// Bytes that a row takes in a run besides its links, about.
constexpr std::uint64_t kRowBytes = 4;
constexpr std::uint64_t kRowsBytesMore = 4096;
/// A link takes in a short run about twice what it takes in all, and at most so many bytes.
constexpr std::uint64_t kLinkBytesMax = 16;
/// Rows are looked for one by one while there are fewer than one in so many.
constexpr std::uint64_t kRowsPerLookup = 64;

/// Rows as they are now, of pages that ascend.
class CurrentRows {
 public:
  CurrentRows(const links::LinkView& view, std::uint64_t first, std::uint64_t last,
              std::uint64_t count)
      : view_(view), first_(first), walks_((last - first) / kRowsPerLookup < count) {}

  Result<std::span<const std::uint64_t>> find(std::uint64_t page) {
    if (!walks_) {
      CRAWLSTORE_TRY(view_.out(page, links_));
      return std::span<const std::uint64_t>(links_);
    }
    if (!rows_) {
      CRAWLSTORE_TRY(auto rows, view_.out_rows(first_));
      rows_.emplace(std::move(rows));
      CRAWLSTORE_TRY(advance());
    }
    while (!at_end_ && rows_->page() < page) CRAWLSTORE_TRY(advance());
    if (at_end_ || rows_->page() != page) return std::span<const std::uint64_t>();
    return rows_->links();
  }

 private:
  Result<void> advance() {
    CRAWLSTORE_TRY(const auto more, rows_->next());
    at_end_ = !more;
    return {};
  }

  links::LinkView view_;
  std::uint64_t first_;
  bool walks_;
  bool at_end_ = false;
  std::optional<links::CombinedRows> rows_;
  std::vector<std::uint64_t> links_;
};

/// The first page of each run of a log, and where the last one ends.
std::vector<std::uint64_t> first_pages(const format::SegmentEntry& log) {
  std::vector<std::uint64_t> pages{0};
  for (const auto& run : log.runs) pages.push_back(pages.back() + run.record_count);
  return pages;
}

}  // namespace

/// Counts what the links of a portion take: a row of a page that loses links is written once.
class Forgetting::LinkCost {
 public:
  explicit LinkCost(const Forgetting& forgetting)
      : forgetting_(forgetting),
        survey_(forgetting.survey_),
        is_counted_(forgetting.survey_.rows().size()) {}

  /// The bytes that forgetting this page adds.
  std::uint64_t add(std::uint64_t page) {
    std::uint64_t row_count = 0;
    std::uint64_t link_count = 0;
    for (const GoneLink& link : survey_.links(page, page + 1)) {
      ++link_count;
      const auto& rows = survey_.rows();
      const auto row = std::lower_bound(
          rows.begin(), rows.end(), link.source,
          [](const ChangedRow& a, std::uint64_t wanted) { return a.page < wanted; });
      const auto place = static_cast<std::size_t>(row - rows.begin());
      if (is_counted_[place]) continue;
      is_counted_[place] = true;
      if (!survey_.is_forgotten(link.source)) link_count += row->link_count;
      ++row_count;
    }
    return forgetting_.rows_bytes(row_count, link_count);
  }

 private:
  const Forgetting& forgetting_;
  const ForgetSurvey& survey_;
  std::vector<bool> is_counted_;
};

Forgetting::Forgetting(container::Writer& writer, const PagesState& state,
                       const ForgetSurvey& survey, container::WorkSteps& steps)
    : writer_(writer),
      survey_(survey),
      steps_(steps),
      end_page_(state.table.page_count),
      piece_bytes_(origin_piece_bytes(survey.url_bytes())) {
  if (is_done()) return;
  // A portion writes a run anew for each that it takes, and splits those that are too long.
  const std::uint64_t run_count = writer_.find(state.table.origins)->runs.size();
  const OriginsPlan all{0, state.table.page_count, survey.url_bytes()};
  const std::uint64_t id_count =
      (survey.pages().size() + 2 * run_count + 2) * origin_pieces_max(all, piece_bytes_);
  ids_end_ = writer_.new_run_ids(id_count).value + id_count;
  if (!state.table.out_links) return;
  std::uint64_t bytes = 0;
  for (const auto& run : writer_.find(state.table.out_links)->runs) bytes += run.payload_bytes;
  bytes_of_256_links_ =
      std::min(256 * kLinkBytesMax, 1 + bytes / (1 + state.table.link_count / 512));
}

/// An estimate for a short run.
std::uint64_t Forgetting::rows_bytes(std::uint64_t row_count, std::uint64_t link_count) const {
  return row_count * kRowBytes + link_count * bytes_of_256_links_ / 256;
}

Result<Portion> Forgetting::next(const PagesState& state, std::uint64_t bytes_max,
                                 std::uint64_t first_page) const {
  const format::SegmentEntry& log = *writer_.find(state.table.origins);
  const format::SegmentEntry& records = *writer_.find(state.table.records);
  const auto begins = first_pages(log);
  if (begins.back() < end_page_) {
    return fail(Errc::kSegmentInvalid, "there are not as many origins as pages", Error::kNoOffset,
                log.id);
  }
  const auto& pages = survey_.pages();
  auto place = std::lower_bound(pages.begin(), pages.end(), end_page_);
  LinkCost links(*this);
  Portion portion{end_page_, end_page_, 0, 0, 0};
  portion.end_run = static_cast<std::size_t>(
      std::upper_bound(begins.begin(), begins.end(), end_page_ - 1) - begins.begin());
  portion.first_run = portion.end_run;
  std::uint64_t last_tile = ~std::uint64_t{0};
  while (portion.first_page > survey_.first_changed()) {
    const std::size_t run = portion.first_run - 1;
    const std::uint64_t run_bytes = log.runs[run].payload_bytes;
    if (portion.bytes != 0 && portion.bytes + run_bytes > bytes_max) break;
    const Portion before = portion;
    if (portion.bytes == 0) bytes_max = std::max(bytes_max, run_bytes + bytes_max / 2);
    portion.bytes += run_bytes;
    portion.first_run = run;
    while (place != pages.begin() && *(place - 1) >= begins[run]) {
      const std::uint64_t page = *(place - 1);
      const bool is_first = place == pages.end() || *place >= before.first_page;  // of the run
      if (page < first_page) return is_first && before.bytes != 0 ? before : portion;
      std::uint64_t bytes = links.add(page);
      const std::uint64_t tile = page / format::kTilePagesMax;
      if (tile != last_tile && tile < container::tile_count(records)) {
        bytes += container::tile_ref(records, tile).payload_bytes;
      }
      if (portion.bytes + bytes > bytes_max) {
        if (!is_first) return portion;
        if (before.bytes != 0) return before;
        bytes_max = portion.bytes + bytes + bytes_max / 2;  // a tile is long
      }
      last_tile = tile;
      portion.bytes += bytes;
      portion.first_page = page;
      --place;
    }
    portion.first_page = begins[run];
  }
  return portion;
}

Result<void> Forgetting::write(PagesState& state, const Portion& portion, ForgetReport& report) {
  // Origins first: they are long, and fit the gaps that those of the last portions left.
  CRAWLSTORE_TRY(write_origins(state, portion));
  if (state.table.out_links) CRAWLSTORE_TRY(write_links(state, portion, report));
  CRAWLSTORE_TRY(write_records(state, portion));
  note_unparsed(state, portion);
  report.page_count += pages_of(portion).size();
  end_page_ = portion.first_page;
  return {};
}

std::span<const std::uint64_t> Forgetting::pages_of(const Portion& portion) const {
  const auto& pages = survey_.pages();
  const auto first = std::lower_bound(pages.begin(), pages.end(), portion.first_page);
  return {first, std::lower_bound(first, pages.end(), portion.end_page)};
}

/// For display: a file in which it is too low is no reason to refuse.
void Forgetting::note_unparsed(PagesState& state, const Portion& portion) const {
  UnparsedUrls unparsed(writer_.identity().key_seed);
  std::uint64_t count = 0;
  const auto pages = pages_of(portion);
  const auto first = static_cast<std::size_t>(pages.data() - survey_.pages().data());
  for (std::size_t i = first; i < first + pages.size(); ++i) {
    const std::string& url = survey_.urls()[i];
    const Key16 key = page_key(url, writer_.identity().key_seed).key;
    if (unparsed.contains(key, url)) ++count;
  }
  state.table.unparsed_count -= std::min(state.table.unparsed_count, count);
}

/// Writes the runs of the portion anew, without the URLs of its pages. Pages that a forgotten one
/// linked to first become seeds, and depths behind them follow. The new runs nearly always fit the
/// room of the old ones and some; else they are written again with all that they may need.
Result<void> Forgetting::write_origins(PagesState& state, const Portion& portion) {
  format::SegmentEntry log = *writer_.find(state.table.origins);
  OriginsPlan plan;
  plan.first_page = first_pages(log)[portion.first_run];
  plan.is_thorough = true;
  plan.reserve_bytes = kOriginsBytesMore;
  plan.unlearned = &survey_.forgotten();
  const auto old_runs = std::span<const format::RunRef>(log.runs).subspan(
      portion.first_run, portion.end_run - portion.first_run);
  format::SegmentEntry old_log = log;
  old_log.runs.assign(old_runs.begin(), old_runs.end());
  for (const auto& run : old_runs) {
    plan.page_count += run.record_count;
    plan.reserve_bytes += run.payload_bytes + run.payload_bytes / kOriginsPartMore;
  }
  CRAWLSTORE_TRY(const auto old_url_bytes, origin_url_bytes(writer_, old_log));
  plan.url_bytes = old_url_bytes;
  const std::uint64_t piece_count = plan.url_bytes / (piece_bytes_ + piece_bytes_ / 2) + 1;
  const std::uint64_t piece_bytes = plan.url_bytes / piece_count + 1;
  const std::uint64_t id_count = origin_pieces_max(plan, piece_bytes);
  ids_end_ -= id_count;
  std::vector<format::RunRef> runs;
  for (;;) {
    OriginsPieces pieces(writer_, label_of(log, RunId{ids_end_}), plan, piece_bytes);
    auto done = append_origins(old_log, portion, pieces);
    if (done) {
      auto finished = pieces.finish();
      if (finished) {
        pieces.give_back();
        runs = std::move(*finished);
        break;
      }
      done = tl::unexpected<Error>(finished.error());
    }
    const bool is_retried = plan.reserve_bytes != ~std::uint64_t{0};
    if (done.error().code != Errc::kTooLarge || !is_retried) return done;
    plan.reserve_bytes = ~std::uint64_t{0};
  }
  const auto first = log.runs.begin() + static_cast<std::ptrdiff_t>(portion.first_run);
  const auto end = log.runs.begin() + static_cast<std::ptrdiff_t>(portion.end_run);
  log.runs.insert(log.runs.erase(first, end), runs.begin(), runs.end());
  writer_.put(std::move(log));
  return {};
}

Result<void> Forgetting::append_origins(const format::SegmentEntry& log, const Portion& portion,
                                        OriginsPieces& pieces) {
  for (const auto& run : log.runs) {
    const auto name = container::run_name(writer_.identity(), log.id, run.run_id);
    CRAWLSTORE_TRY(auto cursor, OriginsCursor::open(writer_.storage(), name, run));
    while (!cursor->at_end()) {
      CRAWLSTORE_TRY(steps_.add(1));
      format::Origin origin = cursor->origin();
      // The file is read a second time, and may have changed.
      if (cursor->page() >= portion.first_page && survey_.is_forgotten(cursor->page())) {
        origin = {};
      } else {
        if (origin.linked_from && survey_.is_forgotten(*origin.linked_from)) {
          origin.linked_from.reset();
          origin.by_redirect = false;
        }
        origin.depth = survey_.depth(cursor->page());
      }
      CRAWLSTORE_TRY(pieces.append(origin));
      CRAWLSTORE_TRY(cursor->advance());
    }
    CRAWLSTORE_TRY(cursor->finish());
  }
  return {};
}

Result<void> Forgetting::write_records(PagesState& state, const Portion& portion) {
  const auto pages = pages_of(portion);
  if (pages.empty()) return {};
  CRAWLSTORE_TRY(auto tiles, container::TileWriter::open(writer_, state.table.records));
  std::vector<std::byte> payload;
  std::vector<format::PageRecord> records;
  for (auto page = pages.begin(); page != pages.end();) {
    const std::uint64_t tile_index = *page / format::kTilePagesMax;
    CRAWLSTORE_TRY(tiles.read(tile_index, payload));
    CRAWLSTORE_TRY(decode_records(payload, state.table.records, records));
    for (; page != pages.end() && *page / format::kTilePagesMax == tile_index; ++page) {
      const std::uint64_t place = *page % format::kTilePagesMax;
      if (place >= records.size()) {
        return fail(Errc::kSegmentInvalid, "a tile of records has fewer pages than there are",
                    Error::kNoOffset, state.table.records);
      }
      if (records[place].crawl_count != 0)
        CRAWLSTORE_TRY(subtract_gone(state.table.crawled_count, 1));
      if (records[place].state == PageState::kElsewhere)
        CRAWLSTORE_TRY(subtract_gone(state.table.elsewhere_count, 1));
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
Result<void> Forgetting::write_links(PagesState& state, const Portion& portion,
                                     ForgetReport& report) {
  const auto gone = survey_.links(portion.first_page, portion.end_page);
  const links::LinkSegments segments = make_link_segments(writer_, state);
  if (!gone.empty()) {
    CRAWLSTORE_TRY(write_rows(segments, portion.first_page, gone));
    std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;
    pairs.reserve(gone.size());
    for (const GoneLink& link : gone) pairs.emplace_back(link.target, link.source);
    CRAWLSTORE_TRY(put_gone_links(writer_, {segments.gone, state.table.page_count}, pairs, steps_));
    report.link_count += gone.size();
    CRAWLSTORE_TRY(subtract_gone(state.table.link_count, gone.size()));
  }
  return {};
}

Result<void> Forgetting::bound_out_links(PagesState& state) {
  if (!state.table.gone_links) return {};  // none went
  return links::bound_shrunk_out_runs(writer_, make_link_segments(writer_, state), steps_);
}

Result<void> Forgetting::bound_in_links(PagesState& state) {
  if (!state.table.gone_links) return {};  // none went
  return links::bound_shrunk_in_runs(writer_, make_link_segments(writer_, state), steps_);
}

/// Writes the rows that lose links as one run.
Result<void> Forgetting::write_rows(const links::LinkSegments& segments, std::uint64_t first_page,
                                    std::span<const GoneLink> gone) {
  CRAWLSTORE_TRY(const auto view, links::LinkView::open(writer_, segments));
  std::vector<GoneLink> by_source(gone.begin(), gone.end());
  std::sort(by_source.begin(), by_source.end(), [](const GoneLink& a, const GoneLink& b) {
    return a.source != b.source ? a.source < b.source : a.target < b.target;
  });
  std::uint64_t row_count = 0;
  std::uint64_t link_count = 0;
  for (std::size_t i = 0; i < by_source.size(); ++i) {
    const std::uint64_t source = by_source[i].source;
    if (i != 0 && by_source[i - 1].source == source) continue;
    ++row_count;
    if (source >= first_page && survey_.is_forgotten(source)) continue;  // it becomes empty
    const auto row =
        std::lower_bound(survey_.rows().begin(), survey_.rows().end(), source,
                         [](const ChangedRow& a, std::uint64_t wanted) { return a.page < wanted; });
    link_count += row->link_count;
  }
  const std::uint64_t first = by_source.front().source;
  const std::uint64_t last = by_source.back().source;
  const auto write_in = [&](std::uint64_t bytes_max) -> Result<void> {
    CRAWLSTORE_TRY(auto run, links::LinksWriter::start(
                                 writer_, container::new_run(writer_, segments.out), bytes_max));
    CurrentRows rows(view, first, last, row_count);
    std::vector<std::uint64_t> kept;
    for (auto link = by_source.begin(); link != by_source.end();) {
      const std::uint64_t source = link->source;
      CRAWLSTORE_TRY(const auto now, rows.find(source));
      CRAWLSTORE_TRY(steps_.add(1 + now.size()));
      kept.clear();
      for (const std::uint64_t target : now) {
        while (link != by_source.end() && link->source == source && link->target < target) ++link;
        const bool goes =
            link != by_source.end() && link->source == source && link->target == target;
        if (!goes) kept.push_back(target);
      }
      while (link != by_source.end() && link->source == source) ++link;
      CRAWLSTORE_TRY(run.append(source, kept));
    }
    return put_run(writer_, segments.out, run);
  };
  const std::uint64_t number_max = std::max<std::uint64_t>(survey_.page_count(), 1) - 1;
  const std::uint64_t bytes_max = links::link_run_bytes_max(row_count, link_count, number_max);
  for (std::uint64_t room = rows_bytes(row_count, link_count) + kRowsBytesMore;; room *= 2) {
    const auto written = write_in(std::min(room, bytes_max));
    if (written || written.error().code != Errc::kTooLarge || room >= bytes_max) return written;
  }
}

std::vector<drum::KeyEdit> seen_removals(const drum::KeyTable& seen,
                                         std::span<const std::string> urls,
                                         std::uint64_t key_seed) {
  std::vector<drum::KeyEdit> edits;
  edits.reserve(urls.size());
  for (const std::string& url : urls) {
    Key16 key{url_key(url, key_seed)};
    if (seen.key_bytes() == format::kWideKeyBytes) key = url_key16(url, key_seed);
    if (seen.key_scheme() == KeyScheme::kUrlRabin) key = {rabin_fingerprint(url)};
    edits.push_back({key, true, {}});
  }
  std::sort(edits.begin(), edits.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  edits.erase(std::unique(edits.begin(), edits.end(),
                          [](const auto& a, const auto& b) { return a.key == b.key; }),
              edits.end());
  return edits;
}

}  // namespace crawlstore::pages
