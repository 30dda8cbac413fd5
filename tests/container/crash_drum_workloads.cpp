// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <stdexcept>

#include <crawlstore/drum.h>
#include <crawlstore/transaction.h>

#include "container/crash_workloads.h"
#include "drum/memory_store.h"
#include "support/random.h"

namespace crawlstore::testing {
namespace {

using Keys = Drum<std::uint64_t, std::uint32_t, std::string>;

DrumOptions drum_options() {
  DrumOptions options;
  options.bucket_count = 4;
  options.memory_bytes = 1 << 20;
  options.auto_merge = false;
  options.parallel = false;
  return options;
}

Store open_store(Scenario& scenario) {
  OpenOptions options;
  options.time_us = kFixedTimeUs;
  return must(Store::open(scenario.recorder().open(OpenMode::kWrite), options));
}

/// Starts the record with the file as it is.
void record_from_here(Scenario& scenario) {
  scenario.begin_with_bytes(contents(*scenario.file()));
}

void submit_some(Keys& keys, std::uint64_t from, std::uint64_t count) {
  for (std::uint64_t i = from; i < from + count; ++i) {
    const std::uint64_t key = Random(i).next();
    must(keys.check_update(key, static_cast<std::uint32_t>(i), "aux " + std::to_string(i)));
  }
}

void acknowledge(Scenario& scenario, Store& store) {
  must(store.commit());
  scenario.acknowledge();
}

/// Any DRUM store after a crash: takes requests, merges them, and knows them.
void use_drums(std::unique_ptr<Storage> storage) {
  OpenOptions options;
  options.time_us = kFixedTimeUs;
  auto store = must(Store::open(std::move(storage), options));
  auto keys = must(Keys::open(store, "keys", drum_options()));
  submit_some(keys, 5000, 20);
  must(keys.merge());
  for (std::uint64_t i = 5000; i < 5020; ++i) {
    if (!must(keys.lookup(Random(i).next()))) throw std::runtime_error("a key was lost");
  }
  must(keys.close());
  must(store.close());
}

/// Every request is durable when its submission returns.
void record_durable_requests(Scenario& scenario) {
  {
    auto store = open_store(scenario);
    auto keys = must(Keys::open(store, "keys", drum_options()));
    submit_some(keys, 0, 100);
    must(keys.merge());
  }
  record_from_here(scenario);
  auto store = open_store(scenario);
  auto options = drum_options();
  options.durability = Durability::kRequest;
  auto keys = must(Keys::open(store, "keys", options));
  for (std::uint64_t i = 0; i < 5; ++i) {
    submit_some(keys, 1000 + i, 1);
    scenario.acknowledge();
  }
}

/// Two DRUMs; what is unique in the first is submitted to the second by the dispatcher.
struct Forward {
  Keys& to;
  void unique_key_update(const Keys::AnswerType& answer) {
    must(to.check_update(answer.key * 31, answer.value, answer.aux));
  }
};

void record_merge_with(Scenario& scenario, const DrumOptions& options) {
  {
    auto store = open_store(scenario);
    auto keys = must(Keys::open(store, "keys", options));
    auto second = must(Keys::open(store, "second", drum_options()));
    submit_some(keys, 0, 200);
    Forward forward{second};
    must(keys.merge(forward));
    submit_some(keys, 150, 150);
  }
  record_from_here(scenario);
  auto store = open_store(scenario);
  auto keys = must(Keys::open(store, "keys", options));
  auto second = must(Keys::open(store, "second", drum_options()));
  Forward forward{second};
  must(keys.merge(forward));
  scenario.acknowledge();
  must(second.merge());
  scenario.acknowledge();
}

void record_merge(Scenario& scenario) {
  record_merge_with(scenario, drum_options());
}
void record_logged_merge(Scenario& scenario) {
  auto options = drum_options();
  options.log_first = true;
  record_merge_with(scenario, options);
}

/// Full arrays are merged from memory, some buckets at a time, while requests come in; a commit
/// finds some of them in flight.
void record_flights(Scenario& scenario) {
  auto options = drum_options();
  options.memory_bytes = 12 << 10;
  options.auto_merge = true;
  {
    auto store = open_store(scenario);
    auto keys = must(Keys::open(store, "keys", drum_options()));
    submit_some(keys, 0, 200);
    NullDispatcher nobody;
    must(keys.merge(nobody));
  }
  record_from_here(scenario);
  auto store = open_store(scenario);
  auto keys = must(Keys::open(store, "keys", options));
  auto second = must(Keys::open(store, "second", drum_options()));
  Forward forward{second};
  keys.attach(forward);
  submit_some(keys, 100, 400);
  acknowledge(scenario, store);
  submit_some(keys, 500, 100);
  must(keys.merge());
  scenario.acknowledge();
  keys.detach();
}

/// Transactions of more than the memory holds: one is dropped, one committed, and then merged.
void record_transactions(Scenario& scenario) {
  auto options = drum_options();
  options.memory_bytes = 12 << 10;
  record_from_here(scenario);
  auto store = open_store(scenario);
  auto keys = must(Keys::open(store, "keys", options));
  auto second = must(Keys::open(store, "second", options));
  submit_some(keys, 0, 50);
  acknowledge(scenario, store);
  {
    auto dropped = must(Transaction::begin(store));
    submit_some(keys, 100, 200);
    submit_some(second, 100, 200);
  }
  auto both = must(Transaction::begin(store));
  submit_some(keys, 200, 200);
  submit_some(second, 200, 200);
  must(both.commit());
  scenario.acknowledge();
  NullDispatcher nobody;
  must(keys.merge(nobody));
  scenario.acknowledge();
}

/// Answers nobody waits for: kept in the file, taken later.
void record_results(Scenario& scenario) {
  {
    auto store = open_store(scenario);
    auto keys = must(Keys::open(store, "keys", drum_options()));
    submit_some(keys, 0, 100);
  }
  record_from_here(scenario);
  auto store = open_store(scenario);
  auto keys = must(Keys::open(store, "keys", drum_options()));
  must(keys.merge());
  scenario.acknowledge();
  submit_some(keys, 90, 30);
  acknowledge(scenario, store);
  NullDispatcher nobody;
  must(keys.take_results(nobody));
  scenario.acknowledge();
}

/// Partitions with more keys than allowed split in the merge.
void record_split(Scenario& scenario) {
  auto options = drum_options();
  options.bucket_count = 2;
  options.partition_keys_max = 64;
  NullDispatcher nobody;
  {
    auto store = open_store(scenario);
    auto keys = must(Keys::open(store, "keys", options));
    submit_some(keys, 0, 60);
    must(keys.merge(nobody));
    submit_some(keys, 60, 240);
  }
  record_from_here(scenario);
  auto store = open_store(scenario);
  auto keys = must(Keys::open(store, "keys", options));
  keys.attach(nobody);
  const auto report = must(keys.merge());
  scenario.acknowledge();
  if (report.split_count == 0) throw std::runtime_error("no bucket was split");
  submit_some(keys, 300, 40);
  must(keys.merge());
  scenario.acknowledge();
  keys.detach();
}

/// A store with DRUMs is compacted and rolled back.
void record_maintenance(Scenario& scenario) {
  NullDispatcher nobody;
  {
    auto store = open_store(scenario);
    auto keys = must(Keys::open(store, "keys", drum_options()));
    for (std::uint64_t round = 0; round < 3; ++round) {
      submit_some(keys, round * 300, 300);
      must(keys.merge(nobody));
    }
    submit_some(keys, 2000, 50);
  }
  record_from_here(scenario);
  auto store = open_store(scenario);
  must(store.compact());
  scenario.acknowledge();
  {
    auto keys = must(Keys::open(store, "keys", drum_options()));
    submit_some(keys, 3000, 50);
    must(keys.merge(nobody));
    scenario.acknowledge();
  }
  scenario.acknowledge();
  must(store.rollback());
  scenario.acknowledge();
}

}  // namespace

std::span<const CrashWorkload> drum_workloads() {
  static constexpr auto kWorkloads = std::to_array<CrashWorkload>({
      {"durable requests", record_durable_requests, use_drums},
      {"merge into a second DRUM", record_merge, use_drums},
      {"merge that logs first", record_logged_merge, use_drums},
      {"merges from memory in flights", record_flights, use_drums},
      {"transactions over two DRUMs", record_transactions, use_drums},
      {"kept results", record_results, use_drums},
      {"split of buckets", record_split, use_drums},
      {"compact and rollback of DRUMs", record_maintenance, use_drums},
  });
  return kWorkloads;
}

}  // namespace crawlstore::testing
