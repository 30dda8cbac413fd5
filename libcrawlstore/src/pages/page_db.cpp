// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
// - What the writer's changes hold of a page database, it holds between before_commit(), or the
//   superstep, and after_commit() only; in_commit is set as long.
// - The first `written_edits` edits of the batch are those in the log of events.
#include <algorithm>
#include <chrono>
#include <cmath>

#include <crawlstore/pages.h>

#include "base/assert.h"
#include "format/crawl_events.h"
#include "format/name.h"
#include "links/link_log.h"
#include "pages/forget.h"
#include "pages/origins_run.h"
#include "pages/page_db_impl.h"
#include "pages/superstep.h"

namespace crawlstore {
namespace {

constexpr std::uint64_t kMemoryBytesMin = std::uint64_t{1} << 20;

Result<void> check_open_options(std::string_view name, const PagesOptions& options) {
  if (name.empty() || name.size() > format::kNameBytesMax) {
    return fail(Errc::kTooLarge, "a name has from 1 to 255 bytes");
  }
  if (!format::is_valid_name(name)) {
    return fail(Errc::kInvalidArgument, "a name is UTF-8 without control characters");
  }
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

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Adds the edits of one batch to another.
void append_edits(const pages::Batch& from, pages::Batch& to) {
  CrawlEvent event;
  std::vector<EventLink> links;
  for (std::size_t edit = 0; edit < from.edits().size(); ++edit) {
    from.describe(edit, event, links);
    to.add(event);
  }
}

}  // namespace

SuperstepReport& SuperstepReport::operator+=(const SuperstepReport& other) {
  edit_count += other.edit_count;
  new_page_count += other.new_page_count;
  added_link_count += other.added_link_count;
  gone_link_count += other.gone_link_count;
  collision_count += other.collision_count;
  return *this;
}

void PageDb::Impl::lock() {
  mutex.lock();
}
void PageDb::Impl::unlock() {
  mutex.unlock();
}

Result<void> PageDb::Impl::check_usable() const {
  if (closed) return fail(Errc::kClosed, "the page database has been closed");
  CRAWLSTORE_TRY(store->writer->check_not_poisoned());
  return store->writer->storage().check_process();
}

/// Of the entries in the writer's changes, those that are ours.
void PageDb::Impl::note_entries() {
  const container::Writer& writer = *store->writer;
  in_commit->entries.clear();
  const auto note = [&](SegmentId id) {
    if (const auto* entry = writer.find(id)) in_commit->entries.push_back(*entry);
  };
  note(state.id);
  pages::for_each_segment(in_commit->state.table, [&](SegmentId id) {
    if (id != in_commit->state.table.keys) note(id);  // the key table cares for its own
  });
}

/// Gives back what no commit has published.
void PageDb::Impl::release_entries() {
  for (const auto& entry : in_commit->entries) store->writer->release_unpublished(entry);
}

void PageDb::Impl::join_tentative() {
  append_edits(*tentative, *batch);
}

Result<void> PageDb::Impl::before_commit(CommitScope /*scope*/) {
  if (in_superstep) return {};
  in_commit.emplace();
  in_commit->state = state;
  in_commit->batch = batch->mark();
  join_tentative();
  const bool is_new = dirty && keys && !state.table.keys;
  Result<void> written = write_events();
  if (written && is_new) {
    written = keys->apply({});
    in_commit->state.table.keys = keys->segment();
  }
  if (written && (dirty || in_commit->state.table != state.table)) {
    written = put_state(*store->writer, in_commit->state);
  }
  note_entries();
  if (written) return {};
  after_commit(false);
  return written;
}

void PageDb::Impl::after_commit(bool published) {
  if (!in_commit) return;
  if (!published) {
    release_entries();
    if (keys) keys->dropped();
    batch->cut_back(in_commit->batch);
    in_commit.reset();
    return;
  }
  if (keys) keys->committed();
  state = in_commit->state;
  written_edits = batch->edits().size();
  tentative->clear();
  dirty = false;
  in_commit.reset();
}

Result<void> PageDb::Impl::write_arrays(CommitScope /*scope*/) {
  return {};
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
}

Result<void> PageDb::Impl::check_event(const CrawlEvent& event) const {
  if (const char* broken = format::check_event(event)) {
    return fail(Errc::kInvalidArgument, broken);
  }
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

/// Normalises the URLs of an event and adds it.
void PageDb::Impl::take(CrawlEvent event, pages::Batch& into) {
  if (event.kind == CrawlEventKind::kPage && event.time_us == 0) event.time_us = now_us();
  note_indexes(event);
  if (options.raw_urls || !state.table.has_urls) return into.add(event);
  std::size_t bytes_max = event.url.size() + 1;
  for (const EventLink& link : event.links) bytes_max += link.url.size() + 1;
  normal_bytes.clear();
  normal_bytes.reserve(bytes_max);  // so that views into it stay
  bool all_parsed = true;
  const auto normal = [this, &all_parsed](std::string_view url) -> std::string_view {
    const NormalizedUrl normalized = normalizer.normalize(url);
    all_parsed = all_parsed && normalized.parsed;
    const char* const text = normalized.text.data();
    if (std::less_equal<>()(url.data(), text) &&
        std::less_equal<>()(text, url.data() + url.size())) {
      return normalized.text;
    }
    const std::size_t begin = normal_bytes.size();
    normal_bytes.insert(normal_bytes.end(), normalized.text.begin(), normalized.text.end());
    return {normal_bytes.data() + begin, normalized.text.size()};
  };
  event.url = normal(event.url);
  normal_links.assign(event.links.begin(), event.links.end());
  for (EventLink& link : normal_links) link.url = normal(link.url);
  event.links = normal_links;
  into.add(event, all_parsed);
}

Result<void> PageDb::Impl::add(const CrawlEvent& event) {
  {
    const std::lock_guard lock(mutex);
    CRAWLSTORE_TRY(check_usable());
    CRAWLSTORE_TRY(check_event(event));
    CRAWLSTORE_TRY(check_gaps(event));
    if (store->in_dispatcher()) {
      take(event, *tentative);
      return {};
    }
    take(event, *batch);
    if (batch->memory_bytes() <= options.memory_bytes) return {};
  }
  const auto merged = merge();
  if (!merged) return tl::unexpected<Error>(merged.error());
  return {};
}

Result<SuperstepReport> PageDb::Impl::merge() {
  if (store->in_dispatcher()) {
    return fail(Errc::kReentrant, "a superstep was called for inside a dispatcher");
  }
  const std::lock_guard no_commit(store->mutex);
  CRAWLSTORE_TRY(store->check_open());
  const std::lock_guard lock(mutex);
  CRAWLSTORE_TRY(check_usable());
  if (batch->empty()) return SuperstepReport{};
  return store->change([this] { return merge_locked(); });
}

/// Commits what `change` puts into the writer's changes, or nothing of it.
template <class Change>
Result<void> PageDb::Impl::commit_change(const Change& change) {
  in_commit.emplace();
  in_commit->state = state;
  in_commit->batch = batch->mark();
  Result<void> done = change();
  note_entries();
  if (done) {
    in_superstep = true;
    const auto committed = store->commit_all();
    in_superstep = false;
    if (!committed) done = tl::unexpected<Error>(committed.error());
  } else {
    store->writer->drop_changes();
  }
  if (!done) after_commit(false);  // once more, if it was called
  return done;
}

Result<SuperstepReport> PageDb::Impl::merge_locked() {
  container::Writer& writer = *store->writer;
  SuperstepReport report;
  const auto merged = commit_change([&]() -> Result<void> {
    in_commit->state.table.events = {};
    in_commit->state.table.event_count = 0;
    if (state.table.events) writer.remove(state.table.events);
    auto step = pages::Superstep(writer, in_commit->state, keys ? &*keys : nullptr, *batch).run();
    if (!step) return tl::unexpected<Error>(step.error());
    report = *step;
    return {};
  });
  if (!merged) return tl::unexpected<Error>(merged.error());
  batch->clear();
  written_edits = 0;
  return report;
}

Result<void> PageDb::Impl::compact() {
  if (const auto merged = merge(); !merged) return tl::unexpected<Error>(merged.error());
  const std::lock_guard no_commit(store->mutex);
  CRAWLSTORE_TRY(store->check_open());
  const std::lock_guard lock(mutex);
  CRAWLSTORE_TRY(check_usable());
  return store->change([this] { return compact_locked(); });
}

Result<void> PageDb::Impl::compact_locked() {
  container::Writer& writer = *store->writer;
  return commit_change([&]() -> Result<void> {
    const format::PagesTable& table = state.table;
    if (table.out_links) {
      CRAWLSTORE_TRY(
          links::compact_links(writer, {table.out_links, table.in_links, table.gone_links}));
    }
    if (!table.origins) return {};
    format::SegmentEntry origins = *writer.find(table.origins);
    if (origins.runs.size() < 2) return {};
    CRAWLSTORE_TRY(pages::join_origin_runs(writer, origins, origins.runs.size()));
    writer.put(std::move(origins));
    return {};
  });
}

Result<ForgetReport> PageDb::Impl::forget(const std::function<bool(std::string_view url)>& is_meant,
                                          const ForgetOptions& forget_options) {
  if (const auto merged = merge(); !merged) return tl::unexpected<Error>(merged.error());
  const std::lock_guard no_commit(store->mutex);
  CRAWLSTORE_TRY(store->check_open());
  const std::lock_guard lock(mutex);
  CRAWLSTORE_TRY(check_usable());
  if (!keys) return fail(Errc::kInvalidArgument, "pages without URLs cannot be forgotten by URL");
  const auto open = store->drums.find(forget_options.seen);
  if (open != store->drums.end() && !open->second.expired()) {
    return fail(Errc::kInvalidArgument, "the DRUM of seen URLs must be closed to forget them");
  }
  return store->change([&] { return forget_locked(is_meant, forget_options); });
}

Result<ForgetReport> PageDb::Impl::forget_locked(
    const std::function<bool(std::string_view url)>& is_meant,
    const ForgetOptions& forget_options) {
  container::Writer& writer = *store->writer;
  ForgetReport report;
  std::optional<drum::KeyTable> seen;
  const auto forgotten = commit_change([&]() -> Result<void> {
    pages::Forgetting forgetting(writer, in_commit->state, *keys);
    const auto done = forgetting.run(is_meant);
    if (!done) return tl::unexpected<Error>(done.error());
    report = *done;
    if (forget_options.seen.empty()) return {};
    auto opened = drum::KeyTable::open_seen(writer, forget_options.seen);
    if (!opened) return tl::unexpected<Error>(opened.error());
    seen.emplace(std::move(*opened));
    const std::uint64_t before = seen->key_count();
    CRAWLSTORE_TRY(pages::forget_seen(*seen, forgetting.urls(), writer.identity().key_seed));
    report.seen_count = before - seen->key_count();
    return {};
  });
  if (!forgotten) {
    if (seen) seen->dropped();
    return tl::unexpected<Error>(forgotten.error());
  }
  if (seen) seen->committed();
  return report;
}

Result<void> PageDb::Impl::load(const format::SegmentEntry* entry, std::string_view name) {
  container::Writer& writer = *store->writer;
  if (entry != nullptr) {
    auto loaded = pages::load_state(writer, *entry);
    if (!loaded) return tl::unexpected<Error>(loaded.error());
    state = std::move(*loaded);
    if (state.table.has_urls != options.has_urls) {
      return fail(Errc::kTypeMismatch,
                  options.has_urls ? "the pages of this database have no URLs, only indexes"
                                   : "the pages of this database have URLs",
                  Error::kNoOffset, entry->id.value);
    }
  } else {
    state.id = writer.new_segment_id();
    state.name = name;
    state.table.has_urls = options.has_urls;
    dirty = true;
  }
  if (state.table.has_urls) {
    auto table = drum::KeyTable::open(
        writer, name, {format::kPageValueBytes, options.bucket_count, options.bucket_keys_max});
    if (!table) return tl::unexpected<Error>(table.error());
    if (state.table.keys && state.table.keys != table->segment()) {
      return fail(Errc::kSegmentInvalid, "a page database names another DRUM than that of its name",
                  Error::kNoOffset, state.id.value);
    }
    keys.emplace(std::move(*table));
  }
  const std::uint64_t seed = writer.identity().key_seed;
  batch.emplace(state.table.has_urls, seed);
  tentative.emplace(state.table.has_urls, seed);
  return load_events();
}

Result<void> PageDb::Impl::dispose() {
  if (store->in_dispatcher()) {
    return fail(Errc::kReentrant, "a page database cannot be closed from inside a dispatcher");
  }
  const std::lock_guard lock(store->mutex);
  if (closed) return {};
  const struct Ending {  // whatever happens
    Impl& impl;
    ~Ending() {
      std::erase(impl.store->participants, &impl);
      impl.close();
    }
  } ending{*this};
  const auto committed = store->commit_all();
  if (!committed) return tl::unexpected<Error>(committed.error());
  return {};
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
  const auto& store = impl_->store;
  try {
    if (!store->in_dispatcher()) {
      (void)impl_->dispose();
      return;
    }
    // The transaction under way still needs it.
    const std::lock_guard lock(store->mutex);
    if (!impl_->closed) store->lingering.push_back(impl_);
  } catch (...) {  // no memory; nothing of the store is written any more
    return;
  }
}

Result<PageDb> PageDb::open(Store& store, std::string_view name, const PagesOptions& options) {
  CRAWLSTORE_TRY(check_open_options(name, options));
  const auto inside = store.impl().shared_from_this();
  if (inside->in_dispatcher()) {
    return fail(Errc::kReentrant, "a page database cannot be opened from inside a dispatcher");
  }
  const std::lock_guard lock(inside->mutex);
  CRAWLSTORE_TRY(inside->check_open());
  CRAWLSTORE_TRY(inside->finish_lingering());
  auto impl = std::make_shared<Impl>();
  impl->store = inside;
  impl->options = options;
  impl->participant_name = '\x01' + std::string(name);
  const bool is_open = std::any_of(
      inside->participants.begin(), inside->participants.end(),
      [&impl](const Participant* other) { return other->name() == impl->participant_name; });
  if (is_open) return fail(Errc::kInvalidArgument, "this page database is open already");
  CRAWLSTORE_TRY(
      impl->load(inside->writer->directory()->find_named(SegmentKind::kPages, name), name));
  inside->participants.push_back(impl.get());
  return PageDb(std::move(impl));
}

Result<void> PageDb::add(const CrawledPage& page) {
  return impl_->add(page.event());
}

Result<void> PageDb::add(const CrawlEvent& event) {
  return impl_->add(event);
}

Result<SuperstepReport> PageDb::merge() {
  return impl_->merge();
}

PagesStatus PageDb::status() const {
  const std::lock_guard lock(impl_->mutex);
  const format::PagesTable& table = impl_->state.table;
  return {table.page_count,      table.crawled_count,
          table.link_count,      impl_->batch->edits().size() + impl_->tentative->edits().size(),
          table.superstep_count, table.collision_count,
          table.unparsed_count,  impl_->batch->memory_bytes() + impl_->tentative->memory_bytes(),
          table.has_urls,        impl_->index_end()};
}

Result<ForgetReport> PageDb::forget(const std::function<bool(std::string_view url)>& is_meant,
                                    const ForgetOptions& options) {
  return impl_->forget(is_meant, options);
}

Result<void> PageDb::compact() {
  return impl_->compact();
}

Result<void> PageDb::close() {
  return impl_->dispose();
}

}  // namespace crawlstore
