// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Work that takes longer than a frame: verification, filters, histograms, comparisons.
///
/// Threads: a Jobs belongs to the thread that draws; the work of a job runs on one of its threads,
/// sees only what it captured, and returns what is to be done with its result, which
/// take_finished() then does on the drawing thread. A cancelled job that has something to tell may
/// return it, and it is done; what throws fails, and brings nothing. Ownership: Jobs joins its
/// threads when it ends, after cancelling what runs.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace crawlstore::inspector {

/// Handed to the work of a job.
class JobContext {
 public:
  /// Says how far it is; wakes the window at most ten times a second. Returns false when it is to
  /// stop.
  bool progress(std::uint64_t done, std::uint64_t total);
  [[nodiscard]] bool is_cancelled() const { return is_cancelled_; }

 private:
  friend class Jobs;
  std::function<void()> wake_;
  std::function<std::int64_t()> now_us_;
  std::optional<std::int64_t> last_wake_us_;  // touched by the work's thread only
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> total_{0};
  std::atomic<bool> is_cancelled_{false};
};

enum class JobState : std::uint8_t { kWaiting, kRunning, kDone, kCancelled, kFailed };
std::string_view name_of(JobState state);

struct JobInfo {
  std::uint64_t id = 0;
  std::string title;
  JobState state{};
  std::uint64_t done = 0;
  std::uint64_t total = 0;  ///< 0 = not known
  std::int64_t started_us = 0;
  std::int64_t ended_us = 0;
  std::string problem;  ///< of a failed job
};

class Jobs {
 public:
  using Finish = std::function<void()>;
  using Work = std::function<Finish(JobContext&)>;
  static constexpr std::size_t kRememberedMax = 100;

  /// wake: called from any thread when there is something to draw. now_us: the clock, which may
  /// be set back; asked from any thread.
  Jobs(std::function<void()> wake, std::function<std::int64_t()> now_us);
  ~Jobs();
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  /// Starts a job. Another job of the same slot, if one waits or runs, is cancelled, and what it
  /// brings is dropped: the newest wins. An empty slot competes with nobody.
  std::uint64_t start(std::string title, std::string slot, Work work);
  /// A waiting job ends, and what its work holds with it; a running one sees it at its next
  /// progress().
  void cancel(std::uint64_t id);
  /// The same for the jobs of a slot; and what they bring, or have brought, is dropped.
  void cancel_slot(const std::string& slot);
  /// Cancels the newest of those that still run. Returns whether there was one.
  bool cancel_newest();
  /// Whether a job has said how far it is since the last call.
  bool take_progress() { return has_progress_.exchange(false); }
  /// Does what finished jobs return. True when anything was done.
  bool take_finished();
  /// Blocks until every job has finished; for scripts. Does not take what they return.
  void wait();
  /// Newest first; at most a hundred, and more only while more are not over: what is over is
  /// forgotten, oldest first.
  [[nodiscard]] std::vector<JobInfo> list() const;
  [[nodiscard]] bool idle() const;

 private:
  struct Job;
  void run_jobs();
  void run(Job& job);
  void forget_old();
  [[nodiscard]] Work stop(const std::shared_ptr<Job>& job);

  std::function<void()> wake_;
  std::function<std::int64_t()> now_us_;
  std::atomic<bool> has_progress_{false};  // set by the threads of jobs
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Job>> jobs_;     // all that are remembered, oldest first
  std::deque<std::shared_ptr<Job>> waiting_;   // not begun
  std::deque<std::shared_ptr<Job>> finished_;  // not taken
  std::size_t running_count_ = 0;
  std::uint64_t last_id_ = 0;
  bool is_ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace crawlstore::inspector
