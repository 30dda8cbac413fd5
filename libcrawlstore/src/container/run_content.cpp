// SPDX-License-Identifier: Apache-2.0
#include "container/run_content.h"

#include <algorithm>
#include <bitset>

#include "base/assert.h"
#include "format/endian.h"
#include "format/key_block.h"
#include "format/partition_index.h"
#include "format/request_run.h"

namespace crawlstore::container {
namespace {

constexpr std::uint64_t kProgressBytes = 1024 * 1024;

tl::unexpected<Error> invalid(const char* text, std::uint64_t offset) {
  return fail(Errc::kSegmentInvalid, text, offset);
}

/// Walks the blocks of a partition beside its index.
class PartitionWalk {
 public:
  PartitionWalk(std::span<const std::byte> payload, const format::PartitionFooter& footer)
      : blocks_(payload.first(footer.index_offset_bytes)),
        index_(payload.data() + footer.index_offset_bytes),
        footer_(footer) {}

  Result<void> walk(const ContentProgress& progress) {
    std::uint64_t offset = 0;
    std::uint64_t reported = 0;
    for (std::uint64_t i = 0; i < footer_.block_count; ++i) {
      const auto end = walk_block(i, offset);
      if (!end) return tl::unexpected<Error>(end.error());
      offset = *end;
      if (offset - reported >= kProgressBytes) {
        CRAWLSTORE_TRY(progress(offset - reported));
        reported = offset;
      }
    }
    if (offset != blocks_.size()) {
      return invalid("there are bytes between the blocks and the index of a partition", offset);
    }
    if (key_count_ != footer_.key_count) {
      return invalid("the blocks of a partition hold another number of keys than its footer says",
                     footer_.index_offset_bytes);
    }
    if (last_key_.head != footer_.last_key) {
      return invalid("the last key of a partition is not the one its footer says",
                     footer_.index_offset_bytes);
    }
    return progress(blocks_.size() - reported);
  }

 private:
  /// Block `i` must begin at `offset`; returns where it ends.
  Result<std::uint64_t> walk_block(std::uint64_t i, std::uint64_t offset) {
    const bool is_wide = footer_.key_bytes == format::kWideKeyBytes;
    Key16 first_key = format::load<std::uint64_t>(index_ + i * 8);
    if (is_wide) {
      first_key.tail = format::load<std::uint64_t>(index_ + (footer_.block_count + i) * 8);
    }
    const auto place =
        format::load<std::uint32_t>(index_ + footer_.block_count * footer_.key_bytes + i * 4);
    if (std::uint64_t{place} * 8 != offset) {
      return invalid("a block of a partition is not where the index says", offset);
    }
    const auto at_block = [offset](Error error) {
      error.offset += offset;
      return tl::unexpected<Error>(error);
    };
    const auto block =
        format::parse_key_block(blocks_.subspan(offset), footer_.value_bytes, footer_.key_bytes);
    if (!block) return at_block(block.error());
    const auto decoded = format::decode_keys(*block, keys_, tails_);
    if (!decoded) return at_block(decoded.error());
    const Key16 lowest{keys_[0], tails_[0]};
    if (lowest != first_key) {
      return invalid("the first key of a block is not the one the index says", offset);
    }
    if (i != 0 && lowest <= last_key_) {
      return invalid("the keys of a partition do not ascend from block to block", offset);
    }
    last_key_ = {keys_[block->key_count - 1], tails_[block->key_count - 1]};
    key_count_ += block->key_count;
    return offset + block->block_bytes;
  }

  std::span<const std::byte> blocks_;
  const std::byte* index_;
  const format::PartitionFooter& footer_;
  format::BlockNumbers keys_{};
  format::BlockNumbers tails_{};  // of 8-byte keys zeros
  Key16 last_key_;
  std::uint64_t key_count_ = 0;
};

Result<RunContent> check_partition(std::span<const std::byte> payload,
                                   const ContentProgress& progress) {
  const std::size_t footer_bytes = std::min(payload.size(), sizeof(format::PartitionFooter));
  const auto footer = format::parse_partition_footer(payload.last(footer_bytes), payload.size());
  if (!footer) return tl::unexpected<Error>(footer.error());
  CRAWLSTORE_TRY(format::check_partition_index(
      payload.subspan(footer->index_offset_bytes)
          .first(payload.size() - footer->index_offset_bytes - sizeof(format::PartitionFooter)),
      *footer));
  CRAWLSTORE_TRY(PartitionWalk(payload, *footer).walk(progress));
  CRAWLSTORE_TRY(progress(payload.size() - footer->index_offset_bytes));
  RunContent content;
  content.record_count = footer->key_count;
  content.key_bytes = footer->key_bytes;
  content.value_bytes = footer->value_bytes;
  content.key_min = footer->first_key;
  content.key_max = footer->last_key;
  return content;
}

template <class T>
void take_range(std::span<const T> numbers, std::uint64_t& lowest, std::uint64_t& highest) {
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  lowest = *low;
  highest = *high;
}

std::vector<std::uint16_t> consumers_of(std::span<const std::uint16_t> tags) {
  std::bitset<1 << 14> named;
  for (const std::uint16_t tag : tags) named.set(format::consumer_of(tag));
  std::vector<std::uint16_t> consumers;
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (named.test(i)) consumers.push_back(static_cast<std::uint16_t>(i));
  }
  return consumers;
}

Result<RunContent> check_key_run(std::span<const std::byte> payload) {
  std::vector<std::uint64_t> keys;
  const auto run = format::parse_key_run(payload, keys);
  if (!run) return tl::unexpected<Error>(run.error());
  RunContent content;
  content.record_count = run->keys.size();
  content.key_bytes = run->tails.empty() ? format::kKeyBytes : format::kWideKeyBytes;
  content.value_bytes = run->value_bytes;
  take_range(run->keys, content.key_min, content.key_max);
  content.sequence_min = run->first_sequence;
  content.sequence_max =
      run->first_sequence +
      (run->sequences.empty() ? run->keys.size() - 1 : std::uint64_t{run->sequences.back()});
  if (!run->sequences.empty()) {
    content.sequence_column_bytes =
        static_cast<std::uint64_t>(std::as_bytes(run->sequences).data() - payload.data());
  }
  content.consumers = consumers_of(run->tags.empty() ? std::span(&run->uniform_tag, 1) : run->tags);
  return content;
}

Result<RunContent> check_aux_run(std::span<const std::byte> payload) {
  const auto run = format::parse_aux_run(payload);
  if (!run) return tl::unexpected<Error>(run.error());
  if (const char* broken = format::check_blocks(run->blocks)) {
    return fail(Errc::kSegmentInvalid, broken);
  }
  RunContent content;
  content.record_count = run->record_count;
  return content;
}

Result<RunContent> check_result_run(std::span<const std::byte> payload) {
  const auto run = format::parse_result_run(payload);
  if (!run) return tl::unexpected<Error>(run.error());
  RunContent content;
  content.record_count = run->keys.size();
  content.key_bytes = run->tails.empty() ? format::kKeyBytes : format::kWideKeyBytes;
  content.value_bytes = run->value_bytes;
  take_range(run->keys, content.key_min, content.key_max);
  take_range(run->sequences, content.sequence_min, content.sequence_max);
  content.consumers = consumers_of(run->tags);
  return content;
}

}  // namespace

Result<RunContent> check_run_content(SegmentKind kind, std::span<const std::byte> payload,
                                     const ContentProgress& progress) {
  if (kind == SegmentKind::kDrumPartition) return check_partition(payload, progress);
  CRAWLSTORE_TRY(progress(payload.size()));
  if (kind == SegmentKind::kDrumKeyLog) return check_key_run(payload);
  if (kind == SegmentKind::kDrumAuxLog) return check_aux_run(payload);
  CRAWLSTORE_ASSERT(kind == SegmentKind::kDrumResults);
  return check_result_run(payload);
}

}  // namespace crawlstore::container
