// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <crawlstore/pages.h>
#include <crawlstore/url.h>

#include "container/store_impl.h"
#include "drum/key_table.h"
#include "pages/batch.h"
#include "pages/pages_state.h"

namespace crawlstore {

/// An open page database.
///
/// Locks: StoreImpl::mutex before `mutex`. Adding takes only `mutex`, but for the superstep that it
/// may bring about.
struct PageDb::Impl : Participant {
  std::shared_ptr<StoreImpl> store;
  PagesOptions options;
  mutable std::recursive_mutex mutex;  // guards everything below
  pages::PagesState state;
  std::optional<drum::KeyTable> keys;  // none where pages have no URLs
  UrlNormalizer normalizer;
  std::optional<pages::Batch> batch;      // what waits
  std::optional<pages::Batch> tentative;  // added inside a dispatcher: part of its transaction
  std::size_t written_edits = 0;          // of `batch`, that are in the log of events
  std::uint64_t named_end = 0;            // no index that an edit named is higher, or as high
  bool in_superstep = false;
  bool dirty = false;  // the table in the file is not the one here
  bool closed = false;

  /// What the commit under way takes with it, until it is known how it ended.
  struct InCommit {
    pages::PagesState state;                    // as it will be
    pages::Batch::Mark batch;                   // before tentative edits joined it
    std::vector<format::SegmentEntry> entries;  // ours, with what is new
  };
  std::optional<InCommit> in_commit;

  // page_db.cpp
  void lock() override;
  void unlock() override;
  Result<void> before_commit(CommitScope scope) override;
  void after_commit(bool published) override;
  Result<void> write_arrays(CommitScope scope) override;
  void keep_tentative() override;
  void drop_tentative() override;
  void close() override;
  [[nodiscard]] std::string_view name() const override { return participant_name; }

  Result<void> check_usable() const;
  Result<void> check_event(const CrawlEvent& event) const;
  Result<void> check_gaps(const CrawlEvent& event) const;
  [[nodiscard]] std::uint64_t index_end() const;
  void note_indexes(const CrawlEvent& event);
  Result<void> add(const CrawlEvent& event);
  void take(CrawlEvent event, pages::Batch& into);
  Result<SuperstepReport> merge();
  Result<SuperstepReport> merge_locked();
  Result<void> compact();
  Result<void> compact_locked();
  Result<ForgetReport> forget(const std::function<bool(std::string_view url)>& is_meant,
                              const ForgetOptions& forget_options);
  Result<ForgetReport> forget_locked(const std::function<bool(std::string_view url)>& is_meant,
                                     const ForgetOptions& forget_options);
  template <class Change>
  Result<void> commit_change(const Change& change);
  Result<void> load(const format::SegmentEntry* entry, std::string_view name);
  Result<void> dispose();
  void join_tentative();
  void note_entries();
  void release_entries();

  // page_events.cpp
  Result<void> load_events();
  Result<void> write_events();

  std::string participant_name;         // begins with a control character: no DRUM is called so
  std::vector<EventLink> normal_links;  // of the event being added
  std::vector<char> normal_bytes;       // what normalising rewrote of it
};

}  // namespace crawlstore
