// SPDX-License-Identifier: Apache-2.0
#include "pages/seen_pages.h"

#include <mutex>

namespace crawlstore::pages {

Result<bool> SeenPages::are_there() {
  CRAWLSTORE_TRY(refresh());
  return !views_.empty();
}

Result<bool> SeenPages::contain(std::string_view text) {
  CRAWLSTORE_TRY(refresh());
  for (const PageView& view : views_) {
    CRAWLSTORE_TRY(const auto page, view.find_text(text));
    if (page) return true;
  }
  return false;
}

/// Nobody waits for a commit or merge of another thread here: meanwhile the file is asked.
Result<bool> SeenPages::is_current() const {
  if (!generation_) return false;
  const std::unique_lock lock(store_->turn, std::try_to_lock);
  if (lock) return store_->closed || store_->writer->directory()->generation() == *generation_;
  if (!snapshot_) return false;
  CRAWLSTORE_TRY(const Generation newest, snapshot_->newest());
  return newest == *generation_;
}

Result<void> SeenPages::refresh() {
  CRAWLSTORE_TRY(const bool is_done, is_current());
  if (is_done) return {};
  CRAWLSTORE_TRY(auto storage, storage_->reopen());
  CRAWLSTORE_TRY(auto snapshot, Snapshot::open(std::move(storage)));
  std::vector<PageView> views;
  for (const std::string& name : PageView::names(snapshot)) {
    CRAWLSTORE_TRY(auto view, PageView::open(snapshot, name));
    const bool is_alike = view.info().has_urls && view.info().normalizer == normalizer_;
    if (is_alike) views.push_back(std::move(view));
  }
  views_ = std::move(views);
  generation_ = snapshot.generation();
  snapshot_.reset();
  if (!views_.empty()) snapshot_.emplace(std::move(snapshot));
  return {};
}

}  // namespace crawlstore::pages
