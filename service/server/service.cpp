// SPDX-License-Identifier: Apache-2.0
//
// Calls with one answer.
#include "service/server/service.h"

#include <algorithm>
#include <set>

#include "service/server/ask_nodes.h"
#include "service/server/log.h"
#include "service/server/unary_calls.h"

namespace crawlstore::service {
namespace {

using namespace ::urlfrontier;  // NOLINT(google-build-using-namespace): the messages of the calls

constexpr std::uint64_t kSecondsADay = 86'400;

/// A queue that a call is about has a key, of a length that URLs can have.
Result<void> check_key(const std::string& key) {
  if (!key.empty() && key.size() <= Crawl::kKeyBytesMax) return {};
  return fail(Errc::kInvalidArgument, "the key of a queue has from 1 to 255 bytes");
}

/// Calls with(Crawl), unless there is no such crawl: then nothing is to be done.
template <class With>
Result<void> with_crawl(Crawls& crawls, const std::string& id, const With& with) {
  const auto crawl = crawls.find(Crawls::id_of(id));
  return crawl ? with(**crawl) : Result<void>();
}

// Answers of nodes as one.

void no_answer(Empty& /*whole*/, const Empty& /*of_node*/) {}

/// Whether all nodes are active.
class AllActive {
 public:
  void operator()(Boolean& whole, const Boolean& of_node) {
    is_so_ = is_so_ && of_node.state();
    whole.set_state(is_so_);
  }

 private:
  bool is_so_ = true;
};

void unite(StringList& whole, const StringList& of_node) {
  std::set<std::string> values(whole.values().begin(), whole.values().end());
  values.insert(of_node.values().begin(), of_node.values().end());
  whole.mutable_values()->Assign(values.begin(), values.end());
}

void add_stats(Stats& whole, const Stats& of_node) {
  whole.set_crawlid(of_node.crawlid());
  whole.set_size(whole.size() + of_node.size());
  whole.set_inprocess(whole.inprocess() + of_node.inprocess());
  whole.set_numberofqueues(whole.numberofqueues() + of_node.numberofqueues());
  for (const auto& [name, count] : of_node.counts()) (*whole.mutable_counts())[name] += count;
}

std::uint32_t size_of(const Pagination& request) {
  return request.size() == 0 ? kListedByDefault : request.size();
}
std::uint32_t queues_up_to(const Pagination& request) {
  const std::uint64_t end = std::uint64_t{request.start()} + size_of(request);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(end, UINT32_MAX));
}
/// A part of the queues of all nodes, one node after the other.
class QueuesOfNodes {
 public:
  explicit QueuesOfNodes(const Pagination& request)
      : start_(request.start()), before_(request.start()), left_(size_of(request)) {}
  void operator()(QueueList& whole, const QueueList& of_node) {
    for (const std::string& key : of_node.values()) {
      if (before_ != 0) {
        --before_;
      } else if (left_ != 0) {
        whole.add_values(key);
        --left_;
      }
    }
    whole.set_start(start_);
    whole.set_crawlid(of_node.crawlid());
    whole.set_size(static_cast<std::uint32_t>(whole.values_size()));
  }

 private:
  std::uint32_t start_;
  std::uint32_t before_;
  std::uint32_t left_;
};

}  // namespace

grpc::ServerUnaryReactor* FrontierService::ListNodes(Context* context, const Empty* /*request*/,
                                                     StringList* response) {
  if (nodes_ == nullptr) response->add_values(address_);
  if (nodes_ != nullptr) {
    for (const std::string& address : nodes_->addresses()) response->add_values(address);
  }
  auto* const reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerUnaryReactor* FrontierService::ListCrawls(Context* context, const Local* request,
                                                      StringList* response) {
  if (auto* const elsewhere =
          ask_nodes({nodes_, context, {}}, *request, response, &AsyncCalls::ListCrawls, unite)) {
    return elsewhere;
  }
  return answer(loop_, context, [response](Crawls& crawls) -> Result<void> {
    CRAWLSTORE_TRY(const auto ids, crawls.ids());
    for (const std::string& id : ids) response->add_values(id);
    return {};
  });
}

grpc::ServerUnaryReactor* FrontierService::DeleteCrawl(Context* context,
                                                       const DeleteCrawlMessage* request,
                                                       Long* response) {
  if (auto* const elsewhere =
          ask_nodes({nodes_, context, {}}, *request, response, &AsyncCalls::DeleteCrawl, add_up)) {
    return elsewhere;
  }
  const auto run = [request, response](Crawls& crawls) -> Result<void> {
    CRAWLSTORE_TRY(const auto count, crawls.forget(Crawls::id_of(request->value())));
    response->set_value(count);
    return {};
  };
  return answer_alone(loop_, context, run);
}

grpc::ServerUnaryReactor* FrontierService::ListQueues(Context* context, const Pagination* request,
                                                      QueueList* response) {
  Pagination all = *request;
  all.set_start(0);
  all.set_size(queues_up_to(*request));
  if (auto* const elsewhere = ask_nodes({nodes_, context, {}}, all, response,
                                        &AsyncCalls::ListQueues, QueuesOfNodes(*request))) {
    return elsewhere;
  }
  return answer(loop_, context, [request, response](Crawls& crawls) -> Result<void> {
    const std::uint32_t size = size_of(*request);
    response->set_start(request->start());
    response->set_crawlid(std::string(Crawls::id_of(request->crawlid())));
    return with_crawl(crawls, request->crawlid(), [&](Crawl& crawl) -> Result<void> {
      CRAWLSTORE_TRY(const auto keys,
                     crawl.queues(request->start(), size, request->include_inactive()));
      for (const std::string& key : keys) response->add_values(key);
      response->set_size(static_cast<std::uint32_t>(keys.size()));
      return {};
    });
  });
}

grpc::ServerUnaryReactor* FrontierService::GetStats(Context* context,
                                                    const QueueWithinCrawlParams* request,
                                                    Stats* response) {
  if (auto* const elsewhere = ask_nodes({nodes_, context, given(request->key())}, *request,
                                        response, &AsyncCalls::GetStats, add_stats)) {
    return elsewhere;
  }
  return answer(loop_, context, [request, response](Crawls& crawls) -> Result<void> {
    response->set_crawlid(std::string(Crawls::id_of(request->crawlid())));
    auto& counts = *response->mutable_counts();
    counts["completed"] = 0;
    counts["active_queues"] = 0;
    return with_crawl(crawls, request->crawlid(), [&](Crawl& crawl) -> Result<void> {
      CRAWLSTORE_TRY(const QueueStats stats, crawl.stats(given(request->key())));
      response->set_size(stats.active);
      response->set_inprocess(
          static_cast<std::uint32_t>(std::min<std::uint64_t>(stats.leased, UINT32_MAX)));
      response->set_numberofqueues(stats.queues);
      counts["completed"] = stats.completed;
      counts["active_queues"] = stats.active_queues;
      return {};
    });
  });
}

grpc::ServerUnaryReactor* FrontierService::DeleteQueue(Context* context,
                                                       const QueueWithinCrawlParams* request,
                                                       Long* response) {
  if (auto* const elsewhere = ask_nodes({nodes_, context, request->key()}, *request, response,
                                        &AsyncCalls::DeleteQueue, add_up)) {
    return elsewhere;
  }
  const auto run = [request, response](Crawls& crawls) -> Result<void> {
    CRAWLSTORE_TRY(check_key(request->key()));
    return with_crawl(crawls, request->crawlid(), [&](Crawl& crawl) -> Result<void> {
      CRAWLSTORE_TRY(const auto count, crawl.forget_queue(request->key()));
      response->set_value(count);
      return {};
    });
  };
  return answer_alone(loop_, context, run);
}

grpc::ServerUnaryReactor* FrontierService::BlockQueueUntil(Context* context,
                                                           const BlockQueueParams* request,
                                                           Empty* response) {
  if (auto* const elsewhere = ask_nodes({nodes_, context, request->key()}, *request, response,
                                        &AsyncCalls::BlockQueueUntil, no_answer)) {
    return elsewhere;
  }
  const auto run = [request](Crawls& crawls) -> Result<void> {
    CRAWLSTORE_TRY(check_key(request->key()));
    return with_crawl(crawls, request->crawlid(), [&](Crawl& crawl) {
      return crawl.block_until(request->key(), request->time());
    });
  };
  return answer(loop_, context, run, Crawls::id_of(request->crawlid()));
}

grpc::ServerUnaryReactor* FrontierService::SetActive(Context* context, const Active* request,
                                                     Empty* response) {
  if (auto* const elsewhere =
          ask_nodes({nodes_, context, {}}, *request, response, &AsyncCalls::SetActive, no_answer)) {
    return elsewhere;
  }
  const auto run = [request](Crawls& crawls) { return crawls.set_active(request->state()); };
  return answer_alone(loop_, context, run);
}

grpc::ServerUnaryReactor* FrontierService::GetActive(Context* context, const Local* request,
                                                     Boolean* response) {
  if (auto* const elsewhere = ask_nodes({nodes_, context, {}}, *request, response,
                                        &AsyncCalls::GetActive, AllActive())) {
    return elsewhere;
  }
  return answer(loop_, context, [response](Crawls& crawls) -> Result<void> {
    response->set_state(crawls.is_active());
    return {};
  });
}

grpc::ServerUnaryReactor* FrontierService::SetDelay(Context* context,
                                                    const QueueDelayParams* request,
                                                    Empty* response) {
  if (auto* const elsewhere = ask_nodes({nodes_, context, given(request->key())}, *request,
                                        response, &AsyncCalls::SetDelay, no_answer)) {
    return elsewhere;
  }
  const std::uint32_t seconds = request->delay_requestable();
  if (!request->key().empty()) {
    const auto run = [request, seconds](Crawls& crawls) -> Result<void> {
      CRAWLSTORE_TRY(check_key(request->key()));
      return with_crawl(crawls, request->crawlid(),
                        [&](Crawl& crawl) { return crawl.set_delay(request->key(), seconds); });
    };
    return answer(loop_, context, run, Crawls::id_of(request->crawlid()));
  }
  const auto run = [request, seconds](Crawls& crawls) -> Result<void> {
    CRAWLSTORE_TRY(Crawl* const crawl, crawls.make(Crawls::id_of(request->crawlid())));
    return crawl->set_default_delay(seconds);
  };
  return answer_alone(loop_, context, run);
}

grpc::ServerUnaryReactor* FrontierService::SetLogLevel(Context* context,
                                                       const LogLevelParams* request,
                                                       Empty* response) {
  if (auto* const elsewhere = ask_nodes({nodes_, context, {}}, *request, response,
                                        &AsyncCalls::SetLogLevel, no_answer)) {
    return elsewhere;
  }
  log_level = static_cast<service::LogLevel>(std::clamp<int>(request->level(), 0, 4));
  auto* const reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerUnaryReactor* FrontierService::SetCrawlLimit(Context* context,
                                                         const CrawlLimitParams* request,
                                                         Empty* response) {
  if (auto* const elsewhere = ask_nodes({nodes_, context, request->key()}, *request, response,
                                        &AsyncCalls::SetCrawlLimit, no_answer)) {
    return elsewhere;
  }
  return answer(loop_, context, [request](Crawls& crawls) -> Result<void> {
    CRAWLSTORE_TRY(Crawl* const crawl, crawls.find(Crawls::id_of(request->crawlid())));
    CRAWLSTORE_TRY(const bool is_there, crawl->set_limit(request->key(), request->limit()));
    if (is_there) return {};
    return fail(Errc::kUnknownName, "the crawl has no such queue");
  });
}

grpc::ServerUnaryReactor* FrontierService::GetURLStatus(Context* context,
                                                        const URLStatusRequest* request,
                                                        URLItem* response) {
  const auto queue =
      request->key().empty() ? host_of(request->url()) : std::optional(request->key());
  if (auto* const elsewhere = ask_nodes(
          {nodes_, context, queue.value_or("")}, *request, response, &AsyncCalls::GetURLStatus,
          [](URLItem& whole, const URLItem& of_node) { whole = of_node; })) {
    return elsewhere;
  }
  return answer(loop_, context, [request, response, queue](Crawls& crawls) -> Result<void> {
    CRAWLSTORE_TRY(Crawl* const crawl, crawls.find(Crawls::id_of(request->crawlid())));
    if (!queue) return fail(Errc::kInvalidArgument, "the URL has no host");
    CRAWLSTORE_TRY(const auto url, crawl->find({*queue, request->url()}));
    if (!url) return fail(Errc::kUnknownName, "the URL is not known");
    *response = item_of(*url, *queue, crawl->name());
    return {};
  });
}

grpc::ServerUnaryReactor* FrontierService::PurgeURLs(Context* context,
                                                     const PurgeUrlParams* request,
                                                     Long* response) {
  if (auto* const elsewhere = ask_nodes({nodes_, context, given(request->key())}, *request,
                                        response, &AsyncCalls::PurgeURLs, add_up)) {
    return elsewhere;
  }
  const auto run = [request, response](Crawls& crawls) -> Result<void> {
    return with_crawl(crawls, request->crawlid(), [&](Crawl& crawl) -> Result<void> {
      const std::uint64_t now = now_s(crawl);
      const std::uint64_t time = now - std::min(now, request->days() * kSecondsADay);
      CRAWLSTORE_TRY(const auto count, crawl.forget_before(given(request->key()), time));
      response->set_value(count);
      return {};
    });
  };
  return answer_alone(loop_, context, run);
}

}  // namespace crawlstore::service
