// SPDX-License-Identifier: Apache-2.0
//
// Invariant: the keys of block_ before position_ are below the key of every later look-up.
#include "drum/partition_probe.h"

#include <algorithm>

namespace crawlstore::drum {
namespace {

/// Bytes that the disk fetches while the probe searches a window of the same length.
constexpr std::uint64_t kWindowBytes = 2 * 1024 * 1024;

}  // namespace

void PartitionProbe::read_ahead(std::uint64_t offset) {
  while (ahead_.length_bytes != 0 && offset + kWindowBytes >= ahead_.offset_bytes) {
    const std::uint64_t length = std::min(kWindowBytes, ahead_.length_bytes);
    lookup_->reader().prefetch({ahead_.offset_bytes, length});
    ahead_ = {ahead_.offset_bytes + length, ahead_.length_bytes - length};
  }
}

Result<void> PartitionProbe::expect(Key16 first, Key16 last, std::uint64_t key_count) {
  const auto& footer = lookup_->footer();
  if (last.head < footer.first_key || first.head > footer.last_key) return {};
  std::uint64_t begin = 0;
  if (first.head >= footer.first_key) {
    CRAWLSTORE_TRY(const auto block, lookup_->find_block(first));
    begin = block;
  }
  std::uint64_t end = lookup_->block_count() - 1;
  if (last.head <= footer.last_key) {
    CRAWLSTORE_TRY(const auto block, lookup_->find_block(last));
    end = block;
  }
  if (end < begin || key_count < end - begin + 1) return {};
  CRAWLSTORE_TRY(const auto first_place, lookup_->block_place(begin));
  CRAWLSTORE_TRY(const auto last_place, lookup_->block_place(end));
  if (first_place.offset_bytes < last_place.end_bytes()) {
    ahead_ = {first_place.offset_bytes, last_place.end_bytes() - first_place.offset_bytes};
  }
  return {};
}

Result<void> PartitionProbe::load_block_of(Key16 key) {
  CRAWLSTORE_TRY(const auto index, lookup_->find_block(key));
  if (ahead_.length_bytes != 0) {
    CRAWLSTORE_TRY(const auto place, lookup_->block_place(index));
    read_ahead(place.offset_bytes);
  }
  CRAWLSTORE_TRY(const auto block, lookup_->block(index));
  if (const auto decoded = format::decode_keys(block, keys_, tails_); !decoded) {
    return fail(Errc::kSegmentInvalid, decoded.error().text, lookup_->reader().run().offset_bytes);
  }
  block_ = block;
  position_ = 0;
  return {};
}

Result<std::optional<std::span<const std::byte>>> PartitionProbe::find(Key16 key) {
  using Found = std::optional<std::span<const std::byte>>;
  const auto& footer = lookup_->footer();
  if (key.head < footer.first_key || key.head > footer.last_key) return Found{};
  if (block_.key_count == 0 || key_at(block_.key_count - 1) < key) {
    CRAWLSTORE_TRY(load_block_of(key));
  }
  while (position_ < block_.key_count && key_at(position_) < key) ++position_;
  if (position_ == block_.key_count || key_at(position_) != key) return Found{};
  return Found{format::value_at(block_, position_, footer.value_bytes)};
}

Result<void> find_sorted(std::shared_ptr<const PartitionLookup> lookup, std::span<const Key16> keys,
                         std::size_t first, std::size_t end, const VisitFound& visit) {
  if (first == end) return {};
  PartitionProbe probe(std::move(lookup));
  CRAWLSTORE_TRY(probe.expect(keys[first], keys[end - 1], end - first));
  for (std::size_t i = first; i < end; ++i) {
    CRAWLSTORE_TRY(const auto value, probe.find(keys[i]));
    if (value) CRAWLSTORE_TRY(visit(i, *value));
  }
  return {};
}

}  // namespace crawlstore::drum
