// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The parts of a DRUM over a file in memory, without a Store and without the public class.

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "container/store_impl.h"
#include "drum/bucket_logs.h"
#include "drum/delivery.h"
#include "drum/inbox.h"
#include "drum/memory_store.h"
#include "drum/merge_flight.h"
#include "drum/merge_planner.h"
#include "drum/merger.h"
#include "drum/open_drum.h"

// One thread uses these parts, and locks nothing.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wthread-safety"
#endif

namespace crawlstore::testing {

inline std::shared_ptr<StoreImpl> store_with_a_writer() {
  auto store = std::make_shared<StoreImpl>();
  const auto file = make_empty_store_file(std::uint64_t{1} << 28);
  store->writer = must(container::Writer::open(open_memory_storage(file, OpenMode::kWrite), {}));
  return store;
}

struct DrumParts {
  explicit DrumParts(const DrumOptions& options = {}, std::uint32_t bucket_count = 2)
      : drum{*store,
             mutex,
             {8, 0},
             drum::make_state(store->writer->new_segment_id(), "parts", {8, 0}, bucket_count),
             options,
             false,
             0} {
    logs.adapt_to_buckets();
  }

  void append(std::uint64_t key, DrumOperation operation = DrumOperation::kUpdate,
              ConsumerId consumer = {}) {
    inbox.arrays.append(inbox.bucket_of(key), {operation, consumer, key, {}, {}, 0});
  }
  /// Merges all that waits, and installs nothing.
  std::vector<drum::MergeOutcome> merge_all() {
    drum::MergePlanner planner(drum, inbox, logs);
    std::vector<drum::MergeJob> jobs;
    for (const auto& planned : must(planner.plan_merges(false, nullptr))) {
      jobs.push_back(must(planner.make_job(planned)));
    }
    drum::MergeFlight flight(*store->writer, std::move(jobs), false);
    flight.depart();
    must(flight.arrive());
    return std::move(flight.outcomes());
  }
  /// The keys of all partitions.
  [[nodiscard]] std::set<std::uint64_t> stored_keys() const {
    std::set<std::uint64_t> keys;
    for (const auto& bucket : drum.state.buckets) {
      if (!bucket.partition_run) continue;
      const auto name = container::run_name(store->writer->identity(), bucket.partition,
                                            bucket.partition_run->ref().run_id);
      drum::PartitionCursor cursor(store->writer->storage(), name, bucket.partition_run->ref(),
                                   bucket.key_count, drum.state.shape());
      must(cursor.start(0, ~std::uint64_t{0}));
      while (!cursor.at_end()) {
        const auto some = cursor.keys();
        keys.insert(some.begin(), some.end());
        must(cursor.advance(some.size()));
      }
    }
    return keys;
  }

  std::shared_ptr<StoreImpl> store = store_with_a_writer();
  std::recursive_mutex mutex;
  drum::OpenDrum drum;
  drum::Inbox inbox{drum.state.shape()};
  drum::BucketLogs logs{drum, inbox};
  drum::Delivery delivery{drum};
  drum::Merger merger{drum, inbox, logs, delivery};
};

}  // namespace crawlstore::testing
