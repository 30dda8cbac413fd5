// SPDX-License-Identifier: Apache-2.0
// Invariants: a job is in waiting_, or counted by running_count_, or in finished_, or ended; all
// fields of a Job but its context are guarded by mutex_; work and Finish run without it.
#include "inspector/core/jobs.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace crawlstore::inspector {
namespace {

constexpr unsigned kThreads = 2;
constexpr std::int64_t kWakeEveryUs = 100'000;

}  // namespace

bool JobContext::progress(std::uint64_t done, std::uint64_t total) {
  done_ = done;
  total_ = total;
  const std::int64_t now_us = now_us_();
  const std::int64_t passed_us = last_wake_us_ ? now_us - *last_wake_us_ : kWakeEveryUs;
  if (passed_us >= kWakeEveryUs || passed_us < 0) {
    last_wake_us_ = now_us;
    wake_();
  }
  return !is_cancelled_;
}

std::string_view name_of(JobState state) {
  switch (state) {
    case JobState::kWaiting:
      return "waiting";
    case JobState::kRunning:
      return "running";
    case JobState::kDone:
      return "done";
    case JobState::kCancelled:
      return "cancelled";
    case JobState::kFailed:
      return "failed";
  }
  return "unknown";
}

struct Jobs::Job {
  JobInfo info;
  std::string slot;
  Work work;
  Finish finish;
  JobContext context;
  bool is_superseded = false;  // nobody wants what it brings any more
  [[nodiscard]] bool is_over() const {
    return info.state != JobState::kWaiting && info.state != JobState::kRunning;
  }
};

Jobs::Jobs(std::function<void()> wake, std::function<std::int64_t()> now_us)
    : wake_(std::move(wake)), now_us_(std::move(now_us)) {
  for (unsigned i = 0; i < kThreads; ++i) threads_.emplace_back([this] { run_jobs(); });
}

Jobs::~Jobs() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    for (const auto& job : jobs_) job->context.is_cancelled_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

std::uint64_t Jobs::start(std::string title, std::string slot, Work work) {
  if (!slot.empty()) cancel_slot(slot);
  auto job = std::make_shared<Job>();
  job->info.title = std::move(title);
  job->info.started_us = now_us_();
  job->slot = std::move(slot);
  job->work = std::move(work);
  job->context.wake_ = [this] {
    has_progress_ = true;
    wake_();
  };
  job->context.now_us_ = now_us_;
  {
    const std::lock_guard lock(mutex_);
    job->info.id = ++last_id_;
    jobs_.push_back(job);
    waiting_.push_back(job);
    forget_old();
  }
  changed_.notify_all();
  return job->info.id;
}

void Jobs::forget_old() {
  for (auto job = jobs_.begin(); jobs_.size() > kRememberedMax && job != jobs_.end();) {
    job = (*job)->is_over() ? jobs_.erase(job) : job + 1;
  }
}

/// Resources of the work of a waiting job (a snapshot and its pin) do not wait for a thread.
/// Returned to be destroyed without the lock.
Jobs::Work Jobs::stop(const std::shared_ptr<Job>& job) {
  job->context.is_cancelled_ = true;
  if (job->info.state != JobState::kWaiting) return nullptr;
  std::erase(waiting_, job);
  finished_.push_back(job);
  job->info.state = JobState::kCancelled;
  job->info.ended_us = now_us_();
  changed_.notify_all();
  return std::exchange(job->work, nullptr);
}

void Jobs::cancel(std::uint64_t id) {
  Work dropped;
  const std::lock_guard lock(mutex_);
  for (const auto& job : jobs_) {
    if (job->info.id == id && !job->is_over()) dropped = stop(job);
  }
}

void Jobs::cancel_slot(const std::string& slot) {
  std::vector<Work> dropped;
  const std::lock_guard lock(mutex_);
  for (const auto& job : jobs_) {
    if (job->slot != slot) continue;
    dropped.push_back(stop(job));
    job->is_superseded = true;
  }
  for (const auto& job : finished_) {  // of which some may be forgotten
    if (job->slot == slot) job->is_superseded = true;
  }
}

bool Jobs::cancel_newest() {
  Work dropped;
  const std::lock_guard lock(mutex_);
  for (auto job = jobs_.rbegin(); job != jobs_.rend(); ++job) {
    if ((*job)->is_over() || (*job)->context.is_cancelled_) continue;
    dropped = stop(*job);
    return true;
  }
  return false;
}

void Jobs::run_jobs() {
  for (;;) {
    std::shared_ptr<Job> job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return is_ending_ || !waiting_.empty(); });
      if (is_ending_) return;
      job = std::move(waiting_.front());
      waiting_.pop_front();
      job->info.state = JobState::kRunning;
      ++running_count_;
    }
    run(*job);
    {
      const std::lock_guard lock(mutex_);
      --running_count_;
      finished_.push_back(std::move(job));
      forget_old();
    }
    changed_.notify_all();
    wake_();
  }
}

void Jobs::run(Job& job) {
  Finish finish;
  std::string problem;
  bool is_failed = false;
  try {
    if (!job.context.is_cancelled_) finish = job.work(job.context);
  } catch (const std::exception& error) {
    problem = error.what();
    is_failed = true;
  } catch (...) {
    problem = "the work failed";
    is_failed = true;
  }
  // Resources of the work (a snapshot and its pin) end with it, not with the list of jobs.
  const Work done = std::exchange(job.work, nullptr);
  const std::lock_guard lock(mutex_);
  job.finish = std::move(finish);
  job.info.problem = std::move(problem);
  job.info.ended_us = now_us_();
  if (is_failed) {
    job.info.state = JobState::kFailed;
  } else {
    job.info.state = job.context.is_cancelled_ ? JobState::kCancelled : JobState::kDone;
  }
}

bool Jobs::take_finished() {
  std::deque<std::shared_ptr<Job>> taken;
  {
    const std::lock_guard lock(mutex_);
    taken.swap(finished_);
  }
  for (const auto& job : taken) {
    // A job that a person cancelled may still tell what it has so far.
    if (job->finish && !job->is_superseded) job->finish();
    job->finish = nullptr;
  }
  return !taken.empty();
}

void Jobs::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty() && running_count_ == 0; });
}

std::vector<JobInfo> Jobs::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<JobInfo> infos;
  for (auto job = jobs_.rbegin(); job != jobs_.rend(); ++job) {
    infos.push_back((*job)->info);
    infos.back().done = (*job)->context.done_;
    infos.back().total = (*job)->context.total_;
  }
  return infos;
}

bool Jobs::idle() const {
  const std::lock_guard lock(mutex_);
  return waiting_.empty() && running_count_ == 0 && finished_.empty();
}

}  // namespace crawlstore::inspector
