// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crawlstore/pages.h>
#include <crawlstore/url.h>

#include "container/segment_draft.h"
#include "container/store_impl.h"
#include "container/work_steps.h"
#include "drum/key_table.h"
#include "links/link_log.h"
#include "pages/batch.h"
#include "pages/pages_state.h"

namespace crawlstore {
namespace queue {
class Removal;
}
namespace pages {
struct Portion;
class GatheredKeys;
}  // namespace pages

/// The state that the commit under way takes with it, kept until its end is known.
struct PagesInCommit {
  pages::PagesState state;              // as it will be
  pages::Batch::Mark batch;             // before tentative edits joined it
  std::vector<container::RunPtr> made;  // by the companion of a superstep
  bool has_landed = false;              // the flight is part of it
  bool only_lands = false;              // it publishes the flight, and nothing that waits
};

/// An open page database.
///
/// Locks: Adding takes only `mutex`, unless it finds the batch full.
struct PageDb::Impl : Participant {
  explicit Impl(std::shared_ptr<StoreImpl> of_store)
      : Participant(std::move(of_store), SegmentKind::kPages) {}

  PagesOptions options;
  std::atomic<bool> has_handle = true;  // false: what the options call may be gone
  pages::PagesState state;
  std::optional<drum::KeyTable> keys;  // none where pages have no URLs
  UrlNormalizer normalizer;
  std::optional<pages::Batch> batch;      // what waits
  std::optional<pages::Batch> tentative;  // added inside a dispatcher: part of its transaction
  std::size_t written_edits = 0;          // of `batch`, that are in the log of events
  std::uint64_t named_end = 0;            // no index that an edit named is higher, or as high
  bool in_superstep = false;
  bool only_lands = false;  // so in_commit, whatever the scope of the commit
  bool dirty = false;       // the table in the file is not the one here

  std::optional<PagesInCommit> in_commit;

  /// A superstep on a thread of its own, and what it works on.
  struct Flight {
    Flight(container::Writer& writer, const pages::PagesState& from);
    Result<void> run(drum::KeyTable* key_table);
    /// Waits for the end, asking now and then whether to go on. errors kCancelled
    Result<void> wait(container::WorkSteps& steps);

    std::optional<pages::Batch> batch;
    std::size_t written_edits = 0;  // as those of the batch were
    pages::PagesState state;        // as it will be
    container::SegmentDraft draft;
    SuperstepReport report;
    container::StepCost cost;  // once it has ended
    std::atomic<bool> is_stopped = false;
    std::atomic<std::uint64_t> done_steps = 0;
    std::atomic<std::uint64_t> expected_steps = 0;
    std::future<Result<void>> done;  // last: ends before the rest goes
  };
  std::unique_ptr<Flight> flight;
  std::optional<pages::Batch> spare_batch;  // empty, keeps its memory
  SuperstepReport landed_report;            // of the flight that was published last
  bool flight_failed = false;               // until a superstep succeeds

  // page_db.cpp
  Result<void> prepare(CommitScope scope) override;
  void published() override;
  void dropped() override;
  void keep_tentative() override;
  void drop_tentative() override;
  void close() override;
  Result<void> leave() override;
  [[nodiscard]] bool is_locked_first() const override { return true; }
  [[nodiscard]] std::string_view name() const override { return state.name; }

  Result<void> check_usable() const;
  Result<void> write_waiting();
  Result<void> check_event(const CrawlEvent& event) const;
  Result<void> check_gaps(const CrawlEvent& event) const;
  [[nodiscard]] std::uint64_t index_end() const;
  void note_indexes(const CrawlEvent& event);
  Result<void> add(const CrawlEvent& event);
  struct NormalEvent {
    CrawlEvent event;
    bool all_parsed = false;
  };
  /// Normalises the URLs of an event: views that the next call ends.
  NormalEvent normalize(CrawlEvent event);
  /// Tells the caller which URLs of the event that was normalised last no parser takes.
  void tell_unparsed() const;
  void take(NormalEvent normal, pages::Batch& into);
  /// Adds an event as the events of the file, so that edits are counted as they are there.
  static void add_in_parts(CrawlEvent event, bool all_parsed, pages::Batch& into);
  /// Adds to the writer's changes, which hold the superstep, what one commit is to publish with it.
  /// `made` takes the runs that it writes, until the commit has ended.
  using Companion = std::function<Result<void>(container::WorkSteps& steps,
                                               std::vector<container::RunPtr>& made)>;
  /// Merges the edits that wait, with the companion in the same commit. If none wait, the companion
  /// has a commit of its own.
  Result<SuperstepReport> merge(container::WorkSteps& steps, const Companion& companion = {});
  Result<SuperstepReport> merge_locked(container::WorkSteps& steps,
                                       const Companion& companion = {});
  Result<JoinReport> compact(container::WorkSteps& steps);
  Result<void> free_replaced();
  Result<void> make_room(std::uint64_t file_bytes, container::WorkSteps& steps);
  Result<void> close_gaps(container::WorkSteps& steps);
  [[nodiscard]] bool has_loose_origins() const;
  [[nodiscard]] links::LinkSegments link_segments() const;
  Result<void> expect_joins(container::WorkSteps& steps);
  Result<void> join_out_links(container::WorkSteps& steps, JoinReport& report);
  Result<void> join_in_links(container::WorkSteps& steps, JoinReport& report);
  Result<void> join_origins(container::WorkSteps& steps);
  Result<void> join_keys(container::WorkSteps& steps);
  Result<ForgetReport> forget(const std::function<bool(std::string_view url)>& is_meant,
                              const ForgetOptions& forget_options, container::WorkSteps& steps);
  Result<ForgetReport> forget_locked(const std::function<bool(std::string_view url)>& is_meant,
                                     const ForgetOptions& forget_options,
                                     container::WorkSteps& steps);
  struct ForgetWork;
  [[nodiscard]] std::uint64_t room_for_parts(const ForgetWork& work) const;
  Result<void> forget_uses(ForgetWork& work, std::span<const std::uint64_t> pages,
                           ForgetReport& report);
  Result<void> forget_seen(ForgetWork& work, drum::KeyTable& seen,
                           std::vector<drum::KeyEdit>& removals, std::uint64_t bytes_max);
  Result<void> forget_at_once(ForgetWork& work, const pages::Portion& all);
  Result<void> forget_in_parts(ForgetWork& work);
  Result<void> forget_all_seen(ForgetWork& work, std::span<const std::string> urls);
  Result<void> forget_portion(ForgetWork& work, pages::GatheredKeys& gathered,
                              std::uint64_t first_page);
  Result<void> put_changed_state();
  Result<void> forget_round(ForgetWork& work, pages::GatheredKeys& gathered,
                            std::uint64_t first_page);
  template <class Change>
  Result<void> commit_change(const Change& change);
  template <class Change>
  Result<void> replace(const Change& change);
  Result<void> load(const format::SegmentEntry* entry, std::string_view name);
  void join_tentative();

  // page_flight.cpp
  [[nodiscard]] bool fills(std::uint64_t memory_bytes) const;
  [[nodiscard]] bool calls_for_superstep(const CrawlEvent& event) const;
  Result<void> launch(container::WorkSteps& steps);
  [[nodiscard]] Result<void> check_flight() const;
  void land();
  void take_back_flight();
  void fail_flight(const Error& error);
  void stop_flight_if_told(container::WorkSteps& steps);
  void forget_flight();
  Result<SuperstepReport> land_and_commit(container::WorkSteps& steps);
  Result<void> merge_when_full();

  // page_events.cpp
  Result<void> load_events();
  Result<void> write_events();

  std::vector<EventLink> normal_links;  // of the event being added
  std::deque<std::string> normal_urls;  // what normalising rewrote of it; views into them stay
  std::vector<std::pair<std::string_view, UrlProblem>> unparsed_urls;  // of it, if that is told
};

}  // namespace crawlstore
