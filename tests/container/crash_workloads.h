// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The workloads that are recorded and then crashed: spec/features.md, T1. Deterministic: fixed
/// uuid, key seed and time, one thread.

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include <crawlstore/store.h>

#include "container/crash_oracle.h"
#include "container/crash_store.h"

namespace crawlstore::testing {

struct CrashWorkload {
  std::string_view name;
  /// Records. Throws when the store does not do what it must.
  void (*record)(Scenario& scenario);
  /// Uses a DRUM store after a crash; null for workloads that write segments of their own.
  void (*use)(std::unique_ptr<Storage> storage) = nullptr;
  /// Takes a tenth of a second: not every call of it fails in every run.
  bool is_costly = false;
};

/// Opens a store whose commits have a fixed time.
Store open_store(std::unique_ptr<Storage> storage);
/// Makes steps in transactions that are dropped and committed, between steps of compaction, too.
///   step  does one; told whether it will be committed
void transact_and_compact(Scenario& scenario, Store& store,
                          const std::function<void(bool commits)>& step);

/// Written with a container::Writer, so that its policy can be turned wrong.
std::span<const CrashWorkload> writer_workloads();
/// Written with DRUMs.
std::span<const CrashWorkload> drum_workloads();
/// Written with page databases.
std::span<const CrashWorkload> page_workloads();
/// Written with a queue.
std::span<const CrashWorkload> queue_workloads();
/// Written with a frontier.
std::span<const CrashWorkload> frontier_workloads();

}  // namespace crawlstore::testing
