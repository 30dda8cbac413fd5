// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <optional>
#include <vector>

#include <crawlstore/frontier.h>

namespace crawlstore::frontier {

/// A call of take(), and what it gets.
struct TakeCall {
  const TakeOptions& options;
  std::optional<Result<std::vector<TakenItem>>> taken{};
  bool is_answered = false;  ///< `taken` is there for its thread
};

/// Calls of take() by threads that wait for each other. One of them answers all that wait when it
/// may change the store, so that they share a commit. Threads: any number.
class TakeCalls {
 public:
  /// Waits until another thread has answered the call, or calls answer(), which is to do that for
  /// all that hand_out() returns, on this thread. One that it leaves without an answer waits on; of
  /// `call` this is the end.
  template <class Answer>
  void wait(TakeCall& call, const Answer& answer) {
    std::unique_lock lock(mutex_);
    const Waiting waiting(*this, call);
    has_ended_.wait(lock, [&] { return call.is_answered || !is_answering_; });
    if (call.is_answered) return;
    is_answering_ = true;
    lock.unlock();
    const Answering answering(*this, lock);
    answer();
  }

  /// Returns all calls that wait. They live until answer() has returned.
  [[nodiscard]] std::vector<TakeCall*> hand_out() {
    const std::lock_guard lock(mutex_);
    std::vector<TakeCall*> calls;
    std::ranges::copy_if(waiting_, std::back_inserter(calls),
                         [](const TakeCall* call) { return !call->is_answered; });
    return calls;
  }

 private:
  /// Made with the lock; ends with it.
  struct Waiting {
    Waiting(TakeCalls& of, TakeCall& one) : calls(of), call(one) {
      calls.waiting_.push_back(&call);
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    ~Waiting() { std::erase(calls.waiting_, &call); }
    TakeCalls& calls;
    TakeCall& call;
  };
  /// Made without the lock; ends with it.
  struct Answering {
    Answering(TakeCalls& of, std::unique_lock<std::mutex>& of_mutex) : calls(of), lock(of_mutex) {}
    Answering(const Answering&) = delete;
    Answering& operator=(const Answering&) = delete;
    ~Answering() {
      lock.lock();
      for (TakeCall* const call : calls.waiting_) call->is_answered = call->taken.has_value();
      calls.is_answering_ = false;
      calls.has_ended_.notify_all();
    }
    TakeCalls& calls;
    std::unique_lock<std::mutex>& lock;
  };

  std::mutex mutex_;  // guards the rest, and which calls are answered
  std::condition_variable has_ended_;
  bool is_answering_ = false;
  std::vector<TakeCall*> waiting_;
};

}  // namespace crawlstore::frontier
