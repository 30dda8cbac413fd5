// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include <grpcpp/grpcpp.h>

#include "urlfrontier.grpc.pb.h"

namespace crawlstore::service {

/// Sends URLs on to the node that has their queues, all of them by one stream, which is begun anew
/// after a failure. It holds no more URLs than those who send have unanswered. Threads: any.
class Forwarder {
 public:
  using Status = ::urlfrontier::AckMessage::Status;
  using Done = std::function<void(Status status)>;
  using Sign = std::function<void(grpc::ClientContext& context)>;
  /// The stub must outlive it.
  Forwarder(::urlfrontier::URLFrontier::Stub& stub, std::string address, Sign sign);
  /// Waits until all that was sent is answered, which is at once.
  ~Forwarder();
  Forwarder(const Forwarder&) = delete;
  Forwarder& operator=(const Forwarder&) = delete;

  /// Tells `done` the status of a URL once; FAIL: it is not known whether the node has it. The ID
  /// of the item is not kept.
  void send(::urlfrontier::URLItem item, Done done);

 private:
  class Stream;
  ::urlfrontier::URLFrontier::Stub& stub_;
  const std::string address_;
  const Sign sign_;
  std::mutex mutex_;
  std::shared_ptr<Stream> stream_;  // guarded by mutex_; none: there was no URL yet
};

}  // namespace crawlstore::service
