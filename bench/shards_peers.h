// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Shards as threads of one process, which meet for each exchange: bytes are copied once, and
/// whoever is early sleeps, so that waiting takes no processor time.
///
/// Errors: kCancelled, where another shard gave up. Threads: of a Meeting any, of ThreadPeers one.

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <vector>

#include <crawlstore/shard_peers.h>

namespace crawlstore::bench {

/// Processor time of this thread, or of all.
inline double cpu_seconds(clockid_t clock = CLOCK_THREAD_CPUTIME_ID) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

class Meeting {
 public:
  using Bytes = ShardPeers::Bytes;

  explicit Meeting(std::size_t count) : count_(count) {
    for (auto& round : boxes_) round.assign(count, std::vector<Bytes>(count));
  }

  Result<void> exchange(std::size_t self, const std::vector<Bytes>& to, std::vector<Bytes>& from) {
    // Boxes of this round are free: all have come since they were emptied, two rounds ago.
    const std::uint64_t round = round_now();
    auto& boxes = boxes_[round % 2];
    for (std::size_t other = 0; other < count_; ++other) boxes[other][self] = to[other];
    std::unique_lock lock(mutex_);
    if (++come_ == count_) {
      come_ = 0;
      ++round_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return has_ended_ || round_ != round; });
    if (round_ == round) return fail(Errc::kCancelled, "another shard gave up");
    lock.unlock();
    from.assign(count_, {});
    for (std::size_t other = 0; other < count_; ++other) from[other].swap(boxes[self][other]);
    return {};
  }
  void give_up() {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    changed_.notify_all();
  }

 private:
  std::uint64_t round_now() {
    const std::lock_guard lock(mutex_);
    return round_;
  }

  std::size_t count_;
  std::array<std::vector<std::vector<Bytes>>, 2> boxes_;  // by round, receiver, sender
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t come_ = 0;
  std::uint64_t round_ = 0;
  bool has_ended_ = false;
};

class ThreadPeers final : public ShardPeers {
 public:
  ThreadPeers(Meeting& meeting, std::size_t self) : meeting_(meeting), self_(self) {}
  Result<void> exchange(const std::vector<Bytes>& to, std::vector<Bytes>& from) override {
    marks_.push_back(cpu_seconds());
    for (std::size_t other = 0; other < to.size(); ++other) {
      if (other != self_) sent_bytes_ += to[other].size();
    }
    auto done = meeting_.exchange(self_, to, from);
    marks_.push_back(cpu_seconds());
    return done;
  }
  [[nodiscard]] std::uint64_t sent_bytes() const { return sent_bytes_; }
  /// Processor time of the thread when each exchange began and ended, since the last call.
  std::vector<double> take_marks() {
    std::vector<double> marks;
    marks.swap(marks_);
    return marks;
  }

 private:
  Meeting& meeting_;
  std::size_t self_;
  std::uint64_t sent_bytes_ = 0;
  std::vector<double> marks_;
};

}  // namespace crawlstore::bench
