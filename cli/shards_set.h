// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The actions of `shards` that read the files of all shards as one: find, top and verify.
/// Threads: for the main thread.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/parser.h"

namespace crawlstore::cli {

/// The options of these actions alone.
struct ShardSetOptions {
  std::string url;
  std::string name;  ///< empty: the default of ScoreView
  std::optional<std::uint64_t> count;
};

/// The options that all actions of `shards` have. Variables that are referred to outlive this.
struct ShardSetSource {
  const std::vector<std::string>& paths;
  const std::string& database;
  bool as_json = false;
  bool quiet = false;
};

void add_shard_set(Parser& parser, ShardSetOptions& options);
/// Says why the options make no sense with the action; empty: they do.
std::string shard_set_misuse(const std::string& action, const ShardSetOptions& options);

/// Each returns the exit code.
int find_in_shards(const ShardSetSource& source, const ShardSetOptions& options);
int top_of_shards(const ShardSetSource& source, const ShardSetOptions& options);
int verify_shards(const ShardSetSource& source);

}  // namespace crawlstore::cli
