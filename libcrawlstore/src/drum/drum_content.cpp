// SPDX-License-Identifier: Apache-2.0
#include "drum/drum_content.h"

#include <algorithm>
#include <bitset>

#include "container/blocked_run.h"
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

/// The blocks of a partition, for check_blocked().
class PartitionWalk {
 public:
  PartitionWalk(const container::PayloadSource& payload, const format::PartitionFooter& footer,
                const container::ContentProgress& progress)
      : footer_(footer),
        rules_(footer),
        heads_(payload, {footer.index_offset_bytes, footer.block_count * 8}, progress),
        tails_(payload, {heads_end(), footer.block_count * (footer.key_bytes - 8U)}, progress),
        offsets_(payload, {offsets_begin(), payload.length_bytes - sizeof footer - offsets_begin()},
                 progress),
        blocks_(payload, {0, footer.index_offset_bytes}, progress) {}

  Result<format::PartitionIndexEntry> entry(std::uint64_t i) {
    format::PartitionIndexEntry entry{{}, footer_.index_offset_bytes};
    if (i == footer_.block_count) {
      CRAWLSTORE_TRY(check_padding());
      return entry;
    }
    CRAWLSTORE_TRY(const auto head, heads_.at(footer_.index_offset_bytes + i * 8, 8));
    entry.first_key.head = format::load<std::uint64_t>(head);
    if (footer_.key_bytes == format::kWideKeyBytes) {
      CRAWLSTORE_TRY(const auto tail, tails_.at(heads_end() + i * 8, 8));
      entry.first_key.tail = format::load<std::uint64_t>(tail);
    }
    CRAWLSTORE_TRY(const auto place, offsets_.at(offsets_begin() + i * 4, 4));
    entry.offset_bytes = std::uint64_t{format::load<std::uint32_t>(place)} * 8;
    CRAWLSTORE_TRY(rules_.take(entry));
    return entry;
  }

  Result<std::uint64_t> check_block(const format::PartitionIndexEntry& entry, std::uint64_t end) {
    const Extent place{entry.offset_bytes, end - entry.offset_bytes};
    if (place.length_bytes > kBlockBytesMax) {
      return invalid("a block of a partition is too long", place.offset_bytes);
    }
    CRAWLSTORE_TRY(
        const auto block,
        container::parse_block(blocks_, place, [&](auto bytes) -> Result<format::KeyBlock> {
          CRAWLSTORE_TRY(auto parsed,
                         format::parse_key_block(bytes, footer_.value_bytes, footer_.key_bytes));
          CRAWLSTORE_TRY(format::decode_keys(parsed, keys_, key_tails_));
          return parsed;
        }));
    if (block.block_bytes != place.length_bytes) {
      return invalid("a block of a partition does not end where the index says",
                     place.offset_bytes);
    }
    CRAWLSTORE_TRY(take_keys(entry, block.key_count));
    return end;
  }

  Result<void> check_end() {
    if (key_count_ != footer_.key_count) {
      return invalid("the blocks of a partition hold another number of keys than its footer says",
                     footer_.index_offset_bytes);
    }
    if (last_key_.head == footer_.last_key) return {};
    return invalid("the last key of a partition is not the one its footer says",
                   footer_.index_offset_bytes);
  }

 private:
  [[nodiscard]] std::uint64_t heads_end() const {
    return footer_.index_offset_bytes + footer_.block_count * 8;
  }
  [[nodiscard]] std::uint64_t offsets_begin() const {
    return footer_.index_offset_bytes + footer_.block_count * footer_.key_bytes;
  }

  Result<void> check_padding() {
    const std::uint64_t begin = rules_.padding_offset();
    const std::uint64_t length = format::round_up(begin, 8) - begin;
    CRAWLSTORE_TRY(const auto padding, offsets_.at(begin, length));
    return rules_.take_padding({padding, length});
  }

  Result<void> take_keys(const format::PartitionIndexEntry& entry, std::uint32_t count) {
    const Key16 lowest{keys_[0], key_tails_[0]};
    if (lowest != entry.first_key) {
      return invalid("the first key of a block is not the one the index says", entry.offset_bytes);
    }
    if (key_count_ != 0 && lowest <= last_key_) {
      return invalid("the keys of a partition do not ascend from block to block",
                     entry.offset_bytes);
    }
    last_key_ = {keys_[count - 1], key_tails_[count - 1]};
    key_count_ += count;
    return {};
  }

  static constexpr std::uint64_t kBlockBytesMax = (std::uint64_t{1} << 32) - 8;

  const format::PartitionFooter& footer_;
  format::PartitionIndexRules rules_;
  PayloadWindow heads_;
  PayloadWindow tails_;
  PayloadWindow offsets_;
  PayloadWindow blocks_;
  format::BlockNumbers keys_{};
  format::BlockNumbers key_tails_{};  // of 8-byte keys zeros
  Key16 last_key_;
  std::uint64_t key_count_ = 0;
};

template <class T>
void take_range(std::span<const T> numbers, std::uint64_t& lowest, std::uint64_t& highest) {
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  lowest = *low;
  highest = *high;
}

std::vector<ConsumerId> consumers_of(std::span<const std::uint16_t> tags) {
  std::bitset<1 << 14> named;
  for (const std::uint16_t tag : tags) named.set(format::consumer_of(tag).value);
  std::vector<ConsumerId> consumers;
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (named.test(i)) consumers.push_back({static_cast<std::uint16_t>(i)});
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
  CRAWLSTORE_TRY(const auto footer,
                 container::read_footer(payload, format::parse_partition_footer));
  PartitionWalk walk(payload, footer, progress);
  CRAWLSTORE_TRY(
      container::check_blocked(walk, footer.block_count, payload.length_bytes, progress));
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
