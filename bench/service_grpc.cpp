// SPDX-License-Identifier: Apache-2.0
//
// The cost of gRPC alone, beside crawlstored's: bench/service_grpc.py runs both.
//
//   service_grpc empty ADDRESS          a server that acknowledges each URL, and keeps none
//   service_grpc load ADDRESS COUNT     puts so many URLs over one stream, 100,000 unacknowledged
//                                       at most; prints the seconds
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include "urlfrontier.grpc.pb.h"

namespace {

using urlfrontier::AckMessage;
using urlfrontier::URLFrontier;
using urlfrontier::URLItem;

constexpr std::uint64_t kUnacknowledgedMax = 100'000;
constexpr std::uint64_t kQueues = 1000;

/// One message at a time: read, acknowledged.
class EmptyStream final : public grpc::ServerBidiReactor<URLItem, AckMessage> {
 public:
  EmptyStream() { StartRead(&item_); }
  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    ack_.set_id(item_.discovered().info().url());
    StartWrite(&ack_);
  }
  void OnWriteDone(bool ok) override {
    if (ok) StartRead(&item_);
  }
  void OnDone() override { const std::unique_ptr<EmptyStream> gone(this); }

 private:
  URLItem item_;
  AckMessage ack_;
};

class EmptyService final : public URLFrontier::CallbackService {
  grpc::ServerBidiReactor<URLItem, AckMessage>* PutURLs(
      grpc::CallbackServerContext* /*context*/) override {
    return std::make_unique<EmptyStream>().release();
  }
};

int serve(const std::string& address) {
  EmptyService service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const auto server = builder.BuildAndStart();
  if (server == nullptr) return 1;
  server->Wait();
  return 0;
}

int load(const std::string& address, std::uint64_t count) {
  const auto stub =
      URLFrontier::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  const auto stream = stub->PutURLs(&context);
  std::mutex mutex;
  std::condition_variable has_room;
  std::uint64_t unacknowledged = 0;
  std::uint64_t refused = 0;
  const auto begin = std::chrono::steady_clock::now();
  std::thread reader([&] {
    for (AckMessage ack; stream->Read(&ack);) {
      const std::lock_guard lock(mutex);
      if (ack.status() != AckMessage::OK) ++refused;
      if (unacknowledged-- == kUnacknowledgedMax) has_room.notify_one();
    }
  });
  URLItem item;
  for (std::uint64_t i = 0; i < count; ++i) {
    {
      std::unique_lock lock(mutex);
      has_room.wait(lock, [&] { return unacknowledged < kUnacknowledgedMax; });
      ++unacknowledged;
    }
    item.mutable_discovered()->mutable_info()->set_url(
        fmt::format("http://host{}.test/a/page/of/some/length/{}.html", i * 7919 % kQueues, i));
    if (!stream->Write(item)) break;
  }
  stream->WritesDone();
  reader.join();
  const auto status = stream->Finish();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  if (!status.ok() || refused != 0 || unacknowledged != 0) {
    fmt::print(stderr, "{} refused, {} without an answer: {}\n", refused, unacknowledged,
               status.error_message());
    return 1;
  }
  fmt::print("{:.3f}\n", passed.count());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view role = argc > 2 ? argv[1] : "";
  if (role == "empty" && argc == 3) return serve(argv[2]);
  if (role == "load" && argc == 4) return load(argv[2], std::strtoull(argv[3], nullptr, 10));
  fmt::print(stderr, "usage: service_grpc empty ADDRESS | load ADDRESS COUNT\n");
  return 2;
}
