// SPDX-License-Identifier: Apache-2.0
#include "drum/key_table.h"

#include <map>

#include <gtest/gtest.h>

#include <crawlstore/drum_view.h>

#include "container/compact.h"
#include "container/container_store.h"
#include "format/endian.h"
#include "support/random.h"

namespace crawlstore::testing {
namespace {

constexpr std::int32_t kValueBytes = 9;
using Value = std::array<std::byte, kValueBytes>;
using Model = std::map<Key16, Value>;

Value value_of(std::uint64_t number) {
  Value value{};
  format::store(value.data(), number);
  value.back() = std::byte{0x5A};
  return value;
}

drum::KeyTable open_table(container::Writer& writer, std::uint32_t bucket_count,
                          std::uint64_t keys_max) {
  return must(drum::KeyTable::open(writer, "pages", {kValueBytes, bucket_count, keys_max}));
}

/// Edits of a batch, ascending: some of them remove.
struct Edits {
  std::vector<drum::KeyEdit> list;
  std::map<Key16, std::optional<Value>> owned;

  void make() {
    list.clear();
    for (const auto& [key, value] : owned) {
      const auto bytes = value ? std::span<const std::byte>(*value) : std::span<const std::byte>();
      list.push_back({key, !value, bytes});
    }
  }
  void apply_to(Model& model) const {
    for (const auto& [key, value] : owned) {
      if (value) {
        model[key] = *value;
      } else {
        model.erase(key);
      }
    }
  }
};

Edits random_edits(Random& random, std::uint64_t count) {
  Edits edits;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Key16 key{random.below(40) << 58, random.below(200)};  // heads repeat, as hosts do
    const bool removes = random.below(4) == 0;
    edits.owned[key] = removes ? std::nullopt : std::optional(value_of(random.next()));
  }
  edits.make();
  return edits;
}

/// Compares the contents of the file, after a commit.
void expect_same(const ContainerStore& store, const drum::KeyTable& table, const Model& model) {
  EXPECT_EQ(table.key_count(), model.size());
  if (model.empty()) return;  // perhaps nothing was ever committed
  Model found;
  const auto view =
      must(DrumView::open(must(Snapshot::open(store.storage(OpenMode::kRead))), "pages"));
  must(view.for_each_key([&](Key16 key, std::span<const std::byte> value) {
    Value copy{};
    std::copy(value.begin(), value.end(), copy.begin());
    found[key] = copy;
    return true;
  }));
  EXPECT_EQ(found, model);
}

void expect_finds(drum::KeyTable& table, const Model& model) {
  std::vector<Key16> keys;
  for (std::uint64_t head = 0; head < 42; ++head) {
    for (std::uint64_t tail = 0; tail < 200; tail += 7) keys.push_back({head << 58, tail});
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  std::set<std::size_t> places;
  must(table.find_sorted(
      keys, [&](std::size_t place, std::span<const std::byte> value) -> Result<void> {
        places.insert(place);
        const auto expected = model.find(keys[place]);
        EXPECT_NE(expected, model.end());
        if (expected != model.end()) {
          EXPECT_TRUE(std::equal(value.begin(), value.end(), expected->second.begin()));
        }
        return {};
      }));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(places.contains(i), model.contains(keys[i])) << i;
  }
}

TEST(KeyTable, HoldsWhatAMapHolds) {
  for (const std::uint32_t bucket_count : {1U, 16U}) {
    for (const std::uint64_t keys_max : {10U, 100'000U}) {
      ContainerStore store;
      Random random(bucket_count + keys_max);
      Model model;
      auto writer = store.writer();
      auto table = open_table(*writer, bucket_count, keys_max);
      for (int step = 0; step < 40; ++step) {
        const Edits edits = random_edits(random, 1 + random.below(300));
        must(table.apply(*writer, edits.list));
        if (random.below(4) == 0) {
          table.dropped();
          writer->drop_changes();
        } else {
          must(writer->commit());
          table.committed();
          edits.apply_to(model);
        }
        expect_same(store, table, model);
        expect_finds(table, model);
      }
      writer.reset();
      writer = store.writer();
      auto again = open_table(*writer, bucket_count, keys_max);
      expect_same(store, again, model);
      const auto report = store.verified();
      EXPECT_TRUE(report.findings.empty()) << text_of(report);
    }
  }
}

/// Bytes that were written and not committed are free again.
TEST(KeyTable, GivesBackWhatItDrops) {
  ContainerStore store;
  auto writer = store.writer();
  auto table = open_table(*writer, 4, 50);
  Random random(3);
  must(table.apply(*writer, random_edits(random, 200).list));
  must(writer->commit());
  table.committed();
  must(writer->commit(true));
  const std::uint64_t free_bytes = writer->free_bytes();
  const std::uint64_t file_bytes = writer->file_bytes();
  for (int i = 0; i < 5; ++i) {
    must(table.apply(*writer, random_edits(random, 200).list));
    must(table.apply(*writer, random_edits(random, 200).list));
    table.dropped();
    writer->drop_changes();
  }
  const std::uint64_t grown = writer->file_bytes() - file_bytes;
  EXPECT_EQ(writer->free_bytes(), free_bytes + grown);
}

/// Edits of which the second cannot be read.
struct BrokenEdits final : drum::EditKeys {
  using EditKeys::EditKeys;
  Result<void> advance() override { return fail(Errc::kIo, "broken"); }
};

TEST(KeyTable, KeepsWhatWasAppliedBeforeEditsThatFail) {
  ContainerStore store;
  auto writer = store.writer();
  auto table = open_table(*writer, 4, 50);
  Random random(4);
  Model model;
  const Edits edits = random_edits(random, 200);
  must(table.apply(*writer, edits.list));
  edits.apply_to(model);
  const std::uint64_t free_bytes = writer->free_bytes();
  const std::uint64_t file_bytes = writer->file_bytes();
  const Edits others = random_edits(random, 200);
  BrokenEdits broken(others.list);
  container::WorkSteps unasked;
  EXPECT_EQ(table.apply(*writer, broken, unasked).error().code, Errc::kIo);
  EXPECT_EQ(writer->free_bytes() - free_bytes, writer->file_bytes() - file_bytes);
  expect_finds(table, model);
  must(writer->commit());
  table.committed();
  expect_same(store, table, model);
}

TEST(KeyTable, FindsAndRewritesWhatCompactionHasMoved) {
  ContainerStore store;
  auto writer = store.writer();
  const SegmentId drum = add_drum(*writer);
  std::vector<SegmentId> blobs(20);  // in front of the table
  for (SegmentId& blob : blobs) blob = add_blob(*writer, drum, 4 * kKiB, 1);
  auto table = open_table(*writer, 4, 50);
  Random random(5);
  Model model;
  const auto commit_edits = [&] {
    const Edits edits = random_edits(random, 200);
    must(table.apply(*writer, edits.list));
    must(writer->commit());
    table.committed();
    edits.apply_to(model);
  };
  commit_edits();
  expect_finds(table, model);
  for (const SegmentId blob : blobs) writer->remove(blob);
  must(writer->commit());
  EXPECT_NE(must(container::compact(*writer, {})).moved_bytes, 0U);
  for (std::size_t i = 0; i < blobs.size(); ++i) add_blob(*writer, drum, 4 * kKiB, 2);
  must(writer->commit());
  expect_finds(table, model);
  commit_edits();
  expect_finds(table, model);
  expect_same(store, table, model);
}

TEST(KeyTable, RefusesDrumsOfOthers) {
  ContainerStore store;
  auto writer = store.writer();
  add_drum(*writer, "pages");
  must(writer->commit());
  const auto opened = drum::KeyTable::open(*writer, "pages", {kValueBytes, 1, 100});
  EXPECT_EQ(opened.error().code, Errc::kTypeMismatch);
}

}  // namespace
}  // namespace crawlstore::testing
