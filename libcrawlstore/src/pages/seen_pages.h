// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The pages of all page databases of a store that have URLs, as of its newest commit: what a DRUM
/// of URLs counts as seen beside its keys.
///
/// Ownership: keeps the store's inside, and a snapshot, which is replaced when it is asked after a
/// commit. Threads: one at a time.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <crawlstore/page_view.h>

#include "container/store_impl.h"

namespace crawlstore::pages {

class SeenPages {
 public:
  explicit SeenPages(std::shared_ptr<StoreImpl> store) : store_(std::move(store)) {}

  /// Has the store a page database with URLs?
  [[nodiscard]] Result<bool> are_there();
  /// Has a page this URL? Each database brings it to its own form. While another thread commits, it
  /// is answered as of the commit before.
  ///   cost    a look-up in each database; after a commit, opening them
  ///   errors  those of PageView::find()
  [[nodiscard]] Result<bool> contain(std::string_view url);

 private:
  Result<void> refresh();

  std::shared_ptr<StoreImpl> store_;
  Generation generation_;  // that views_ are of
  std::vector<PageView> views_;
};

}  // namespace crawlstore::pages
