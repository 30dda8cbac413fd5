// SPDX-License-Identifier: Apache-2.0
#include "pages/seen_pages.h"

#include <mutex>
#include <utility>

#include <crawlstore/snapshot.h>

namespace crawlstore::pages {

Result<bool> SeenPages::are_there() {
  CRAWLSTORE_TRY(refresh());
  return !views_.empty();
}

Result<bool> SeenPages::contain(std::string_view url) {
  CRAWLSTORE_TRY(refresh());
  for (const PageView& view : views_) {
    CRAWLSTORE_TRY(const auto page, view.find(url));
    if (page) return true;
  }
  return false;
}

Result<void> SeenPages::refresh() {
  const std::unique_lock lock(store_->turn, std::try_to_lock);
  if (!lock || store_->closed) return {};
  const Generation newest = store_->writer->directory()->generation();
  if (newest == generation_) return {};
  CRAWLSTORE_TRY(auto storage, store_->open_for_reading());
  CRAWLSTORE_TRY(const auto snapshot, Snapshot::open(std::move(storage)));
  std::vector<PageView> views;
  for (const std::string& name : PageView::names(snapshot)) {
    CRAWLSTORE_TRY(auto view, PageView::open(snapshot, name));
    if (view.info().has_urls) views.push_back(std::move(view));
  }
  views_ = std::move(views);
  generation_ = newest;
  return {};
}

}  // namespace crawlstore::pages
