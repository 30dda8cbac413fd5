// SPDX-License-Identifier: Apache-2.0
//
// Directories whose trees of tiles are broken in one place, with all checksums right.
#include <functional>

#include <gmock/gmock.h>

#include "container/tile_store.h"
#include "format/tile_node.h"

namespace crawlstore::testing {
namespace {

using format::RunRef;
using format::TileNode;

/// Writes tiles and nodes as a test wants them, then the segment of a root.
class CraftedTree {
 public:
  CraftedTree() : writer_(store_.writer()) {
    pages_ = add_pages(*writer_);
    segment_ = writer_->new_segment_id();
  }

  RunRef tile() { return write(tile_bytes(1), 2); }
  std::vector<RunRef> tiles(std::size_t count) {
    std::vector<RunRef> refs;
    for (std::size_t i = 0; i < count; ++i) refs.push_back(tile());
    return refs;
  }
  RunRef node(std::uint16_t level, std::vector<RunRef> children) {
    const TileNode node{level, std::move(children)};
    Bytes payload;
    format::encode_tile_node(node, payload);
    return write(payload, node.record_count());
  }
  /// A node of level 0 with so many tiles.
  RunRef leaf(std::size_t count) { return node(0, tiles(count)); }

  RunRef write(const Bytes& payload, std::uint64_t record_count) {
    auto run = must(
        write_run(*writer_, {segment_, SegmentKind::kPageRecords, pages_, writer_->new_run_ids(1)},
                  payload, record_count));
    run.born = writer_->next_generation();
    return run;
  }
  /// A run of another segment.
  RunRef other_run() { return writer_->find(pages_)->runs.front(); }

  /// The error of a reader of the store with this root.
  Error loaded(const RunRef& root) {
    put_root(root);
    const auto reader = store_.try_reader();
    return reader ? Error{} : reader.error();
  }
  std::string verdict(const RunRef& root) {
    const Error error = loaded(root);
    if (error.code == Errc{}) return "accepted";
    EXPECT_EQ(error.code, Errc::kDirectoryInvalid);
    return error.text;
  }
  void put_root(const RunRef& root) {
    writer_->put({segment_, SegmentKind::kPageRecords, StorageClass::kTiled, pages_, "", {root}});
    must(writer_->commit());
  }

  [[nodiscard]] ContainerStore& store() { return store_; }
  [[nodiscard]] SegmentId segment() const { return segment_; }

 private:
  ContainerStore store_;
  std::unique_ptr<container::Writer> writer_;
  SegmentId pages_;
  SegmentId segment_;
};

TEST(TileLoader, AcceptsTreesOfEveryShape) {
  for (const std::size_t count : {1U, 2U, 64U}) {
    CraftedTree tree;
    EXPECT_EQ(tree.verdict(tree.leaf(count)), "accepted") << count;
  }
  for (const std::size_t count : {1U, 63U, 64U}) {
    CraftedTree tree;
    const auto full = tree.leaf(64);
    EXPECT_EQ(tree.verdict(tree.node(1, {full, tree.leaf(count)})), "accepted") << count;
  }
}

// spec: container.md#tiled-segments rule 1
TEST(TileLoader, RejectsARootThatIsNoNode) {
  CraftedTree tree;
  EXPECT_EQ(tree.verdict(tree.write(Bytes(8), 1)), "the length of a tile node is out of range");
  CraftedTree long_root;
  EXPECT_EQ(long_root.verdict(long_root.write(Bytes(kMiB), 1)),
            "the length of a tile node is out of range");
  CraftedTree zeros;
  EXPECT_EQ(zeros.verdict(zeros.write(Bytes(72), 1)), "the magic number of a tile node is wrong");
}

// spec: container.md#tiled-segments rule 6
TEST(TileLoader, RejectsALevelThatDoesNotFitItsPlace) {
  const std::string wrong = "a tile node is of another level than its place asks for";
  CraftedTree flat;
  const auto full = flat.leaf(64);
  EXPECT_EQ(flat.verdict(flat.node(2, {full, flat.leaf(1)})), wrong);
  CraftedTree deep;
  const auto left = deep.node(1, {deep.leaf(64), deep.leaf(1)});
  EXPECT_EQ(deep.verdict(deep.node(1, {left, deep.leaf(1)})), wrong);
}

// spec: container.md#tiled-segments rule 7
TEST(TileLoader, RejectsNodesThatAreNotFull) {
  CraftedTree tree;
  const auto left = tree.leaf(63);
  EXPECT_EQ(tree.verdict(tree.node(1, {left, tree.leaf(64)})),
            "a tile node is not full, and not the last of its level");
  CraftedTree lonely;
  EXPECT_EQ(lonely.verdict(lonely.node(1, {lonely.leaf(64)})),
            "the tree of a tiled segment has a level too many");
}

TEST(TileLoader, ReadsNoNodeTwice) {
  CraftedTree tree;
  const auto full = tree.leaf(64);
  EXPECT_EQ(tree.verdict(tree.node(1, {full, full})), "two extents overlap");
}

// A small file that would unfold to 2^30 tiles.
TEST(TileLoader, EndsAtOnceInATreeThatUnfolds) {
  CraftedTree tree;
  RunRef node = tree.node(0, std::vector<RunRef>(64, tree.tile()));
  for (std::uint16_t level = 1; level <= 4; ++level) {
    node = tree.node(level, std::vector<RunRef>(64, node));
  }
  EXPECT_EQ(tree.verdict(node), "two extents overlap");
}

// spec: container.md#directory rule 10
TEST(TileLoader, RejectsTilesThatShareAPlace) {
  CraftedTree same;
  auto twin = same.tile();
  const auto tile = same.tile();
  twin.offset_bytes = tile.offset_bytes;
  EXPECT_EQ(same.verdict(same.node(0, {twin, tile})), "two extents overlap");
  CraftedTree others;
  auto stolen = others.tile();
  stolen.offset_bytes = others.other_run().offset_bytes;
  EXPECT_EQ(others.verdict(others.node(0, {stolen})), "two extents overlap");
}

// spec: container.md#directory rule 15
TEST(TileLoader, RejectsRunIdsThatAreGivenTwice) {
  CraftedTree tree;
  auto tiles = tree.tiles(2);
  tiles[1].run_id = tiles[0].run_id;
  EXPECT_EQ(tree.verdict(tree.node(0, tiles)), "two runs have the same id");
  CraftedTree others;
  auto tile = others.tile();
  tile.run_id = others.other_run().run_id;
  EXPECT_EQ(others.verdict(others.node(0, {tile})), "two runs have the same id");
}

// spec: container.md#tiled-segments rule 5
TEST(TileLoader, RejectsReferencesOutOfRange) {
  const auto verdict = [](const std::function<void(RunRef&)>& change) {
    CraftedTree tree;
    auto tile = tree.tile();
    change(tile);
    return tree.verdict(tree.node(0, {tile}));
  };
  EXPECT_EQ(verdict([](RunRef&) {}), "accepted");
  EXPECT_EQ(verdict([](RunRef& run) { run.offset_bytes = kMiB * 200; }),
            "an extent lies outside the data");
  EXPECT_EQ(verdict([](RunRef& run) { run.payload_bytes = format::kPayloadBytesMax; }),
            "an extent lies outside the data");
  EXPECT_EQ(verdict([](RunRef& run) { run.born = run.born.next(); }),
            "an extent is born outside of time");
  EXPECT_EQ(verdict([](RunRef& run) { run.run_id.value += 1; }),
            "a tile node does not have a greater run id than its children");
}

TEST(TileLoader, CallsAWrongChecksumDamage) {
  CraftedTree tree;
  auto root = tree.leaf(3);
  root.checksum ^= 1;
  const Error error = tree.loaded(root);
  EXPECT_EQ(error.code, Errc::kDirectoryDamaged);
  EXPECT_EQ(error.offset, root.offset_bytes);
  EXPECT_EQ(error.segment, tree.segment());
}

TEST(TileLoader, SaysWhereTheFileEnds) {
  CraftedTree tree;
  const auto root = tree.leaf(3);
  tree.put_root(root);
  const auto file = tree.store().bytes();
  for (std::size_t length = format::kDataStart; length < file.size(); length += 4096) {
    const ContainerStore cut(Bytes(file.begin(), file.begin() + static_cast<long>(length)));
    const auto reader = cut.try_reader();
    EXPECT_TRUE(reader || reader.error().code == Errc::kTruncated);
  }
}

}  // namespace
}  // namespace crawlstore::testing
