// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "service/server/commit_loop.h"
#include "service/server/counts.h"

namespace prometheus {
class Exposer;
}

namespace crawlstore::service {

/// Tells Prometheus, over HTTP at /metrics, what a service has done and holds: by the names of the
/// protocol's reference service where it has them, so that its dashboards work, else by
/// crawlstored_*. Threads: its own; what the crawls hold it asks the loop.
class Metrics {
 public:
  /// The loop, the store and the counts must outlive it.
  ///   address  host and port
  ///   throws   std::runtime_error: nothing can listen there
  Metrics(const std::string& address, const Store& store, CommitLoop& loop,
          const ServiceCounts& counts);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;
  [[nodiscard]] int port() const;

 private:
  class Source;
  std::shared_ptr<Source> source_;
  std::unique_ptr<prometheus::Exposer> exposer_;
};

}  // namespace crawlstore::service
