// SPDX-License-Identifier: Apache-2.0
//
// Calls that look at URLs: on a snapshot, each on a thread of its own beside the loop.
#include <algorithm>
#include <cctype>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "service/core/listing.h"
#include "service/server/protocol.h"
#include "service/server/service.h"

namespace crawlstore::service {
namespace {

using ::urlfrontier::CountUrlParams;
using ::urlfrontier::ListUrlParams;
using ::urlfrontier::URLItem;

/// URLs in memory that the client has not read.
constexpr std::size_t kUnreadMax = 1000;

/// Whether a URL has a text in it; letters of ASCII may be of either case if it says so.
class Filter {
 public:
  Filter(std::string text, bool ignores_case) : text_(std::move(text)), ignores_(ignores_case) {}
  [[nodiscard]] bool has(std::string_view url) const {
    const auto is_same = [this](char a, char b) {
      return a == b || (ignores_ && std::tolower(static_cast<unsigned char>(a)) ==
                                        std::tolower(static_cast<unsigned char>(b)));
    };
    return std::search(url.begin(), url.end(), text_.begin(), text_.end(), is_same) != url.end() ||
           text_.empty();
  }

 private:
  std::string text_;
  bool ignores_;
};

/// Brings a crawl into a snapshot, and calls with(snapshot) on a thread of its own; without one
/// where there is no such crawl.
template <class With>
class SnapshotJob final : public Job {
 public:
  SnapshotJob(Store& store, std::string crawl, With with)
      : store_(store), crawl_(std::move(crawl)), with_(std::move(with)) {}
  Result<std::string> run(Crawls& crawls) override {
    const auto crawl = crawls.find(crawl_);
    if (!crawl) return std::string();
    CRAWLSTORE_TRY((*crawl)->merge());
    CRAWLSTORE_TRY(snapshot_, store_.snapshot());
    return std::string();
  }
  void done(const Result<void>& committed) override {
    std::thread([with = std::move(with_), snapshot = std::move(snapshot_), committed]() mutable {
      with(committed, snapshot);
    }).detach();
  }
  [[nodiscard]] bool is_alone() const override { return true; }

 private:
  Store& store_;
  const std::string crawl_;
  With with_;
  std::optional<Snapshot> snapshot_;
};

template <class With>
std::unique_ptr<Job> with_snapshot(Store& store, std::string crawl, With with) {
  return std::make_unique<SnapshotJob<With>>(store, std::move(crawl), std::move(with));
}

/// Writes URLs one by one as another thread finds them.
class ListStream final : public grpc::ServerWriteReactor<URLItem> {
 public:
  static std::shared_ptr<ListStream> make() {
    auto stream = std::make_shared<ListStream>();
    stream->self_ = stream;
    return stream;
  }
  /// Waits while the client has much to read. Returns false when it has gone.
  bool write(URLItem item) {
    std::unique_lock lock(mutex_);
    may_add_.wait(lock, [this] { return waiting_.size() < kUnreadMax || is_broken_; });
    if (is_broken_) return false;
    waiting_.push_back(std::move(item));
    go_on(lock);
    return true;
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
    if (writes) StartWrite(&writing_);
    if (ends) Finish(*status_);
  }

  std::shared_ptr<ListStream> self_;
  std::mutex mutex_;  // guards all below
  std::condition_variable may_add_;
  std::deque<URLItem> waiting_;
  URLItem writing_;
  std::optional<grpc::Status> status_;
  bool is_writing_ = false;
  bool is_broken_ = false;
  bool is_ended_ = false;
};

}  // namespace

grpc::ServerWriteReactor<URLItem>* FrontierService::ListURLs(Context* /*context*/,
                                                             const ListUrlParams* request) {
  auto stream = ListStream::make();
  auto* const reactor = stream.get();
  const auto list = [stream, params = *request](const Result<void>& committed,
                                                const std::optional<Snapshot>& snapshot) {
    if (!committed) return stream->end(status_of(committed.error()));
    if (!snapshot) return stream->end(grpc::Status::OK);
    const Filter filter(params.filter(), params.ignorecase());
    const std::string crawl(Crawls::id_of(params.crawlid()));
    std::uint32_t before = params.start();
    std::uint32_t left = params.size() == 0 ? kListedByDefault : params.size();
    const auto listed = for_each_url(
        *snapshot, crawl, given(params.key()), [&](std::string_view queue, const KnownUrl& url) {
          if (!filter.has(url.record.url)) return true;
          if (before != 0) return --before, true;
          return stream->write(item_of(url, queue, crawl)) && --left != 0;
        });
    stream->end(listed ? grpc::Status::OK : status_of(listed.error()));
  };
  loop_.add(with_snapshot(store_, std::string(Crawls::id_of(request->crawlid())), list));
  return reactor;
}

grpc::ServerUnaryReactor* FrontierService::CountURLs(Context* context,
                                                     const CountUrlParams* request,
                                                     Long* response) {
  auto* const reactor = context->DefaultReactor();
  const auto count = [=](const Result<void>& committed, const std::optional<Snapshot>& snapshot) {
    if (!committed) return reactor->Finish(status_of(committed.error()));
    if (!snapshot) return reactor->Finish(grpc::Status::OK);
    const Filter filter(request->filter(), request->ignorecase());
    std::uint64_t found = 0;
    const auto counted =
        for_each_url(*snapshot, Crawls::id_of(request->crawlid()), given(request->key()),
                     [&](std::string_view /*queue*/, const KnownUrl& url) {
                       found += filter.has(url.record.url) ? 1 : 0;
                       return !context->IsCancelled();
                     });
    response->set_value(found);
    reactor->Finish(counted ? grpc::Status::OK : status_of(counted.error()));
  };
  loop_.add(with_snapshot(store_, std::string(Crawls::id_of(request->crawlid())), count));
  return reactor;
}

}  // namespace crawlstore::service
