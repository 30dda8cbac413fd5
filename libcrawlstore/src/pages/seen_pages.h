// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The pages of a store's page databases, as of its newest commit: what a DRUM of URLs counts as
/// seen beside its keys. Only databases with the normalizer of the DRUM are asked: by other rules
/// two spellings would be one URL here and two there.
///
/// Ownership: keeps the store's inside, and, where there are such databases, a snapshot, which is
/// replaced when it is asked after a commit. Threads: one at a time.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crawlstore/page_view.h>
#include <crawlstore/snapshot.h>

#include "container/store_impl.h"

namespace crawlstore::pages {

class SeenPages {
 public:
  /// `storage` is a handle of its own on the store's file; `normalizer` the name of the DRUM's.
  SeenPages(std::shared_ptr<StoreImpl> store, std::shared_ptr<Storage> storage,
            std::string normalizer)
      : store_(std::move(store)),
        storage_(std::move(storage)),
        normalizer_(std::move(normalizer)) {}

  /// Whether the store has such a page database.
  [[nodiscard]] Result<bool> are_there();
  /// Whether a page has this normalised URL.
  ///   cost    a look-up in each database; after a commit, opening them
  ///   errors  those of PageView::find_text()
  [[nodiscard]] Result<bool> contain(std::string_view text);

 private:
  [[nodiscard]] Result<bool> is_current() const;
  Result<void> refresh();

  std::shared_ptr<StoreImpl> store_;
  std::shared_ptr<Storage> storage_;
  std::string normalizer_;
  std::optional<Generation> generation_;  // that was looked at last
  std::optional<Snapshot> snapshot_;      // that views_ are of; none pins nothing
  std::vector<PageView> views_;
};

}  // namespace crawlstore::pages
