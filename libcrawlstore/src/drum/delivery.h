// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <crawlstore/drum_core.h>

#include "drum/bucket_merge.h"
#include "drum/open_drum.h"
#include "drum/result_columns.h"

namespace crawlstore::drum {

/// The consumers of a DRUM: tells answers to their sinks, and keeps those of absent ones in results
/// logs.
///
/// Invariants: answers leave in arrival order. StoreImpl::transacting is set exactly while a sink
/// runs, so that what it submits belongs to the transaction. No sink runs under the mutex. Answers
/// to inserts are neither told nor kept.
class Delivery {
 public:
  /// Answers for absent consumers that no file has.
  using Absent = std::map<ConsumerId, ResultColumns>;

  explicit Delivery(OpenDrum& drum) : drum_(drum) {}

  /// Sets the sink of a consumer, or none. A merge under way ends first, after which no thread
  /// calls the one before.
  void set_sink(ConsumerId consumer, RawSink sink)
      CRAWLSTORE_LOCKING(requires_capability(kStoreTurn));
  /// Sends answers of consumer 0 to a sink while this lives, whatever sink it has, and gets
  /// meanwhile.
  class Once {
   public:
    Once(Delivery& delivery, RawSink sink) CRAWLSTORE_LOCKING(requires_capability(kStoreTurn))
        : delivery_(delivery) {
      delivery_.once_ = std::move(sink);
    }
    ~Once() CRAWLSTORE_LOCKING(requires_capability(kStoreTurn)) { delivery_.once_.reset(); }
    Once(const Once&) = delete;
    Once& operator=(const Once&) = delete;

   private:
    Delivery& delivery_;
  };

  /// Returns the consumer of this name, and adds it if there is none. Requires the mutex.
  Result<ConsumerId> consumer(std::string_view name)
      CRAWLSTORE_LOCKING(requires_capability(kPartMutex));
  /// Returns the consumer of inserts, likewise.
  Result<ConsumerId> make_nobody() CRAWLSTORE_LOCKING(requires_capability(kPartMutex));

  /// Tells the answers of a merge, or adds them to `absent`. Requires the turn.
  ///   errors  kDispatcherFailed: a sink threw; kSegmentInvalid
  Result<void> tell(const MergeOutcome& outcome, Absent& absent)
      CRAWLSTORE_LOCKING(requires_capability(kStoreTurn));
  /// Writes answers into results logs. Requires the turn and the mutex.
  Result<void> keep(const Absent& absent)
      CRAWLSTORE_LOCKING(requires_capability(kStoreTurn, kPartMutex));
  /// Tells what the consumer's results log holds to `sink`, and empties the log with a commit;
  /// after an error it is as before. Returns the number of answers. Requires the turn.
  Result<std::uint64_t> take_results(ConsumerId consumer, const RawSink& sink)
      CRAWLSTORE_LOCKING(requires_capability(kStoreTurn));

 private:
  Result<void> tell_or_add(std::span<const RawAnswer> answers, Absent& absent)
      CRAWLSTORE_LOCKING(requires_capability(kStoreTurn));
  Result<void> call_sink(const RawSink& sink, std::span<const RawAnswer> answers)
      CRAWLSTORE_LOCKING(requires_capability(kStoreTurn));
  Result<void> tell_kept(const Consumer& kept, const RawSink& sink)
      CRAWLSTORE_LOCKING(requires_capability(kStoreTurn));
  Result<void> join_results(Consumer& consumer)
      CRAWLSTORE_LOCKING(requires_capability(kStoreTurn, kPartMutex));
  [[nodiscard]] ConsumerId nobody();

  OpenDrum& drum_;
  std::map<ConsumerId, RawSink> sinks_ CRAWLSTORE_LOCKING(guarded_by(kPartMutex));
  std::optional<RawSink> once_ CRAWLSTORE_LOCKING(guarded_by(kStoreTurn));
  ConsumerId nobody_ CRAWLSTORE_LOCKING(guarded_by(kPartMutex));  // 0: not looked up, or none
};

}  // namespace crawlstore::drum
