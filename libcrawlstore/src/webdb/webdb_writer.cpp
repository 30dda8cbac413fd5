// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
// - The page database gets no edit before all of them are worked out, in `events`.
// - `view` is the state before the session, to which `edits` and `contents` refer.
// - Events of one URL are in call order; those that add links by content come after all others.
#include <algorithm>
#include <utility>

#include <crawlstore/external_sort.h>
#include <crawlstore/page_key.h>
#include <crawlstore/tools/page_copies.h>
#include <crawlstore/webdb.h>

#include "webdb/webdb_edits.h"

namespace crawlstore {
namespace {

using webdb::content_key;
using webdb::ContentKey;
using webdb::ContentKind;
using webdb::DecodedEdit;
using webdb::EditKind;

constexpr std::uint64_t kWriterMemoryMin = 4 * ExternalSort::kMemoryBytesMin;
/// Bytes of URLs in an event that adds links.
constexpr std::size_t kLinksBytes = std::size_t{1} << 18;

/// A page while the edits of its URL are gone through.
struct PageSoFar {
  std::optional<std::uint64_t> index;  // before the session, as all that begins with `was` or `old`
  bool was_there = false;
  std::vector<std::byte> old_hash;
  bool is_there = false;
  std::vector<std::byte> hash;
  bool has_old_links = false;                        // those that the view has
  std::vector<std::pair<std::string, float>> links;  // otherwise
};

bool has_hash(const PageSoFar& page, std::span<const std::byte> hash) {
  return !hash.empty() && std::ranges::equal(page.hash, hash);
}

Result<ExternalSort> make_edit_sort(const WebDbOptions& options, std::uint64_t memory_bytes) {
  ExternalSortOptions with;
  with.memory_bytes = memory_bytes;
  with.folder = options.folder;
  return ExternalSort::make(with);
}

void refuse_links(std::span<const std::byte> hash, std::span<const std::string> targets,
                  WebDbReport& report) {
  report.refused_link_count += targets.size();
  for (const std::string& target : targets) {
    if (report.refused_links.size() == WebDbReport::kRefusedLinksMax) return;
    report.refused_links.push_back({{hash.begin(), hash.end()}, target});
  }
}

/// Notes the pages by content that an index would find.
Result<void> note_old_pages(const PageView& view, ExternalSort& contents) {
  Result<void> added;
  CRAWLSTORE_TRY(view.for_each_page([&](const PageInfo& page) {
    if (page.content_hash.empty()) return true;
    added = contents.add(content_key(page.content_hash, ContentKind::kOldPage, page.index));
    return added.has_value();
  }));
  return added;
}

}  // namespace

struct WebDbWriter::Impl {
  Impl(PageDb opened, PageView before, const WebDbOptions& options)
      : pages(std::move(opened)),
        view(std::move(before)),
        normalizer(options.pages.normalizer ? *options.pages.normalizer
                                            : UrlNormalizer::to_find(view->info().normalizer)),
        progress(options.pages.progress) {}

  enum class Stage : std::uint8_t { kCollecting, kFailed, kAdding, kMerging, kClosed };

  PageDb pages;
  std::optional<PageView> view;  // until close() has ended
  UrlNormalizer normalizer;
  Progress progress;
  std::optional<ExternalSort> edits;     // by URL
  std::optional<ExternalSort> contents;  // by content: webdb_edits.h
  std::optional<ExternalSort> events;    // in their order, as their keys are empty
  Stage stage = Stage::kCollecting;
  WebDbReport report;
  DecodedEdit decoded;
  bool has_link_edits = false;  // by content
  bool more_contents = false;
  bool has_event = false;  // `events` is at one that was not taken yet
  Error failed{.code = Errc::kPoisoned, .segment = {}};  // what work_out() met

  Result<void> check_collecting() const;
  Result<void> log(EditKind kind, CrawlEvent event, const std::optional<WebDbLink>& link = {});
  Result<void> work_out();
  Result<PageSoFar> page_before(std::string_view url) const;
  Result<void> apply_edit(std::string_view url, PageSoFar& page);
  Result<void> replace_page(CrawlEvent event, bool keeps_score, PageSoFar& page);
  Result<void> put_event(const CrawlEvent& event, PageSoFar& page);
  Result<void> put_links(std::string_view url, std::span<const EventLink> links);
  Result<void> put_old_links(std::string_view url, const PageSoFar& page);
  Result<void> note_content(std::string_view url, const PageSoFar& page);
  Result<void> take_content();
  Result<void> next_content();
  [[nodiscard]] bool is_at(std::span<const std::byte> hash, ContentKind kind) const;
  Result<bool> add_to_old_page(std::span<const std::byte> hash, std::uint64_t index,
                               std::span<const EventLink> links);
  Result<void> add_events();
};

Result<void> WebDbWriter::Impl::check_collecting() const {
  if (stage == Stage::kCollecting) return {};
  return fail(Errc::kClosed, "the writer of a WebDB has been closed");
}

Result<void> WebDbWriter::Impl::log(EditKind kind, CrawlEvent event,
                                    const std::optional<WebDbLink>& link) {
  CRAWLSTORE_TRY(check_collecting());
  CRAWLSTORE_TRY(webdb::check_edit(event));
  if (link) CRAWLSTORE_TRY(webdb::check_link(*link));
  const std::string url(normalizer.normalize(event.url).text);
  event.url = url;
  CRAWLSTORE_TRY(webdb::check_edit(event));
  if (event.kind != CrawlEventKind::kKnown && !view->info().shard.has(url_host(url))) {
    return fail(Errc::kInvalidArgument,
                "a page of another shard can be known here, and be linked to, and nothing else");
  }
  CRAWLSTORE_TRY(edits->add(url, webdb::encode_edit(kind, event, link)));
  ++report.edit_count;
  return {};
}

Result<PageSoFar> WebDbWriter::Impl::page_before(std::string_view url) const {
  PageSoFar page;
  CRAWLSTORE_TRY(page.index, view->find_text(url));
  if (!page.index) return page;
  CRAWLSTORE_TRY(const auto found, view->page(*page.index));
  page.was_there = page.is_there = page.has_old_links = found.state != PageState::kGone;
  page.old_hash = page.hash = found.content_hash;
  return page;
}

/// Puts an event out, and what it makes of the page.
Result<void> WebDbWriter::Impl::put_event(const CrawlEvent& event, PageSoFar& page) {
  CRAWLSTORE_TRY(events->add({}, webdb::encode_edit(EditKind::kAdd, event)));
  page.is_there = event.kind != CrawlEventKind::kGone;
  if (event.kind == CrawlEventKind::kUnchanged) return {};
  page.has_old_links = false;
  page.links.clear();
  for (const EventLink& link : event.links) page.links.emplace_back(link.url, link.score);
  if (event.kind == CrawlEventKind::kPage) {
    page.hash.assign(event.content_hash.begin(), event.content_hash.end());
  }
  return {};
}

Result<void> WebDbWriter::Impl::put_links(std::string_view url, std::span<const EventLink> links) {
  while (!links.empty()) {
    std::size_t count = 0;
    for (std::size_t bytes = 0; count < links.size() && bytes < kLinksBytes; ++count) {
      bytes += links[count].url.size();
    }
    CrawlEvent event;
    event.kind = CrawlEventKind::kLinkAdded;
    event.url = url;
    event.links = links.first(count);
    CRAWLSTORE_TRY(events->add({}, webdb::encode_edit(EditKind::kAdd, event)));
    links = links.subspan(count);
  }
  return {};
}

/// Gives a page back the links that it had before an event without any.
Result<void> WebDbWriter::Impl::put_old_links(std::string_view url, const PageSoFar& page) {
  std::vector<std::string> urls;
  std::vector<EventLink> links;
  if (page.has_old_links) {
    CRAWLSTORE_TRY(const auto old, view->out_links(*page.index));
    for (const std::uint64_t target : old) {
      CRAWLSTORE_TRY(urls.emplace_back(), view->url(target));
    }
    for (const std::string& target : urls) links.push_back({target, 0, 0});
  }
  for (const auto& [target, score] : page.links) links.push_back({target, 0, score});
  return put_links(url, links);
}

Result<void> WebDbWriter::Impl::replace_page(CrawlEvent event, bool keeps_score, PageSoFar& page) {
  if (keeps_score && page.is_there) event.score = 0;
  const bool keeps_links =
      page.is_there && event.links.empty() && has_hash(page, event.content_hash);
  if (!keeps_links) return put_event(event, page);
  if (keeps_score) {
    event.kind = CrawlEventKind::kUnchanged;
    event.content_hash = {};
    return put_event(event, page);
  }
  PageSoFar before = page;
  CRAWLSTORE_TRY(put_event(event, page));
  CRAWLSTORE_TRY(put_old_links(event.url, before));
  page.has_old_links = before.has_old_links;
  page.links = std::move(before.links);
  return {};
}

/// Takes the edit at hand: puts out what it comes to.
Result<void> WebDbWriter::Impl::apply_edit(std::string_view url, PageSoFar& page) {
  CRAWLSTORE_TRY(decoded.decode(edits->payload()));
  CrawlEvent event = decoded.event();
  event.url = url;
  switch (decoded.kind()) {
    case EditKind::kAdd:
    case EditKind::kAddWithScore:
      return replace_page(event, decoded.kind() == EditKind::kAdd, page);
    case EditKind::kAddIfNew:
      if (page.is_there) break;
      if (const auto link = decoded.link()) {
        has_link_edits = true;
        const auto key = content_key(link->content_hash, ContentKind::kLink);
        CRAWLSTORE_TRY(contents->add(key, link->target_url));
      }
      return put_event(event, page);
    case EditKind::kDelete:
      if (page.is_there) return put_event(event, page);
      break;
  }
  ++report.no_effect_count;
  return {};
}

/// Notes by content whether the page lost one, and whether it got one.
Result<void> WebDbWriter::Impl::note_content(std::string_view url, const PageSoFar& page) {
  const bool is_same = page.was_there && page.is_there && page.hash == page.old_hash;
  if (page.was_there && !is_same && !page.old_hash.empty()) {
    const auto key = content_key(page.old_hash, ContentKind::kLostPage, *page.index);
    CRAWLSTORE_TRY(contents->add(key));
  }
  if (page.is_there && !is_same && !page.hash.empty()) {
    CRAWLSTORE_TRY(contents->add(content_key(page.hash, ContentKind::kGainedPage), url));
  }
  return {};
}

Result<void> WebDbWriter::Impl::next_content() {
  CRAWLSTORE_TRY(more_contents, contents->next());
  return {};
}

bool WebDbWriter::Impl::is_at(std::span<const std::byte> hash, ContentKind kind) const {
  if (!more_contents) return false;
  const ContentKey key(contents->record());
  return key.kind == kind && std::ranges::equal(key.content_hash, hash);
}

/// Adds links to a page that had the content before the session; false: it lost it, or is gone.
Result<bool> WebDbWriter::Impl::add_to_old_page(std::span<const std::byte> hash,
                                                std::uint64_t index,
                                                std::span<const EventLink> links) {
  bool is_lost = false;
  while (is_at(hash, ContentKind::kLostPage) && ContentKey(contents->record()).index <= index) {
    is_lost = ContentKey(contents->record()).index == index;
    CRAWLSTORE_TRY(next_content());
  }
  CRAWLSTORE_TRY(const PageState state, view->state(index));
  if (is_lost || state == PageState::kGone) return false;
  CRAWLSTORE_TRY(const std::string url, view->url(index));
  CRAWLSTORE_TRY(put_links(url, links));
  return true;
}

/// Goes through the records of one content, and past them.
Result<void> WebDbWriter::Impl::take_content() {
  const ContentKey key(contents->record());
  const std::vector<std::byte> hash(key.content_hash.begin(), key.content_hash.end());
  std::vector<std::string> targets;
  while (is_at(hash, ContentKind::kLink)) {
    targets.emplace_back(contents->payload());
    CRAWLSTORE_TRY(next_content());
  }
  std::vector<EventLink> links;
  links.reserve(targets.size());
  for (const std::string& target : targets) links.push_back({target, 0, 0});
  std::uint64_t page_count = 0;  // that have it at the end
  if (!links.empty() && view->info().has_content_index) {
    Result<bool> added;
    CRAWLSTORE_TRY(for_each_page_of_content(*view, hash, [&](std::uint64_t index) {
      added = add_to_old_page(hash, index, links);
      page_count += added.value_or(false) ? 1 : 0;
      return added.has_value();
    }));
    if (!added) return tl::unexpected<Error>(added.error());
  }
  while (is_at(hash, ContentKind::kLostPage) || is_at(hash, ContentKind::kOldPage)) {
    const ContentKey old(contents->record());
    const std::uint64_t index = old.index;
    const bool is_lost = old.kind == ContentKind::kLostPage;
    CRAWLSTORE_TRY(next_content());
    if (is_lost) {
      const bool is_listed =
          is_at(hash, ContentKind::kOldPage) && ContentKey(contents->record()).index == index;
      if (is_listed) CRAWLSTORE_TRY(next_content());
    } else if (!links.empty()) {
      CRAWLSTORE_TRY(const bool is_added, add_to_old_page(hash, index, links));
      page_count += is_added ? 1 : 0;
    }
  }
  for (; is_at(hash, ContentKind::kGainedPage); ++page_count) {
    CRAWLSTORE_TRY(put_links(contents->payload(), links));
    CRAWLSTORE_TRY(next_content());
  }
  if (page_count == 0) refuse_links(hash, targets, report);
  return {};
}

/// Works out the events that the edits come to: URL by URL, then content by content.
Result<void> WebDbWriter::Impl::work_out() {
  CRAWLSTORE_TRY(edits->finish());
  CRAWLSTORE_TRY(bool more, edits->next());
  while (more) {
    const std::string url(edits->record());
    CRAWLSTORE_TRY(auto page, page_before(url));
    while (more && edits->record() == url) {
      CRAWLSTORE_TRY(apply_edit(url, page));
      CRAWLSTORE_TRY(more, edits->next());
    }
    CRAWLSTORE_TRY(note_content(url, page));
  }
  if (has_link_edits && !view->info().has_content_index) {
    CRAWLSTORE_TRY(note_old_pages(*view, *contents));
  }
  CRAWLSTORE_TRY(contents->finish());
  CRAWLSTORE_TRY(next_content());
  while (more_contents) CRAWLSTORE_TRY(take_content());
  return events->finish();
}

/// Hands the events to the page database. An event that brought about a superstep which failed was
/// taken all the same; after any other error it is handed over again by the next call.
Result<void> WebDbWriter::Impl::add_events() {
  for (;;) {
    if (!has_event) {
      CRAWLSTORE_TRY(has_event, events->next());
      if (!has_event) return {};
    }
    CRAWLSTORE_TRY(decoded.decode(events->payload()));
    const auto added = pages.add(decoded.event());
    has_event = !added && added.error().code != Errc::kCancelled &&
                category(added.error().code) != ErrorCategory::kSystem;
    if (!added) return added;
  }
}

WebDbWriter::WebDbWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WebDbWriter::WebDbWriter(WebDbWriter&&) noexcept = default;
WebDbWriter& WebDbWriter::operator=(WebDbWriter&&) noexcept = default;
WebDbWriter::~WebDbWriter() = default;

Result<WebDbWriter> WebDbWriter::open(Store& store, const WebDbOptions& options) {
  if (options.memory_bytes < kWriterMemoryMin || !options.pages.has_urls) {
    return fail(Errc::kInvalidArgument, "a writer of a WebDB needs 64 KiB of memory, and URLs");
  }
  PagesOptions with_index = options.pages;
  with_index.content_index = true;
  CRAWLSTORE_TRY(auto pages, PageDb::open(store, options.name, with_index));
  CRAWLSTORE_TRY(pages.merge());
  CRAWLSTORE_TRY(const auto snapshot, store.snapshot());
  CRAWLSTORE_TRY(auto view, PageView::open(snapshot, options.name));
  auto impl = std::make_unique<Impl>(std::move(pages), std::move(view), options);
  CRAWLSTORE_TRY(impl->edits, make_edit_sort(options, options.memory_bytes / 2));
  CRAWLSTORE_TRY(impl->contents, make_edit_sort(options, options.memory_bytes / 4));
  CRAWLSTORE_TRY(impl->events, make_edit_sort(options, options.memory_bytes / 4));
  return WebDbWriter(std::move(impl));
}

Result<void> WebDbWriter::add_page(const CrawledPage& page) {
  return impl_->log(EditKind::kAdd, page.event());
}

Result<void> WebDbWriter::add_page_with_score(const CrawledPage& page) {
  if (page.event().score != 0) return impl_->log(EditKind::kAddWithScore, page.event());
  return fail(Errc::kInvalidArgument, "score 0 is no opinion: a page cannot be given it");
}

Result<void> WebDbWriter::add_page_if_new(const CrawledPage& page,
                                          const std::optional<WebDbLink>& link) {
  return impl_->log(EditKind::kAddIfNew, page.event(), link);
}

Result<void> WebDbWriter::add_page_if_new(std::string_view url, float score,
                                          const std::optional<WebDbLink>& link) {
  CrawlEvent event;
  event.kind = CrawlEventKind::kKnown;
  event.url = url;
  event.score = score;
  return impl_->log(EditKind::kAddIfNew, event, link);
}

Result<void> WebDbWriter::delete_page(std::string_view url) {
  CrawlEvent event;
  event.kind = CrawlEventKind::kGone;
  event.url = url;
  return impl_->log(EditKind::kDelete, event);
}

Result<void> WebDbWriter::add_link(const WebDbLink& link) {
  CRAWLSTORE_TRY(impl_->check_collecting());
  CRAWLSTORE_TRY(webdb::check_link(link));
  const auto key = content_key(link.content_hash, ContentKind::kLink);
  CRAWLSTORE_TRY(impl_->contents->add(key, link.target_url));
  impl_->has_link_edits = true;
  ++impl_->report.edit_count;
  return {};
}

Result<WebDbReport> WebDbWriter::close() {
  using Stage = Impl::Stage;
  Impl& impl = *impl_;
  if (impl.stage == Stage::kCollecting) {
    impl.stage = Stage::kFailed;
    impl.failed.text = "working out the edits of a WebDB was left unfinished";
    const auto done = impl.work_out();
    if (!done) impl.failed = done.error();
    if (done) impl.stage = Stage::kAdding;
  }
  if (impl.stage == Stage::kFailed) return tl::unexpected<Error>(impl.failed);
  if (impl.stage == Stage::kAdding) {
    CRAWLSTORE_TRY(impl.add_events());
    impl.stage = Stage::kMerging;
  }
  if (impl.stage == Stage::kMerging) {
    CRAWLSTORE_TRY(impl.report.superstep, impl.pages.merge(impl.progress));
    CRAWLSTORE_TRY(impl.pages.close());
    impl.stage = Stage::kClosed;
    impl.view.reset();
    for (auto* const sort : {&impl.edits, &impl.contents, &impl.events}) sort->reset();
  }
  return impl.report;
}

}  // namespace crawlstore
