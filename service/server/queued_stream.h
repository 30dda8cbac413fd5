// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <grpcpp/support/server_callback.h>

namespace crawlstore::service {

/// Writes messages one by one as another thread finds them. Threads: that one, and gRPC's.
/// Ownership: it owns itself until OnDone().
template <class Message>
class QueuedStream final : public grpc::ServerWriteReactor<Message> {
 public:
  /// Messages in memory that the client has not read.
  static constexpr std::size_t kUnreadMax = 1000;

  static std::shared_ptr<QueuedStream> make() {
    auto stream = std::make_shared<QueuedStream>();
    stream->self_ = stream;
    return stream;
  }
  /// Waits while the client has much to read. Returns false when it has gone.
  bool write(Message item) {
    std::unique_lock lock(mutex_);
    may_add_.wait(lock, [this] { return waiting_.size() < kUnreadMax || is_broken_; });
    if (is_broken_) return false;
    waiting_.push_back(std::move(item));
    go_on(lock);
    return true;
  }
  /// Whether the client has gone.
  [[nodiscard]] bool is_broken() {
    const std::lock_guard lock(mutex_);
    return is_broken_;
  }
  void end(const grpc::Status& status) {
    std::unique_lock lock(mutex_);
    status_ = status;
    go_on(lock);
  }
  void OnWriteDone(bool ok) override {
    std::unique_lock lock(mutex_);
    is_writing_ = false;
    is_broken_ = is_broken_ || !ok;
    may_add_.notify_all();
    go_on(lock);
  }
  void OnCancel() override {
    const std::lock_guard lock(mutex_);
    is_broken_ = true;
    may_add_.notify_all();
  }
  void OnDone() override { auto gone = std::move(self_); }

 private:
  void go_on(std::unique_lock<std::mutex>& lock) {
    if (is_broken_) waiting_.clear();
    const bool writes = !is_writing_ && !waiting_.empty();
    if (writes) {
      writing_ = std::move(waiting_.front());
      waiting_.pop_front();
      is_writing_ = true;
    }
    const bool ends = status_ && !is_writing_ && waiting_.empty() && !is_ended_;
    is_ended_ = is_ended_ || ends;
    lock.unlock();
    if (writes) this->StartWrite(&writing_);
    if (ends) this->Finish(*status_);
  }

  std::shared_ptr<QueuedStream> self_;
  std::mutex mutex_;  // guards all below
  std::condition_variable may_add_;
  std::deque<Message> waiting_;
  Message writing_;
  std::optional<grpc::Status> status_;
  bool is_writing_ = false;
  bool is_broken_ = false;
  bool is_ended_ = false;
};

}  // namespace crawlstore::service
