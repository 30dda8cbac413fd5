// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

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

double crawled_seconds(const PageInfo& page) {
  constexpr double kSecond = 1e6;
  return static_cast<double>(page.last_crawl_us - page.first_crawl_us) / kSecond;
}

}  // namespace

std::optional<double> PageInfo::change_rate() const {
  if (last_crawl_us <= first_crawl_us || crawl_count < 2) return std::nullopt;
  const double intervals = static_cast<double>(crawl_count) - 1;
  const double changes = change_count == 0 ? 0.5 : static_cast<double>(change_count);
  return -intervals / crawled_seconds(*this) *
         std::log((intervals - changes + 0.5) / (intervals + 0.5));
}

std::optional<double> PageInfo::aduana_change_rate() const {
  if (last_crawl_us <= first_crawl_us) return std::nullopt;
  return (static_cast<double>(change_count) + 1) / crawled_seconds(*this);
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
  const auto unless_noted = [this](PagePart part, std::uint64_t end, const Result<void>& opened) {
    return opened ? opened : note_gap(part, 0, end, opened.error());
  };
  const std::uint64_t end = table.page_count;
  CRAWLSTORE_TRY(unless_noted(PagePart::kUrl, end, open_origins()));
  CRAWLSTORE_TRY(unless_noted(PagePart::kRecord, end, open_records()));
  if (const auto opened = open_links(); !opened) {
    CRAWLSTORE_TRY(note_gap(PagePart::kOutLinks, 0, end, opened.error()));
    CRAWLSTORE_TRY(note_gap(PagePart::kInLinks, 0, end, opened.error()));
  }
  CRAWLSTORE_TRY(unless_noted(PagePart::kEvents, std::max<std::uint64_t>(1, table.event_count),
                              part(table.events, SegmentKind::kPageEvents).map([](auto) {})));
  if (!table.has_urls) return {};
  const auto opened = open_keys();
  if (!opened) keys_error = opened.error();
  return unless_noted(PagePart::kKey, end, opened);
}

Result<void> PageView::Impl::open_origins() {
  CRAWLSTORE_TRY(const auto log, part(table.origins, SegmentKind::kPageOrigins));
  if (log == nullptr) return {};
  auto opened = pages::OriginsLog::open(*log, table.page_count, [&](const format::RunRef& run) {
    return Inside::of(snapshot).run_reader(table.origins, run);
  });
  if (!opened) return tl::unexpected<Error>(opened.error());
  origins.emplace(std::move(*opened));
  return {};
}

Result<void> PageView::Impl::open_records() {
  CRAWLSTORE_TRY(const auto tiles, part(table.records, SegmentKind::kPageRecords));
  CRAWLSTORE_TRY(pages::check_page_count(table, tiles));
  if (tiles == nullptr) return {};
  const auto owner = std::make_shared<Snapshot>(snapshot);
  CRAWLSTORE_TRY(auto opened,
                 container::TileReader::open({owner, &Inside::of(*owner)}, table.records));
  records.emplace(std::move(opened));
  return {};
}

Result<void> PageView::Impl::open_links() {
  const std::array link_parts{std::pair{table.out_links, SegmentKind::kOutLinks},
                              std::pair{table.in_links, SegmentKind::kInLinks},
                              std::pair{table.gone_links, SegmentKind::kGoneLinks}};
  for (const auto& [id, kind] : link_parts) CRAWLSTORE_TRY(part(id, kind));
  if (!table.out_links || !table.in_links) return {};
  CRAWLSTORE_TRY(auto opened,
                 links::LinkView::open(Inside::of(snapshot),
                                       {table.out_links, table.in_links, table.gone_links}));
  CRAWLSTORE_TRY(opened.check_pages(table.page_count));
  links.emplace(std::move(opened));
  return {};
}

/// Notes a gap in a view that goes on past damage; in any other returns the error.
Result<void> PageView::Impl::note_gap(PagePart part, std::uint64_t first, std::uint64_t end,
                                      const Error& error) const {
  if (!goes_on_past(error)) return tl::unexpected<Error>(error);
  gaps->add(part, first, end, error);
  return {};
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
  return Impl::open(snapshot, name, nullptr).map([](auto impl) {
    return PageView(std::move(impl));
  });
}

Result<std::shared_ptr<PageView::Impl>> PageView::Impl::open(
    const Snapshot& snapshot, std::string_view name, std::unique_ptr<pages::GapNotes> gaps) {
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
  impl->gaps = std::move(gaps);
  PagesInfo& info = impl->info;
  info.id = entry->id;
  info.name = entry->name;
  info.has_urls = table->has_urls;
  info.page_count = table->page_count;
  info.crawled_count = table->crawled_count;
  info.elsewhere_count = table->elsewhere_count;
  info.link_count = table->link_count;
  info.event_count = table->event_count;
  info.superstep_count = table->superstep_count;
  info.collision_count = table->collision_count;
  info.unparsed_count = table->unparsed_count;
  info.normalizer = table->normalizer;
  info.shard = read_shard(snapshot).value_or(Shard());  // damaged, it hides no page
  info.origin_bytes = segment_allocated_bytes(directory.find(table->origins));
  info.record_bytes = segment_allocated_bytes(directory.find(table->records));
  info.out_link_bytes = segment_allocated_bytes(directory.find(table->out_links));
  info.in_link_bytes = segment_allocated_bytes(directory.find(table->in_links)) +
                       segment_allocated_bytes(directory.find(table->gone_links));
  info.has_content_index = table->has_contents;
  info.content_bytes = segment_allocated_bytes(directory.find(table->contents));
  info.event_bytes = segment_allocated_bytes(directory.find(table->events));
  info.key_bytes = segment_allocated_bytes(directory.find(table->fresh_keys));
  directory.for_each_segment([&](const format::SegmentEntry& other) {
    if (table->keys && (other.id == table->keys || other.owner == table->keys)) {
      info.key_bytes += segment_allocated_bytes(&other);
    }
  });
  CRAWLSTORE_TRY(impl->open_parts());
  return impl;
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
  if (impl_->keys_error) return tl::unexpected<Error>(*impl_->keys_error);
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
  if (keys_error) return tl::unexpected<Error>(*keys_error);
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
  if (!origins && table.origins) return fail(Errc::kSegmentInvalid, "no origin can be read");
  if (!origins) return {};
  const std::lock_guard lock(mutex);
  const auto origin = origins->find(index);
  if (!origin) {
    (void)note_gap(PagePart::kUrl, index, index + 1, origin.error());
    return tl::unexpected<Error>(origin.error());
  }
  page.url = origin->url;
  page.linked_from = origin->linked_from;
  page.depth = origin->depth;
  page.by_redirect = origin->by_redirect;
  return {};
}

Result<format::PageRecord> PageView::Impl::record(std::uint64_t index) const {
  CRAWLSTORE_TRY(check_index(index));
  auto record = read_record(index);
  if (!record) (void)note_gap(PagePart::kRecord, index, index + 1, record.error());
  return record;
}

Result<format::PageRecord> PageView::Impl::read_record(std::uint64_t index) const {
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
  page.http_status = record.status;
  page.failure_count = record.failures;
  page.content_hash.assign(record.hash.begin(), record.hash.begin() + record.hash_bytes);
  return page;
}

Result<std::string> PageView::url(std::uint64_t index) const {
  CRAWLSTORE_TRY(impl_->check_index(index));
  PageInfo page;
  const auto filled = impl_->fill_origin(index, page);
  if (!filled && !impl_->goes_on_past(filled.error())) return tl::unexpected<Error>(filled.error());
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
  if (const auto read = view.out(index, found); !read) {
    CRAWLSTORE_TRY(impl_->note_gap(PagePart::kOutLinks, index, index + 1, read.error()));
    found.clear();
  }
  return found;
}

Result<std::vector<std::uint64_t>> PageView::in_links(std::uint64_t index) const {
  CRAWLSTORE_TRY(impl_->check_index(index));
  std::vector<std::uint64_t> found;
  if (!impl_->links) return found;
  links::LinkView view = *impl_->links;
  if (const auto read = view.in(index, found); !read) {
    CRAWLSTORE_TRY(impl_->note_gap(PagePart::kInLinks, index, index + 1, read.error()));
    found.clear();
  }
  return found;
}

Result<void> PageView::for_each_page(const VisitPage& visit, std::uint64_t first) const {
  if (impl_->lacks_a_part()) return {};
  for (std::uint64_t index = first; index < impl_->table.page_count; ++index) {
    const auto found = page(index);
    if (!found && impl_->goes_on_past(found.error())) continue;
    if (!found) return tl::unexpected<Error>(found.error());
    if (!visit(*found)) return {};
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
    if (impl_->goes_on_past(found.error())) return true;
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
  if (entry == nullptr) return {};
  auto events = impl_->walk_events(entry->runs);
  std::uint64_t count = 0;
  auto read = events.start();
  for (; read && !events.at_end() && visit(events.event()); ++count) read = events.advance();
  if (read) return read;
  const std::uint64_t end = std::max(count + 1, impl_->table.event_count);
  return impl_->note_gap(PagePart::kEvents, count, end, read.error());
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

}  // namespace crawlstore
