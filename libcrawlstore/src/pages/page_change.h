// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Commits long work of a page database: one change and its commit, or nothing of it.

#include "format/layout.h"
#include "pages/page_db_impl.h"

namespace crawlstore {

/// While it lives, the file grows by what is asked for, and not by an eighth. With the store's
/// turn.
class GrowsExactly {
 public:
  explicit GrowsExactly(container::Writer& writer)
      : writer_(writer), before_(writer.place_from(format::kDataStart)) {
    if (before_) writer_.place_from(before_);  // so does compaction on another thread
  }
  GrowsExactly(const GrowsExactly&) = delete;
  GrowsExactly& operator=(const GrowsExactly&) = delete;
  ~GrowsExactly() {
    if (!before_) writer_.place_from(std::nullopt);
  }

 private:
  container::Writer& writer_;
  const std::optional<std::uint64_t> before_;
};

/// Commits what `change` puts into the writer's changes, or nothing of it.
template <class Change>
Result<void> PageDb::Impl::commit_change(const Change& change) {
  in_commit.emplace();
  in_commit->state = state;
  in_commit->batch = batch->mark();
  Result<void> done = change();
  if (done) {
    in_superstep = true;
    const auto committed = store->commit_all();
    in_superstep = false;
    if (!committed) done = tl::unexpected<Error>(committed.error());
  } else {
    store->writer->drop_changes();
  }
  if (!done) dropped();  // once more, if it was called
  return done;
}

/// commit_change(), and a commit more if that changed anything.
template <class Change>
Result<void> PageDb::Impl::replace(const Change& change) {
  const Generation before = store->writer->directory()->generation();
  CRAWLSTORE_TRY(commit_change(change));
  return store->writer->directory()->generation() == before ? Result<void>{} : free_replaced();
}

}  // namespace crawlstore
