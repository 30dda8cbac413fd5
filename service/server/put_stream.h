// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <grpcpp/support/server_callback.h>

#include "service/server/commit_loop.h"

namespace crawlstore::service {

/// A stream of requests, each with one answer that comes with the commit of its changes. It reads
/// no more than kUnansweredMax requests ahead of its client, or kUnansweredBytes of requests and
/// answers that the client has not read.
///   Protocol  has Request, Answer, and static functions
///             Result<Answer> apply(Crawls&, const Request&), kUnknownName: it needs crawl_of()
///             std::string crawl_of(const Request&, ...) of the first crawl that is not open
///             Answer failed(const Request&)
/// Threads: gRPC's and the loop's. Ownership: it owns itself until OnDone().
template <class Protocol>
class PutStream final
    : public grpc::ServerBidiReactor<typename Protocol::Request, typename Protocol::Answer> {
 public:
  using Request = typename Protocol::Request;
  using Answer = typename Protocol::Answer;
  static constexpr std::size_t kUnansweredMax = 65'536;
  static constexpr std::size_t kUnansweredBytes = std::size_t{4} << 20;

  static PutStream* start(CommitLoop& loop, typename Protocol::Counts& counts) {
    auto stream = std::shared_ptr<PutStream>(new PutStream(loop, counts));
    stream->self_ = stream;
    stream->StartRead(&stream->reading_);
    return stream.get();
  }

  void OnReadDone(bool ok) override {
    std::unique_lock lock(mutex_);
    is_reading_ = false;
    if (!ok) {
      is_read_ = true;
    } else {
      ++unanswered_;
      unanswered_bytes_ += reading_.ByteSizeLong();
      waiting_.push_back(std::move(reading_));
      reading_ = Request();
    }
    go_on(lock);
  }
  void OnWriteDone(bool ok) override {
    std::unique_lock lock(mutex_);
    is_writing_ = false;
    is_broken_ = is_broken_ || !ok;
    --unanswered_;
    unanswered_bytes_ -= writing_.ByteSizeLong();
    go_on(lock);
  }
  void OnCancel() override {
    std::unique_lock lock(mutex_);
    is_broken_ = true;
    go_on(lock);
  }
  void OnDone() override { auto gone = std::move(self_); }

 private:
  /// The requests that wait when it runs.
  class Work final : public Job {
   public:
    explicit Work(std::shared_ptr<PutStream> stream) : stream_(std::move(stream)) {}

    Result<std::string> run(Crawls& crawls) override {
      if (requests_.empty()) requests_ = stream_->take_waiting();
      for (; answers_.size() < requests_.size();) {
        const Request& request = requests_[answers_.size()];
        auto answer = Protocol::apply(crawls, request);
        if (!answer && answer.error().code == Errc::kUnknownName) {
          return Protocol::crawl_of(crawls, request);
        }
        if (!answer) return tl::unexpected<Error>(answer.error());
        answers_.push_back(*std::move(answer));
      }
      return std::string();
    }
    void done(const Result<void>& committed) override {
      if (!committed) {
        if (requests_.empty()) requests_ = stream_->take_waiting();
        answers_.clear();
        for (const Request& request : requests_) answers_.push_back(Protocol::failed(request));
      }
      for (std::size_t i = 0; i < answers_.size(); ++i) {
        Protocol::count(stream_->counts_, requests_[i], answers_[i]);
      }
      stream_->answer(requests_, std::move(answers_));
    }

   private:
    std::shared_ptr<PutStream> stream_;
    std::vector<Request> requests_;
    std::vector<Answer> answers_;
  };

  PutStream(CommitLoop& loop, typename Protocol::Counts& counts) : loop_(loop), counts_(counts) {}

  template <class Messages>
  static std::size_t bytes_of(const Messages& messages) {
    std::size_t bytes = 0;
    for (const auto& message : messages) bytes += message.ByteSizeLong();
    return bytes;
  }
  std::vector<Request> take_waiting() {
    std::unique_lock lock(mutex_);
    has_work_ = false;
    auto taken = std::exchange(waiting_, {});
    go_on(lock);
    return taken;
  }
  void answer(const std::vector<Request>& requests, std::vector<Answer> answers) {
    std::unique_lock lock(mutex_);
    unanswered_bytes_ += bytes_of(answers);
    unanswered_bytes_ -= bytes_of(requests);
    std::move(answers.begin(), answers.end(), std::back_inserter(answers_));
    go_on(lock);
  }

  /// Starts what can be started. Unlocks: gRPC may call back at once.
  void go_on(std::unique_lock<std::mutex>& lock) {
    const auto self = self_;
    if (self == nullptr) return;
    const bool works = !has_work_ && !waiting_.empty();
    has_work_ = has_work_ || works;
    if (is_broken_) {
      unanswered_ -= answers_.size();
      unanswered_bytes_ -= bytes_of(answers_);
      answers_.clear();
    }
    const bool writes = !is_writing_ && !answers_.empty();
    if (writes) {
      writing_ = std::move(answers_.front());
      answers_.pop_front();
      is_writing_ = true;
    }
    const bool reads = !is_reading_ && !is_read_ && unanswered_ < kUnansweredMax &&
                       unanswered_bytes_ < kUnansweredBytes;
    is_reading_ = is_reading_ || reads;
    const bool ends = !is_ended_ && is_read_ && unanswered_ == 0 && !is_writing_;
    is_ended_ = is_ended_ || ends;
    lock.unlock();
    if (works) loop_.add(std::make_unique<Work>(self));
    if (writes) this->StartWrite(&writing_);
    if (reads) this->StartRead(&reading_);
    if (ends) this->Finish(grpc::Status::OK);
  }

  CommitLoop& loop_;
  typename Protocol::Counts& counts_;
  std::shared_ptr<PutStream> self_;  // until gRPC needs it no more

  std::mutex mutex_;  // guards all below
  Request reading_;
  Answer writing_;
  std::vector<Request> waiting_;
  std::deque<Answer> answers_;
  std::size_t unanswered_ = 0;  // requests that were read, and have no answer that was written
  std::size_t unanswered_bytes_ = 0;
  bool has_work_ = false;  // a job is to take what waits
  bool is_reading_ = true;
  bool is_writing_ = false;
  bool is_read_ = false;  // to its end
  bool is_broken_ = false;
  bool is_ended_ = false;
};

}  // namespace crawlstore::service
