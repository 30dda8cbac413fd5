// SPDX-License-Identifier: Apache-2.0
#include <span>

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

struct Urls {
  using Request = URLItem;
  using Answer = AckMessage;

  static std::size_t size(const URLItem& /*item*/) { return 1; }
  static const URLInfo& info(const URLItem& item, std::size_t /*url*/) {
    return item.has_discovered() ? item.discovered().info() : item.known().info();
  }
  static URLItem item(const URLItem& item, std::size_t /*url*/) { return item; }
  static Result<AckStatus> put(Crawls& crawls, const URLItem& item, std::size_t /*url*/) {
    return service::put(crawls, item);
  }
  static AckMessage answer(const URLItem& item, std::span<const AckStatus> statuses) {
    AckMessage ack;
    ack.set_id(item.id().empty() ? info(item, 0).url() : item.id());
    ack.set_status(statuses[0]);
    return ack;
  }
  static void count(ServiceCounts& counts, const URLItem& item, std::size_t /*url*/,
                    AckStatus status) {
    if (item.has_discovered()) return count_discovered(counts, status);
    count_known(counts, status, item.known().refetchable_from_date() == 0);
  }
};

struct Batches {
  using Request = DiscoveredBatch;
  using Answer = BatchAck;

  static std::size_t size(const DiscoveredBatch& batch) {
    return static_cast<std::size_t>(batch.items_size());
  }
  static const URLInfo& info(const DiscoveredBatch& batch, std::size_t url) {
    return batch.items(static_cast<int>(url));
  }
  static URLItem item(const DiscoveredBatch& batch, std::size_t url) {
    URLItem item;
    *item.mutable_discovered()->mutable_info() = info(batch, url);
    return item;
  }
  static Result<AckStatus> put(Crawls& crawls, const DiscoveredBatch& batch, std::size_t url) {
    return put_discovered(crawls, info(batch, url));
  }
  static BatchAck answer(const DiscoveredBatch& batch, std::span<const AckStatus> statuses) {
    BatchAck ack;
    ack.set_id(batch.id());
    for (const AckStatus status : statuses) ack.add_statuses(status);
    return ack;
  }
  static void count(ServiceCounts& counts, const DiscoveredBatch& /*batch*/, std::size_t /*url*/,
                    AckStatus status) {
    count_discovered(counts, status);
  }
};

/// URLs of a stream that comes from another node are put here.
template <class Protocol>
PutStream<Protocol>* start_stream(CommitLoop& loop, ServiceCounts& counts, const Nodes* nodes,
                                  const grpc::CallbackServerContext& context) {
  const grpc::Status signature = check_signature(nodes, context);
  if (!signature.ok()) return PutStream<Protocol>::refuse(loop, counts, signature);
  return PutStream<Protocol>::start(loop, counts, is_signed(context) ? nullptr : nodes);
}

}  // namespace

grpc::ServerBidiReactor<URLItem, AckMessage>* FrontierService::PutURLs(Context* context) {
  ++counts_.put_calls;
  return start_stream<Urls>(loop_, counts_, nodes_, *context);
}

grpc::ServerBidiReactor<DiscoveredBatch, BatchAck>* FrontierService::PutDiscovered(
    Context* context) {
  ++counts_.batch_calls;
  return start_stream<Batches>(loop_, counts_, nodes_, *context);
}

}  // namespace crawlstore::service
