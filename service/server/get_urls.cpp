// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <thread>
#include <utility>

#include "service/server/protocol.h"
#include "service/server/queued_stream.h"
#include "service/server/service.h"

namespace crawlstore::service {
namespace {

using ::urlfrontier::GetParams;
using ::urlfrontier::URLInfo;

constexpr std::uint64_t kLeaseByDefaultS = 30;
/// URLs of one answer, whatever is asked for: they are in memory until the client has read them.
constexpr std::size_t kUrlsMax = 10'000;

template <class Limit>
Limit or_none(std::uint32_t limit) {
  return limit == 0 ? std::numeric_limits<Limit>::max() : Limit{limit};
}

/// URLs of a crawl that were given out.
struct Given {
  std::string crawl;
  std::vector<GivenUrl> urls;
};

/// Ends the leases of URLs that did not reach their client.
class GiveBackJob final : public Job {
 public:
  explicit GiveBackJob(std::vector<Given> given) : given_(std::move(given)) {}
  Result<std::string> run(Crawls& crawls) override {
    for (const Given& given : given_) {
      const auto crawl = crawls.find(given.crawl);
      if (crawl) CRAWLSTORE_TRY((*crawl)->give_back(given.urls));
    }
    return std::string();
  }
  void done(const Result<void>& /*committed*/) override {}

 private:
  std::vector<Given> given_;
};

/// One call: its URLs are written when the commit is made that has their leases.
class GetStream final : public grpc::ServerWriteReactor<URLInfo> {
 public:
  GetStream(CommitLoop& loop, ServiceCounts& counts) : loop_(loop), counts_(counts) {}

  void start(const Result<void>& committed, std::vector<Given> given) {
    const auto passed = std::chrono::steady_clock::now() - begin_;
    counts_.get_time.add(static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(passed).count()));
    given_ = std::move(given);
    if (!committed) return Finish(status_of(committed.error()));
    write();
  }
  void OnWriteDone(bool ok) override {
    if (!ok) return Finish({grpc::StatusCode::CANCELLED, "the client has gone"});
    ++counts_.urls_given;
    ++place_;
    write();
  }
  /// Those that were not written are given out again.
  void OnDone() override {
    const std::unique_ptr<GetStream> gone(this);
    if (crawl_ == given_.size()) return;
    auto& urls = given_[crawl_].urls;
    urls.erase(urls.begin(), urls.begin() + static_cast<std::ptrdiff_t>(place_));
    given_.erase(given_.begin(), given_.begin() + static_cast<std::ptrdiff_t>(crawl_));
    loop_.add(std::make_unique<GiveBackJob>(std::move(given_)));
  }

 private:
  void write() {
    while (crawl_ < given_.size() && place_ == given_[crawl_].urls.size()) {
      ++crawl_;
      place_ = 0;
    }
    if (crawl_ == given_.size()) return Finish(grpc::Status::OK);
    const Given& from = given_[crawl_];
    const GivenUrl& url = from.urls[place_];
    writing_ = info_of(url.record, url.queue, from.crawl);
    StartWrite(&writing_);
  }

  CommitLoop& loop_;
  ServiceCounts& counts_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::vector<Given> given_;
  std::size_t crawl_ = 0;  // the place of the next URL
  std::size_t place_ = 0;
  URLInfo writing_;
};

class GetJob final : public Job {
 public:
  GetJob(GetStream* stream, const GetParams& params, std::size_t turn,
         const grpc::CallbackServerContext& context)
      : stream_(stream), params_(params), turn_(turn), context_(context) {}

  Result<std::string> run(Crawls& crawls) override {
    given_.clear();
    if (!crawls.is_active() || context_.IsCancelled()) return std::string();
    std::vector<Crawl*> from;
    if (params_.has_crawlid()) {
      if (const auto one = crawls.find(Crawls::id_of(params_.crawlid()))) from.push_back(*one);
    } else {
      from = crawls.all();
      const auto first = from.empty() ? 0 : static_cast<std::ptrdiff_t>(turn_ % from.size());
      std::rotate(from.begin(), from.begin() + first, from.end());
    }
    CRAWLSTORE_TRY(take(from));
    return std::string();
  }
  void done(const Result<void>& committed) override {
    stream_->start(committed, committed ? std::move(given_) : std::vector<Given>());
  }

 private:
  Result<void> take(const std::vector<Crawl*>& from) {
    GetRequest request;
    if (!params_.key().empty()) request.queue = params_.key();
    request.per_queue = or_none<std::uint32_t>(params_.max_urls_per_queue());
    request.queues_max = or_none<std::size_t>(params_.max_queues());
    request.urls_max = kUrlsMax;
    const std::uint64_t lease_s = params_.delay_requestable();
    request.lease_ms = (lease_s == 0 ? kLeaseByDefaultS : lease_s) * 1000;
    for (Crawl* const crawl : from) {
      CRAWLSTORE_TRY(auto urls, crawl->take(request));
      if (urls.empty()) continue;
      std::size_t queues = 0;
      const std::string* last = nullptr;
      for (const GivenUrl& url : urls) {
        queues += last == nullptr || *last != url.queue ? 1 : 0;
        last = &url.queue;
      }
      request.queues_max -= queues;
      request.urls_max -= urls.size();
      given_.push_back({crawl->name(), std::move(urls)});
    }
    return {};
  }

  GetStream* const stream_;
  const GetParams params_;
  const std::size_t turn_;
  const grpc::CallbackServerContext& context_;  // until the stream's OnDone()
  std::vector<Given> given_;
};

/// Hands on what the node of a queue gives out.
grpc::Status get_elsewhere(const Nodes& nodes, const GetParams& params,
                           QueuedStream<URLInfo>& stream) {
  const std::size_t owner = nodes.owner_of(params.key());
  grpc::ClientContext context;
  nodes.sign(owner, context);
  const auto reader = nodes.stub(owner).GetURLs(&context, params);
  bool goes_on = true;
  for (URLInfo info; goes_on && reader->Read(&info);) goes_on = stream.write(std::move(info));
  if (!goes_on) context.TryCancel();
  const grpc::Status status = reader->Finish();
  return goes_on && !status.ok() ? nodes.status_of(owner, status) : grpc::Status::OK;
}

}  // namespace

grpc::ServerWriteReactor<URLInfo>* FrontierService::GetURLs(Context* context,
                                                            const GetParams* request) {
  ++counts_.get_calls;
  const grpc::Status signature = check_signature(nodes_, *context);
  const bool is_here = nodes_ == nullptr || is_signed(*context) || request->key().empty() ||
                       nodes_->owner_of(request->key()) == nodes_->own();
  if (!is_here || !signature.ok()) {
    auto stream = QueuedStream<URLInfo>::make();
    auto* const reactor = stream.get();
    if (!signature.ok()) {
      stream->end(signature);
    } else {
      std::thread([nodes = nodes_, params = *request, stream = std::move(stream)] {
        stream->end(get_elsewhere(*nodes, params, *stream));
      }).detach();
    }
    return reactor;
  }
  auto stream = std::make_unique<GetStream>(loop_, counts_);
  loop_.add(std::make_unique<GetJob>(stream.get(), *request, turn_++, *context));
  return stream.release();  // until its OnDone()
}

}  // namespace crawlstore::service
