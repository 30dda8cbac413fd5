// SPDX-License-Identifier: Apache-2.0
#include "container/tile_reader.h"

namespace crawlstore::container {

Result<TileReader> TileReader::open(std::shared_ptr<Reader> reader, SegmentId segment) {
  const auto* entry = reader->directory().find(segment);
  if (entry == nullptr || entry->storage_class != StorageClass::kTiled) {
    return fail(Errc::kUnknownName, "no tiled segment has this id", Error::kNoOffset, segment);
  }
  return TileReader(std::move(reader), *entry);
}

Result<std::span<const std::byte>> TileReader::tile(std::uint64_t index) const {
  if (index >= tile_count_) {
    return fail(Errc::kInvalidArgument, "the segment has no such tile", Error::kNoOffset,
                entry_->id);
  }
  const format::RunRef& run = ref(index);
  return reader_->run_reader(entry_->id, run)->bytes(0, run.payload_bytes);
}

}  // namespace crawlstore::container
