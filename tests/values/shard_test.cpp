// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <crawlstore/must.h>
#include <crawlstore/shard.h>
#include <crawlstore/tools/recover.h>
#include <crawlstore/tools/verify.h>
#include <crawlstore/transaction.h>
#include <crawlstore/values.h>

#include "base/inside.h"
#include "support/seeded.h"
#include "support/temporary_folder.h"
#include "values/pending_values.h"

namespace crawlstore::testing {
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
  SeededRandom random;
  for (int i = 0; i < 1000; ++i) {
    const std::string host = random.hostile_text(30);
    const auto count = static_cast<std::uint32_t>(1 + random.below(1U << 31));
    const std::uint32_t shard = shard_of(host, count);
    EXPECT_LT(shard, count);
    EXPECT_EQ(shard_of(host, 2 * count) / 2, shard);
  }
  EXPECT_EQ(shard_of("a.test", 0), 0U);
}

TEST(Shard, IsWrittenInOneWay) {
  SeededRandom random;
  for (int i = 0; i < 1000; ++i) {
    Shard shard;
    shard.count = static_cast<std::uint32_t>(1 + random.below(kShardsMax));
    shard.index = static_cast<std::uint32_t>(random.below(shard.count));
    EXPECT_EQ(parse_shard(to_text(shard)), shard) << to_text(shard);
  }
  for (const char* wrong : {"", "/", "1", "1/", "/2", "2/2", "0/0", "-1/2", "+1/2", "01/2", "1/02",
                            "1 /2", "1/2 ", "0/4097", "4294967296/4294967297", "1/2/3", "0x1/2"}) {
    EXPECT_EQ(parse_shard(wrong), std::nullopt) << wrong;
  }
}

TEST(Shard, HasEachHostOnce) {
  SeededRandom random;
  for (int i = 0; i < 1000; ++i) {
    const std::string host = random.hostile_text(30);
    const auto count = static_cast<std::uint32_t>(1 + random.below(9));
    std::uint32_t found = 0;
    for (std::uint32_t index = 0; index < count; ++index) found += Shard{index, count}.has(host);
    EXPECT_EQ(found, 1U) << host;
  }
}

CreateOptions fixed_options() {
  CreateOptions options;
  options.uuid = Uuid{};
  options.key_seed = 7;
  options.time_us = 1;
  return options;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(CreateShard, MakesAFileThatSaysWhichItIs) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.crawl";
  const Shard shard{2, 5};
  {
    const auto store = must(create_shard(path, shard, fixed_options()));
    EXPECT_EQ(must(read_shard(store)), shard);
    EXPECT_EQ(store.key_seed(), 7U);
  }
  EXPECT_EQ(create_shard(path, shard).error().code, Errc::kExists);
  const auto snapshot = must(Snapshot::open(path));
  EXPECT_EQ(must(read_shard(snapshot)), shard);
  must(copy_snapshot(snapshot, folder / "copy.crawl"));
  must(recover(path, folder / "recovered.crawl"));
  for (const char* name : {"copy.crawl", "recovered.crawl"}) {
    EXPECT_EQ(must(read_shard(must(Snapshot::open(folder / name)))), shard) << name;
  }
}

TEST(CreateShard, MakesTheSameBytesAsCreateOfOneThatIsAlone) {
  const TemporaryFolder folder;
  must(Store::create(folder / "a.crawl", fixed_options()));
  const auto store = must(create_shard(folder / "b.crawl", {}, fixed_options()));
  EXPECT_EQ(must(read_shard(store)), Shard());
  EXPECT_EQ(bytes_of(folder / "a.crawl"), bytes_of(folder / "b.crawl"));
}

TEST(CreateShard, RefusesShardsThatCannotBe) {
  const TemporaryFolder folder;
  for (const Shard shard : {Shard{1, 1}, Shard{0, 0}, Shard{4, 4}, Shard{0, kShardsMax + 1}}) {
    EXPECT_EQ(create_shard(folder / "a.crawl", shard).error().code, Errc::kInvalidArgument);
  }
  EXPECT_EQ(Snapshot::open(folder / "a.crawl").error().code, Errc::kNotFound);
}

TEST(CreateShard, KeepsItWhateverComes) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.crawl";
  auto store = must(create_shard(path, {1, 2}));
  EXPECT_EQ(store.set(".shard", {}).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(store.remove(".shard").error().code, Errc::kInvalidArgument);
  const std::array<std::byte, 1> one{};
  must(store.set("mine", one));
  must(store.commit());
  must(store.remove("mine"));
  must(store.commit());
  must(store.compact());
  must(store.rollback());
  EXPECT_EQ(must(read_shard(store)), (Shard{1, 2}));
  // Back to what was before the file was made there is no way.
  must(store.rollback());
  EXPECT_EQ(must(read_shard(store)), (Shard{1, 2}));
}

// spec: values.md, Small values rule 7
TEST(CreateShard, LeavesNoOtherTextUnnoticed) {
  for (const std::string text : {"", "1", "2/2", "0/1", "00/2", "0/4097"}) {
    const TemporaryFolder folder;
    auto store = must(create_shard(folder / "a.crawl", {0, 2}));
    must(values::set_reserved(Inside::of(store).shared_from_this(), ".shard",
                              std::as_bytes(std::span(text))));
    // A library that is made for tests looks at what it publishes.
    if (const auto committed = store.commit(); !committed) {
      EXPECT_EQ(committed.error().code, Errc::kSegmentInvalid) << text;
      continue;
    }
    EXPECT_EQ(read_shard(store).error().code, Errc::kSegmentInvalid) << text;
    EXPECT_EQ(read_shard(must(store.snapshot())).error().code, Errc::kSegmentInvalid) << text;
    VerifyOptions deep;
    deep.level = VerifyLevel::kDeep;
    const auto report = must(verify(folder / "a.crawl", deep));
    ASSERT_FALSE(report.findings.empty()) << text;
    EXPECT_EQ(report.findings.front().kind, FindingKind::kDamaged) << text;
  }
}

}  // namespace
}  // namespace crawlstore::testing
