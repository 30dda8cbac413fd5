// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <crawlstore/drum_core.h>

#include "container/store_call.h"
#include "drum/bucket_logs.h"
#include "drum/delivery.h"
#include "drum/inbox.h"
#include "drum/intake.h"
#include "drum/merger.h"
#include "drum/open_drum.h"

namespace crawlstore {

/// An open DRUM: its parts, each of which stands on those before it, and the locks around them.
///
/// Locks: submissions and look-ups take only `mutex`, so they go on while another thread merges.
struct DrumCore::Impl : Participant {
  Impl(std::shared_ptr<StoreImpl> of_store, drum::DrumState of_state,
       const DrumOptions& of_options);

  std::weak_ptr<DrumCore> handle;  // every open of the DRUM returns this one
  drum::OpenDrum drum;
  drum::Inbox inbox CRAWLSTORE_LOCKING(guarded_by(kPartMutex));
  drum::BucketLogs logs;
  drum::Intake intake;
  drum::Delivery delivery;
  drum::Merger merger;

  Result<void> prepare(CommitScope scope) override;
  void published() override;
  void dropped() override;
  Result<void> write_arrays(CommitScope scope) override;
  void keep_tentative() override;
  void drop_tentative() override;
  void close() override;
  [[nodiscard]] std::string_view name() const override;

  /// errors  kClosed, kReentrant, kForked
  Result<void> check_usable() const;

  /// Submits requests. `call` is that of the DRUM's handle, and outlives the part.
  Result<void> submit(std::span<const RawRequest> requests, StoreCall& call);
  template <class Key>  // std::uint64_t or Key16, as the DRUM's keys are
  Result<void> submit_keys(std::uint16_t tag, std::span<const Key> keys, StoreCall& call);
  Result<bool> insert(Key16 key, std::span<const std::byte> value, StoreCall& call);

  // These take the turn.
  Result<MergeReport> merge(drum::MergeCall call, const drum::KeyFilter* filter = nullptr);
  Result<MergeReport> relieve();
  Result<std::uint64_t> take_results(ConsumerId consumer, const RawSink& sink);

  // Look-ups require the mutex.
  /// Returns the value that partitions have of the key.
  Result<std::optional<std::vector<std::byte>>> lookup(Key16 key)
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  /// Whether a request that waits inserts the key.
  Result<bool> is_inserted(Key16 key) CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  /// Returns the newest value of the key.
  Result<std::optional<std::vector<std::byte>>> find(Key16 key)
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));

 private:
  /// The result of an insert: the key was there; it was taken; it must wait for the transaction of
  /// another thread, which has inserted the key; it must wait for a merge.
  enum class Insertion : std::uint8_t { kKnown, kTaken, kUndecided, kCallsForMerge };

  std::uint64_t sequence_in_commit_ = 0;  // published_sequence after the commit under way
  bool commit_is_whole_ = false;          // whether the commit under way takes everything

  /// Calls take_some() under the lock, and again after a merge when a log was full.
  template <class TakeSome>
  Result<void> take(const TakeSome& take_some, StoreCall& call);
  [[nodiscard]] bool may_merge_for(const Error& error) const;
  Result<void> after_taking(const drum::Wants& wants);
  Result<Insertion> insertion_of(Key16 key) CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  Result<Insertion> try_insert(Key16 key, std::span<const std::byte> value, bool has_merged,
                               drum::Wants& wanted);
  template <class Work>
  Result<MergeReport> reported(const Work& work);
};

}  // namespace crawlstore
