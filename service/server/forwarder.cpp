// SPDX-License-Identifier: Apache-2.0
#include "service/server/forwarder.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>

#include "service/server/log.h"

namespace crawlstore::service {

using ::urlfrontier::AckMessage;
using ::urlfrontier::URLItem;

namespace {

/// Whether a second has gone by since this was true: a node that has gone may fail thousands of
/// calls a second.
bool may_warn() {
  using Clock = std::chrono::steady_clock;
  static std::atomic<Clock::rep> next{0};
  const Clock::time_point now = Clock::now();
  Clock::rep expected = next;
  return now.time_since_epoch().count() >= expected &&
         next.compare_exchange_strong(expected,
                                      (now + std::chrono::seconds(1)).time_since_epoch().count());
}

}  // namespace

/// A call of PutURLs. IDs of items are numbers here: those of clients need not differ.
class Forwarder::Stream final : public grpc::ClientBidiReactor<URLItem, AckMessage> {
 public:
  explicit Stream(std::string address) : address_(std::move(address)) {}

  static std::shared_ptr<Stream> start(::urlfrontier::URLFrontier::Stub& stub, const Sign& sign,
                                       const std::string& address) {
    auto stream = std::make_shared<Stream>(address);
    stream->self_ = stream;
    sign(stream->context_);
    stub.async()->PutURLs(&stream->context_, stream.get());
    stream->AddHold();  // until no URL is added any more
    stream->StartRead(&stream->ack_);
    stream->StartCall();
    return stream;
  }
  /// Takes both over; or neither, and returns false: the call is over.
  bool add(URLItem& item, Done& done) {
    std::unique_lock lock(mutex_);
    if (is_over_) return false;
    item.set_id(std::to_string(next_id_));
    waiting_.emplace(next_id_++, std::move(done));
    unsent_.push_back(std::move(item));
    write(lock);
    return true;
  }
  void cancel() {
    context_.TryCancel();
    std::unique_lock lock(mutex_);
    has_ended_.wait(lock, [this] { return is_done_; });
  }

  void OnWriteDone(bool ok) override {
    std::unique_lock lock(mutex_);
    is_writing_ = false;
    if (ok) write(lock);
  }
  void OnReadDone(bool ok) override {
    std::unique_lock lock(mutex_);
    if (!ok) {
      is_over_ = true;
      lock.unlock();
      RemoveHold();
      return;
    }
    const auto found = waiting_.find(std::strtoull(ack_.id().c_str(), nullptr, 10));
    const Done done = found == waiting_.end() ? Done() : std::move(found->second);
    if (found != waiting_.end()) waiting_.erase(found);
    const Status status = ack_.status();
    lock.unlock();
    if (done) done(status);
    StartRead(&ack_);
  }
  void OnDone(const grpc::Status& status) override {
    const auto self = std::move(self_);
    std::unique_lock lock(mutex_);
    is_over_ = true;
    const auto failed = std::exchange(waiting_, {});
    lock.unlock();
    if (!failed.empty() && may_warn()) {
      log(LogLevel::kWarn, "node-lost",
          {{"node", address_},
           {"urls", std::to_string(failed.size())},
           {"error", status.error_message()}});
    }
    for (const auto& [id, done] : failed) done(AckMessage::FAIL);
    lock.lock();
    is_done_ = true;
    has_ended_.notify_all();
  }

 private:
  /// Unlocks: gRPC may call back at once. The call cannot end in between.
  void write(std::unique_lock<std::mutex>& lock) {
    if (is_writing_ || unsent_.empty() || is_over_) return;
    writing_ = std::move(unsent_.front());
    unsent_.pop_front();
    is_writing_ = true;
    AddHold();
    lock.unlock();
    StartWrite(&writing_);
    RemoveHold();
  }

  const std::string address_;
  std::shared_ptr<Stream> self_;  // until gRPC needs it no more
  grpc::ClientContext context_;
  AckMessage ack_;

  std::mutex mutex_;  // guards all below
  std::condition_variable has_ended_;
  URLItem writing_;
  std::deque<URLItem> unsent_;
  std::unordered_map<std::uint64_t, Done> waiting_;
  std::uint64_t next_id_ = 1;
  bool is_writing_ = false;
  bool is_over_ = false;  // takes no more URLs
  bool is_done_ = false;  // gRPC is done with it
};

Forwarder::Forwarder(::urlfrontier::URLFrontier::Stub& stub, std::string address, Sign sign)
    : stub_(stub), address_(std::move(address)), sign_(std::move(sign)) {}

Forwarder::~Forwarder() {
  if (stream_) stream_->cancel();
}

void Forwarder::send(URLItem item, Done done) {
  std::shared_ptr<Stream> ended;
  // A call that ended lately may be found out only here.
  for (int tries = 2; tries > 0; --tries) {
    const auto stream = [&] {
      const std::lock_guard lock(mutex_);
      if (stream_ == ended) stream_ = Stream::start(stub_, sign_, address_);
      return stream_;
    }();
    if (stream->add(item, done)) return;
    ended = stream;
  }
  done(AckMessage::FAIL);
}

}  // namespace crawlstore::service
