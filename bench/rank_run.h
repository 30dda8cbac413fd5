// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The shared parts of PageRank's drivers: FOLDER, as rank_make leaves it, and the line of JSON
/// that each prints. igraph leaves `reference` in FOLDER, double by double, and those that run
/// later tell how far they are from it.
///
/// Errors: fail(). Threads: one.

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace crawlstore::bench {

struct RankRun {
  std::string folder;
  unsigned threads = 1;
  [[nodiscard]] std::string graph() const { return folder + "/graph"; }
  [[nodiscard]] std::string crawl() const { return folder + "/graph.crawl"; }
  [[nodiscard]] std::string reference() const { return folder + "/reference"; }
};

constexpr double kRankDamping = 0.85;
constexpr double kRankPrecision = 1e-6;  ///< L1 change of an iteration, of those that can be told

/// Adds the distance to the reference, where there is one.
void add_distance(nlohmann::ordered_json& line, const RankRun& run, std::span<const float> scores);

/// Runs a driver with FOLDER [THREADS], prints its line and the circumstances.
int rank_main(int argc, char** argv,
              const std::function<nlohmann::ordered_json(const RankRun& run)>& body);

}  // namespace crawlstore::bench
