// SPDX-License-Identifier: Apache-2.0
//
// Invariant: the keys of block_ before position_ are below every key that is still asked for.
#include "drum/partition_probe.h"

namespace crawlstore::drum {

Result<void> PartitionProbe::load_block_of(Key16 key) {
  const auto index = lookup_->find_block(key);
  if (!index) return tl::unexpected<Error>(index.error());
  const auto block = lookup_->block(*index);
  if (!block) return tl::unexpected<Error>(block.error());
  if (const auto decoded = format::decode_keys(*block, keys_, tails_); !decoded) {
    return fail(Errc::kSegmentInvalid, decoded.error().text, lookup_->reader().run().offset_bytes);
  }
  block_ = *block;
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
  return Found{format::value_at(block_, position_, shape_.value_bytes)};
}

}  // namespace crawlstore::drum
