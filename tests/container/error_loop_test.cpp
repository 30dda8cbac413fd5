// SPDX-License-Identifier: Apache-2.0
//
// T3 of spec/features.md: the nth storage call fails, for every n, in every way. The failure is
// reported or harmless; what was acknowledged is there, in the cache and on the disk; the store
// opens whole and takes the next commit.
#include <array>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include "container/crash_workloads.h"
#include "drum/memory_store.h"
#include "support/bytes.h"
#include "support/seeded.h"

namespace crawlstore::testing {
namespace {

struct FailureMode {
  const char* name;
  FailurePlan plan;
};

constexpr CallSet kSync = calls(CallKind::kSync);
constexpr CallSet kWrite = calls(CallKind::kWrite);
constexpr CallSet kAllocate = calls(CallKind::kAllocate);

const std::array kModes = {
    FailureMode{"any call, EIO, once", {.calls = kEveryCall}},
    FailureMode{"any call, EIO, for ever", {.calls = kEveryCall, .forever = true}},
    FailureMode{"any call, EINTR, once", {.calls = kEveryCall, .system_errno = EINTR}},
    FailureMode{"any change, ENOSPC, once", {.system_errno = ENOSPC}},
    FailureMode{"any change, ENOSPC, for ever", {.forever = true, .system_errno = ENOSPC}},
    FailureMode{"short write, EIO, once", {.calls = kWrite, .short_bytes = 1000}},
    FailureMode{"short write, ENOSPC, for ever",
                {.calls = kWrite, .forever = true, .system_errno = ENOSPC, .short_bytes = 512}},
    FailureMode{"allocate, EFBIG, once", {.calls = kAllocate, .system_errno = EFBIG}},
    FailureMode{"allocate, ENOSPC, for ever",
                {.calls = kAllocate, .forever = true, .system_errno = ENOSPC}},
    FailureMode{"sync, EIO, once", {.calls = kSync}},
    FailureMode{"sync, EIO, once, evicted", {.calls = kSync, .evict = true}},
    FailureMode{"sync, EIO, for ever, evicted", {.calls = kSync, .forever = true, .evict = true}},
};

constexpr std::uint64_t kNever = 1 << 20;

/// One run with the plan. Returns whether a call failed.
bool fails_well(const CrashWorkload& workload, const FailurePlan& plan) {
  Scenario scenario;
  scenario.plan = plan;
  bool reported = false;
  try {
    workload.record(scenario);
  } catch (const std::exception&) {
    reported = true;
  }
  const bool injected = scenario.recorder().has_injected();
  EXPECT_TRUE(injected || !reported) << workload.name << " failed without a reason";
  scenario.recorder().stop_injecting();
  const OperationLog log = scenario.recorder().log();
  OracleOptions options;
  options.damaged_generation = scenario.damaged_generation;
  options.fallback_digest = scenario.fallback_digest;
  options.verify_every = plan.nth % 8 == 0 ? 1 : 0;
  options.use = workload.use;
  options.use_every = plan.nth % 8 == 0 ? 2 : kNever;  // what is on the disk
  CrashOracle oracle(log, options);
  const auto look = [&](const std::vector<std::byte>& bytes, const char* where) {
    if (const Fault fault = oracle.check(bytes, log.operations.size())) {
      ADD_FAILURE() << workload.name << ", call " << plan.nth << ", " << where << ": " << *fault;
    }
  };
  look(contents(*scenario.file()), "as the next process sees it");
  look(scenario.recorder().disk(), "on the disk");
  return injected;
}

/// One call in so many of a workload fails in an ordinary run, others with another seed.
constexpr std::uint64_t kStride = 3;
constexpr std::uint64_t kCostlyStride = 31;

void loop(std::span<const CrashWorkload> workloads) {
  std::uint64_t sum = 0;
  for (const FailureMode& mode : kModes) {
    std::uint64_t count = 0;
    for (const CrashWorkload& workload : workloads) {
      if (workload.name.starts_with("failed")) continue;  // has failures of its own
      FailurePlan plan = mode.plan;
      const std::uint64_t stride = is_long() ? 1 : workload.is_costly ? kCostlyStride : kStride;
      for (plan.nth = 1 + test_seed() % stride; plan.nth < 5000; plan.nth += stride) {
        if (!fails_well(workload, plan)) break;
        ++count;
        if (::testing::Test::HasFailure()) return;
      }
    }
    std::printf("%7llu failures: %s\n", static_cast<unsigned long long>(count), mode.name);
    std::fflush(stdout);
    sum += count;
  }
  std::printf("%7llu failures in all\n", static_cast<unsigned long long>(sum));
}

TEST(ErrorLoop, LosesNothingAtWriterLevel) {
  loop(writer_workloads());
}

TEST(ErrorLoop, LosesNothingWithDrums) {
  loop(drum_workloads());
}

TEST(ErrorLoop, LosesNothingWithPages) {
  loop(page_workloads());
}

TEST(ErrorLoop, LosesNothingWithQueues) {
  loop(queue_workloads());
}

TEST(ErrorLoop, LosesNothingWithFrontiers) {
  loop(frontier_workloads());
}

/// A commit that found no space has changed nothing; the same writer succeeds when there is some.
TEST(ErrorLoop, RetriesAfterNoSpace) {
  constexpr CallSet kBeforeSync = calls(CallKind::kWrite, CallKind::kAllocate);
  std::uint64_t failed = 0;
  for (std::uint64_t nth = 1;; ++nth) {
    Scenario scenario;
    scenario.begin_with([](container::Writer& writer) {
      (void)writer.new_segment_id();
      put_blob(writer, {2}, 9000, 2);
      must(writer.commit());
    });
    const auto writer = scenario.open_writer();
    must(writer->prepare());
    put_blob(*writer, {2}, 9000, 3);
    scenario.recorder().inject({.calls = kBeforeSync, .nth = nth, .system_errno = ENOSPC});
    const auto first = writer->commit();
    const bool injected = scenario.recorder().has_injected();
    scenario.recorder().stop_injecting();
    if (!injected) break;
    if (writer->poisoned()) break;  // the superblocks have begun
    ++failed;
    if (first) continue;  // a smaller growth step did
    ASSERT_EQ(first.error().code, Errc::kNoSpace) << nth;
    const auto second = writer->commit();
    ASSERT_TRUE(second) << describe(second.error());
    EXPECT_EQ(check_space(*writer, {}), std::nullopt) << nth;
    EXPECT_EQ(read_state(scenario.file()).value().generation, second->value);
  }
  EXPECT_GE(failed, 4U);
}

}  // namespace
}  // namespace crawlstore::testing
