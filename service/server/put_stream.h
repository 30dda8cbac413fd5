// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <grpcpp/support/server_callback.h>

#include "service/server/commit_loop.h"
#include "service/server/nodes.h"
#include "service/server/protocol.h"

namespace crawlstore::service {

/// A stream of requests to put URLs, each with one answer that comes with the commit of its
/// changes, and when other nodes have answered that have its queues. It reads no more while
/// requests and answers that the client has not read take more than its share of kUnansweredBytes.
///   Protocol  has Request, Answer, and static functions
///             size_t size(const Request&) of URLs
///             const URLInfo& info(const Request&, size_t url)
///             URLItem item(const Request&, size_t url), as another node gets it
///             Result<AckStatus> put(Crawls&, const Request&, size_t url), kUnknownName: its crawl
///             is not open
///             Answer answer(const Request&, span<const AckStatus>)
///             void count(ServiceCounts&, const Request&, size_t url, AckStatus)
/// Threads: gRPC's and the loop's. Ownership: it owns itself until OnDone().
template <class Protocol>
class PutStream final
    : public grpc::ServerBidiReactor<typename Protocol::Request, typename Protocol::Answer> {
 public:
  using Request = typename Protocol::Request;
  using Answer = typename Protocol::Answer;
  /// Bytes of all streams, and what one has of them; however many there are, at least the least.
  static constexpr std::size_t kUnansweredBytes = std::size_t{256} << 20;
  static constexpr std::size_t kMostOfOne = std::size_t{16} << 20;
  static constexpr std::size_t kLeastOfOne = std::size_t{64} << 10;

  /// nodes  nullptr: all URLs are put here
  static PutStream* start(CommitLoop& loop, ServiceCounts& counts, const Nodes* nodes) {
    auto stream = std::shared_ptr<PutStream>(new PutStream(loop, counts, nodes));
    stream->self_ = stream;
    stream->StartRead(&stream->reading_);
    return stream.get();
  }

  static PutStream* refuse(CommitLoop& loop, ServiceCounts& counts, const grpc::Status& status) {
    auto stream = std::shared_ptr<PutStream>(new PutStream(loop, counts, nullptr));
    stream->self_ = stream;
    stream->is_reading_ = false;
    stream->is_ended_ = true;
    stream->Finish(status);
    return stream.get();
  }

  void OnReadDone(bool ok) override {
    std::unique_lock lock(mutex_);
    is_reading_ = false;
    if (!ok) {
      is_read_ = true;
      return go_on(lock);
    }
    ++unanswered_;
    unanswered_bytes_ += bytes_of(reading_);
    Put put(std::exchange(reading_, Request()));
    if (nodes_ != nullptr) put.find_owners(*nodes_);
    if (put.owners.empty()) {
      waiting_.push_back(std::move(put));
    } else {
      lock.unlock();
      send(std::make_shared<Sent>(std::move(put), self_));
      lock.lock();
    }
    go_on(lock);
  }
  void OnWriteDone(bool ok) override {
    std::unique_lock lock(mutex_);
    is_writing_ = false;
    is_broken_ = is_broken_ || !ok;
    --unanswered_;
    unanswered_bytes_ -= bytes_of(writing_);
    go_on(lock);
  }
  void OnCancel() override {
    std::unique_lock lock(mutex_);
    is_broken_ = true;
    go_on(lock);
  }
  void OnDone() override {
    --counts_.put_streams;
    auto gone = std::move(self_);
  }

 private:
  /// A request, and what is known of its URLs.
  struct Put {
    explicit Put(Request from)
        : request(std::move(from)),
          statuses(Protocol::size(request), ::urlfrontier::AckMessage::FAIL) {}

    [[nodiscard]] bool is_own(std::size_t url) const {
      return owners.empty() || owners[url] == kHere;
    }
    void find_owners(const Nodes& nodes) {
      std::vector<std::size_t> found(statuses.size(), kHere);
      foreign_count = 0;
      for (std::size_t url = 0; url < found.size(); ++url) {
        const auto queue = queue_of(Protocol::info(request, url));
        const std::size_t owner = queue ? nodes.owner_of(*queue) : nodes.own();
        if (owner == nodes.own()) continue;
        found[url] = owner;
        ++foreign_count;
      }
      if (foreign_count != 0) owners = std::move(found);
    }

    static constexpr std::size_t kHere = SIZE_MAX;
    Request request;
    std::vector<AckStatus> statuses;
    std::vector<std::size_t> owners{};  // nodes of the URLs; none: all are put here
    std::size_t foreign_count = 0;
  };

  /// A request of which other nodes have some URLs.
  struct Sent {
    Sent(Put of, std::shared_ptr<PutStream> from)
        : put(std::move(of)), left(put.foreign_count), stream(std::move(from)) {}
    Put put;
    std::atomic<std::size_t> left;
    std::shared_ptr<PutStream> stream;
  };
  void send(const std::shared_ptr<Sent>& sent) {
    const Put& put = sent->put;
    const std::size_t count = put.statuses.size();
    // The last answer may come, and take the request away, before this ends.
    const std::vector<std::size_t> owners = put.owners;
    std::vector<::urlfrontier::URLItem> items(count);
    for (std::size_t url = 0; url < count; ++url) {
      if (!put.is_own(url)) items[url] = Protocol::item(put.request, url);
    }
    for (std::size_t url = 0; url < count; ++url) {
      if (owners[url] == Put::kHere) continue;
      nodes_->forwarder(owners[url]).send(std::move(items[url]), [sent, url](AckStatus status) {
        sent->put.statuses[url] = status;
        if (--sent->left == 0) sent->stream->come_back(std::move(sent->put));
      });
    }
  }
  /// All that other nodes have is known.
  void come_back(Put put) {
    std::unique_lock lock(mutex_);
    if (put.foreign_count == put.statuses.size()) {
      lock.unlock();
      std::vector<Put> puts;
      puts.push_back(std::move(put));
      return answer(puts);
    }
    waiting_.push_back(std::move(put));
    go_on(lock);
  }

  /// The requests that wait when it runs.
  class Work final : public Job {
   public:
    explicit Work(std::shared_ptr<PutStream> stream) : stream_(std::move(stream)) {}

    Result<std::string> run(Crawls& crawls) override {
      if (puts_.empty()) puts_ = stream_->take_waiting();
      for (; put_ < puts_.size(); ++put_, url_ = 0) {
        Put& put = puts_[put_];
        for (; url_ < put.statuses.size(); ++url_) {
          if (!put.is_own(url_)) continue;
          const auto status = Protocol::put(crawls, put.request, url_);
          if (!status && status.error().code == Errc::kUnknownName) {
            return std::string(Crawls::id_of(Protocol::info(put.request, url_).crawlid()));
          }
          if (!status) return tl::unexpected<Error>(status.error());
          put.statuses[url_] = *status;
        }
      }
      return std::string();
    }
    void done(const Result<void>& committed) override {
      if (!committed && puts_.empty()) puts_ = stream_->take_waiting();
      for (Put& put : puts_) {
        for (std::size_t url = 0; url < put.statuses.size(); ++url) {
          if (!put.is_own(url)) continue;
          if (!committed) put.statuses[url] = ::urlfrontier::AckMessage::FAIL;
          Protocol::count(stream_->counts_, put.request, url, put.statuses[url]);
        }
      }
      stream_->answer(puts_);
    }

   private:
    std::shared_ptr<PutStream> stream_;
    std::vector<Put> puts_;
    std::size_t put_ = 0;  // the place of the next URL
    std::size_t url_ = 0;
  };

  PutStream(CommitLoop& loop, ServiceCounts& counts, const Nodes* nodes)
      : loop_(loop), counts_(counts), nodes_(nodes) {
    ++counts_.put_streams;
  }

  /// About what a message takes in memory.
  static std::size_t bytes_of(const Request& request) {
    return request.ByteSizeLong() + kBytesOfAUrl * (1 + Protocol::size(request));
  }
  static std::size_t bytes_of(const Answer& answer) { return answer.ByteSizeLong() + kBytesOfAUrl; }
  static constexpr std::size_t kBytesOfAUrl = 256;
  [[nodiscard]] bool has_room() const {
    const std::size_t share = kUnansweredBytes / std::max<std::size_t>(1, counts_.put_streams);
    return unanswered_bytes_ < std::clamp(share, kLeastOfOne, kMostOfOne);
  }
  std::vector<Put> take_waiting() {
    std::unique_lock lock(mutex_);
    has_work_ = false;
    auto taken = std::exchange(waiting_, {});
    go_on(lock);
    return taken;
  }
  void answer(const std::vector<Put>& puts) {
    std::vector<Answer> answers;
    answers.reserve(puts.size());
    std::size_t before = 0;
    std::size_t after = 0;
    for (const Put& put : puts) {
      answers.push_back(Protocol::answer(put.request, put.statuses));
      before += bytes_of(put.request);
      after += bytes_of(answers.back());
    }
    std::unique_lock lock(mutex_);
    unanswered_bytes_ += after;
    unanswered_bytes_ -= before;
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
      for (const Answer& one : answers_) unanswered_bytes_ -= bytes_of(one);
      answers_.clear();
    }
    const bool writes = !is_writing_ && !answers_.empty();
    if (writes) {
      writing_ = std::move(answers_.front());
      answers_.pop_front();
      is_writing_ = true;
    }
    const bool reads = !is_reading_ && !is_read_ && has_room();
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
  ServiceCounts& counts_;
  const Nodes* const nodes_;
  std::shared_ptr<PutStream> self_;  // until gRPC needs it no more

  std::mutex mutex_;  // guards all below
  Request reading_;
  Answer writing_;
  std::vector<Put> waiting_;
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
