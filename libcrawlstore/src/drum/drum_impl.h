// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <crawlstore/drum_core.h>

#include "container/store_call.h"
#include "drum/bucket_merge.h"
#include "drum/delivery.h"
#include "drum/inserted_keys.h"
#include "drum/key_ranges.h"
#include "drum/open_drum.h"
#include "drum/recent_keys.h"
#include "drum/sort_requests.h"

namespace crawlstore {

/// The pending requests that a merge takes: all; all if some bucket is full; those of full buckets.
enum class MergeCall : std::uint8_t { kAll, kWhenFull, kFullBuckets };

/// An open DRUM.
///
/// Locks: Submissions take only `mutex`, so they go on while another thread merges. A merge takes
/// `mutex` when it plans and when it installs.
struct DrumCore::Impl : Participant {
  struct PlannedMerge;
  struct Group;
  struct MergeFlight;
  struct Transferred;
  struct Wants;
  /// The result of an insert: the key was there; it was taken; it must wait for the transaction of
  /// another thread, which has inserted the key; it must wait for a merge.
  enum class Insertion : std::uint8_t { kKnown, kTaken, kUndecided, kCallsForMerge };
  using Arrays = std::vector<drum::RequestColumns>;  // one a bucket

  explicit Impl(std::shared_ptr<StoreImpl> of_store)
      : Participant(std::move(of_store), SegmentKind::kDrum) {}

  std::weak_ptr<DrumCore> handle;  // every open of the DRUM returns this one
  drum::OpenDrum drum{*store, mutex};
  drum::Delivery delivery{drum};
  drum::KeyRanges ranges;
  std::shared_ptr<drum::SlabPool> pool = std::make_shared<drum::SlabPool>();
  Arrays arrays;            // submitted from outside a dispatcher
  drum::RecentKeys recent;  // of `arrays`; off where there are values
  Arrays tentative_arrays;  // submitted inside: part of the transaction being dispatched
  /// Requests that arrived after the bucket's runs and before those of arrays[b]. They have their
  /// sequences: a merge has planned to take them from memory, or has failed to.
  std::vector<std::vector<drum::WaitingRequests>> sealed;
  std::uint64_t array_bytes = 0;               // of the requests in `arrays`
  std::uint64_t sealed_bytes = 0;              // of those in `sealed`
  std::uint64_t sweep_key = 0;                 // the next automatic merge from memory goes on here
  bool has_hot_array = false;                  // whether some array takes too much of the memory
  std::unique_ptr<MergeFlight> flight;         // guarded by StoreImpl::turn
  std::vector<drum::LoggedKeys> pending_keys;  // by bucket, filled by look-ups; or empty
  std::vector<drum::LoggedKeys> tentative_keys;
  drum::RequestColumns::Encoded scratch;
  std::chrono::steady_clock::time_point last_commit = std::chrono::steady_clock::now();
  std::uint64_t transfer_count = 0;
  std::uint64_t repeat_count = 0;
  std::uint64_t dropped_count = 0;
  std::uint64_t published_sequence = 0;  // the next sequence by the file
  std::uint64_t sequence_in_commit = 0;  // published_sequence after the commit under way
  std::uint64_t splits_under_way = 0;    // of jobs that are not installed
  bool has_full_bucket = false;          // whether some bucket's pending runs call for a merge
  bool commit_is_whole = false;          // whether the commit under way takes everything

  // drum_core.cpp
  Result<void> prepare(CommitScope scope) override;
  void published() override;
  void dropped() override { drum.state.table_run.reset(); }
  Result<void> write_arrays(CommitScope scope) override;
  void keep_tentative() override;
  void drop_tentative() override;
  void close() override;
  [[nodiscard]] std::string_view name() const override { return drum.state.name; }
  Result<void> check_usable() const;
  void reshape_arrays();  // call after buckets or their pending runs have changed

  // drum_lookup.cpp
  Result<std::optional<std::vector<std::byte>>> lookup(Key16 key);
  Result<bool> is_inserted(Key16 key);
  Result<bool> is_logged(std::size_t bucket, bool is_tentative, Key16 key);

  // drum_insert.cpp
  Result<Insertion> insertion_of(Key16 key);
  Result<Insertion> try_insert(Key16 key, std::span<const std::byte> value, bool has_merged,
                               Wants& wanted);
  Result<bool> insert(Key16 key, std::span<const std::byte> value, StoreCall& call);

  // drum_submit.cpp
  Result<void> check_request(const RawRequest& request);
  /// Calls append() under the lock, and again after a merge when a log was full.
  template <class Append>
  Result<void> take(const Append& append, StoreCall& call);
  [[nodiscard]] Wants wants() const;
  /// `call` is that of the DRUM's handle, and outlives the part.
  Result<void> submit_many(std::span<const RawRequest> requests, StoreCall& call);
  Result<void> append_some(std::span<const RawRequest>& requests);
  Result<void> append(const RawRequest& request);
  [[nodiscard]] std::size_t recent_key_count() const;
  /// Takes leading keys as long as the fast way takes them. With kLooks it asks the window.
  template <bool kLooks, class Key>
  std::size_t append_plain(std::uint16_t tag, std::span<const Key> keys);
  template <class Key>  // std::uint64_t or Key16, as the DRUM's keys are
  Result<void> submit_keys(std::uint16_t tag, std::span<const Key> keys, StoreCall& call);
  template <class Key>
  Result<void> append_keys(std::uint16_t tag, std::span<const Key>& keys);
  [[nodiscard]] bool may_merge_for(const Error& error) const;
  Result<void> after_submit(const Wants& wants);
  [[nodiscard]] bool is_full(const drum::RequestColumns& columns, const RawRequest& request) const;
  [[nodiscard]] std::uint64_t array_budget_bytes() const;
  [[nodiscard]] bool merges_from_memory() const;
  [[nodiscard]] std::uint64_t flight_bytes() const;
  [[nodiscard]] bool wants_relief() const;
  Result<void> begin_array(std::size_t bucket);
  void look_for_full_buckets();
  [[nodiscard]] bool calls_for_merge(const drum::Bucket& bucket) const;
  [[nodiscard]] std::uint64_t slice_requests_max() const;
  [[nodiscard]] drum::MergeThresholds merge_thresholds() const;

  // drum_transfer.cpp
  template <class Wanted>
  Result<void> transfer(bool takes_tentative, const Wanted& is_wanted);
  Result<void> encode(std::span<const Transferred> some,
                      std::span<drum::RequestColumns::Encoded> encoded);
  Result<void> write(std::span<Transferred> all);
  Result<void> transfer_arrays();
  Result<void> transfer_arrays(std::size_t first, std::size_t end);
  Result<void> transfer_tentative();
  [[nodiscard]] std::size_t waiting_count(std::size_t bucket) const;
  Result<void> ensure_room_for_run(std::size_t bucket_index);
  Result<void> join_runs(drum::Bucket& bucket);
  Result<void> read_requests(const drum::Bucket& bucket, std::span<const container::RunPtr> keys,
                             std::span<const container::RunPtr> auxes,
                             const std::function<void(const RawRequest&, std::uint64_t)>& visit);
  Result<void> redistribute(std::size_t first, std::size_t count);

  // drum_merge.cpp
  /// With a filter the buckets that it meets are merged, those without requests too, and no other.
  Result<MergeReport> merge(MergeCall call, const drum::KeyFilter* filter = nullptr);
  Result<MergeReport> merge_with(RawSink sink);
  template <class Work>
  Result<MergeReport> reported(const Work& work);
  Result<MergeReport> merge_locked(MergeCall call, const drum::KeyFilter* filter);
  Result<MergeReport> merge_planned(std::span<const PlannedMerge> plan);
  Result<MergeReport> relieve();
  Result<MergeReport> relieve_locked();
  Result<void> reserve_sequences();
  Result<void> start_merge(MergeCall call, const drum::KeyFilter* filter,
                           std::vector<PlannedMerge>& plan);
  Result<void> launch(std::span<const PlannedMerge> planned);
  Result<void> merge_some(MergeFlight& merging);
  Result<void> arrive(MergeFlight& landing);
  Result<void> land(MergeFlight& landing, Group& group);
  Result<void> dispatch_all(MergeFlight& landing, Group& group);
  Result<void> land_and_commit(MergeReport& report);
  Result<void> send_off(std::span<const PlannedMerge> plan, MergeReport& report);
  Result<void> finish_group(Group& group);
  void abandon(Group& group);
  void cancel_flight();
  void unlock_runs();

  // drum_plan.cpp
  void seal(std::size_t bucket);
  void forget_sealed(const std::vector<drum::WaitingRequests>& answered);
  Result<void> plan_bucket(std::size_t bucket, const drum::KeyFilter* filter,
                           std::vector<PlannedMerge>& plan);
  Result<std::vector<PlannedMerge>> plan_merges(bool only_full, const drum::KeyFilter* filter);
  [[nodiscard]] std::uint64_t waiting_bytes(std::size_t bucket) const;
  [[nodiscard]] std::size_t next_in_sweep() const;
  [[nodiscard]] bool next_sweep_is_planned() const;
  Result<std::vector<PlannedMerge>> plan_sweep();
  [[nodiscard]] bool should_merge(std::size_t first, std::size_t end) const;
  Result<drum::MergeJob> make_job(const PlannedMerge& planned);

  // drum_install.cpp
  Result<void> install(Group& group);
  Result<void> install_outcome(Group& group, drum::MergeOutcome& outcome);
};

/// The steps that follow after requests were taken.
struct DrumCore::Impl::Wants {
  bool commit = false;
  bool relief = false;
  bool merge = false;
  bool only_full = false;
  [[nodiscard]] bool is_anything() const { return commit || relief || merge; }
};

/// The work of a merge since its last commit.
struct DrumCore::Impl::Group {
  std::vector<drum::MergeOutcome> outcomes;
  drum::Delivery::Absent absent;
  /// The sealed requests of the buckets that are installed, with the first key of each.
  std::vector<std::pair<std::uint64_t, std::vector<drum::WaitingRequests>>> answered;
  std::uint64_t bytes = 0;  // of the new partitions
  MergeReport report;

  [[nodiscard]] std::uint64_t total_bytes() const;
};

/// One bucket's merge, or a slice of it: the leading `run_count` runs. The last slice also takes
/// all other locked runs and all sealed requests.
struct DrumCore::Impl::PlannedMerge {
  std::uint64_t first_key = 0;  // names the bucket, whatever splits meanwhile
  std::size_t run_count = 0;
  std::uint64_t request_bytes = 0;
  bool is_last_slice = true;
  const drum::KeyFilter* filter = nullptr;  // as in MergeJob; of the last slice only
  std::uint64_t filtered_bytes = 0;         // of the partition, if there is a filter
};

/// Merges under way. The thread of the flight and the thread that waits for it share them; each
/// merge is made by the one that takes it first.
struct DrumCore::Impl::MergeFlight {
  std::vector<drum::MergeOutcome> outcomes;
  std::atomic<std::size_t> taken_count{0};
  bool ends_slice = false;          // whether more of its last bucket is to come
  std::future<Result<void>> other;  // last: ends before the outcomes go
};

}  // namespace crawlstore
