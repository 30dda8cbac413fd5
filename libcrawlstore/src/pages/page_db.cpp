// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
// - What the writer's changes hold of a page database, it holds between prepare(), or the
// superstep,
//   and published() or dropped() only; in_commit is set as long.
// - The first `written_edits` edits of the batch are those in the log of events.
#include <algorithm>
#include <cmath>

#include <crawlstore/pages.h>

#include "base/assert.h"
#include "base/choose_normalizer.h"
#include "base/inside.h"
#include "container/store_call.h"
#include "format/crawl_events.h"
#include "format/name.h"
#include "pages/page_db_impl.h"
#include "values/pending_values.h"

namespace crawlstore {
namespace {

constexpr std::uint64_t kMemoryBytesMin = std::uint64_t{1} << 20;

Result<void> check_open_options(std::string_view name, const PagesOptions& options) {
  CRAWLSTORE_TRY(format::check_name(name));
  if (options.memory_bytes < kMemoryBytesMin) {
    return fail(Errc::kInvalidArgument, "memory_bytes must be at least 1 MiB");
  }
  if (options.bucket_count == 0 || options.bucket_count > format::kBucketsMax) {
    return fail(Errc::kInvalidArgument, "bucket_count must be from 1 to 65536");
  }
  if (options.bucket_keys_max < 2) {
    return fail(Errc::kInvalidArgument, "bucket_keys_max must be at least 2");
  }
  if (options.index_gap_max == 0 || options.index_gap_max > format::kPagesMax) {
    return fail(Errc::kInvalidArgument, "index_gap_max must be from 1 to 2^40");
  }
  return {};
}

/// That a page of another shard is known at most.
Result<void> check_shard(const pages::PagesState& state, const CrawlEvent& event) {
  if (event.kind == CrawlEventKind::kKnown || !state.is_elsewhere(event.url)) return {};
  return fail(Errc::kInvalidArgument,
              "a page of another shard can be known here, and be linked to, and nothing else");
}

}  // namespace

Result<void> PageDb::Impl::check_usable() const {
  CRAWLSTORE_TRY(store->check_outside());
  if (closed) return fail(Errc::kClosed, "the page database has been closed");
  CRAWLSTORE_TRY(store->writer->check_not_poisoned());
  return store->writer->storage().check_process();
}

void PageDb::Impl::join_tentative() {
  batch->append(*tentative);
}

Result<void> PageDb::Impl::prepare(CommitScope scope) {
  if (in_superstep) return {};
  CRAWLSTORE_TRY(check_flight());
  in_commit.emplace();
  in_commit->state = state;
  land();
  in_commit->batch = batch->mark();
  in_commit->only_lands = only_lands || scope == CommitScope::kNothing;
  Result<void> written = in_commit->only_lands ? Result<void>{} : write_waiting();
  // A new database waits for a commit that writes its keys, too: it is whole in the file, or not
  // there.
  const bool is_new = dirty && !in_commit->only_lands;
  if (written && (is_new || in_commit->state.table != state.table)) {
    written = put_state(*store->writer, in_commit->state);
  }
  if (!written) dropped();
  return written;
}

/// Brings the edits that wait, tentative ones too, into the log of events.
Result<void> PageDb::Impl::write_waiting() {
  join_tentative();
  CRAWLSTORE_TRY(write_events());
  if (!dirty || !keys || in_commit->state.table.keys) return {};
  CRAWLSTORE_TRY(keys->apply(*store->writer, {}));
  in_commit->state.table.keys = keys->segment();
  return {};
}

void PageDb::Impl::published() {
  if (!in_commit) return;
  if (keys) keys->committed();
  state = in_commit->state;
  if (in_commit->has_landed) {
    landed_report = flight->report;
    store->report(name(), flight->cost, Result<SuperstepReport>(landed_report));
    forget_flight();
  }
  if (!in_commit->only_lands) {
    written_edits = batch->edits().size();
    tentative->clear();
  }
  if (!in_commit->only_lands || in_commit->has_landed) dirty = false;
  in_commit.reset();
}

void PageDb::Impl::dropped() {
  if (!in_commit) return;
  if (keys) keys->dropped();
  batch->cut_back(in_commit->batch);
  if (in_commit->has_landed) take_back_flight();
  in_commit.reset();
}

void PageDb::Impl::keep_tentative() {
  const std::lock_guard lock(mutex);
  join_tentative();
  tentative->clear();
}

void PageDb::Impl::drop_tentative() {
  const std::lock_guard lock(mutex);
  tentative->clear();
}

void PageDb::Impl::close() {
  const std::lock_guard lock(mutex);
  closed = true;
  if (!flight) return;
  if (!check_flight()) return void(flight.release());
  flight->is_stopped = true;
  flight.reset();
}

Result<void> PageDb::Impl::check_event(const CrawlEvent& event) const {
  CRAWLSTORE_TRY(format::check_event(event));
  const auto is_named_well = [this](std::string_view url, std::uint64_t index) {
    if (state.table.has_urls) return index == 0 || !url.empty();
    return url.empty() && index < format::kPagesMax;
  };
  const bool is_well = is_named_well(event.url, event.index) &&
                       std::all_of(event.links.begin(), event.links.end(), [&](const auto& link) {
                         return is_named_well(link.url, link.index);
                       });
  if (is_well) return {};
  return fail(Errc::kInvalidArgument,
              state.table.has_urls
                  ? "the pages of this database have URLs, not indexes"
                  : "the pages of this database have indexes below 2^40, not URLs");
}

PageDb::Impl::NormalEvent PageDb::Impl::normalize(CrawlEvent event) {
  if (!state.table.has_urls) return {event, false};
  normal_urls.clear();
  unparsed_urls.clear();
  bool all_parsed = normalizer.name().empty();
  const CallerFunction inside(store.get());  // rules may be the caller's
  const auto normal = [&](std::string_view url) -> std::string_view {
    const NormalizedUrl normalized = normalizer.normalize(url);
    all_parsed = all_parsed && normalized.parsed;
    if (!normalized.parsed && options.unparsed) unparsed_urls.emplace_back(url, normalized.problem);
    const char* const text = normalized.text.data();
    if (std::less_equal<>()(url.data(), text) &&
        std::less_equal<>()(text, url.data() + url.size())) {
      return normalized.text;
    }
    return normal_urls.emplace_back(normalized.text);
  };
  event.url = normal(event.url);
  normal_links.assign(event.links.begin(), event.links.end());
  for (EventLink& link : normal_links) link.url = normal(link.url);
  event.links = normal_links;
  return {event, all_parsed};
}

void PageDb::Impl::take(NormalEvent normal, pages::Batch& into) {
  CrawlEvent& event = normal.event;
  const bool is_crawl =
      event.kind == CrawlEventKind::kPage || event.kind == CrawlEventKind::kUnchanged;
  if (is_crawl && event.time_us == 0) {
    event.time_us = std::max<std::int64_t>(1, store->writer->commit_time_us());
  }
  note_indexes(event);
  add_in_parts(event, normal.all_parsed, into);
}

void PageDb::Impl::tell_unparsed() const {
  const CallerFunction inside(store.get());
  for (const auto& [url, problem] : unparsed_urls) options.unparsed(url, problem);
}

Result<void> PageDb::Impl::add(const CrawlEvent& event) {
  CRAWLSTORE_TRY(store->check_outside());
  {
    const std::lock_guard lock(mutex);
    CRAWLSTORE_TRY(check_usable());
    const NormalEvent normal = normalize(event);
    CRAWLSTORE_TRY(check_event(normal.event));
    if (event.kind == CrawlEventKind::kRedirect && event.links.empty()) {
      return fail(Errc::kInvalidArgument, "a redirect leads to no page");
    }
    CRAWLSTORE_TRY(check_shard(state, normal.event));
    CRAWLSTORE_TRY(check_gaps(event));
    tell_unparsed();
    if (store->in_transaction()) {
      take(normal, *tentative);
      return {};
    }
    if (!calls_for_superstep(normal.event)) {
      take(normal, *batch);
      return {};
    }
  }
  const auto merged = merge_when_full();
  const std::lock_guard lock(mutex);
  CRAWLSTORE_TRY(check_usable());
  take(normalize(event), *batch);  // all the same; others have been added meanwhile
  return merged;
}

Result<void> PageDb::Impl::load(const format::SegmentEntry* entry, std::string_view name) {
  container::Writer& writer = *store->writer;
  Shard shard;
  if ((writer.directory()->superblock.features_incompat & format::kShardsFeature) != 0) {
    CRAWLSTORE_TRY(const auto* const values, values::PendingValues::of(*store));
    CRAWLSTORE_TRY(shard, values->shard());
    if (!shard.is_alone() && !options.has_urls) {
      return fail(Errc::kInvalidArgument,
                  "pages of a shard have URLs, whose hosts say whose they are");
    }
  }
  if (entry != nullptr) {
    CRAWLSTORE_TRY(auto loaded, pages::load_state(writer, *entry));
    state = std::move(loaded);
    if (state.table.has_urls != options.has_urls) {
      return fail(Errc::kTypeMismatch,
                  options.has_urls ? "the pages of this database have no URLs, only indexes"
                                   : "the pages of this database have URLs",
                  Error::kNoOffset, entry->id);
    }
  } else {
    state.id = writer.new_segment_id();
    state.name = name;
    state.table.has_urls = options.has_urls;
    state.table.has_contents = options.content_index;
    CRAWLSTORE_TRY(check_normalizer(options.normalizer));
    if (options.normalizer && options.has_urls) state.table.normalizer = options.normalizer->name();
    dirty = true;
  }
  if (options.content_index && !state.table.has_contents && state.table.crawled_count == 0) {
    state.table.has_contents = true;
    dirty = true;
  }
  state.shard = shard;
  if (state.table.has_urls) {
    if (store->find(SegmentKind::kDrum, name) != nullptr) {
      return fail(Errc::kTypeMismatch,
                  "a DRUM of this name is open, and does not hold the keys of pages");
    }
    CRAWLSTORE_TRY(normalizer, choose_normalizer(state.table.normalizer, options.normalizer));
    CRAWLSTORE_TRY(auto table, drum::KeyTable::open(writer, name,
                                                    {format::kPageValueBytes, options.bucket_count,
                                                     options.bucket_keys_max}));
    if (state.table.keys && state.table.keys != table.segment()) {
      return fail(Errc::kSegmentInvalid, "a page database names another DRUM than that of its name",
                  Error::kNoOffset, state.id);
    }
    keys.emplace(std::move(table));
  }
  const std::uint64_t seed = writer.identity().key_seed;
  batch.emplace(state.table.has_urls, seed);
  tentative.emplace(state.table.has_urls, seed);
  return load_events();
}

/// Closes the database. If the progress callback stops it, it does not wait for a superstep, as the
/// edits can wait in the file.
Result<void> PageDb::Impl::leave() {
  CRAWLSTORE_TRY(store->check_outside("a page database cannot be closed inside a transaction"));
  const Progress progress = has_handle ? options.progress : Progress();
  return container::in_steps(store.get(), progress, [this](auto& steps) -> Result<void> {
    const std::lock_guard lock(store->turn);
    if (!closed) stop_flight_if_told(steps);
    return Participant::leave();
  });
}

PageDb::PageDb(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
PageDb::PageDb(PageDb&&) noexcept = default;

PageDb& PageDb::operator=(PageDb&& other) noexcept {
  if (this != &other) {
    PageDb old(std::move(impl_));
    impl_ = std::move(other.impl_);
  }
  return *this;
}

PageDb::~PageDb() {
  if (impl_ == nullptr) return;
  // One that lingers must not call what may be gone with its handle.
  if (!impl_->store->check_outside("")) impl_->has_handle = false;
  Participant::let_go(impl_);
  impl_->has_handle = false;
}

Result<PageDb> PageDb::open(Store& store, std::string_view name, const PagesOptions& options) {
  CRAWLSTORE_TRY(check_open_options(name, options));
  const auto inside = Inside::of(store).shared_from_this();
  CRAWLSTORE_TRY(inside->check_outside("a page database cannot be opened inside a transaction"));
  const std::lock_guard lock(inside->turn);
  CRAWLSTORE_TRY(inside->check_ready());
  if (inside->find(SegmentKind::kPages, name) != nullptr) {
    return fail(Errc::kInvalidArgument, "this page database is open already");
  }
  auto impl = std::make_shared<Impl>(inside);
  impl->options = options;
  CRAWLSTORE_TRY(
      impl->load(inside->writer->directory()->find_named(SegmentKind::kPages, name), name));
  impl->admit();
  return PageDb(std::move(impl));
}

Result<void> PageDb::add(const CrawledPage& page) {
  return add(page.event());
}

Result<void> PageDb::add(const CrawlEvent& event) {
  const auto impl = impl_;  // the PageDb may go inside
  const StoreCall call(impl);
  return impl->add(event);
}

Result<SuperstepReport> PageDb::merge(const Progress& progress) {
  const auto impl = impl_;
  const StoreCall call(impl);
  return container::in_steps(impl->store.get(), progress,
                             [&](auto& steps) { return impl->merge(steps); });
}

PagesStatus PageDb::status() const {
  const std::lock_guard lock(impl_->mutex);
  const format::PagesTable& table = impl_->state.table;
  PagesStatus status{table.page_count,      table.crawled_count,   table.link_count,     0,
                     table.superstep_count, table.collision_count, table.unparsed_count, 0,
                     table.has_urls,        impl_->index_end(),    table.elsewhere_count};
  const auto add = [&status](const pages::Batch& batch) {
    status.edit_count += batch.edits().size();
    status.memory_bytes += batch.memory_bytes();
  };
  add(*impl_->batch);
  add(*impl_->tentative);
  if (impl_->flight) add(*impl_->flight->batch);
  return status;
}

Result<ForgetReport> PageDb::forget(const std::function<bool(std::string_view url)>& is_meant,
                                    const ForgetOptions& options) {
  const auto impl = impl_;
  const StoreCall call(impl);
  return container::in_steps(impl->store.get(), options.progress,
                             [&](auto& steps) { return impl->forget(is_meant, options, steps); });
}

Result<JoinReport> PageDb::compact(const Progress& progress) {
  const auto impl = impl_;
  const StoreCall call(impl);
  return container::in_steps(impl->store.get(), progress,
                             [&](auto& steps) { return impl->compact(steps); });
}

Result<void> PageDb::close() {
  const auto impl = impl_;
  const StoreCall call(impl);
  return impl->leave();
}

}  // namespace crawlstore
