// SPDX-License-Identifier: Apache-2.0
//
// Calls that look at URLs: on a snapshot, each on a thread of its own beside the loop.
#include <algorithm>
#include <cctype>
#include <functional>
#include <memory>
#include <thread>

#include "service/core/listing.h"
#include "service/server/ask_nodes.h"
#include "service/server/protocol.h"
#include "service/server/queued_stream.h"
#include "service/server/service.h"

namespace crawlstore::service {
namespace {

using ::urlfrontier::CountUrlParams;
using ::urlfrontier::ListUrlParams;
using ::urlfrontier::URLItem;

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
/// where there is no such crawl. Does nothing for a call that has ended before its turn: clients
/// that wait for less than a merge takes would have one made for each of their calls.
template <class With>
class SnapshotJob final : public Job {
 public:
  SnapshotJob(Store& store, std::shared_ptr<Listings> listings, std::string crawl,
              std::function<bool()> has_ended, With with)
      : store_(store),
        listings_(std::move(listings)),
        crawl_(std::move(crawl)),
        has_ended_(std::move(has_ended)),
        with_(std::move(with)) {}
  Result<std::string> run(Crawls& crawls) override {
    const auto crawl = crawls.find(crawl_);
    if (!crawl || has_ended_()) return std::string();
    CRAWLSTORE_TRY((*crawl)->merge());
    CRAWLSTORE_TRY(snapshot_, store_.snapshot());
    return std::string();
  }
  void done(const Result<void>& committed) override {
    // The service may be gone when the call has ended.
    std::thread([listings = listings_, with = std::move(with_), snapshot = std::move(snapshot_),
                 committed]() mutable {
      with(committed, snapshot);
      snapshot.reset();
      listings->end();
    }).detach();
  }
  [[nodiscard]] bool is_alone() const override { return !has_ended_(); }

 private:
  Store& store_;
  const std::shared_ptr<Listings> listings_;
  const std::string crawl_;
  const std::function<bool()> has_ended_;  // once true, always
  With with_;
  std::optional<Snapshot> snapshot_;
};

std::uint32_t size_of(const ListUrlParams& params) {
  return params.size() == 0 ? kListedByDefault : params.size();
}

/// Lists what the nodes have, one after the other, or the one that has a queue.
grpc::Status list_nodes(const Nodes& nodes, const ListUrlParams& params,
                        QueuedStream<URLItem>& stream) {
  std::uint64_t before = params.start();
  std::uint64_t left = size_of(params);
  ListUrlParams local = params;
  local.set_local(true);
  local.set_start(0);
  local.set_size(static_cast<std::uint32_t>(std::min<std::uint64_t>(before + left, UINT32_MAX)));
  for (std::size_t node = 0; node < nodes.addresses().size() && left != 0; ++node) {
    if (!params.key().empty() && nodes.owner_of(params.key()) != node) continue;
    grpc::ClientContext context;
    nodes.sign(node, context);
    const auto reader = nodes.stub(node).ListURLs(&context, local);
    bool goes_on = true;
    for (URLItem item; goes_on && reader->Read(&item);) {
      if (before != 0) {
        --before;
        continue;
      }
      goes_on = stream.write(std::move(item)) && --left != 0;
    }
    if (!goes_on) context.TryCancel();
    const grpc::Status status = reader->Finish();
    if (goes_on && !status.ok()) return nodes.status_of(node, status);
  }
  return grpc::Status::OK;
}

}  // namespace

grpc::ServerWriteReactor<URLItem>* FrontierService::ListURLs(Context* context,
                                                             const ListUrlParams* request) {
  auto stream = QueuedStream<URLItem>::make();
  auto* const reactor = stream.get();
  const grpc::Status signature = check_signature(nodes_, *context);
  if (!signature.ok()) {
    stream->end(signature);
    return reactor;
  }
  if (nodes_ != nullptr && !is_local(*context, *request)) {
    std::thread([nodes = nodes_, params = *request, stream = std::move(stream)] {
      stream->end(list_nodes(*nodes, params, *stream));
    }).detach();
    return reactor;
  }
  const auto list = [stream, params = *request](const Result<void>& committed,
                                                const std::optional<Snapshot>& snapshot) {
    if (!committed) return stream->end(status_of(committed.error()));
    if (!snapshot) return stream->end(grpc::Status::OK);
    const Filter filter(params.filter(), params.ignorecase());
    const std::string crawl(Crawls::id_of(params.crawlid()));
    std::uint32_t before = params.start();
    std::uint32_t left = size_of(params);
    const auto listed = for_each_url(
        *snapshot, crawl, given(params.key()), [&](std::string_view queue, const KnownUrl& url) {
          if (!filter.has(url.record.url)) return true;
          if (before != 0) return --before, true;
          return stream->write(item_of(url, queue, crawl)) && --left != 0;
        });
    stream->end(listed ? grpc::Status::OK : status_of(listed.error()));
  };
  const auto has_ended = [stream] { return stream->is_broken(); };
  listings_->add(std::make_unique<SnapshotJob<decltype(list)>>(
      store_, listings_, std::string(Crawls::id_of(request->crawlid())), has_ended, list));
  return reactor;
}

grpc::ServerUnaryReactor* FrontierService::CountURLs(Context* context,
                                                     const CountUrlParams* request,
                                                     Long* response) {
  if (auto* const elsewhere = ask_nodes({nodes_, context, given(request->key())}, *request,
                                        response, &AsyncCalls::CountURLs, add_up)) {
    return elsewhere;
  }
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
  const auto has_ended = [context] { return context->IsCancelled(); };
  listings_->add(std::make_unique<SnapshotJob<decltype(count)>>(
      store_, listings_, std::string(Crawls::id_of(request->crawlid())), has_ended, count));
  return reactor;
}

}  // namespace crawlstore::service
