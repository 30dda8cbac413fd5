// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Shards that reach each other as threads of one process.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include <crawlstore/shard_peers.h>

namespace crawlstore::testing {

/// Shards as threads of one process, which meet for each exchange. One that gives up ends all.
class Meeting {
 public:
  using Bytes = ShardPeers::Bytes;

  explicit Meeting(std::size_t count) : sent_(count) {}

  Result<void> exchange(std::size_t self, const std::vector<Bytes>& to, std::vector<Bytes>& from) {
    std::unique_lock lock(mutex_);
    sent_[self] = to;
    const std::uint64_t round = round_;
    if (++come_ == sent_.size()) {
      come_ = 0;
      ++round_;
      arrived_ = sent_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return has_ended_ || round_ != round; });
    if (round_ == round) return fail(Errc::kCancelled, "another shard gave up");
    from.assign(sent_.size(), {});
    for (std::size_t other = 0; other < sent_.size(); ++other) {
      if (self < arrived_[other].size()) from[other] = arrived_[other][self];
    }
    return {};
  }
  void give_up() {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::vector<Bytes>> sent_;
  std::vector<std::vector<Bytes>> arrived_;
  std::size_t come_ = 0;
  std::uint64_t round_ = 0;
  bool has_ended_ = false;
};

class ThreadPeers final : public ShardPeers {
 public:
  ThreadPeers(Meeting& meeting, std::size_t self) : meeting_(meeting), self_(self) {}
  Result<void> exchange(const std::vector<Bytes>& to, std::vector<Bytes>& from) override {
    auto done = meeting_.exchange(self_, to, from);
    if (done && change_) change_(from);
    return done;
  }
  /// Does something to what comes.
  void change(std::function<void(std::vector<Bytes>&)> change) { change_ = std::move(change); }

 private:
  Meeting& meeting_;
  std::size_t self_;
  std::function<void(std::vector<Bytes>&)> change_;
};

}  // namespace crawlstore::testing
