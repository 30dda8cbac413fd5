// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include <crawlstore/shard.h>

#include "support/seeded.h"

namespace crawlstore {
namespace {

// spec: service.md, Nodes
TEST(ShardOf, IsThatOfTheVectors) {
  std::ifstream spec(std::string(CRAWLSTORE_SOURCE_DIR) + "/" + "spec/service.md");
  int count = 0;
  for (std::string line; std::getline(spec, line);) {
    // | `HOST` | COUNT | SHARD |, or `HOST` N times
    std::istringstream cells(line);
    std::string host;
    std::string rest;
    std::uint32_t shards = 0;
    std::uint32_t shard = 0;
    char bar = 0;
    if (!std::getline(cells, host, '`') || host != "| ") continue;
    if (!std::getline(cells, host, '`') || !std::getline(cells, rest, '|')) continue;
    if (!(cells >> shards >> bar >> shard)) continue;
    ++count;
    if (rest != " ") host = std::string(std::stoul(rest), host[0]);
    EXPECT_EQ(shard_of(host, shards), shard) << line;
  }
  EXPECT_EQ(count, 10);
}

TEST(ShardOf, IsASplitOfAHalfOfTheShards) {
  testing::SeededRandom random;
  for (int i = 0; i < 1000; ++i) {
    const std::string host = random.hostile_text(30);
    const auto count = static_cast<std::uint32_t>(1 + random.below(1U << 31));
    const std::uint32_t shard = shard_of(host, count);
    EXPECT_LT(shard, count);
    EXPECT_EQ(shard_of(host, 2 * count) / 2, shard);
  }
  EXPECT_EQ(shard_of("a.test", 0), 0U);
}

}  // namespace
}  // namespace crawlstore
