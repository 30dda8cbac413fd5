// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <crawlstore/page_key.h>
#include <crawlstore/page_view.h>
#include <crawlstore/url.h>

#include "base/inside.h"
#include "container/run_io.h"
#include "format/record_tile.h"
#include "pages/fresh_keys.h"
#include "pages/page_view_impl.h"
#include "pages/pages_state.h"
#include "pages/superstep.h"

namespace crawlstore {
namespace {

std::uint64_t segment_allocated_bytes(const format::SegmentEntry* entry) {
  std::uint64_t bytes = 0;
  if (entry == nullptr) return bytes;
  for (const auto& run : entry->runs) bytes += run.extent().length_bytes;
  return bytes;
}

}  // namespace

std::optional<double> PageInfo::change_rate() const {
  if (last_crawl_us <= first_crawl_us) return std::nullopt;
  constexpr double kMicroseconds = 1e6;
  return (static_cast<double>(change_count) + 1) * kMicroseconds /
         static_cast<double>(last_crawl_us - first_crawl_us);
}

/// A segment that the table names; nullptr if it names none.
Result<const format::SegmentEntry*> PageView::Impl::part(SegmentId id, SegmentKind kind) const {
  if (!id) return nullptr;
  const auto* entry = Inside::of(snapshot).directory().find(id);
  if (entry != nullptr && entry->kind == kind && entry->owner == info.id) return entry;
  return fail(Errc::kSegmentInvalid, "a page database names a segment that is not its own",
              Error::kNoOffset, info.id);
}

Result<void> PageView::Impl::open_parts() {
  container::Reader& reader = Inside::of(snapshot);
  CRAWLSTORE_TRY(const auto log, part(table.origins, SegmentKind::kPageOrigins));
  if (log != nullptr) {
    auto opened = pages::OriginsLog::open(*log, table.page_count, [&](const format::RunRef& run) {
      return reader.run_reader(table.origins, run);
    });
    if (!opened) return tl::unexpected<Error>(opened.error());
    origins.emplace(std::move(*opened));
  }
  CRAWLSTORE_TRY(const auto tiles, part(table.records, SegmentKind::kPageRecords));
  CRAWLSTORE_TRY(pages::check_page_count(table, tiles));
  if (tiles != nullptr) {
    const auto owner = std::make_shared<Snapshot>(snapshot);
    CRAWLSTORE_TRY(auto opened,
                   container::TileReader::open({owner, &Inside::of(*owner)}, table.records));
    records.emplace(std::move(opened));
  }
  const std::array link_parts{std::pair{table.out_links, SegmentKind::kOutLinks},
                              std::pair{table.in_links, SegmentKind::kInLinks},
                              std::pair{table.gone_links, SegmentKind::kGoneLinks},
                              std::pair{table.events, SegmentKind::kPageEvents}};
  for (const auto& [id, kind] : link_parts) {
    CRAWLSTORE_TRY(part(id, kind));
  }
  if (table.out_links && table.in_links) {
    CRAWLSTORE_TRY(auto opened, links::LinkView::open(
                                    reader, {table.out_links, table.in_links, table.gone_links}));
    CRAWLSTORE_TRY(opened.check_pages(table.page_count));
    links.emplace(std::move(opened));
  }
  return table.has_urls ? open_keys() : Result<void>{};
}

Result<void> PageView::Impl::open_keys() {
  CRAWLSTORE_TRY(auto opened, DrumView::open(snapshot, info.name));
  const DrumInfo& drum = opened.info();
  if (drum.id != table.keys || drum.key_bytes != format::kWideKeyBytes ||
      drum.value_bytes != format::kPageValueBytes) {
    return fail(Errc::kSegmentInvalid, "a page database names a DRUM that does not hold its keys",
                Error::kNoOffset, info.id);
  }
  CRAWLSTORE_TRY(const auto log, part(table.fresh_keys, SegmentKind::kFreshKeys));
  std::vector<std::shared_ptr<const drum::PartitionLookup>> fresh;
  if (log != nullptr) {
    for (const auto& run : log->runs) {
      CRAWLSTORE_TRY(auto lookup, drum::PartitionLookup::open(
                                      Inside::of(snapshot).run_reader(table.fresh_keys, run),
                                      pages::kPageKeyShape));
      fresh.push_back(std::move(lookup));
    }
  }
  keys.emplace(std::move(opened), std::move(fresh));
  return {};
}

PageView::PageView(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

std::vector<std::string> PageView::names(const Snapshot& snapshot) {
  std::vector<std::string> names;
  Inside::of(snapshot).directory().for_each_segment([&names](const format::SegmentEntry& entry) {
    if (entry.kind == SegmentKind::kPages) names.push_back(entry.name);
  });
  return names;
}

Result<PageView> PageView::open(const Snapshot& snapshot, std::string_view name) {
  const auto& directory = Inside::of(snapshot).directory();
  const auto* entry = directory.find_named(SegmentKind::kPages, name);
  if (entry == nullptr) {
    return fail(Errc::kUnknownName, "the store has no page database of this name");
  }
  const auto& run = entry->runs.front();
  if (run.payload_bytes > format::kPagesTableBytesMax) {
    return fail(Errc::kSegmentInvalid, "the table of a page database is too long", run.offset_bytes,
                entry->id);
  }
  CRAWLSTORE_TRY(const auto payload, snapshot.read_run(entry->id, run.run_id));
  const auto table = format::parse_pages_table(payload);
  if (!table) {
    return fail(Errc::kSegmentInvalid, table.error().text, run.offset_bytes, entry->id);
  }
  auto impl = std::make_shared<Impl>(snapshot);
  impl->table = *table;
  PagesInfo& info = impl->info;
  info.id = entry->id;
  info.name = entry->name;
  info.has_urls = table->has_urls;
  info.page_count = table->page_count;
  info.crawled_count = table->crawled_count;
  info.link_count = table->link_count;
  info.event_count = table->event_count;
  info.superstep_count = table->superstep_count;
  info.collision_count = table->collision_count;
  info.unparsed_count = table->unparsed_count;
  info.normalizer = table->normalizer;
  info.origin_bytes = segment_allocated_bytes(directory.find(table->origins));
  info.record_bytes = segment_allocated_bytes(directory.find(table->records));
  info.out_link_bytes = segment_allocated_bytes(directory.find(table->out_links));
  info.in_link_bytes = segment_allocated_bytes(directory.find(table->in_links)) +
                       segment_allocated_bytes(directory.find(table->gone_links));
  info.event_bytes = segment_allocated_bytes(directory.find(table->events));
  info.key_bytes = segment_allocated_bytes(directory.find(table->fresh_keys));
  directory.for_each_segment([&](const format::SegmentEntry& other) {
    if (table->keys && (other.id == table->keys || other.owner == table->keys)) {
      info.key_bytes += segment_allocated_bytes(&other);
    }
  });
  CRAWLSTORE_TRY(impl->open_parts());
  return PageView(std::move(impl));
}

const PagesInfo& PageView::info() const {
  return impl_->info;
}

Result<std::optional<std::uint64_t>> PageView::find(std::string_view url) const {
  auto normalizer = UrlNormalizer::to_find(impl_->table.normalizer);
  return find_text(normalizer.normalize(url).text);
}

Result<std::optional<std::uint64_t>> PageView::find_text(std::string_view text) const {
  using Found = std::optional<std::uint64_t>;
  if (!impl_->keys) return Found{};
  const PageKey key = page_key(text, Inside::of(impl_->snapshot).identity().key_seed);
  CRAWLSTORE_TRY(const auto value, impl_->keys->lookup(key.key));
  if (!value || pages::witness_in(*value) != key.witness) return Found{};
  CRAWLSTORE_TRY(const std::uint64_t index, impl_->index_of_key(*value));
  CRAWLSTORE_TRY(const auto stored, this->url(index));
  return stored == text ? Found{index} : Found{};
}

Result<void> PageView::Impl::check_index(std::uint64_t index) const {
  if (index < table.page_count) return {};
  return fail(Errc::kInvalidArgument, "no page has this index");
}

Result<std::uint64_t> PageView::Impl::index_of_key(std::span<const std::byte> value) const {
  const std::uint64_t index = pages::index_in(value);
  if (index < table.page_count) return index;
  return fail(Errc::kSegmentInvalid, "the key of a page has an index that no page has",
              Error::kNoOffset, table.keys);
}

Result<void> PageView::Impl::for_each_key(const VisitKey& visit, Key16 from) const {
  if (!keys) return {};
  Result<void> done;
  const auto walked = keys->for_each_key(
      [&](Key16 key, std::span<const std::byte> value) {
        const auto index = index_of_key(value);
        if (index) return visit(key, *index);
        done = tl::unexpected<Error>(index.error());
        return false;
      },
      from);
  return done ? walked : done;
}

Result<void> PageView::Impl::fill_origin(std::uint64_t index, PageInfo& page) const {
  if (!origins) return {};
  const std::lock_guard lock(mutex);
  CRAWLSTORE_TRY(const auto origin, origins->find(index));
  page.url = origin.url;
  page.linked_from = origin.linked_from;
  page.depth = origin.depth;
  return {};
}

Result<format::PageRecord> PageView::Impl::record(std::uint64_t index) const {
  CRAWLSTORE_TRY(check_index(index));
  const auto broken = [&](const char* text) {
    return fail(Errc::kSegmentInvalid, text, Error::kNoOffset, table.records);
  };
  const std::uint64_t tile_index = index / format::kTilePagesMax;
  if (!records || tile_index >= records->tile_count()) {
    return broken("there are fewer tiles of records than the pages need");
  }
  CRAWLSTORE_TRY(const auto bytes, records->tile(tile_index));
  const auto tile = format::RecordTile::parse(bytes);
  if (!tile) return broken(tile.error().text);
  const auto place = static_cast<std::uint32_t>(index % format::kTilePagesMax);
  if (place >= tile->page_count()) {
    return broken("a tile of records has fewer pages than there are");
  }
  const auto record = tile->record(place);
  if (!record) return broken(record.error().text);
  return *record;
}

Result<PageInfo> PageView::page(std::uint64_t index) const {
  CRAWLSTORE_TRY(impl_->check_index(index));
  PageInfo page;
  page.index = index;
  CRAWLSTORE_TRY(impl_->fill_origin(index, page));
  CRAWLSTORE_TRY(const auto record, impl_->record(index));
  page.state = record.state;
  page.crawl_count = record.crawl_count;
  page.change_count = record.change_count;
  page.first_crawl_us = record.first_crawl_us;
  page.last_crawl_us = record.last_crawl_us;
  page.score = record.score;
  page.content_hash.assign(record.hash.begin(), record.hash.begin() + record.hash_bytes);
  return page;
}

Result<std::string> PageView::url(std::uint64_t index) const {
  CRAWLSTORE_TRY(impl_->check_index(index));
  PageInfo page;
  CRAWLSTORE_TRY(impl_->fill_origin(index, page));
  return std::move(page.url);
}

Result<float> PageView::score(std::uint64_t index) const {
  return impl_->record(index).map([](const format::PageRecord& record) { return record.score; });
}

Result<PageState> PageView::state(std::uint64_t index) const {
  return impl_->record(index).map([](const format::PageRecord& record) { return record.state; });
}

Result<std::vector<std::uint64_t>> PageView::out_links(std::uint64_t index) const {
  CRAWLSTORE_TRY(impl_->check_index(index));
  std::vector<std::uint64_t> found;
  if (!impl_->links) return found;
  links::LinkView view = *impl_->links;  // each thread a copy of its own
  CRAWLSTORE_TRY(view.out(index, found));
  return found;
}

Result<std::vector<std::uint64_t>> PageView::in_links(std::uint64_t index) const {
  CRAWLSTORE_TRY(impl_->check_index(index));
  std::vector<std::uint64_t> found;
  if (!impl_->links) return found;
  links::LinkView view = *impl_->links;
  CRAWLSTORE_TRY(view.in(index, found));
  return found;
}

Result<void> PageView::for_each_page(const VisitPage& visit, std::uint64_t first) const {
  for (std::uint64_t index = first; index < impl_->table.page_count; ++index) {
    CRAWLSTORE_TRY(const auto found, page(index));
    if (!visit(found)) return {};
  }
  return {};
}

Result<void> PageView::for_each_key(const VisitKey& visit) const {
  return impl_->for_each_key(visit, {});
}

Result<void> PageView::for_each_key_of(std::string_view host, const VisitKey& visit) const {
  const std::uint64_t head = host_key(host, Inside::of(impl_->snapshot).identity().key_seed);
  return impl_->for_each_key(
      [&](Key16 key, std::uint64_t index) { return key.head == head && visit(key, index); },
      {head, 0});
}

Result<void> PageView::for_each_page_of(std::string_view host, const VisitPage& visit) const {
  Result<void> done;
  const auto walked = for_each_key_of(host, [&](Key16 /*key*/, std::uint64_t index) {
    const auto found = page(index);
    if (found) return visit(*found);
    done = tl::unexpected<Error>(found.error());
    return false;
  });
  return done ? walked : done;
}

pages::EventWalk PageView::Impl::walk_events(std::vector<format::RunRef> runs) {
  return {table.events, std::move(runs),
          [this](const format::RunRef& run, std::vector<std::byte>& into) -> Result<void> {
            CRAWLSTORE_TRY(auto payload, snapshot.read_run(table.events, run.run_id));
            into = std::move(payload);
            return {};
          }};
}

Result<void> PageView::for_each_event(
    const std::function<bool(const CrawlEvent& event)>& visit) const {
  if (!impl_->table.events) return {};
  const auto* entry = Inside::of(impl_->snapshot).directory().find(impl_->table.events);
  auto events = impl_->walk_events(entry->runs);
  CRAWLSTORE_TRY(events.start());
  while (!events.at_end() && visit(events.event())) CRAWLSTORE_TRY(events.advance());
  return {};
}

Result<std::vector<float>> PageView::scores() const {
  std::vector<float> scores;
  scores.reserve(impl_->table.page_count);
  for (std::uint64_t index = 0; index < impl_->table.page_count; ++index) {
    CRAWLSTORE_TRY(const auto record, impl_->record(index));
    scores.push_back(record.score);
  }
  return scores;
}

Result<std::vector<std::uint64_t>> PageView::Impl::hosts() const {
  std::vector<std::uint64_t> heads(table.page_count, 0);
  const auto note = [&heads](Key16 key, std::uint64_t index) {
    heads[index] = key.head;
    return true;
  };
  CRAWLSTORE_TRY(for_each_key(note, {}));
  return heads;
}

struct LinkStream::Impl {
  std::shared_ptr<PageView::Impl> view;
  LinkStreamOptions options;
  std::vector<std::uint64_t> hosts;  // by page; empty: links inside a host come along
  std::optional<links::RowStream> rows;
  std::vector<std::uint64_t> kept;
  std::span<const std::uint64_t> links;

  Result<void> start() {
    rows.reset();
    if (!view->links) return {};
    CRAWLSTORE_TRY(auto opened, options.incoming ? view->links->in_rows(options.first_page)
                                                 : view->links->out_rows(options.first_page));
    rows.emplace(std::move(opened));
    return {};
  }
  /// The links of the row, without those inside a host.
  Result<void> filter() {
    links = rows->links();
    if (hosts.empty()) return {};
    const std::uint64_t page = rows->page();
    kept.clear();
    for (const std::uint64_t link : links) {
      if (page >= hosts.size() || link >= hosts.size()) {
        return fail(Errc::kSegmentInvalid, "a link leads to a page that does not exist");
      }
      if (hosts[page] != hosts[link]) kept.push_back(link);
    }
    links = kept;
    return {};
  }
};

Result<LinkStream> PageView::links(const LinkStreamOptions& options) const {
  auto impl = std::make_shared<LinkStream::Impl>();
  impl->view = impl_;
  impl->options = options;
  if (options.only_other_hosts && impl_->keys) {
    CRAWLSTORE_TRY(auto hosts, impl_->hosts());
    impl->hosts = std::move(hosts);
  }
  CRAWLSTORE_TRY(impl->start());
  return LinkStream(std::move(impl));
}

LinkStream::LinkStream(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<bool> LinkStream::next() {
  while (impl_->rows) {
    const auto more = impl_->rows->next();
    if (!more || !*more) {
      impl_->rows.reset();
      return more;
    }
    CRAWLSTORE_TRY(impl_->filter());
    if (!impl_->links.empty()) return true;
  }
  return false;
}

std::uint64_t LinkStream::page() const {
  return impl_->rows->page();
}

std::span<const std::uint64_t> LinkStream::links() const {
  return impl_->links;
}

Result<void> LinkStream::reset() {
  return impl_->start();
}

}  // namespace crawlstore
