// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A machine of the simulation: its disk, the trouble that is planned for an operation, and the
/// crash that ends it. A hook acts between the calls that the writer makes of its storage.

#include <array>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "support/crash_images.h"
#include "support/random.h"
#include "support/recording_storage.h"

namespace crawlstore::testing::simulation {

inline constexpr std::uint64_t kCapacityBytes = std::uint64_t{1} << 26;

class Machine {
 public:
  Machine(Random& random, std::function<void()> between_calls)
      : random_(random), between_calls_(std::move(between_calls)) {}
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() { stop(); }

  /// While it lives, calls are just calls.
  class Undisturbed {
   public:
    explicit Undisturbed(Machine& machine)
        : flag_(machine.is_undisturbed_), before_(std::exchange(flag_, true)) {}
    Undisturbed(const Undisturbed&) = delete;
    Undisturbed& operator=(const Undisturbed&) = delete;
    ~Undisturbed() { flag_ = before_; }

   private:
    bool& flag_;
    bool before_;
  };

  void start(std::shared_ptr<MemoryFile> file) {
    recorder_ = std::make_unique<Recorder>(std::move(file));
    recorder_->set_hook([this](CallKind, Extent) { before_call(); });
    evicts_ = has_evicted_ = may_have_failed_sync_ = false;
  }

  /// Calls are just calls from now on.
  void stop() {
    if (recorder_) recorder_->set_hook({});
  }

  [[nodiscard]] std::unique_ptr<Storage> open(OpenMode mode) { return recorder_->open(mode); }

  /// Nothing, a crash, or a plan of failures.
  void plan_trouble() {
    static constexpr std::array kCalls = {kMutatingCalls, calls(CallKind::kSync),
                                          calls(CallKind::kWrite), calls(CallKind::kAllocate)};
    evicts_ = false;
    switch (random_.below(6)) {
      case 0:
        calls_to_crash_ = 1 + random_.below(60);
        return;
      case 1: {
        FailurePlan plan;
        plan.calls = kCalls[random_.below(kCalls.size())];
        plan.nth = 1 + random_.below(plan.calls == kMutatingCalls ? 25 : 4);
        plan.forever = random_.below(2) == 0;
        plan.system_errno = random_.below(2) == 0 ? EIO : ENOSPC;
        plan.short_bytes = random_.below(2) * random_.below(4096);
        evicts_ = plan.evict = random_.below(3) == 0;
        may_have_failed_sync_ |= (plan.calls & calls(CallKind::kSync)) != 0;
        has_evicted_ |= plan.evict;
        return recorder_->inject(plan);
      }
      default:
        return;
    }
  }
  void end_trouble() {
    recorder_->stop_injecting();
    calls_to_crash_ = 0;
  }
  /// The plan stays, but makes nothing fail from now on.
  void calm() { recorder_->stop_injecting(); }
  /// Nothing reaches the disk from now on.
  void halt() { recorder_->inject({.forever = true}); }
  /// The cache keeps what it shows now.
  void forget_plan() { evicts_ = false; }

  [[nodiscard]] bool has_crashed() const { return crash_log_.has_value(); }
  [[nodiscard]] bool has_injected() const { return recorder_->has_injected(); }
  /// Whether the plan empties the cache of what no sync has taken to the disk.
  [[nodiscard]] bool evicts() const { return evicts_; }
  /// Whether a plan of this machine's life did.
  [[nodiscard]] bool has_evicted() const { return has_evicted_; }

  /// Whether a plan of this machine's life could make a sync fail.
  [[nodiscard]] bool may_have_failed_sync() const { return may_have_failed_sync_; }

  /// Starts again, after a crash, from one of the images that the disk may hold.
  void restart() {
    const std::size_t point = crash_log_->operations.size();
    CrashImages images(std::move(*crash_log_), {.seed = random_.next()});
    crash_log_.reset();
    std::vector<std::byte> bytes;
    std::uint64_t left = random_.below(std::uint64_t{1} << random_.below(8));
    images.enumerate_at(point, [&](const CrashImage& image) {
      bytes.assign(image.bytes.begin(), image.bytes.end());
      return left-- != 0;
    });
    start(make_memory_file(bytes, kCapacityBytes));
  }

 private:
  void before_call() {
    if (is_undisturbed_) return;
    if (calls_to_crash_ > 0 && --calls_to_crash_ == 0) {
      crash_log_ = recorder_->log();
      return halt();
    }
    if (!crash_log_ && random_.below(16) == 0) between_calls_();
  }

  Random& random_;
  const std::function<void()> between_calls_;
  std::unique_ptr<Recorder> recorder_;
  std::uint64_t calls_to_crash_ = 0;  ///< 0: never
  std::optional<OperationLog> crash_log_;
  bool evicts_ = false;
  bool has_evicted_ = false;
  bool may_have_failed_sync_ = false;
  bool is_undisturbed_ = false;
};

}  // namespace crawlstore::testing::simulation
