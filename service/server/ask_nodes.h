// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "service/server/nodes.h"

namespace crawlstore::service {

/// The time that other nodes have for an answer.
inline constexpr std::chrono::seconds kNodeTime{30};

using AsyncCalls = ::urlfrontier::URLFrontier::StubInterface::async_interface;
template <class Request, class Response>
using AsyncCall = void (AsyncCalls::*)(grpc::ClientContext*, const Request*, Response*,
                                       std::function<void(grpc::Status)>);

/// A call with one answer that other nodes do, and this one by its own channel: it ends when all
/// have answered, or failed.
///   Merge  void(Response& whole, const Response& of_node), called in the order of the nodes
template <class Request, class Response, class Merge>
class NodesCall : public std::enable_shared_from_this<NodesCall<Request, Response, Merge>> {
 public:
  NodesCall(const Nodes& nodes, std::vector<std::size_t> asked, Request request, Merge merge)
      : nodes_(nodes), request_(std::move(request)), merge_(std::move(merge)) {
    for (const std::size_t node : asked) answers_.push_back(std::make_unique<Answer>(node));
    if constexpr (requires { request_.set_local(true); }) request_.set_local(true);
  }
  void start(AsyncCall<Request, Response> call, grpc::ServerUnaryReactor* reactor,
             Response* response) {
    left_ = answers_.size();
    const auto end = std::chrono::system_clock::now() + kNodeTime;
    for (auto& answer : answers_) {
      nodes_.sign(answer->node, answer->context);
      answer->context.set_deadline(end);
      const auto done = [self = this->shared_from_this(), answer = answer.get(), reactor,
                         response](const grpc::Status& status) {
        answer->status = status;
        if (--self->left_ == 0) reactor->Finish(self->end(*response));
      };
      (nodes_.stub(answer->node).async()->*call)(&answer->context, &request_, &answer->response,
                                                 done);
    }
  }

 private:
  struct Answer {
    explicit Answer(std::size_t of) : node(of) {}
    std::size_t node;
    grpc::ClientContext context{};
    Response response{};
    grpc::Status status{};
  };
  grpc::Status end(Response& response) {
    for (const auto& answer : answers_) {
      if (!answer->status.ok()) return nodes_.status_of(answer->node, answer->status);
    }
    for (const auto& answer : answers_) merge_(response, answer->response);
    return grpc::Status::OK;
  }

  const Nodes& nodes_;
  Request request_;
  Merge merge_;
  std::vector<std::unique_ptr<Answer>> answers_;
  std::atomic<std::size_t> left_ = 0;
};

/// Whether a call is for this node alone: it is said to be local, or comes from another node.
template <class Request>
bool is_local(const grpc::CallbackServerContext& context, const Request& request) {
  if constexpr (requires { request.local(); }) {
    if (request.local()) return true;
  }
  return is_signed(context);
}

/// The sum of counts, as nodes' answers together.
inline void add_up(::urlfrontier::Long& whole, const ::urlfrontier::Long& of_node) {
  whole.set_value(whole.value() + of_node.value());
}

/// The nodes that a call is for.
struct Asked {
  const Nodes* nodes = nullptr;  ///< none: there is but this one
  grpc::CallbackServerContext* context;
  std::optional<std::string_view> key;  ///< of a queue, whose node it is; nothing: all
};

/// Lets other nodes do a call, as all its answers together. nullptr: it is to be done here.
template <class Request, class Response, class Merge>
grpc::ServerUnaryReactor* ask_nodes(const Asked& asked, const Request& request, Response* response,
                                    AsyncCall<Request, Response> call, Merge merge) {
  if (const auto refused = check_signature(asked.nodes, *asked.context); !refused.ok()) {
    auto* const reactor = asked.context->DefaultReactor();
    reactor->Finish(refused);
    return reactor;
  }
  if (asked.nodes == nullptr || is_local(*asked.context, request)) return nullptr;
  std::vector<std::size_t> nodes;
  if (asked.key) {
    const std::size_t owner = asked.nodes->owner_of(*asked.key);
    if (asked.key->empty() || owner == asked.nodes->own()) return nullptr;
    nodes.push_back(owner);
  } else {
    for (std::size_t i = 0; i < asked.nodes->addresses().size(); ++i) nodes.push_back(i);
  }
  auto* const reactor = asked.context->DefaultReactor();
  std::make_shared<NodesCall<Request, Response, Merge>>(*asked.nodes, std::move(nodes), request,
                                                        std::move(merge))
      ->start(call, reactor, response);
  return reactor;
}

}  // namespace crawlstore::service
