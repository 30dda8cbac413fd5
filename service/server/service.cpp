// SPDX-License-Identifier: Apache-2.0
//
// Calls with one answer.
#include "service/server/service.h"

#include <algorithm>

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
  if (crawl) return with(**crawl);
  return crawl.error().code == Errc::kUnknownName ? Result<void>()
                                                  : tl::unexpected<Error>(crawl.error());
}

}  // namespace

grpc::ServerUnaryReactor* FrontierService::ListNodes(Context* context, const Empty* /*request*/,
                                                     StringList* response) {
  response->add_values(address_);
  auto* const reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerUnaryReactor* FrontierService::ListCrawls(Context* context, const Local* /*request*/,
                                                      StringList* response) {
  return answer(loop_, context, [response](Crawls& crawls) -> Result<void> {
    CRAWLSTORE_TRY(const auto ids, crawls.ids());
    for (const std::string& id : ids) response->add_values(id);
    return {};
  });
}

grpc::ServerUnaryReactor* FrontierService::DeleteCrawl(Context* context,
                                                       const DeleteCrawlMessage* request,
                                                       Long* response) {
  const auto run = [request, response](Crawls& crawls) -> Result<void> {
    CRAWLSTORE_TRY(const auto count, crawls.forget(Crawls::id_of(request->value())));
    response->set_value(count);
    return {};
  };
  return answer_alone(loop_, context, run);
}

grpc::ServerUnaryReactor* FrontierService::ListQueues(Context* context, const Pagination* request,
                                                      QueueList* response) {
  return answer(loop_, context, [request, response](Crawls& crawls) -> Result<void> {
    const std::uint32_t size = request->size() == 0 ? kListedByDefault : request->size();
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
                                                           Empty* /*response*/) {
  const auto run = [request](Crawls& crawls) -> Result<void> {
    CRAWLSTORE_TRY(check_key(request->key()));
    return with_crawl(crawls, request->crawlid(), [&](Crawl& crawl) {
      return crawl.block_until(request->key(), request->time());
    });
  };
  return answer(loop_, context, run, Crawls::id_of(request->crawlid()));
}

grpc::ServerUnaryReactor* FrontierService::SetActive(Context* context, const Active* request,
                                                     Empty* /*response*/) {
  const auto run = [request](Crawls& crawls) { return crawls.set_active(request->state()); };
  return answer_alone(loop_, context, run);
}

grpc::ServerUnaryReactor* FrontierService::GetActive(Context* context, const Local* /*request*/,
                                                     Boolean* response) {
  return answer(loop_, context, [response](Crawls& crawls) -> Result<void> {
    response->set_state(crawls.is_active());
    return {};
  });
}

grpc::ServerUnaryReactor* FrontierService::SetDelay(Context* context,
                                                    const QueueDelayParams* request,
                                                    Empty* /*response*/) {
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
                                                       Empty* /*response*/) {
  log_level = static_cast<service::LogLevel>(std::clamp<int>(request->level(), 0, 4));
  auto* const reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerUnaryReactor* FrontierService::SetCrawlLimit(Context* context,
                                                         const CrawlLimitParams* request,
                                                         Empty* /*response*/) {
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
  return answer(loop_, context, [request, response](Crawls& crawls) -> Result<void> {
    CRAWLSTORE_TRY(Crawl* const crawl, crawls.find(Crawls::id_of(request->crawlid())));
    const auto queue =
        request->key().empty() ? host_of(request->url()) : std::optional(request->key());
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
