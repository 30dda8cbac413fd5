// SPDX-License-Identifier: Apache-2.0
#include "drum/drum_content.h"

#include <algorithm>
#include <bitset>
#include <optional>

#include "format/endian.h"
#include "format/invalid.h"
#include "format/key_block.h"
#include "format/partition_index.h"
#include "format/request_run.h"

namespace crawlstore::drum {

using container::PayloadWindow;
using container::RunContentPtr;
using format::invalid;
namespace {

constexpr std::uint64_t kProgressBytes = 1024 * 1024;

/// The index of a partition, entry by entry.
class IndexWalk {
 public:
  IndexWalk(const container::PayloadSource& payload, const format::PartitionFooter& footer,
            const container::ContentProgress& progress)
      : footer_(footer),
        rules_(footer),
        heads_(payload, {footer.index_offset_bytes, footer.block_count * 8}, progress),
        tails_(payload, {heads_end(), footer.block_count * (footer.key_bytes - 8U)}, progress),
        offsets_(payload, {offsets_begin(), rest_bytes(payload.length_bytes)}, progress) {}

  /// Returns the next entry; nothing after the last.
  Result<std::optional<format::PartitionIndexEntry>> next() {
    if (count_ == footer_.block_count) {
      CRAWLSTORE_TRY(check_padding());
      return std::optional<format::PartitionIndexEntry>{};
    }
    const std::uint64_t i = count_++;
    format::PartitionIndexEntry entry;
    CRAWLSTORE_TRY(const auto head, heads_.at(footer_.index_offset_bytes + i * 8, 8));
    entry.first_key.head = format::load<std::uint64_t>(head);
    if (footer_.key_bytes == format::kWideKeyBytes) {
      CRAWLSTORE_TRY(const auto tail, tails_.at(heads_end() + i * 8, 8));
      entry.first_key.tail = format::load<std::uint64_t>(tail);
    }
    CRAWLSTORE_TRY(const auto place, offsets_.at(offsets_begin() + i * 4, 4));
    entry.offset_bytes = std::uint64_t{format::load<std::uint32_t>(place)} * 8;
    CRAWLSTORE_TRY(rules_.take(entry));
    return std::optional(entry);
  }

 private:
  [[nodiscard]] std::uint64_t heads_end() const {
    return footer_.index_offset_bytes + footer_.block_count * 8;
  }
  [[nodiscard]] std::uint64_t offsets_begin() const {
    return footer_.index_offset_bytes + footer_.block_count * footer_.key_bytes;
  }
  /// Returns the bytes of the index from the offsets on.
  [[nodiscard]] std::uint64_t rest_bytes(std::uint64_t payload_bytes) const {
    return payload_bytes - sizeof(format::PartitionFooter) - offsets_begin();
  }
  Result<void> check_padding() {
    const std::uint64_t begin = rules_.padding_offset();
    const std::uint64_t length = format::round_up(begin, 8) - begin;
    CRAWLSTORE_TRY(const auto padding, offsets_.at(begin, length));
    return rules_.take_padding({padding, length});
  }

  const format::PartitionFooter& footer_;
  format::PartitionIndexRules rules_;
  PayloadWindow heads_;
  PayloadWindow tails_;
  PayloadWindow offsets_;
  std::uint64_t count_ = 0;
};

/// Walks the blocks of a partition along with its index.
class PartitionWalk {
 public:
  PartitionWalk(const container::PayloadSource& payload, const format::PartitionFooter& footer,
                const container::ContentProgress& progress)
      : footer_(footer),
        progress_(progress),
        index_(payload, footer, progress),
        blocks_(payload, {0, footer.index_offset_bytes}, progress) {}

  Result<void> walk() {
    auto entry = index_.next();
    std::uint64_t reported = 0;
    while (entry && *entry) {
      const auto next = index_.next();
      if (!next) return tl::unexpected<Error>(next.error());
      const std::uint64_t end = *next ? (*next)->offset_bytes : footer_.index_offset_bytes;
      CRAWLSTORE_TRY(walk_block(**entry, end));
      if (end - reported >= kProgressBytes) {
        CRAWLSTORE_TRY(progress_(end - reported));
        reported = end;
      }
      entry = next;
    }
    if (!entry) return tl::unexpected<Error>(entry.error());
    if (key_count_ != footer_.key_count) {
      return invalid("the blocks of a partition hold another number of keys than its footer says",
                     footer_.index_offset_bytes);
    }
    if (last_key_.head != footer_.last_key) {
      return invalid("the last key of a partition is not the one its footer says",
                     footer_.index_offset_bytes);
    }
    return progress_(footer_.index_offset_bytes - reported);
  }

 private:
  /// Checks that the block that the index names ends at `end`, where the next one begins.
  Result<void> walk_block(const format::PartitionIndexEntry& entry, std::uint64_t end) {
    const std::uint64_t offset = entry.offset_bytes;
    const auto block = parse(offset, end - offset);
    if (!block) return at_block(block.error(), offset);
    const auto decoded = format::decode_keys(*block, keys_, tails_);
    if (!decoded) return at_block(decoded.error(), offset);
    if (offset + block->block_bytes != end) {
      return invalid("a block of a partition does not end where the index says", offset);
    }
    const Key16 lowest{keys_[0], tails_[0]};
    if (lowest != entry.first_key) {
      return invalid("the first key of a block is not the one the index says", offset);
    }
    if (key_count_ != 0 && lowest <= last_key_) {
      return invalid("the keys of a partition do not ascend from block to block", offset);
    }
    last_key_ = {keys_[block->key_count - 1], tails_[block->key_count - 1]};
    key_count_ += block->key_count;
    return {};
  }

  /// Checks a block in `length` bytes. It loads only as many as it needs, as most bytes that are no
  /// block, or a short one, show it at once.
  Result<format::KeyBlock> parse(std::uint64_t offset, std::uint64_t length) {
    if (length > kBlockBytesMax) return invalid("a block of a partition is too long", 0);
    const std::uint64_t guess = std::min(length, PayloadWindow::kWindowBytes);
    for (const std::uint64_t tried : {guess, length}) {
      CRAWLSTORE_TRY(const auto bytes, blocks_.at(offset, tried));
      auto block = format::parse_key_block({bytes, tried}, footer_.value_bytes, footer_.key_bytes);
      if (block || tried == length) return block;
    }
    return invalid("a block of a partition is empty", 0);
  }

  /// Adds the block's place to the offset of a broken rule, which is relative to the block.
  static Result<void> at_block(Error error, std::uint64_t offset) {
    if (error.code == Errc::kSegmentInvalid) error.offset += offset;
    return tl::unexpected<Error>(error);
  }

  static constexpr std::uint64_t kBlockBytesMax = (std::uint64_t{1} << 32) - 8;

  const format::PartitionFooter& footer_;
  const container::ContentProgress& progress_;
  IndexWalk index_;
  PayloadWindow blocks_;
  format::BlockNumbers keys_{};
  format::BlockNumbers tails_{};  // of 8-byte keys zeros
  Key16 last_key_;
  std::uint64_t key_count_ = 0;
};

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

/// Returns the content that key runs and result runs have in common.
template <class Run>
std::unique_ptr<RequestContent> content_of(const Run& run) {
  auto content = std::make_unique<RequestContent>(run.keys.size());
  content->key_bytes = run.tails.empty() ? format::kKeyBytes : format::kWideKeyBytes;
  content->value_bytes = run.value_bytes;
  take_range(run.keys, content->key_min, content->key_max);
  return content;
}

}  // namespace

Result<RunContentPtr> check_partition(const container::PayloadSource& payload,
                                      const container::ContentProgress& progress) {
  const std::uint64_t footer_bytes =
      std::min<std::uint64_t>(payload.length_bytes, sizeof(format::PartitionFooter));
  CRAWLSTORE_TRY(const auto bytes,
                 payload.view({payload.length_bytes - footer_bytes, footer_bytes}));
  CRAWLSTORE_TRY(const auto footer,
                 format::parse_partition_footer({bytes, footer_bytes}, payload.length_bytes));
  CRAWLSTORE_TRY(PartitionWalk(payload, footer, progress).walk());
  CRAWLSTORE_TRY(progress(payload.length_bytes - footer.index_offset_bytes));
  auto content = std::make_unique<KeyContent>(footer.key_count);
  content->key_bytes = footer.key_bytes;
  content->value_bytes = footer.value_bytes;
  content->key_min = footer.first_key;
  content->key_max = footer.last_key;
  return content;
}

Result<RunContentPtr> check_key_run(std::span<const std::byte> payload) {
  std::vector<std::uint64_t> keys;
  CRAWLSTORE_TRY(const auto run, format::parse_key_run(payload, keys));
  auto content = content_of(run);
  content->sequence_min = run.first_sequence;
  content->sequence_max =
      run.first_sequence +
      (run.sequences.empty() ? run.keys.size() - 1 : std::uint64_t{run.sequences.back()});
  if (!run.sequences.empty()) {
    content->sequence_column_bytes =
        static_cast<std::uint64_t>(std::as_bytes(run.sequences).data() - payload.data());
  }
  content->consumers = consumers_of(run.tags.empty() ? std::span(&run.uniform_tag, 1) : run.tags);
  return content;
}

Result<RunContentPtr> check_aux_run(std::span<const std::byte> payload) {
  CRAWLSTORE_TRY(const auto run, format::parse_aux_run(payload));
  if (const char* broken = format::check_blocks(run.blocks)) {
    return fail(Errc::kSegmentInvalid, broken);
  }
  return std::make_unique<container::RunContent>(run.record_count);
}

Result<RunContentPtr> check_result_run(std::span<const std::byte> payload) {
  CRAWLSTORE_TRY(const auto run, format::parse_result_run(payload));
  auto content = content_of(run);
  take_range(run.sequences, content->sequence_min, content->sequence_max);
  content->consumers = consumers_of(run.tags);
  return content;
}

}  // namespace crawlstore::drum
