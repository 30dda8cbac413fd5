// SPDX-License-Identifier: Apache-2.0
#include "drum/key_source.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "container/container_store.h"
#include "format/endian.h"
#include "support/random.h"

namespace crawlstore::testing {
namespace {

constexpr drum::Shape kShape{format::kWideKeyBytes, 8};
using Value = std::array<std::byte, 8>;
using Keys = std::map<Key16, Value>;

Value value_of(std::uint64_t number) {
  Value value{};
  format::store(value.data(), number);
  return value;
}

/// The contents of a map, as a partition of the store.
std::unique_ptr<drum::KeySource> partition_of(container::Writer& writer, const Keys& keys) {
  const SegmentId segment = writer.new_segment_id();
  const RunId run = writer.new_run_ids(1);
  auto started = must(container::RunWriter::start(
      writer, {segment, SegmentKind::kDrumPartition, {}, run},
      drum::partition_bytes_max(keys.size(), ~std::uint64_t{0}, keys.size() * 8, true)));
  drum::PartitionWriter partition(std::move(started), kShape);
  for (const auto& [key, value] : keys) must(partition.append(key, value));
  const auto piece = must(partition.finish());
  partition.give_back();
  return must(drum::PartitionKeys::open(
      writer.storage(), container::run_name(writer.identity(), segment, run), piece.run, kShape));
}

struct Edits {
  std::map<Key16, std::optional<Value>> owned;
  std::vector<drum::KeyEdit> list;
  std::unique_ptr<drum::KeySource> source() {
    list.clear();
    for (const auto& [key, value] : owned) {
      list.push_back(
          {key, !value, value ? std::span<const std::byte>(*value) : std::span<const std::byte>()});
    }
    return std::make_unique<drum::EditKeys>(list);
  }
};

Key16 random_key(Random& random) {
  return {random.below(50) << 58, random.below(1000)};
}

/// Keys of several partitions and edits come out as of one map, counted right wherever it stands.
TEST(MergedKeys, AreAsOfOneMap) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    ContainerStore store;
    const auto writer = store.writer();
    Random random(seed);
    std::map<Key16, std::optional<Value>> expected;
    std::vector<std::unique_ptr<drum::KeySource>> sources;
    for (std::uint64_t i = 0; i < 1 + seed % 4; ++i) {
      Keys keys;
      for (std::uint64_t n = 1 + random.below(3000); n > 0; --n) {
        const Key16 key = random_key(random);
        if (!expected.contains(key)) expected[key] = keys[key] = value_of(random.next());
      }
      if (!keys.empty()) sources.push_back(partition_of(*writer, keys));
    }
    Edits edits;
    for (int i = 0; i < 300; ++i) {
      const Key16 key = random_key(random);
      if (edits.owned.contains(key)) continue;
      const bool removes = expected.contains(key) || random.below(4) == 0;
      edits.owned[key] = removes ? std::nullopt : std::optional(value_of(random.next()));
    }
    std::uint64_t counted_twice = 0;
    for (const auto& [key, value] : edits.owned) {
      counted_twice += expected.contains(key) ? 1 : 0;
      expected[key] = value;
    }
    sources.insert(sources.begin() + static_cast<std::ptrdiff_t>(random.below(sources.size() + 1)),
                   edits.source());
    const auto merged = must(drum::MergedKeys::open(std::move(sources)));
    EXPECT_EQ(must(merged->count_to(~std::uint64_t{0})), expected.size() + counted_twice);
    std::uint64_t last_head = ~std::uint64_t{0};
    std::uint64_t passed = 0;
    std::uint64_t promised = 0;
    for (const auto& [key, value] : expected) {
      ASSERT_FALSE(merged->at_end());
      EXPECT_EQ(merged->key(), key);
      EXPECT_EQ(merged->edit().removes, !value);
      EXPECT_TRUE(!value || std::ranges::equal(merged->edit().value, *value));
      if (key.head != last_head) {
        EXPECT_GE(promised, passed);
        EXPECT_LE(promised, passed + counted_twice);
        promised = must(merged->count_to(key.head));
        passed = 0;
        last_head = key.head;
      }
      ++passed;
      must(merged->advance());
    }
    EXPECT_TRUE(merged->at_end());
  }
}

TEST(MergedKeys, RefuseAKeyThatIsThereTwice) {
  ContainerStore store;
  const auto writer = store.writer();
  const Keys keys{{{1, 1}, value_of(1)}, {{2, 2}, value_of(2)}};
  const Keys others{{{1, 2}, value_of(3)}, {{2, 2}, value_of(2)}};
  std::vector<std::unique_ptr<drum::KeySource>> sources;
  sources.push_back(partition_of(*writer, keys));
  sources.push_back(partition_of(*writer, others));
  const auto merged = must(drum::MergedKeys::open(std::move(sources)));
  must(merged->advance());
  EXPECT_EQ(merged->key(), (Key16{1, 2}));
  EXPECT_EQ(merged->advance().error().code, Errc::kSegmentInvalid);
}

}  // namespace
}  // namespace crawlstore::testing
