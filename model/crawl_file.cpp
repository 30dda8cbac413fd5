// SPDX-License-Identifier: Apache-2.0
#include "model/crawl_file.h"

#include <algorithm>
#include <utility>

#include <crawlstore/storage.h>

#include "model/frontier_view.h"
#include "model/queue_view.h"
#include "model/scores_view.h"
#include "model/store_view.h"

namespace crawlstore::model {
namespace {

/// Nothing of such a file can be shown; of any other there are at least bytes and problems.
bool shows_nothing(const Error& error) {
  switch (error.code) {
    case Errc::kNotFound:
    case Errc::kPermission:
    case Errc::kNotACrawlFile:
    case Errc::kNewerVersion:
    case Errc::kOlderVersion:
    case Errc::kNoLocks:
      return true;
    default:
      return false;
  }
}

std::uint64_t file_bytes(const std::string& path) {
  const auto storage = open_storage(path, OpenMode::kReadNoPin);
  if (!storage) return 0;
  return (*storage)->size().value_or(0);
}

void fill_pages(FileView& view, const Snapshot& snapshot) {
  for (const std::string& name : PageView::names(snapshot)) {
    auto opened = PageView::open(snapshot, name);
    if (!opened) {
      view.pages_problem = opened.error();
      continue;
    }
    auto [arrays, problem] = readable_scores(*opened);
    view.scores.push_back(std::move(arrays));
    if (problem) view.scores_problem = problem;
    view.pages.push_back(opened->info());
    view.page_views.push_back(std::move(*opened));
  }
}

void fill(FileView& view, const Snapshot& snapshot) {
  view.snapshot = snapshot;
  if (const auto info = snapshot.info()) {
    view.info = *info;
  } else {
    view.problem = info.error();
  }
  view.segments = snapshot.segments();
  auto drums = drums_with_fresh_keys(snapshot);
  if (drums) {
    view.drums = std::move(*drums);
  } else {
    view.drums_problem = drums.error();
  }
  fill_pages(view, snapshot);
  auto [queues, problem] = readable_queues(snapshot);
  view.queues = std::move(queues);
  view.queues_problem = problem;
  auto readable = readable_frontiers(snapshot);
  view.frontiers = std::move(readable.frontiers);
  view.frontiers_problem = readable.problem;
}

Result<std::shared_ptr<const FileView>> look(const std::string& path,
                                             const CrawlFileOptions& options,
                                             std::uint64_t number) {
  SnapshotOptions which;
  which.pin = options.pin;
  which.mapped = options.mapped;
  auto view = std::make_shared<FileView>();
  view->path = path;
  view->number = number;
  const auto newest = Snapshot::open(path, which);
  if (newest) {
    fill(*view, *newest);
    return view;
  }
  if (shows_nothing(newest.error())) return tl::unexpected<Error>(newest.error());
  which.previous = true;
  const auto previous = Snapshot::open(path, which);
  if (previous) {
    fill(*view, *previous);
    view->is_previous = true;
  }
  view->problem = newest.error();
  view->info.file_bytes = file_bytes(path);
  return view;
}

bool is_same(const GenerationInfo& a, const GenerationInfo& b) {
  return a.state == b.state && a.error == b.error && a.generation == b.generation &&
         a.pass == b.pass && a.commit_time_us == b.commit_time_us && a.root == b.root &&
         a.is_winner == b.is_winner && a.is_previous == b.is_previous;
}

}  // namespace

std::optional<std::size_t> find_pages(const FileView& view, std::string_view name) {
  const std::string_view wanted = name.empty() ? "pages" : name;
  const auto found = std::ranges::find(view.pages, wanted, &PagesInfo::name);
  if (found != view.pages.end()) return static_cast<std::size_t>(found - view.pages.begin());
  if (!name.empty() || view.pages.empty()) return std::nullopt;
  return 0;
}

const PageView* open_pages(const FileView& view, std::string_view name) {
  const auto found = find_pages(view, name);
  return found && *found < view.page_views.size() ? &view.page_views[*found] : nullptr;
}

CrawlFile::Trace CrawlFile::trace_of(const std::string& path) {
  Trace trace;
  auto copies = generations(path);
  if (!copies) {
    trace.error = copies.error();
    return trace;
  }
  trace.copies = std::move(*copies);
  const auto winner = std::ranges::find_if(trace.copies, &GenerationInfo::is_winner);
  trace.is_cut = winner != trace.copies.end() && file_bytes(path) < winner->high_water_bytes;
  return trace;
}

Result<CrawlFile> CrawlFile::open(const std::string& path, const CrawlFileOptions& options) {
  CrawlFile file(path, options);
  file.trace_ = trace_of(path);
  CRAWLSTORE_TRY(auto view, look(path, options, 1));
  file.view_ = std::move(view);
  return file;
}

bool CrawlFile::has_news() const {
  const Trace now = trace_of(path_);
  return now.error != trace_.error || now.is_cut != trace_.is_cut ||
         !std::ranges::equal(now.copies, trace_.copies, is_same);
}

std::optional<Generation> CrawlFile::newest() const {
  const Trace now = trace_of(path_);
  const auto winner = std::ranges::find_if(now.copies, &GenerationInfo::is_winner);
  return winner == now.copies.end() ? std::nullopt : std::optional(winner->generation);
}

void CrawlFile::refresh() {
  const std::uint64_t number = view_->number + 1;
  // Before the look: a commit in between is news once more, rather than never.
  trace_ = trace_of(path_);
  auto view = look(path_, options_, number);
  is_released_ = false;
  if (view) {
    view_ = std::move(*view);
    return;
  }
  // Gone, or replaced by something else: the last values stay, with the reason.
  auto last = std::make_shared<FileView>(*view_);
  last->number = number;
  last->snapshot.reset();
  last->page_views.clear();
  last->problem = view.error();
  view_ = std::move(last);
}

void CrawlFile::release() {
  auto last = std::make_shared<FileView>(*view_);
  last->number = view_->number + 1;
  last->snapshot.reset();
  last->page_views.clear();
  view_ = std::move(last);
  is_released_ = true;
}

}  // namespace crawlstore::model
