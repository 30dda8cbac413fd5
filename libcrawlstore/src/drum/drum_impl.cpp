// SPDX-License-Identifier: Apache-2.0
#include "drum/drum_impl.h"

#include <algorithm>
#include <utility>

namespace crawlstore {

using drum::MergeCall;

DrumCore::Impl::Impl(std::shared_ptr<StoreImpl> of_store, drum::DrumState of_state,
                     const DrumOptions& of_options)
    : Participant(std::move(of_store), SegmentKind::kDrum),
      drum{*store, mutex, of_state.shape(), std::move(of_state), of_options, false, 0},
      inbox(drum.shape),
      logs(drum, inbox),
      intake(drum, inbox, logs),
      delivery(drum),
      merger(drum, inbox, logs, delivery) {
  drum.published_sequence = drum.state.next_sequence;
  logs.adapt_to_buckets();
  intake.tune();
}

Result<void> DrumCore::Impl::check_usable() const {
  CRAWLSTORE_TRY(store->check_outside());
  if (closed) return fail(Errc::kClosed, "the DRUM has been closed");
  return store->writer->storage().check_process();
}

Result<void> DrumCore::Impl::prepare(CommitScope scope) {
  kPartMutex.assert_held();
  if (scope != CommitScope::kNothing) CRAWLSTORE_TRY(write_arrays(scope));
  commit_is_whole_ = scope == CommitScope::kEverything;
  sequence_in_commit_ = std::max(drum.state.next_sequence, drum.state.sequence_limit);
  if (!drum.dirty) return {};
  return drum::put_state(*store->writer, *store->writer->runs, drum.state,
                         {drum.merge_thresholds(), drum.options.partition_keys_max});
}

void DrumCore::Impl::published() {
  kPartMutex.assert_held();
  if (commit_is_whole_) intake.committed();
  if (drum.state.table_run == nullptr) return;
  drum.state.published();
  drum.published_sequence = sequence_in_commit_;
  drum.dirty = false;
}

void DrumCore::Impl::dropped() {
  kPartMutex.assert_held();
  drum.state.table_run.reset();
}

/// The name stays, so no lock is needed.
std::string_view DrumCore::Impl::name() const CRAWLSTORE_LOCKING(no_thread_safety_analysis) {
  return drum.state.name;
}

Result<void> DrumCore::Impl::write_arrays(CommitScope scope) {
  const MutexLock lock(mutex);
  return logs.log_for(scope);
}

void DrumCore::Impl::keep_tentative() {
  const MutexLock lock(mutex);
  logs.keep_tentative();
}

void DrumCore::Impl::drop_tentative() {
  const MutexLock lock(mutex);
  inbox.drop_tentative();
  logs.drop_tentative();
}

/// Releases all runs; the counts stay.
void DrumCore::Impl::close() {
  kStoreTurn.assert_held();
  merger.cancel();
  const MutexLock lock(mutex);
  drum.state.release_runs();
  closed = true;
}

/// Whether the error is a full log, after which the submitter may merge and try again.
bool DrumCore::Impl::may_merge_for(const Error& error) const {
  if (error.code != Errc::kTooLarge || store->in_transaction()) return false;
  const MutexLock lock(mutex);
  return drum.options.auto_merge && logs.has_too_many_runs();
}

template <class TakeSome>
Result<void> DrumCore::Impl::take(const TakeSome& take_some, StoreCall& call) {
  drum::Wants wanted;
  const auto try_once = [&]() -> Result<void> {
    const MutexLock lock(mutex);
    CRAWLSTORE_TRY(check_usable());
    CRAWLSTORE_TRY(store->writer->check_not_poisoned());
    CRAWLSTORE_TRY(store->change(take_some));
    wanted = intake.wants();
    return {};
  };
  auto taken = try_once();
  if (!taken || wanted.is_anything()) call.hold(*this);
  if (!taken && may_merge_for(taken.error())) {
    CRAWLSTORE_TRY(merge(MergeCall::kAll));
    taken = try_once();
  }
  CRAWLSTORE_TRY(taken);
  return after_taking(wanted);
}

Result<void> DrumCore::Impl::after_taking(const drum::Wants& wants) {
  if (wants.relief) CRAWLSTORE_TRY(relieve());
  if (wants.merge) {
    CRAWLSTORE_TRY(merge(wants.only_full ? MergeCall::kFullBuckets : MergeCall::kWhenFull));
  }
  if (!wants.commit) return {};
  const TurnLock lock(store->turn);
  CRAWLSTORE_TRY(store->check_open());
  CRAWLSTORE_TRY(store->commit_all());
  return {};
}

Result<void> DrumCore::Impl::submit(std::span<const RawRequest> requests, StoreCall& call) {
  while (!requests.empty()) {
    CRAWLSTORE_TRY(take(
        [&] {
          kPartMutex.assert_held();
          return intake.take_some(requests);
        },
        call));
  }
  return {};
}

template <class Key>
Result<void> DrumCore::Impl::submit_keys(std::uint16_t tag, std::span<const Key> keys,
                                         StoreCall& call) {
  while (!keys.empty()) {
    CRAWLSTORE_TRY(take(
        [&] {
          kPartMutex.assert_held();
          return intake.take_keys(tag, keys);
        },
        call));
  }
  return {};
}

template Result<void> DrumCore::Impl::submit_keys(std::uint16_t, std::span<const std::uint64_t>,
                                                  StoreCall&);
template Result<void> DrumCore::Impl::submit_keys(std::uint16_t, std::span<const Key16>,
                                                  StoreCall&);

Result<std::optional<std::vector<std::byte>>> DrumCore::Impl::lookup(Key16 key) {
  drum::Bucket& bucket = drum.state.buckets[inbox.bucket_of(key.head)];
  if (!bucket.partition_run) return std::optional<std::vector<std::byte>>{};
  if (bucket.lookup == nullptr) {
    CRAWLSTORE_TRY(bucket.lookup,
                   drum::PartitionLookup::open(bucket.partition_run->reader(), drum.shape));
  }
  return bucket.lookup->find(key);
}

/// Requests of a transaction count in the thread that has it.
Result<bool> DrumCore::Impl::is_inserted(Key16 key) {
  const bool in_transaction = store->in_transaction();
  if (inbox.find(key, in_transaction)) return true;
  return logs.inserts.contain(inbox.bucket_of(key.head), key, in_transaction);
}

/// Requests of a key take effect in this order: those of both logs' runs by their ids, sealed ones,
/// those of the array, those of the tentative array.
Result<std::optional<std::vector<std::byte>>> DrumCore::Impl::find(Key16 key) {
  const bool in_transaction = store->in_transaction();
  if (const auto value = inbox.find(key, in_transaction)) {
    return std::vector<std::byte>(value->begin(), value->end());
  }
  CRAWLSTORE_TRY(const bool is_logged,
                 logs.inserts.contain(inbox.bucket_of(key.head), key, in_transaction));
  return is_logged ? logs.inserts.find(inbox.bucket_of(key.head), key, in_transaction)
                   : lookup(key);
}

/// Returns whether the key is there, or depends on another thread's transaction.
Result<DrumCore::Impl::Insertion> DrumCore::Impl::insertion_of(Key16 key) {
  inbox.prefetch_inserts(key);
  CRAWLSTORE_TRY(const auto stored, lookup(key));
  if (stored) return Insertion::kKnown;
  CRAWLSTORE_TRY(const bool waits, is_inserted(key));
  if (waits) return Insertion::kKnown;
  if (store->in_transaction()) return Insertion::kTaken;  // is_inserted() has seen its requests
  if (inbox.is_tentative(key)) return Insertion::kUndecided;
  CRAWLSTORE_TRY(const bool is_tentative,
                 logs.inserts.contain_tentative(inbox.bucket_of(key.head), key));
  return is_tentative ? Insertion::kUndecided : Insertion::kTaken;
}

/// Tries once to insert. Look-up and append are under one lock, and each request is always in an
/// array, sealed, in a run or in a partition: so a key is new once. A merge that is called for
/// comes before a new key is taken, unless `has_merged`, so that its error leaves the key untaken.
Result<DrumCore::Impl::Insertion> DrumCore::Impl::try_insert(Key16 key,
                                                             std::span<const std::byte> value,
                                                             bool has_merged, drum::Wants& wanted) {
  const MutexLock lock(mutex);
  CRAWLSTORE_TRY(check_usable());
  CRAWLSTORE_TRY(store->writer->check_not_poisoned());
  RawRequest request{DrumOperation::kUpdate, {}, key.head, value, {}, key.tail};
  CRAWLSTORE_TRY(intake.check(request));
  CRAWLSTORE_TRY(const auto insertion, insertion_of(key));
  if (insertion != Insertion::kTaken) return insertion;
  wanted = intake.wants();
  if (!has_merged && (wanted.relief || wanted.merge)) return Insertion::kCallsForMerge;
  CRAWLSTORE_TRY(request.consumer, delivery.make_nobody());
  CRAWLSTORE_TRY(store->change([&] {
    kPartMutex.assert_held();
    return intake.take(request);
  }));
  return insertion;
}

Result<bool> DrumCore::Impl::insert(Key16 key, std::span<const std::byte> value, StoreCall& call) {
  drum::Wants wanted;
  for (bool has_merged = false;;) {
    const auto insertion = try_insert(key, value, has_merged, wanted);
    if (!insertion && (has_merged || !may_merge_for(insertion.error()))) {
      return tl::unexpected<Error>(insertion.error());
    }
    if (!insertion) {
      call.hold(*this);
      CRAWLSTORE_TRY(merge(MergeCall::kAll));
      has_merged = true;
    } else if (*insertion == Insertion::kCallsForMerge) {
      wanted.commit = false;
      call.hold(*this);
      CRAWLSTORE_TRY(after_taking(wanted));
      has_merged = true;
    } else if (*insertion == Insertion::kUndecided) {
      const TurnLock until_it_ends(store->turn);
    } else if (*insertion == Insertion::kKnown) {
      return false;
    } else {
      break;
    }
  }
  wanted.relief = false;
  wanted.merge = false;
  if (wanted.commit) call.hold(*this);
  CRAWLSTORE_TRY(after_taking(wanted));
  return true;
}

/// Returns the result of `work`, and reports it with its costs if it merged buckets or failed.
template <class Work>
Result<MergeReport> DrumCore::Impl::reported(const Work& work) {
  CRAWLSTORE_TRY(store->check_outside(drum::kMergeInside));
  const TurnLock lock(store->turn);
  return store->change([&]() -> Result<MergeReport> {
    CRAWLSTORE_TRY(store->check_open());
    CRAWLSTORE_TRY(check_usable());
    CRAWLSTORE_TRY(store->writer->check_not_poisoned());  // before answers of a flight are told
    const container::StepMeter meter(store->writer->storage());
    Result<MergeReport> ended = work();
    const container::StepCost cost = meter.cost();
    if (ended) {
      ended->partition_read_seeks = cost.storage.read_seek_count;
      ended->partition_write_seeks = cost.storage.write_seek_count;
    }
    if (!ended || ended->bucket_count != 0) store->report(name(), cost, ended);
    return ended;
  });
}

Result<MergeReport> DrumCore::Impl::merge(MergeCall call, const drum::KeyFilter* filter) {
  return reported([&] {
    kStoreTurn.assert_held();
    return merger.merge(call, filter);
  });
}

Result<MergeReport> DrumCore::Impl::relieve() {
  return reported([this] {
    kStoreTurn.assert_held();
    return merger.relieve();
  });
}

Result<std::uint64_t> DrumCore::Impl::take_results(ConsumerId consumer, const RawSink& sink) {
  CRAWLSTORE_TRY(store->check_outside("results were asked for inside a transaction"));
  const TurnLock lock(store->turn);
  return store->change([&]() -> Result<std::uint64_t> {
    CRAWLSTORE_TRY(store->check_open());
    CRAWLSTORE_TRY(check_usable());
    kStoreTurn.assert_held();
    return delivery.take_results(consumer, sink);
  });
}

}  // namespace crawlstore
