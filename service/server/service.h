// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "service/server/commit_loop.h"
#include "service/server/counts.h"
#include "service/server/listings.h"
#include "service/server/nodes.h"
#include "urlfrontier.grpc.pb.h"

namespace crawlstore::service {

/// The calls of the protocol, on the crawls of a store. Threads: gRPC's.
class FrontierService final : public ::urlfrontier::URLFrontier::CallbackService {
 public:
  /// All must outlive it.
  ///   nodes  that share the crawls; nullptr: there is but this one
  FrontierService(Store& store, CommitLoop& loop, const Nodes* nodes)
      : store_(store), loop_(loop), nodes_(nodes) {}
  /// The address of this service, as ListNodes tells it; before anybody asks.
  void set_address(std::string address) { address_ = std::move(address); }

  [[nodiscard]] const ServiceCounts& counts() const { return counts_; }

  using Context = grpc::CallbackServerContext;
  using Unary = grpc::ServerUnaryReactor;
  using Empty = ::urlfrontier::Empty;
  using Long = ::urlfrontier::Long;
  using StringList = ::urlfrontier::StringList;

  Unary* ListNodes(Context* context, const Empty* request, StringList* response) override;
  Unary* ListCrawls(Context* context, const ::urlfrontier::Local* request,
                    StringList* response) override;
  Unary* DeleteCrawl(Context* context, const ::urlfrontier::DeleteCrawlMessage* request,
                     Long* response) override;
  Unary* ListQueues(Context* context, const ::urlfrontier::Pagination* request,
                    ::urlfrontier::QueueList* response) override;
  Unary* GetStats(Context* context, const ::urlfrontier::QueueWithinCrawlParams* request,
                  ::urlfrontier::Stats* response) override;
  Unary* DeleteQueue(Context* context, const ::urlfrontier::QueueWithinCrawlParams* request,
                     Long* response) override;
  Unary* BlockQueueUntil(Context* context, const ::urlfrontier::BlockQueueParams* request,
                         Empty* response) override;
  Unary* SetActive(Context* context, const ::urlfrontier::Active* request,
                   Empty* response) override;
  Unary* GetActive(Context* context, const ::urlfrontier::Local* request,
                   ::urlfrontier::Boolean* response) override;
  Unary* SetDelay(Context* context, const ::urlfrontier::QueueDelayParams* request,
                  Empty* response) override;
  Unary* SetLogLevel(Context* context, const ::urlfrontier::LogLevelParams* request,
                     Empty* response) override;
  Unary* SetCrawlLimit(Context* context, const ::urlfrontier::CrawlLimitParams* request,
                       Empty* response) override;
  Unary* GetURLStatus(Context* context, const ::urlfrontier::URLStatusRequest* request,
                      ::urlfrontier::URLItem* response) override;
  Unary* CountURLs(Context* context, const ::urlfrontier::CountUrlParams* request,
                   Long* response) override;
  Unary* PurgeURLs(Context* context, const ::urlfrontier::PurgeUrlParams* request,
                   Long* response) override;
  grpc::ServerWriteReactor<::urlfrontier::URLInfo>* GetURLs(
      Context* context, const ::urlfrontier::GetParams* request) override;
  grpc::ServerWriteReactor<::urlfrontier::URLItem>* ListURLs(
      Context* context, const ::urlfrontier::ListUrlParams* request) override;
  grpc::ServerBidiReactor<::urlfrontier::URLItem, ::urlfrontier::AckMessage>* PutURLs(
      Context* context) override;
  grpc::ServerBidiReactor<::urlfrontier::DiscoveredBatch, ::urlfrontier::BatchAck>* PutDiscovered(
      Context* context) override;

 private:
  Store& store_;
  CommitLoop& loop_;
  const Nodes* const nodes_;
  std::shared_ptr<Listings> listings_ = std::make_shared<Listings>(loop_);
  std::string address_;
  ServiceCounts counts_;
  std::atomic<std::uint64_t> turn_{0};  // of crawls, for requests of any
};

}  // namespace crawlstore::service
