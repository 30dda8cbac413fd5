// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
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

#include <crawlstore/transaction.h>

#include "service/core/crawls.h"
#include "service/server/counts.h"

namespace crawlstore::service {

/// Work for the thread that changes the store.
class Job {
 public:
  Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  virtual ~Job() = default;

  /// Changes crawls, as part of a transaction.
  ///   returns  the ID of a crawl that must be open first; empty: all is done. It is called again
  ///            when that crawl is open, or cannot be (Crawls::refusal() tells)
  ///   errors   drop the transaction, and what others did in it
  virtual Result<std::string> run(Crawls& crawls) = 0;
  /// Told once, on the same thread: the changes are in the file, or nothing was changed.
  virtual void done(const Result<void>& committed) = 0;
  /// Whether it runs outside of transactions, and commits itself.
  [[nodiscard]] virtual bool is_alone() const { return false; }
};

/// The only thread that changes a store: it does jobs as they come, commits no more often than each
/// `interval`, and tells them when their commit is made. Threads: add() and stop() any.
class CommitLoop {
 public:
  struct Options {
    std::chrono::milliseconds interval{100};
    /// Jobs are told that they are done before their commit.
    bool answers_before_commit = false;
  };
  /// The store and the crawls must outlive it.
  ///   on_fatal  told once when the store cannot be used any more; then all jobs fail
  CommitLoop(Store& store, Crawls& crawls, const Options& options,
             std::function<void(const Error&)> on_fatal);
  ~CommitLoop() { stop(); }
  CommitLoop(const CommitLoop&) = delete;
  CommitLoop& operator=(const CommitLoop&) = delete;

  void add(std::unique_ptr<Job> job);
  /// Ends when all that was added is done. Later jobs fail. Again: no effect.
  void stop();
  [[nodiscard]] const LoopCounts& counts() const { return counts_; }

 private:
  using Clock = std::chrono::steady_clock;
  void run();
  void do_job(std::unique_ptr<Job> job);
  void do_alone(std::unique_ptr<Job> job);
  [[nodiscard]] Result<void> run_in_transaction(Job& job);
  [[nodiscard]] Result<void> commit();
  void end_batch(const Result<void>& ended);
  void merge();
  void check(const Result<void>& ended);

  Store& store_;
  Crawls& crawls_;
  const Options options_;
  const std::function<void(const Error&)> on_fatal_;
  LoopCounts counts_;

  std::mutex mutex_;
  std::condition_variable has_work_;
  std::deque<std::unique_ptr<Job>> jobs_;  // guarded by mutex_
  bool is_stopping_ = false;               // guarded by mutex_

  // The loop's thread alone has these.
  std::optional<Transaction> transaction_;
  std::vector<std::unique_ptr<Job>> batch_;  // to be told of the commit
  Clock::time_point last_commit_ = Clock::now() - std::chrono::hours(1);
  Clock::time_point next_warning_{};
  Clock::time_point next_trim_{};
  std::optional<Error> fatal_;
  std::thread thread_;
};

}  // namespace crawlstore::service
