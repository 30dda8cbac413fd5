// SPDX-License-Identifier: Apache-2.0
#include "checksum.h"

#include <algorithm>
#include <array>

#include <xxhash.h>

#include "base/assert.h"
#include "endian.h"
#include "layout.h"

namespace crawlstore::format {

namespace {

constexpr std::uint64_t kLevelShift = 48;

std::uint64_t chunks_of(std::uint64_t length_bytes) {
  return (length_bytes + kChunkBytes - 1) / kChunkBytes;
}

}  // namespace

std::uint64_t checksum_seed(const Uuid& uuid, ChecksumDomain domain, std::uint64_t a,
                            std::uint64_t b, std::uint64_t c) {
  std::array<std::byte, 48> name{};
  std::memcpy(name.data(), uuid.data(), uuid.size());
  store<std::uint64_t>(name.data() + 16, static_cast<std::uint64_t>(domain));
  store<std::uint64_t>(name.data() + 24, a);
  store<std::uint64_t>(name.data() + 32, b);
  store<std::uint64_t>(name.data() + 40, c);
  return XXH3_64bits(name.data(), name.size());
}

std::uint64_t extent_seed(const Uuid& uuid, ChecksumDomain domain, Generation born,
                          std::uint64_t offset_bytes) {
  return checksum_seed(uuid, domain, born.value, offset_bytes, 0);
}

std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::uint64_t chunk_seed(const RunName& name, std::uint64_t level, std::uint64_t index) {
  return checksum_seed(name.uuid, ChecksumDomain::kChunk, name.segment.value, name.run.value,
                       level << kLevelShift | index);
}

std::uint64_t extent_bytes(std::uint64_t payload_bytes) {
  std::uint64_t end_bytes = round_up(payload_bytes, 8);
  std::uint64_t level_bytes = end_bytes;
  do {
    level_bytes = chunks_of(level_bytes) * 8;
    end_bytes += level_bytes;
  } while (level_bytes > kChunkBytes);
  return round_up(end_bytes + sizeof(RunEnd), kUnitBytes);
}

ChecksumTree checksum_tree(std::uint64_t payload_bytes) {
  ChecksumTree tree;
  tree.payload_bytes = payload_bytes;
  tree.padded_payload_bytes = round_up(payload_bytes, 8);
  std::uint64_t end_bytes = tree.padded_payload_bytes;
  std::uint64_t covered_bytes = tree.padded_payload_bytes;
  do {
    tree.levels.push_back({end_bytes, chunks_of(covered_bytes)});
    covered_bytes = tree.levels.back().length_bytes();
    end_bytes += covered_bytes;
  } while (covered_bytes > kChunkBytes);
  tree.extent_bytes = round_up(end_bytes + sizeof(RunEnd), kUnitBytes);
  return tree;
}

std::uint64_t run_end_checksum(std::span<const std::byte> top, const Uuid& uuid,
                               const RunEnd& end) {
  return checksum(top.first(top.size() - sizeof end.checksum),
                  checksum_seed(uuid, ChecksumDomain::kRunEnd, end.segment_id, end.run_id, 0));
}

void seal_run_end(std::span<std::byte> top, const Uuid& uuid, RunEnd end) {
  CRAWLSTORE_ASSERT(top.size() >= sizeof end);
  std::byte* const place = top.data() + top.size() - sizeof end;
  store_struct(place, end);
  end.checksum = run_end_checksum(top, uuid, end);
  store_struct(place, end);
}

void ChecksumTreeBuilder::add_chunk(std::span<const std::byte> chunk) {
  CRAWLSTORE_ASSERT(!chunk.empty() && chunk.size() <= kChunkBytes && chunk.size() % 8 == 0);
  chunk_checksums_.push_back(checksum(chunk, chunk_seed(name_, 0, chunk_checksums_.size())));
}

ChecksumTreeBuilder::Tail ChecksumTreeBuilder::finish(const RunEnd& end) const {
  const ChecksumTree tree = checksum_tree(end.payload_bytes);
  CRAWLSTORE_ASSERT(tree.chunk_count() == chunk_checksums_.size());
  Tail tail;
  tail.bytes.resize(tree.extent_bytes - tree.padded_payload_bytes);
  const std::span<std::byte> bytes = tail.bytes;
  for (std::size_t i = 0; i < chunk_checksums_.size(); ++i) {
    store(bytes.data() + i * 8, chunk_checksums_[i]);
  }
  for (std::size_t level = 1; level < tree.levels.size(); ++level) {
    const auto& below = tree.levels[level - 1];
    const std::span<const std::byte> covered =
        bytes.subspan(below.offset_bytes - tree.padded_payload_bytes, below.length_bytes());
    std::byte* out = bytes.data() + (tree.levels[level].offset_bytes - tree.padded_payload_bytes);
    for (std::uint64_t j = 0; j < tree.levels[level].entry_count; ++j) {
      const std::uint64_t start = j * kChunkBytes;
      const std::uint64_t length = std::min(kChunkBytes, covered.size() - start);
      store(out + j * 8, checksum(covered.subspan(start, length), chunk_seed(name_, level, j)));
    }
  }
  const std::uint64_t top = tree.top().offset_bytes - tree.padded_payload_bytes;
  seal_run_end(bytes.subspan(top), name_.uuid, end);
  tail.checksum = checksum(bytes.subspan(top), chunk_seed(name_, tree.levels.size(), 0));
  return tail;
}

}  // namespace crawlstore::format
