// SPDX-License-Identifier: Apache-2.0
#include "service/server/commit_loop.h"

#include <utility>

#include <malloc.h>

#include "service/server/log.h"

namespace crawlstore::service {
namespace {

constexpr std::chrono::seconds kWarningTime{10};
constexpr std::chrono::seconds kTrimTime{60};

/// After these nothing can be written through this handle any more.
bool is_fatal(Errc code) {
  return code == Errc::kReplaced || code == Errc::kPoisoned || code == Errc::kClosed ||
         code == Errc::kForked || category(code) == ErrorCategory::kDamage;
}

std::uint64_t us_since(std::chrono::steady_clock::time_point begin) {
  const auto passed = std::chrono::steady_clock::now() - begin;
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(passed).count());
}

}  // namespace

CommitLoop::CommitLoop(Store& store, Crawls& crawls, const Options& options,
                       std::function<void(const Error&)> on_fatal)
    : store_(store),
      crawls_(crawls),
      options_(options),
      on_fatal_(std::move(on_fatal)),
      thread_([this] { run(); }) {}

void CommitLoop::add(std::unique_ptr<Job> job) {
  {
    const std::lock_guard lock(mutex_);
    if (!is_stopping_) {
      jobs_.push_back(std::move(job));
      has_work_.notify_one();
      return;
    }
  }
  job->done(fail(Errc::kClosed, "the service stops"));
}

void CommitLoop::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    has_work_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void CommitLoop::run() {
  for (;;) {
    std::unique_lock lock(mutex_);
    const auto has_job = [this] { return !jobs_.empty() || is_stopping_; };
    const auto due = last_commit_ + options_.interval;
    if (!transaction_) {
      has_work_.wait(lock, has_job);
    } else {
      has_work_.wait_until(lock, due, has_job);
    }
    const bool is_last = jobs_.empty() && is_stopping_;
    std::deque<std::unique_ptr<Job>> jobs;
    jobs.swap(jobs_);
    lock.unlock();
    for (auto& job : jobs) do_job(std::move(job));
    if (transaction_ && (is_last || Clock::now() >= due)) {
      end_batch(commit());
      merge();
    }
    if (is_last) return;
  }
}

void CommitLoop::do_job(std::unique_ptr<Job> job) {
  if (fatal_) return job->done(tl::unexpected<Error>(*fatal_));
  if (job->is_alone()) return do_alone(std::move(job));
  const auto ran = run_in_transaction(*job);
  if (options_.answers_before_commit) {
    job->done(ran);
  } else {
    batch_.push_back(std::move(job));
  }
  if (!ran) end_batch(ran);
}

/// Outside of a transaction, and so behind the commit of what is under way.
void CommitLoop::do_alone(std::unique_ptr<Job> job) {
  if (transaction_) end_batch(commit());
  if (fatal_) return job->done(tl::unexpected<Error>(*fatal_));
  const auto ran = job->run(crawls_);
  auto ended = ran ? crawls_.write_counts() : tl::unexpected<Error>(ran.error());
  if (!ended) crawls_.drop_counts();
  if (ended) ended = store_.commit().map([](Generation) {});
  check(ended);
  job->done(ended);
}

Result<void> CommitLoop::run_in_transaction(Job& job) {
  for (;;) {
    if (!transaction_) {
      CRAWLSTORE_TRY(transaction_, Transaction::begin(store_));
    }
    CRAWLSTORE_TRY(const std::string missing, job.run(crawls_));
    if (missing.empty()) return {};
    // A crawl is opened outside of transactions.
    const auto committed = commit();
    end_batch(committed);
    CRAWLSTORE_TRY(committed);
    const auto made = crawls_.make(missing);
    if (!made && crawls_.refusal(missing) == nullptr) return tl::unexpected<Error>(made.error());
  }
}

Result<void> CommitLoop::commit() {
  if (!transaction_) return {};
  const auto begin = Clock::now();
  CRAWLSTORE_TRY(crawls_.write_counts());
  CRAWLSTORE_TRY(transaction_->commit());
  transaction_.reset();
  counts_.commits.add(us_since(begin));
  last_commit_ = Clock::now();
  return {};
}

/// Tells the jobs of the batch. After an error their changes are dropped.
void CommitLoop::end_batch(const Result<void>& ended) {
  if (!ended) {
    if (transaction_) transaction_->drop();
    transaction_.reset();
    crawls_.drop_counts();
    last_commit_ = Clock::now();
    ++counts_.failed_commits;
    check(ended);
  }
  for (auto& job : std::exchange(batch_, {})) job->done(ended);
}

void CommitLoop::merge() {
  if (fatal_) return;
  const auto begin = Clock::now();
  check(crawls_.merge_if_full());
  counts_.merges.add(us_since(begin));
  if (Clock::now() < next_trim_) return;
  next_trim_ = Clock::now() + kTrimTime;
  malloc_trim(0);  // streams may have had much
}

void CommitLoop::check(const Result<void>& ended) {
  if (ended || fatal_) return;
  // One line for as long as commits fail one after the other.
  if (Clock::now() >= next_warning_) {
    log(LogLevel::kWarn, "commit-failed", {{"error", describe(ended.error())}});
    next_warning_ = Clock::now() + kWarningTime;
  }
  if (!is_fatal(ended.error().code)) return;
  fatal_ = ended.error();
  on_fatal_(*fatal_);
}

}  // namespace crawlstore::service
