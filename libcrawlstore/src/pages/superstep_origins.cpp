// SPDX-License-Identifier: Apache-2.0
//
// Origins of a superstep: the new pages, appended as one run, or as several when they are many.
#include <algorithm>

#include "pages/origins_log.h"
#include "pages/origins_pieces.h"
#include "pages/superstep.h"
#include "pages/unparsed_urls.h"

namespace crawlstore::pages {
namespace {

container::RunReader reader_of(container::SegmentWriter& writer, SegmentId segment,
                               const format::RunRef& run) {
  // The storage lives as long as the writer.
  const std::shared_ptr<Storage> storage(std::shared_ptr<void>(), &writer.storage());
  return {storage, container::run_name(writer.identity(), segment, run.run_id), run};
}

}  // namespace

/// Depths of pages of earlier supersteps that the first link to a new page came from, by local id.
/// Asked for in the order of their indexes: so blocks are read forwards.
Result<void> Superstep::find_linker_depths(const format::SegmentEntry& log) {
  std::vector<LocalId> linkers;
  for (const LocalId page : new_pages_) {
    const LocalId linker = batch_.linker(page).page;
    if (linker != kNoLocal && indexes_[linker] < first_new_) linkers.push_back(linker);
  }
  if (linkers.empty()) return {};
  std::sort(linkers.begin(), linkers.end(), [this](LocalId a, LocalId b) {
    return indexes_[a] != indexes_[b] ? indexes_[a] < indexes_[b] : a < b;
  });
  linkers.erase(std::unique(linkers.begin(), linkers.end()), linkers.end());
  auto origins = OriginsLog::open(log, first_new_, [&](const format::RunRef& run) {
    return std::make_shared<const container::RunReader>(reader_of(writer_, log.id, run));
  });
  if (!origins) return tl::unexpected<Error>(origins.error());
  for (const LocalId linker : linkers) {
    CRAWLSTORE_TRY(const auto origin, origins->find(indexes_[linker]));
    depths_[linker] = origin.depth;
  }
  return {};
}

/// The dictionary of the largest run is there to be taken, so that runs can be joined as they are.
Result<void> Superstep::share_dictionary(const format::SegmentEntry& log, OriginsPlan& plan) {
  if (log.runs.empty()) return {};
  const auto& largest = *std::max_element(
      log.runs.begin(), log.runs.end(),
      [](const auto& a, const auto& b) { return a.payload_bytes < b.payload_bytes; });
  CRAWLSTORE_TRY(auto dictionary, read_dictionary(reader_of(writer_, log.id, largest)));
  plan.source = DictionarySource::kBest;
  plan.dictionary = std::move(dictionary);
  return {};
}

/// A page that a link named first is one deeper than the page with the link, or as deep if that
/// redirected to it; all others are seeds.
Result<void> Superstep::write_origins() {
  CRAWLSTORE_TRY(steps_.add(batch_.page_count() - new_pages_.size()));  // have theirs already
  if (new_pages_.empty()) return {};
  SegmentId& segment = state_.table.origins;
  format::SegmentEntry log{{}, SegmentKind::kPageOrigins, StorageClass::kLog, state_.id, {}, {}};
  if (segment) log = *writer_.find(segment);
  depths_.assign(batch_.page_count(), 0);
  CRAWLSTORE_TRY(find_linker_depths(log));

  if (!segment) segment = log.id = writer_.new_segment_id();
  OriginsPlan plan;
  plan.first_page = first_new_;
  plan.page_count = new_pages_.size();
  for (const LocalId page : new_pages_) plan.url_bytes += batch_.url(page).size();
  CRAWLSTORE_TRY(share_dictionary(log, plan));
  CRAWLSTORE_TRY(const auto older_bytes, origin_url_bytes(writer_, log));
  const std::uint64_t piece_bytes = origin_piece_bytes(older_bytes + plan.url_bytes);
  const RunId first_run = writer_.new_run_ids(origin_pieces_max(plan, piece_bytes));
  OriginsPieces runs(writer_, label_of(log, first_run), plan, piece_bytes);
  UnparsedUrls unparsed(writer_.identity().key_seed);
  for (const LocalId page : new_pages_) {
    format::Origin origin{batch_.url(page), std::nullopt, 0};
    if (unparsed.contains(batch_.key(page), origin.url)) ++state_.table.unparsed_count;
    const auto [linker, redirects] = batch_.linker(page);
    if (linker != kNoLocal && !is_refused(linker)) {
      origin.linked_from = indexes_[linker];
      origin.by_redirect = redirects;
      origin.depth = depths_[page] = format::depth_from(depths_[linker], origin.by_redirect);
    }
    CRAWLSTORE_TRY(steps_.add(1));
    CRAWLSTORE_TRY(runs.append(origin));
  }
  CRAWLSTORE_TRY(const auto added, runs.finish());
  runs.give_back();
  log.runs.insert(log.runs.end(), added.begin(), added.end());
  writer_.put(log);
  const std::size_t count = origin_runs_to_join(log.runs);
  if (count == 0) return {};
  for (const auto& joined : std::span(log.runs).last(count)) steps_.expect(joined.record_count);
  CRAWLSTORE_TRY(join_origin_runs(writer_, log, count, steps_));
  writer_.put(std::move(log));
  for (const auto& run : added) writer_.release(run.extent());  // in no generation
  return {};
}

}  // namespace crawlstore::pages
