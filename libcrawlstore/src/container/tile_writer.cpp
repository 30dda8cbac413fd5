// SPDX-License-Identifier: Apache-2.0
//
// Invariants: a reference in the tree is new (in a reserved extent) if and only if it was born in
// the writer's next generation; own_ are those of them that this object has to give back.
#include "container/tile_writer.h"

#include <utility>

#include "base/assert.h"
#include "container/run_io.h"
#include "format/layout.h"

namespace crawlstore::container {
namespace {

constexpr std::uint64_t most_tiles() {
  std::uint64_t tiles = format::kTileFanOut;
  for (std::uint32_t level = 0; level < format::kTileLevelMax; ++level) {
    tiles *= format::kTileFanOut;
  }
  return tiles;
}
constexpr std::uint64_t kTilesMax = most_tiles();

}  // namespace

Result<TileWriter> TileWriter::open(SegmentWriter& writer, SegmentId segment) {
  const auto* entry = writer.find(segment);
  if (entry == nullptr || entry->storage_class != StorageClass::kTiled) {
    return fail(Errc::kUnknownName, "no tiled segment has this id", Error::kNoOffset, segment);
  }
  return TileWriter(writer, *entry, TileTree(*entry));
}

TileWriter TileWriter::create(SegmentWriter& writer, SegmentKind kind, SegmentId owner) {
  format::SegmentEntry entry;
  entry.id = writer.new_segment_id();
  entry.kind = kind;
  entry.storage_class = StorageClass::kTiled;
  entry.owner = owner;
  return TileWriter(writer, std::move(entry), TileTree());
}

TileWriter::TileWriter(TileWriter&& other) noexcept
    : writer_(std::exchange(other.writer_, nullptr)),
      entry_(std::move(other.entry_)),
      tree_(std::move(other.tree_)),
      changed_(other.changed_),
      own_(std::move(other.own_)),
      replaced_(std::move(other.replaced_)) {}

TileWriter::~TileWriter() {
  if (writer_ == nullptr) return;
  for (const Extent& extent : own_) writer_->release(extent);
}

Result<void> TileWriter::read(std::uint64_t index, std::vector<std::byte>& payload) const {
  CRAWLSTORE_ASSERT(writer_ != nullptr);
  if (index >= tile_count()) {
    return fail(Errc::kInvalidArgument, "the segment has no such tile", Error::kNoOffset,
                entry_.id);
  }
  const auto& run = ref(index);
  return read_run(writer_->storage(), run_name(writer_->identity(), entry_.id, run.run_id), run,
                  payload);
}

Result<format::RunRef> TileWriter::write_new(TilePlace place, std::span<const std::byte> payload,
                                             std::uint64_t record_count) {
  const auto label = label_of(entry_, writer_->new_run_ids(1), TileTree::first_tile(place));
  auto run = write_run(*writer_, label, payload, record_count);
  if (!run) return run;
  own_.insert(run->extent());
  run->born = writer_->next_generation();  // as the node above says it
  return run;
}

/// `old` is no longer in the tree.
void TileWriter::replace(const format::RunRef& old) {
  if (old.born != writer_->next_generation()) return;
  const Extent extent = old.extent();
  if (own_.erase(extent) != 0) {
    writer_->release(extent);
  } else {
    replaced_.push_back(extent);
  }
}

Result<void> TileWriter::write(std::uint64_t index, std::span<const std::byte> payload,
                               std::uint64_t record_count) {
  CRAWLSTORE_ASSERT(writer_ != nullptr);
  if (index > tile_count()) {
    return fail(Errc::kInvalidArgument, "a tile would leave a gap", Error::kNoOffset, entry_.id);
  }
  if (index >= kTilesMax) {
    return fail(Errc::kTooLarge, "a tiled segment would have too many tiles", Error::kNoOffset,
                entry_.id);
  }
  CRAWLSTORE_TRY(const auto run, write_new({0, index}, payload, record_count));
  if (index < tile_count()) replace(ref(index));
  tree_.set_tile(index, run);
  changed_ = true;
  return {};
}

Result<void> TileWriter::finish() {
  CRAWLSTORE_ASSERT(writer_ != nullptr);
  if (!changed_) {
    writer_ = nullptr;
    return {};
  }
  std::vector<std::byte> payload;
  CRAWLSTORE_TRY(tree_.write_nodes(
      [&](TilePlace place, const format::TileNode& node, const format::RunRef* replaced) {
        payload.clear();
        format::encode_tile_node(node, payload);
        auto run = write_new(place, payload, node.record_count());
        if (run && replaced != nullptr) replace(*replaced);
        return run;
      }));
  tree_.store_in(entry_);
  SegmentWriter& writer = *std::exchange(writer_, nullptr);
  for (const Extent& extent : replaced_) writer.release(extent);
  writer.put(std::move(entry_));
  return {};
}

}  // namespace crawlstore::container
