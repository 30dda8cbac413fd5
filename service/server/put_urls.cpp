// SPDX-License-Identifier: Apache-2.0
#include "service/server/protocol.h"
#include "service/server/put_stream.h"
#include "service/server/service.h"

namespace crawlstore::service {
namespace {

using ::urlfrontier::AckMessage;
using ::urlfrontier::BatchAck;
using ::urlfrontier::DiscoveredBatch;
using ::urlfrontier::URLInfo;
using ::urlfrontier::URLItem;

void count_discovered(ServiceCounts& counts, int status) {
  ++counts.put_discovered;
  if (status == AckMessage::SKIPPED) ++counts.ignored;
  if (status == AckMessage::FAIL) ++counts.failed;
}

void count_known(ServiceCounts& counts, int status, bool is_completed) {
  ++counts.put_known;
  if (status == AckMessage::OK && is_completed) ++counts.completed;
  if (status == AckMessage::SKIPPED) ++counts.skipped;
  if (status == AckMessage::FAIL) ++counts.failed;
}

/// Whether there is no such crawl yet, and may be one.
bool is_missing(Crawls& crawls, const URLInfo& info) {
  const auto crawl = crawls.find(Crawls::id_of(info.crawlid()));
  return !crawl && crawl.error().code == Errc::kUnknownName;
}

struct Urls {
  using Request = URLItem;
  using Answer = AckMessage;
  using Counts = ServiceCounts;

  static const URLInfo& info_of(const URLItem& item) {
    return item.has_discovered() ? item.discovered().info() : item.known().info();
  }
  static Answer answer(const URLItem& item, AckMessage::Status status) {
    AckMessage ack;
    ack.set_id(item.id().empty() ? info_of(item).url() : item.id());
    ack.set_status(status);
    return ack;
  }
  static Result<Answer> apply(Crawls& crawls, const URLItem& item) {
    return put(crawls, item).map([&](AckMessage::Status status) { return answer(item, status); });
  }
  static std::string crawl_of(Crawls& /*crawls*/, const URLItem& item) {
    return std::string(Crawls::id_of(info_of(item).crawlid()));
  }
  static Answer failed(const URLItem& item) { return answer(item, AckMessage::FAIL); }
  static void count(Counts& counts, const Request& item, const Answer& ack) {
    if (item.has_discovered()) return count_discovered(counts, ack.status());
    count_known(counts, ack.status(), item.known().refetchable_from_date() == 0);
  }
};

struct Batches {
  using Request = DiscoveredBatch;
  using Answer = BatchAck;
  using Counts = ServiceCounts;

  /// All of its crawls are open before any of its URLs is put: none is put twice.
  static Result<Answer> apply(Crawls& crawls, const DiscoveredBatch& batch) {
    for (const URLInfo& info : batch.items()) {
      if (is_missing(crawls, info)) return fail(Errc::kUnknownName, "a crawl is not open");
    }
    BatchAck ack;
    ack.set_id(batch.id());
    for (const URLInfo& info : batch.items()) {
      CRAWLSTORE_TRY(const auto status, put_discovered(crawls, info));
      ack.add_statuses(status);
    }
    return ack;
  }
  static std::string crawl_of(Crawls& crawls, const DiscoveredBatch& batch) {
    for (const URLInfo& info : batch.items()) {
      if (is_missing(crawls, info)) return std::string(Crawls::id_of(info.crawlid()));
    }
    return {};
  }
  static Answer failed(const DiscoveredBatch& batch) {
    BatchAck ack;
    ack.set_id(batch.id());
    for (int i = 0; i < batch.items_size(); ++i) ack.add_statuses(AckMessage::FAIL);
    return ack;
  }
  static void count(Counts& counts, const Request& /*batch*/, const Answer& ack) {
    for (const int status : ack.statuses()) count_discovered(counts, status);
  }
};

}  // namespace

grpc::ServerBidiReactor<URLItem, AckMessage>* FrontierService::PutURLs(Context* /*context*/) {
  ++counts_.put_calls;
  return PutStream<Urls>::start(loop_, counts_);
}

grpc::ServerBidiReactor<DiscoveredBatch, BatchAck>* FrontierService::PutDiscovered(
    Context* /*context*/) {
  ++counts_.batch_calls;
  return PutStream<Batches>::start(loop_, counts_);
}

}  // namespace crawlstore::service
