// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A storage that writes down what it is asked to do and fails when it is told to.
///
/// A Recorder stands for one file over a whole test. Writers and readers that open it, one after
/// the other or at once, share its log, as processes share a disk:
///
///   Recorder recorder(make_memory_file({}));
///   {
///     std::unique_ptr<Storage> storage = recorder.open(OpenMode::kWrite);
///     ... commit generation 5 ...
///     recorder.mark("acknowledged 5");
///   }
///   recorder.inject({.calls = calls(CallKind::kSync), .nth = 2, .system_errno = EIO});
///   ... a commit that fails in its second sync; then a new writer ...
///   CrashImages images(recorder.log(), {});          // support/crash_images.h
///
/// An error loop (spec/features.md, T3):
///
///   for (std::uint64_t nth = 1;; ++nth) {
///     Recorder recorder(...);
///     recorder.inject({.calls = kEveryCall, .nth = nth, .forever = true, .system_errno = ENOSPC});
///     ... the workload ...
///     if (!recorder.has_injected()) break;           // it made fewer calls than nth
///   }
///
/// A failed sync follows DiskModel: what it covered stays readable and never becomes durable by a
/// later sync, unless written again; evict_lost_pages() then makes reads show the disk.
///
/// Ownership: storages keep what they need of the Recorder alive.
/// Threads: any. The log has the order in which the calls reached the wrapped storage.

#include <cerrno>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <crawlstore/storage.h>

#include "support/operation_log.h"

namespace crawlstore::testing {

enum class CallKind : std::uint8_t {
  kSize,
  kRead,
  kWrite,
  kSync,
  kAllocate,
  kTruncate,
  kPunch,
  kView,
  kLockWriter,
  kPin,
  kPinned,
  kCheckPath,
  kPrefetch,  // last: it cannot fail, so it does not count
};
inline constexpr std::size_t kCallKindCount = 12;

/// A set of kinds: calls(CallKind::kWrite, CallKind::kSync).
using CallSet = std::uint32_t;
template <class... Kinds>
constexpr CallSet calls(Kinds... kinds) {
  return (CallSet{0} | ... | (CallSet{1} << static_cast<unsigned>(kinds)));
}
inline constexpr CallSet kMutatingCalls = calls(
    CallKind::kWrite, CallKind::kSync, CallKind::kAllocate, CallKind::kTruncate, CallKind::kPunch);
inline constexpr CallSet kEveryCall = (CallSet{1} << kCallKindCount) - 1;

/// The calls that fail, and the way they do.
///   calls         the kinds that count, and that fail
///   nth           the first call to fail, from 1, counted since inject()
///   forever       every later call of these kinds fails as well
///   system_errno  mapped by fail_errno
///   short_bytes   a failing write puts so many of its bytes into the file before it fails
///   evict         a failing sync also drops the pages it lost: reads show the disk at once
struct FailurePlan {
  CallSet calls = kMutatingCalls;
  std::uint64_t nth = 1;
  bool forever = false;
  int system_errno = EIO;
  std::uint64_t short_bytes = 0;
  bool evict = false;
};

class Recorder {
 public:
  /// Called before each call is carried out, outside of any lock: to interleave other steps, or to
  /// end a process at a named point.
  using Hook = std::function<void(CallKind kind, Extent extent)>;

  /// Records what happens to `file`, whose content now counts as durable.
  explicit Recorder(std::shared_ptr<MemoryFile> file);
  /// For storages of another make: wrap() them. `initial` is what they hold.
  explicit Recorder(std::vector<std::byte> initial);
  ~Recorder();

  /// Opens the memory file. Only for the first constructor.
  std::unique_ptr<Storage> open(OpenMode mode);
  std::unique_ptr<Storage> wrap(std::unique_ptr<Storage> inner);

  /// Puts a mark into the log. Crash images tell how many marks came before.
  void mark(std::string text);

  /// Starts a plan, or ends it. The count of calls starts at 0.
  void inject(const FailurePlan& plan);
  void stop_injecting();
  /// Whether the present plan has made a call fail.
  [[nodiscard]] bool has_injected() const;
  /// Calls of the plan's kinds since inject(); without a plan, of all kinds since the beginning.
  [[nodiscard]] std::uint64_t call_count() const;

  /// Pages that a failed sync lost leave the cache. Only for the first constructor.
  void evict_lost_pages();

  void set_hook(Hook hook);

  /// A copy of the log so far.
  [[nodiscard]] OperationLog log() const;
  /// The bytes that are durable now.
  [[nodiscard]] std::vector<std::byte> disk() const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace crawlstore::testing
