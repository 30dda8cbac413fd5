// SPDX-License-Identifier: Apache-2.0
#include "service/server/nodes.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <crawlstore/shard.h>

namespace crawlstore::service {
namespace {

/// Metadata of calls between nodes: the place of the one that is called, and their list.
constexpr const char* kSignature = "crawlstore-nodes";
/// A node that has said nothing for so long is asked; after as long again it has gone.
constexpr int kSilenceMs = 5'000;

}  // namespace

Nodes::Nodes(NodesOptions options)
    : options_(std::move(options)), list_(fmt::format("{}", fmt::join(options_.addresses, ","))) {}

void Nodes::connect(const std::shared_ptr<grpc::Channel>& own) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kSilenceMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kSilenceMs);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);  // no limit
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kSilenceMs);
  arguments.SetMaxReceiveMessageSize(-1);
  for (std::size_t node = 0; node < options_.addresses.size(); ++node) {
    const auto channel =
        node == options_.own
            ? own
            : grpc::CreateCustomChannel(options_.addresses[node], options_.credentials, arguments);
    stubs_.push_back(::urlfrontier::URLFrontier::NewStub(channel));
    forwarders_.push_back(std::make_unique<Forwarder>(
        *stubs_.back(), options_.addresses[node],
        [this, node](grpc::ClientContext& context) { sign(node, context); }));
  }
}

std::size_t Nodes::owner_of(std::string_view key) const {
  return shard_of(key, static_cast<std::uint32_t>(options_.addresses.size()));
}

std::string Nodes::signature_of(std::size_t node) const {
  return fmt::format("{} of {}", node, list_);
}

void Nodes::sign(std::size_t node, grpc::ClientContext& context) const {
  context.AddMetadata(kSignature, signature_of(node));
}

grpc::Status Nodes::status_of(std::size_t node, const grpc::Status& status) const {
  return {status.error_code(),
          fmt::format("{}: {}", options_.addresses[node], status.error_message())};
}

bool is_signed(const grpc::CallbackServerContext& context) {
  return context.client_metadata().contains(kSignature);
}

grpc::Status check_signature(const Nodes* nodes, const grpc::CallbackServerContext& context) {
  const auto found = context.client_metadata().find(kSignature);
  if (found == context.client_metadata().end()) return grpc::Status::OK;
  const std::string own = nodes == nullptr ? "none" : nodes->signature();
  if (own == std::string_view(found->second.data(), found->second.size())) {
    return grpc::Status::OK;
  }
  return {grpc::StatusCode::FAILED_PRECONDITION, "this is node " + own};
}

}  // namespace crawlstore::service
