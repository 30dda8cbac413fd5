// SPDX-License-Identifier: Apache-2.0
//
// Edits that wait, in the file: the log of events.
#include <algorithm>

#include "container/run_io.h"
#include "format/crawl_events.h"
#include "format/event_run.h"
#include "format/layout.h"
#include "pages/event_walk.h"
#include "pages/page_db_impl.h"

namespace crawlstore {
namespace {

constexpr std::size_t kMessageBytes = std::size_t{1} << 20;
/// Bytes of links at which an event is full, which may be after one link. A page with more goes on
/// in further events, which add links.
constexpr std::size_t kEventLinksBytes = std::size_t{1} << 18;
/// A run is closed when its messages are longer: they lie in memory until then, and are longer than
/// the edits they are made of, which name each URL once.
constexpr std::size_t kRunBytes = std::size_t{16} << 20;
/// After so many runs of the log they are twice as long, and so on: so many waiting edits as a
/// memory holds never make more runs than a log may have.
constexpr std::size_t kRunsOfOneLength = 32;
/// With more short runs, or more of any length, the log is written anew.
constexpr std::ptrdiff_t kShortRunsMax = 64;
constexpr std::size_t kRunsMax = format::kRunsPerLogMax / 4 * 3;

bool is_short(const format::RunRef& run) {
  return run.payload_bytes < kRunBytes / 2;
}

/// Returns how many leading links go into one event.
std::size_t count_for_event(std::span<const EventLink> links) {
  std::size_t count = 0;
  std::size_t bytes = 0;
  while (count < links.size() && (count == 0 || bytes < kEventLinksBytes)) {
    bytes += sizeof(EventLink) + links[count++].url.size();
  }
  return count;
}

/// Edits as messages.
class EventRunBuilder {
 public:
  Result<void> add(const CrawlEvent& event) {
    CRAWLSTORE_TRY(message_.append(event));
    ++event_count_;
    if (message_.message_bytes() >= kMessageBytes) message_.finish(messages_);
    return {};
  }
  [[nodiscard]] std::uint64_t event_count() const { return event_count_; }
  /// For the run behind `run_count` others.
  [[nodiscard]] bool is_full(std::size_t run_count) const {
    return messages_.size() >= kRunBytes << (run_count / kRunsOfOneLength);
  }
  /// The payload of a run, and a new beginning.
  std::vector<std::byte> take() {
    if (message_.event_count() != 0) message_.finish(messages_);
    std::vector<std::byte> payload;
    format::encode_event_run(event_count_, messages_, payload);
    messages_.clear();
    event_count_ = 0;
    return payload;
  }

 private:
  format::EventBatchWriter message_;
  std::vector<std::byte> messages_;
  std::uint64_t event_count_ = 0;
};

}  // namespace

void PageDb::Impl::add_in_parts(CrawlEvent event, bool all_parsed, pages::Batch& into) {
  std::span<const EventLink> rest = event.links;
  do {
    event.links = rest.first(count_for_event(rest));
    rest = rest.subspan(event.links.size());
    into.add(event, all_parsed);
    event.content_hash = {};
    event.score = 0;
    event.http_status = 0;
    if (event.kind == CrawlEventKind::kPage) event.kind = CrawlEventKind::kLinkAdded;
  } while (!rest.empty());
}

/// Edits that are dropped again leave it where it is, which does no harm.
void PageDb::Impl::note_indexes(const CrawlEvent& event) {
  if (state.table.has_urls) return;
  named_end = std::max(named_end, event.index + 1);
  for (const EventLink& link : event.links) named_end = std::max(named_end, link.index + 1);
}

std::uint64_t PageDb::Impl::index_end() const {
  if (state.table.has_urls) return 0;
  const std::uint64_t end = std::max(state.table.page_count, named_end) + options.index_gap_max;
  return std::min(end, format::kPagesMax);
}

/// Not of edits that are in the file: who put them there may have allowed more.
Result<void> PageDb::Impl::check_gaps(const CrawlEvent& event) const {
  if (state.table.has_urls) return {};
  const std::uint64_t end = index_end();
  const bool is_near =
      event.index < end && std::all_of(event.links.begin(), event.links.end(),
                                       [end](const EventLink& link) { return link.index < end; });
  if (is_near) return {};
  return fail(Errc::kInvalidArgument,
              "an index exceeds all that were named before by more than index_gap_max: each below "
              "it would be a page; number pages without gaps, or raise index_gap_max");
}

Result<void> PageDb::Impl::load_events() {
  if (!state.table.events) return {};
  container::Writer& writer = *store->writer;
  const auto* entry = writer.find(state.table.events);
  pages::EventWalk events(
      entry->id, entry->runs, [&](const format::RunRef& run, std::vector<std::byte>& into) {
        const auto name = container::run_name(writer.identity(), entry->id, run.run_id);
        return container::read_run(writer.storage(), name, run, into);
      });
  CRAWLSTORE_TRY(events.start());
  while (!events.at_end()) {
    const CrawlEvent& event = events.event();
    if (const auto checked = check_event(event); !checked) return events.damaged(checked.error());
    note_indexes(event);
    batch->add(event);
    CRAWLSTORE_TRY(events.advance());
  }
  written_edits = batch->edits().size();
  return {};
}

/// Puts the edits that are not in the log yet into the writer's changes.
Result<void> PageDb::Impl::write_events() {
  if (written_edits == batch->edits().size()) return {};
  container::Writer& writer = *store->writer;
  format::PagesTable& table = in_commit->state.table;
  format::SegmentEntry log{table.events ? table.events : writer.new_segment_id(),
                           SegmentKind::kPageEvents,
                           StorageClass::kLog,
                           state.id,
                           {},
                           {}};
  std::size_t first = written_edits;
  if (const auto* old = writer.find(log.id); old != nullptr) log.runs = old->runs;
  if (log.runs.size() >= kRunsMax ||
      std::count_if(log.runs.begin(), log.runs.end(), is_short) >= kShortRunsMax) {
    log.runs.clear();
    table.event_count = 0;
    first = 0;
  }
  EventRunBuilder builder;
  const auto write_run = [&]() -> Result<void> {
    const std::uint64_t event_count = builder.event_count();
    CRAWLSTORE_TRY(const auto run,
                   container::write_run(writer, label_of(log, writer.new_run_ids(1)),
                                        builder.take(), event_count));
    log.runs.push_back(run);
    table.events = log.id;
    table.event_count += event_count;
    writer.put(log);  // so that it is given back if the next one fails
    return {};
  };
  CrawlEvent event;
  std::vector<EventLink> links;
  for (std::size_t edit = first; edit < batch->edits().size(); ++edit) {
    batch->describe(edit, event, links);
    CRAWLSTORE_TRY(builder.add(event));
    if (builder.is_full(log.runs.size())) CRAWLSTORE_TRY(write_run());
  }
  return builder.event_count() != 0 ? write_run() : Result<void>{};
}

}  // namespace crawlstore
