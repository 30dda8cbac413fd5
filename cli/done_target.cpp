// SPDX-License-Identifier: Apache-2.0
//
// Invariants:
// - An event of a page is in the commit in which its item is finished, or waits again; no other
//   commit has events. So a line that is given twice tells its event once.
// - Edits are merged when FILE is closed, and only if they take kEditBytes.

#include "cli/done_target.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <crawlstore/transaction.h>

#include "cli/options.h"
#include "cli/wall_clock.h"

namespace crawlstore::cli {
namespace {

/// Bytes of edits that wait, from which on they become pages here and not by `crawlstore merge`.
constexpr std::uint64_t kEditBytes = std::uint64_t{64} << 20;

}  // namespace

/// Looks for the database first, as opening makes one.
Result<void> DoneTarget::open_pages() {
  if (pages_) return {};
  CRAWLSTORE_TRY(const auto snapshot, open_.store.snapshot());
  CRAWLSTORE_TRY(auto view, PageView::open(snapshot, database_));
  PagesOptions options;
  options.memory_bytes = kEditBytes;
  options.has_urls = view.info().has_urls;
  CRAWLSTORE_TRY(auto pages, PageDb::open(open_.store, database_, options));
  view_ = std::move(view);
  pages_ = std::move(pages);
  return {};
}

/// Adds the event of a line whose item has ended. Pages that were forgotten have no URL, and none.
Result<void> DoneTarget::tell_page(const DoneLine& line) {
  if (line.id >= view_->info().page_count) return {};
  CRAWLSTORE_TRY(const std::string url, view_->url(line.id));
  if (url.empty()) return {};
  CRAWLSTORE_TRY(const auto date_us, source_date_us());
  const EventLink target{.url = line.redirect_url};
  CrawlEvent event{.kind = *line.event,
                   .url = url,
                   .time_us = date_us ? *date_us : wall_clock_us(),
                   .http_status = line.http_status};
  if (event.kind == CrawlEventKind::kRedirect) event.links = {&target, 1};
  return pages_->add(event);
}

/// Applies lines of one step, or one line with an event, which only its own answer allows.
Result<void> DoneTarget::apply_run(std::span<const DoneLine> run, DoneCounts& counts) {
  const DoneLine& first = run.front();
  FrontierDone done;
  if (first.step == DoneStep::kFinished) {
    std::vector<std::uint64_t> ids;
    for (const DoneLine& line : run) ids.push_back(line.id);
    CRAWLSTORE_TRY(done, open_.frontier.finish(ids));
    counts.finished_count += done.done_count;
  } else {
    std::vector<GivenBack> items;
    const std::uint64_t now_ms = open_.frontier.now_ms();
    for (const DoneLine& line : run) items.push_back(line.given_back(now_ms));
    CRAWLSTORE_TRY(done, open_.frontier.give_back(items));
    (first.step == DoneStep::kFailed ? counts.failed_count : counts.retried_count) +=
        done.done_count;
  }
  counts.late_count += done.late_count;
  counts.unknown_count += done.unknown_count;
  const bool has_ended =
      done.done_count != 0 || (first.step == DoneStep::kFinished && done.late_count != 0);
  if (has_ended && first.event && has_pages()) CRAWLSTORE_TRY(tell_page(first));
  return {};
}

Result<DoneCounts> DoneTarget::apply(std::span<const DoneLine> lines, DoneCounts counts) {
  const auto is_told = [tells = has_pages()](const DoneLine& line) { return tells && line.event; };
  if (std::ranges::any_of(lines, is_told)) CRAWLSTORE_TRY(open_pages());
  CRAWLSTORE_TRY(auto changing, Transaction::begin(open_.store));
  for (std::size_t begin = 0; begin < lines.size();) {
    const DoneLine& first = lines[begin];
    std::size_t end = begin + 1;
    while (!is_told(first) && end < lines.size() && lines[end].step == first.step &&
           !is_told(lines[end])) {
      ++end;
    }
    CRAWLSTORE_TRY(apply_run(lines.subspan(begin, end - begin), counts));
    begin = end;
  }
  CRAWLSTORE_TRY(changing.commit());
  return counts;
}

bool DoneTarget::is_full() const {
  return pages_ && pages_->status().memory_bytes >= kEditBytes;
}

Result<void> DoneTarget::close() {
  view_.reset();
  if (is_full()) CRAWLSTORE_TRY(pages_->merge());
  if (pages_) CRAWLSTORE_TRY(pages_->close());
  return open_.close();
}

}  // namespace crawlstore::cli
