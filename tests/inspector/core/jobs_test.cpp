// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/jobs.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/seeded.h"

namespace crawlstore::inspector {
namespace {

/// A door that work waits at until the test opens it.
class Door {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
};

class JobsTest : public ::testing::Test {
 protected:
  /// Work that says it has begun, then runs until it is told to stop.
  Jobs::Work until_cancelled(Door& begun) {
    return [this, &begun](JobContext& context) {
      begun.open();
      while (context.progress(1, 2)) std::this_thread::yield();
      stopped_count_ += context.is_cancelled() ? 1 : 0;
      return [this] { done_ += "cancelled "; };
    };
  }
  Jobs::Work saying(const std::string& word) {
    return [this, word](JobContext&) { return [this, word] { done_ += word + " "; }; };
  }
  JobInfo info(std::uint64_t id) {
    for (const JobInfo& job : jobs_->list()) {
      if (job.id == id) return job;
    }
    return {};
  }
  /// All has finished, and what it brought was done.
  void settle() {
    jobs_->wait();
    jobs_->take_finished();
    EXPECT_TRUE(jobs_->idle());
  }

  std::atomic<int> wake_count_ = 0;
  std::atomic<int> stopped_count_ = 0;
  std::atomic<std::int64_t> now_us_ = 1'000'000;
  std::string done_;  // by what take_finished() runs: on this thread
  std::unique_ptr<Jobs> jobs_ =
      std::make_unique<Jobs>([this] { ++wake_count_; }, [this] { return now_us_.load(); });
};

TEST_F(JobsTest, DoesOnThisThreadWhatWorkBrings) {
  const auto here = std::this_thread::get_id();
  std::thread::id worked;
  std::thread::id done;
  const auto id = jobs_->start("count", "", [&](JobContext&) {
    worked = std::this_thread::get_id();
    return [&] { done = std::this_thread::get_id(); };
  });
  jobs_->wait();
  EXPECT_EQ(done, std::thread::id{}) << "wait() takes nothing";
  EXPECT_TRUE(jobs_->take_finished());
  EXPECT_FALSE(jobs_->take_finished());
  EXPECT_NE(worked, here);
  EXPECT_EQ(done, here);
  EXPECT_EQ(info(id).title, "count");
  EXPECT_EQ(info(id).state, JobState::kDone);
  EXPECT_EQ(info(id).started_us, 1'000'000);
  EXPECT_EQ(info(id).ended_us, 1'000'000);
  jobs_.reset();  // joins the thread that wakes
  EXPECT_GE(wake_count_, 1);
}

TEST_F(JobsTest, TakesWorkThatBringsNothing) {
  const auto id = jobs_->start("", "", [](JobContext&) { return Jobs::Finish{}; });
  settle();
  EXPECT_EQ(info(id).state, JobState::kDone);
}

TEST_F(JobsTest, LetsTheNewestWinInASlot) {
  Door begun;
  const auto running = jobs_->start("filter a", "filter", until_cancelled(begun));
  begun.pass();
  std::vector<std::uint64_t> ids;
  for (int i = 0; i < 20; ++i) {
    ids.push_back(jobs_->start("filter", "filter", saying(std::to_string(i))));
  }
  jobs_->start("other", "other", saying("other"));
  settle();
  EXPECT_EQ(stopped_count_, 1);
  EXPECT_EQ(info(running).state, JobState::kCancelled);
  EXPECT_NE(done_.find("19 "), std::string::npos);
  EXPECT_NE(done_.find("other "), std::string::npos);
  EXPECT_EQ(done_.size(), std::string("19 other ").size()) << done_;
  EXPECT_EQ(info(ids.back()).state, JobState::kDone);
}

TEST_F(JobsTest, DropsWhatAnOlderJobBroughtBeforeItWasTaken) {
  jobs_->start("", "slot", saying("old"));
  jobs_->wait();
  jobs_->start("", "slot", saying("new"));
  settle();
  EXPECT_EQ(done_, "new ");
}

TEST_F(JobsTest, DropsWhatAForgottenJobBrought) {
  jobs_->start("", "slot", saying("old"));
  jobs_->wait();
  for (std::size_t i = 0; i <= Jobs::kRememberedMax; ++i) jobs_->start("", "", saying("x"));
  jobs_->start("", "slot", saying("new"));
  settle();
  EXPECT_EQ(done_.find("old"), std::string::npos) << done_;
  EXPECT_NE(done_.find("new"), std::string::npos) << done_;
}

TEST_F(JobsTest, LetsJobsWithoutASlotRunBesideEachOther) {
  for (int i = 0; i < 10; ++i) jobs_->start("", "", saying("x"));
  settle();
  EXPECT_EQ(done_.size(), 20U);
}

TEST_F(JobsTest, CancelsById) {
  Door begun;
  const auto id = jobs_->start("verify", "", until_cancelled(begun));
  begun.pass();
  EXPECT_EQ(info(id).state, JobState::kRunning);
  EXPECT_FALSE(jobs_->idle());
  jobs_->cancel(id + 1000);  // nobody's
  jobs_->cancel(id);
  settle();
  EXPECT_EQ(info(id).state, JobState::kCancelled);
  EXPECT_EQ(stopped_count_, 1);
  EXPECT_EQ(done_, "cancelled ") << "it may tell what it has so far";
}

TEST_F(JobsTest, CancelsASlotAndTheNewest) {
  EXPECT_FALSE(jobs_->cancel_newest());
  Door first_begun;
  Door second_begun;
  const auto first = jobs_->start("", "a", until_cancelled(first_begun));
  first_begun.pass();
  EXPECT_TRUE(jobs_->cancel_newest());
  jobs_->wait();
  EXPECT_FALSE(jobs_->cancel_newest());
  const auto second = jobs_->start("", "b", until_cancelled(second_begun));
  second_begun.pass();
  jobs_->cancel_slot("a");
  EXPECT_EQ(info(second).state, JobState::kRunning);
  jobs_->cancel_slot("b");
  settle();
  EXPECT_EQ(info(first).state, JobState::kCancelled);
  EXPECT_EQ(info(second).state, JobState::kCancelled);
}

TEST_F(JobsTest, NeverBeginsWhatWasCancelledWhileItWaited) {
  std::vector<std::unique_ptr<Door>> doors;
  std::vector<std::uint64_t> ids;
  // More than there are threads: most wait, and bring nothing.
  for (int i = 0; i < 64; ++i) {
    doors.push_back(std::make_unique<Door>());
    ids.push_back(jobs_->start("", "", until_cancelled(*doors.back())));
  }
  doors.front()->pass();
  const auto waiting = jobs_->list();
  const auto count = std::count_if(waiting.begin(), waiting.end(), [](const JobInfo& job) {
    return job.state == JobState::kWaiting;
  });
  EXPECT_GT(count, 0);
  for (auto id = ids.rbegin(); id != ids.rend(); ++id) jobs_->cancel(*id);
  settle();
  for (const auto id : ids) EXPECT_EQ(info(id).state, JobState::kCancelled);
  EXPECT_EQ(done_.size(),
            static_cast<std::size_t>(stopped_count_) * std::string("cancelled ").size());
  EXPECT_LT(stopped_count_, 64);
}

// acceptance: 12
TEST_F(JobsTest, StopsSoonWhenItIsCancelled) {
  Door begun;
  const auto id = jobs_->start("verify", "", until_cancelled(begun));
  begun.pass();
  const auto start = std::chrono::steady_clock::now();
  jobs_->cancel(id);
  jobs_->wait();
  // 100 ms on a quiet machine; tests share theirs.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST_F(JobsTest, ShowsProgress) {
  Door half;
  Door on;
  const auto id = jobs_->start("", "", [&](JobContext& context) {
    EXPECT_TRUE(context.progress(30, 100));
    half.open();
    on.pass();
    EXPECT_TRUE(context.progress(100, 100));
    return Jobs::Finish{};
  });
  half.pass();
  EXPECT_EQ(info(id).done, 30U);
  EXPECT_EQ(info(id).total, 100U);
  EXPECT_EQ(info(id).ended_us, 0);
  now_us_ = 3'000'000;
  on.open();
  settle();
  EXPECT_EQ(info(id).done, 100U);
  EXPECT_EQ(info(id).started_us, 1'000'000);
  EXPECT_EQ(info(id).ended_us, 3'000'000);
}

TEST_F(JobsTest, WakesTheWindowTenTimesASecond) {
  jobs_->start("", "", [this](JobContext& context) {
    for (std::uint64_t i = 0; i < 1000; ++i) {
      context.progress(i, 1000);
      now_us_ += 1000;
    }
    return Jobs::Finish{};
  });
  jobs_->wait();
  jobs_.reset();               // joins the thread that wakes
  EXPECT_EQ(wake_count_, 11);  // and once at the end
}

TEST_F(JobsTest, WakesTheWindowWhenTheClockWasSetBack) {
  jobs_->start("", "", [this](JobContext& context) {
    context.progress(1, 2);
    now_us_ = 5;
    context.progress(2, 2);
    return Jobs::Finish{};
  });
  jobs_->wait();
  jobs_.reset();
  EXPECT_EQ(wake_count_, 3);
}

TEST_F(JobsTest, ReportsWhatWorkThrows) {
  const auto id = jobs_->start(
      "", "", [](JobContext&) -> Jobs::Finish { throw std::runtime_error("no such thing"); });
  const auto silent =
      jobs_->start("", "", [](JobContext&) -> Jobs::Finish { throw std::runtime_error(""); });
  EXPECT_NE(silent, id);
  const auto other = jobs_->start("", "", [](JobContext&) -> Jobs::Finish { throw 3; });
  jobs_->start("", "", saying("fine"));
  settle();
  EXPECT_EQ(info(id).state, JobState::kFailed);
  EXPECT_EQ(info(id).problem, "no such thing");
  EXPECT_EQ(info(silent).state, JobState::kFailed);
  EXPECT_EQ(info(other).state, JobState::kFailed);
  EXPECT_NE(info(other).problem, "");
  EXPECT_EQ(done_, "fine ");
}

TEST_F(JobsTest, StartsJobsFromWhatWorkBrings) {
  jobs_->start("", "slot", [this](JobContext&) {
    return [this] {
      done_ += "first ";
      jobs_->start("", "slot", saying("second"));
    };
  });
  jobs_->wait();
  jobs_->take_finished();
  settle();
  EXPECT_EQ(done_, "first second ");
}

TEST_F(JobsTest, RemembersTheLastHundredNewestFirst) {
  std::uint64_t last = 0;
  for (int i = 0; i < 250; ++i) last = jobs_->start(std::to_string(i), "", saying("x"));
  settle();
  EXPECT_EQ(done_.size(), 500U);
  const auto jobs = jobs_->list();
  ASSERT_EQ(jobs.size(), Jobs::kRememberedMax);
  EXPECT_EQ(jobs.front().id, last);
  EXPECT_EQ(jobs.front().title, "249");
  // Those that run longest stay for those that are over.
  for (std::size_t i = 1; i < jobs.size(); ++i) EXPECT_LT(jobs[i].id, jobs[i - 1].id);
}

TEST_F(JobsTest, DoesAThousandJobsOfSomeSlots) {
  testing::SeededRandom random;
  std::atomic<int> begun_count = 0;
  std::vector<int> newest(5, -1);
  std::vector<int> taken(5, -1);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t slot = random.below(5);
    newest[slot] = i;
    jobs_->start("", "slot " + std::to_string(slot), [&, slot, i](JobContext& context) {
      ++begun_count;
      context.progress(1, 1);
      return [&, slot, i] {
        EXPECT_GT(i, taken[slot]) << "an older one after a newer one";
        taken[slot] = i;
      };
    });
    if (random.one_in(7)) jobs_->take_finished();
  }
  settle();
  EXPECT_EQ(taken, newest);
  EXPECT_GE(begun_count, 5);
}

TEST_F(JobsTest, EndsWhileJobsRunAndWait) {
  for (int round = 0; round < 20; ++round) {
    std::vector<std::unique_ptr<Door>> doors;
    for (int i = 0; i < 10; ++i) {
      doors.push_back(std::make_unique<Door>());
      jobs_->start("", "", until_cancelled(*doors.back()));
    }
    if (round % 2 == 0) doors.front()->pass();
    jobs_ = std::make_unique<Jobs>([this] { ++wake_count_; }, [this] { return now_us_.load(); });
  }
  EXPECT_EQ(done_, "");
}

TEST_F(JobsTest, FreesWhatCancelledWorkHolds) {
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = held;
  Door begun;
  jobs_->start("", "a", [held, work = until_cancelled(begun)](JobContext& context) {
    work(context);
    return [held] {};
  });
  held.reset();
  begun.pass();
  jobs_->cancel_slot("a");
  settle();
  // A view, and with it a pin, would stay as long as its job is remembered.
  EXPECT_TRUE(watched.expired());
}

TEST_F(JobsTest, FreesWhatCancelledWorkHoldsWhileItStillWaits) {
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = held;
  Door first;
  Door second;
  jobs_->start("", "", until_cancelled(first));
  jobs_->start("", "", until_cancelled(second));
  first.pass();
  second.pass();
  jobs_->start("", "a", [held](JobContext&) -> Jobs::Finish { return nullptr; });
  held.reset();
  jobs_->cancel_slot("a");
  EXPECT_TRUE(watched.expired()) << "all threads have other work, for as long as they like";
  EXPECT_EQ(jobs_->list().front().state, JobState::kCancelled);
}

TEST(JobState, HasAName) {
  EXPECT_EQ(name_of(JobState::kWaiting), "waiting");
  EXPECT_EQ(name_of(JobState::kRunning), "running");
  EXPECT_EQ(name_of(JobState::kDone), "done");
  EXPECT_EQ(name_of(JobState::kCancelled), "cancelled");
  EXPECT_EQ(name_of(JobState::kFailed), "failed");
}

}  // namespace
}  // namespace crawlstore::inspector
