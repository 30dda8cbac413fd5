// SPDX-License-Identifier: Apache-2.0
//
// insert(): an answer at once, and the key is remembered in the same step.
//
// Invariants: look-up and append are under one lock, and each request is always in an array,
// sealed, in a run or in a partition: so a key is new once. Requests of inserts are updates of a
// consumer of their own, whose answers no sink receives and no file keeps.
#include "drum/drum_impl.h"

namespace crawlstore {

/// Returns whether the key is there, or depends on another thread's transaction. Requires `mutex`.
Result<DrumCore::Impl::Insertion> DrumCore::Impl::insertion_of(Key16 key) {
  const std::size_t bucket = ranges.find(key.head);
  const std::uint64_t hash = drum::InsertIndex::hash_of(key);
  arrays[bucket].prefetch_inserts(hash);
  CRAWLSTORE_TRY(const auto stored, lookup(key));
  if (stored) return Insertion::kKnown;
  CRAWLSTORE_TRY(const bool waits, is_inserted(key));
  if (waits) return Insertion::kKnown;
  if (store->in_transaction()) return Insertion::kTaken;  // is_inserted() has seen its requests
  if (tentative_arrays[bucket].find(key, hash)) return Insertion::kUndecided;
  CRAWLSTORE_TRY(const bool is_tentative, is_logged(bucket, true, key));
  return is_tentative ? Insertion::kUndecided : Insertion::kTaken;
}

/// Tries once to insert. A merge that is called for comes before a new key is taken, unless
/// `has_merged`, so that its error leaves the key untaken.
Result<DrumCore::Impl::Insertion> DrumCore::Impl::try_insert(Key16 key,
                                                             std::span<const std::byte> value,
                                                             bool has_merged, Wants& wanted) {
  const std::lock_guard lock(mutex);
  CRAWLSTORE_TRY(check_usable());
  CRAWLSTORE_TRY(store->writer->check_not_poisoned());
  RawRequest request{DrumOperation::kUpdate, 0, key.head, value, {}, key.tail};
  CRAWLSTORE_TRY(check_request(request));
  CRAWLSTORE_TRY(const auto insertion, insertion_of(key));
  if (insertion != Insertion::kTaken) return insertion;
  wanted = wants();
  if (!has_merged && (wanted.relief || wanted.merge)) return Insertion::kCallsForMerge;
  CRAWLSTORE_TRY(request.consumer, delivery.make_nobody());
  CRAWLSTORE_TRY(store->change([&] { return append(request); }));
  return insertion;
}

Result<bool> DrumCore::Impl::insert(Key16 key, std::span<const std::byte> value, StoreCall& call) {
  Wants wanted;
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
      CRAWLSTORE_TRY(after_submit(wanted));
      has_merged = true;
    } else if (*insertion == Insertion::kUndecided) {
      const std::lock_guard until_it_ends(store->turn);
    } else if (*insertion == Insertion::kKnown) {
      return false;
    } else {
      break;
    }
  }
  wanted.relief = false;
  wanted.merge = false;
  if (wanted.commit) call.hold(*this);
  CRAWLSTORE_TRY(after_submit(wanted));
  return true;
}

}  // namespace crawlstore
