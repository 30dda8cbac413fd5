// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include <grpcpp/support/server_callback.h>

#include "service/server/commit_loop.h"
#include "service/server/protocol.h"

namespace crawlstore::service {

/// A call with one answer, as work of the loop. The answer is sent with the commit.
///   Run    Result<void>(Crawls&); kUnknownName ends the call with NOT_FOUND
///   makes  the ID of a crawl that it makes; empty: none
template <class Run>
class UnaryJob final : public Job {
 public:
  UnaryJob(grpc::ServerUnaryReactor* reactor, std::string makes, bool is_alone, Run run)
      : reactor_(reactor), makes_(std::move(makes)), is_alone_(is_alone), run_(std::move(run)) {}

  Result<std::string> run(Crawls& crawls) override {
    const bool is_missing = !makes_.empty() && !crawls.find(makes_);
    const Error* const refusal = is_missing ? crawls.refusal(makes_) : nullptr;
    if (is_missing && refusal == nullptr) return makes_;
    const Result<void> ran = is_missing ? tl::unexpected<Error>(*refusal) : run_(crawls);
    if (ran) return std::string();
    // A fault of the caller concerns no other job.
    if (category(ran.error().code) != ErrorCategory::kCaller) return tl::unexpected(ran.error());
    refused_ = ran.error();
    return std::string();
  }
  void done(const Result<void>& committed) override {
    const auto& error = refused_ ? *refused_ : committed ? Error{} : committed.error();
    reactor_->Finish(refused_ || !committed ? status_of(error) : grpc::Status::OK);
  }
  [[nodiscard]] bool is_alone() const override { return is_alone_; }

 private:
  grpc::ServerUnaryReactor* const reactor_;
  const std::string makes_;
  const bool is_alone_;
  Run run_;
  std::optional<Error> refused_;
};

/// Adds the work of a call to the loop. Messages of the call live until it ends.
template <class Run>
grpc::ServerUnaryReactor* answer(CommitLoop& loop, grpc::CallbackServerContext* context, Run run,
                                 std::string_view makes = {}) {
  auto* const reactor = context->DefaultReactor();
  loop.add(std::make_unique<UnaryJob<Run>>(reactor, std::string(makes), false, std::move(run)));
  return reactor;
}
/// The same for work that belongs into no transaction.
template <class Run>
grpc::ServerUnaryReactor* answer_alone(CommitLoop& loop, grpc::CallbackServerContext* context,
                                       Run run) {
  auto* const reactor = context->DefaultReactor();
  loop.add(std::make_unique<UnaryJob<Run>>(reactor, std::string(), true, std::move(run)));
  return reactor;
}

}  // namespace crawlstore::service
