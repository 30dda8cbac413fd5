// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "service/server/forwarder.h"
#include "urlfrontier.grpc.pb.h"

namespace crawlstore::service {

struct NodesOptions {
  std::vector<std::string> addresses;  ///< of all nodes, the same list at each
  std::size_t own = 0;                 ///< the place of this node
  std::shared_ptr<grpc::ChannelCredentials> credentials;
};

/// The services that share crawls: each has the queues whose keys shard_of() says.
/// Threads: any, but for connect(), which comes first.
class Nodes {
 public:
  using Stub = ::urlfrontier::URLFrontier::Stub;
  explicit Nodes(NodesOptions options);
  /// Connects with all nodes, and with this one by a channel within the process.
  void connect(const std::shared_ptr<grpc::Channel>& own);

  [[nodiscard]] const std::vector<std::string>& addresses() const { return options_.addresses; }
  [[nodiscard]] std::size_t own() const { return options_.own; }
  [[nodiscard]] std::size_t owner_of(std::string_view key) const;
  [[nodiscard]] Stub& stub(std::size_t node) const { return *stubs_[node]; }
  [[nodiscard]] Forwarder& forwarder(std::size_t node) const { return *forwarders_[node]; }

  /// Makes a call one of this node to another: that one does it itself.
  void sign(std::size_t node, grpc::ClientContext& context) const;
  /// The text that calls to this node are signed with.
  [[nodiscard]] std::string signature() const { return signature_of(options_.own); }
  /// The status of a call that a node has failed, with its address.
  [[nodiscard]] grpc::Status status_of(std::size_t node, const grpc::Status& status) const;

 private:
  [[nodiscard]] std::string signature_of(std::size_t node) const;

  NodesOptions options_;
  std::string list_;  // as one text
  std::vector<std::unique_ptr<Stub>> stubs_;
  std::vector<std::unique_ptr<Forwarder>> forwarders_;
};

/// Whether a call comes from another node.
bool is_signed(const grpc::CallbackServerContext& context);
/// An error: it comes from a node with another list, or is for another node.
///   nodes  nullptr: there is but this one
grpc::Status check_signature(const Nodes* nodes, const grpc::CallbackServerContext& context);

}  // namespace crawlstore::service
