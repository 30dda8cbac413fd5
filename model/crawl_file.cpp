// SPDX-License-Identifier: Apache-2.0
#include "model/crawl_file.h"

#include <utility>

#include <crawlstore/generations.h>
#include <crawlstore/storage.h>

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

/// Without a pin; 0 = not known.
Generation newest_generation(const std::string& path) {
  const auto copies = generations(path);
  Generation newest;
  for (const GenerationInfo& copy : copies.value_or(std::vector<GenerationInfo>())) {
    if (copy.is_winner) newest = copy.generation;
  }
  return newest;
}

void fill(FileView& view, const Snapshot& snapshot) {
  view.snapshot = snapshot;
  if (const auto info = snapshot.info()) {
    view.info = *info;
  } else {
    view.problem = info.error();
  }
  view.segments = snapshot.segments();
  auto drums = snapshot.drums();
  if (drums) {
    view.drums = std::move(*drums);
  } else {
    view.drums_problem = drums.error();
  }
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

}  // namespace

Result<CrawlFile> CrawlFile::open(const std::string& path, const CrawlFileOptions& options) {
  CrawlFile file(path, options);
  auto view = look(path, options, 1);
  if (!view) return tl::unexpected<Error>(view.error());
  file.view_ = std::move(*view);
  return file;
}

bool CrawlFile::has_news() const {
  if (is_released_) return newest_generation(path_) > view_->info.generation;
  if (!view_->snapshot) return false;
  const auto newest = view_->snapshot->newest();
  return !newest || newest->value > view_->info.generation.value;
}

void CrawlFile::refresh() {
  const std::uint64_t number = view_->number + 1;
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
  last->problem = view.error();
  view_ = std::move(last);
}

void CrawlFile::release() {
  auto last = std::make_shared<FileView>(*view_);
  last->number = view_->number + 1;
  last->snapshot.reset();
  view_ = std::move(last);
  is_released_ = true;
}

}  // namespace crawlstore::model
