// SPDX-License-Identifier: Apache-2.0
//
// Invariants: keys leave a cursor in strictly ascending order or not at all; a lookup never reads
// outside the payload, whatever footer and index say.
#include "drum/partition.h"

#include <algorithm>

#include "base/assert.h"
#include "format/endian.h"
#include "format/packed_keys.h"
#include "format/request_run.h"

namespace crawlstore::drum {
namespace {

/// The last offset of a block that the index can store.
constexpr std::uint64_t kBlocksBytesMax = (std::uint64_t{1} << 35) - 8;

tl::unexpected<Error> invalid(const char* text, std::uint64_t offset, SegmentId segment) {
  return fail(Errc::kSegmentInvalid, text, offset, segment);
}

Result<void> check_count(const format::RunRef& run, std::uint64_t count, std::uint64_t count_max,
                         Shape shape) {
  std::uint64_t fitting = count_max;
  if (shape.value_bytes > 0) {
    const auto value_bytes = static_cast<std::uint64_t>(shape.value_bytes);
    fitting = std::min(fitting, run.payload_bytes / value_bytes);
  }
  if (count <= fitting) return {};
  return fail(Errc::kSegmentInvalid, "a run is too short for what it is said to hold",
              run.offset_bytes);
}

}  // namespace

Result<void> check_partition_count(const format::RunRef& run, std::uint64_t key_count,
                                   Shape shape) {
  const std::uint64_t blocks_max = run.payload_bytes / sizeof(format::KeyBlockHeader);
  return check_count(run, key_count, blocks_max * format::kBlockKeysMax, shape);
}

Result<void> check_request_count(const format::RunRef& run, Shape shape) {
  const std::uint64_t packed_max = run.payload_bytes * 8 / format::kPackedBitsMin;
  return check_count(run, run.record_count, std::min(format::kRequestsPerRunMax, packed_max),
                     shape);
}

void PartitionWriter::keep_value(std::span<const std::byte> value) {
  values_.insert(values_.end(), value.begin(), value.end());
  if (shape_.value_bytes < 0) lengths_.push_back(static_cast<std::uint32_t>(value.size()));
}

Result<void> PartitionWriter::flush() {
  if (block_count_ == 0) return {};
  if (run_.payload_bytes() > kBlocksBytesMax) {
    return fail(Errc::kTooLarge, "a bucket would hold more than 32 GiB; use more buckets");
  }
  const std::span<const std::uint64_t> keys(keys_.data(), block_count_);
  index_.first_keys.push_back(keys.front());
  index_.block_offsets.push_back(static_cast<std::uint32_t>(run_.payload_bytes() / 8));
  encoded_.clear();
  if (shape_.is_wide()) {
    const auto tails = std::span(tails_).first(block_count_);
    index_.first_tails.push_back(tails.front());
    format::encode_wide_key_block(keys, tails, {shape_.value_bytes, values_, lengths_}, encoded_);
  } else {
    format::encode_key_block(keys, shape_.value_bytes, values_, lengths_, encoded_);
  }
  last_key_ = keys.back();
  key_count_ += block_count_;
  block_count_ = 0;
  values_.clear();
  lengths_.clear();
  return run_.append(encoded_);
}

Result<PartitionPiece> PartitionWriter::finish() {
  CRAWLSTORE_TRY(flush());
  CRAWLSTORE_ASSERT(key_count_ > 0);
  encoded_.clear();
  format::encode_partition_tail(index_, key_count_, last_key_, shape_.value_bytes,
                                run_.payload_bytes(), encoded_);
  CRAWLSTORE_TRY(run_.append(encoded_));
  CRAWLSTORE_TRY(const auto run, run_.finish(key_count_));
  return PartitionPiece{run, index_.first_keys.front(), key_count_};
}

PartitionCursor::PartitionCursor(Storage& storage, const format::RunName& name,
                                 const std::optional<format::RunRef>& run, std::uint64_t key_count,
                                 Shape shape)
    : segment_(name.segment),
      key_count_(run ? key_count : 0),
      keys_left_(key_count_),
      shape_(shape) {
  if (!run) return;
  stream_.emplace(storage, name, *run);
  run_offset_bytes_ = run->offset_bytes;
  payload_bytes_ = run->payload_bytes;
}

/// Returns the error of a broken rule, or of a damaged chunk that was read.
Result<void> PartitionCursor::broken(const char* text, std::uint64_t offset) const {
  CRAWLSTORE_TRY(stream_->check_loaded());
  return invalid(text, run_offset_bytes_ + offset, segment_);
}

Result<void> PartitionCursor::load_block() {
  if (stream_ && block_.block_bytes != 0) {
    stream_->advance(block_.block_bytes);
    consumed_bytes_ += block_.block_bytes;
  }
  block_ = {};
  position_ = 0;
  value_begin_ = 0;
  return keys_left_ == 0 ? Result<void>{} : decode_block();
}

Result<void> PartitionCursor::decode_block() {
  constexpr std::size_t kBlockGuessBytes = 8192;
  auto bytes = stream_->peek(kBlockGuessBytes);
  if (!bytes) return tl::unexpected<Error>(bytes.error());
  auto block = format::parse_key_block(*bytes, shape_.value_bytes, shape_.key_bytes);
  // Values may make a block longer than the guess: double it until the payload ends.
  for (std::size_t want = kBlockGuessBytes * 2; !block && bytes->size() >= want / 2; want *= 2) {
    bytes = stream_->peek(want);
    if (!bytes) return tl::unexpected<Error>(bytes.error());
    block = format::parse_key_block(*bytes, shape_.value_bytes, shape_.key_bytes);
  }
  if (!block) return broken(block.error().text, consumed_bytes_);
  if (const auto decoded = format::decode_keys(*block, keys_, tails_); !decoded) {
    return broken(decoded.error().text, consumed_bytes_);
  }
  if (block->key_count > keys_left_) {
    return broken("a partition holds more keys than its DRUM says", consumed_bytes_);
  }
  if (last_key_ && Key16{keys_[0], tails_[0]} <= *last_key_) {
    return broken("keys of a partition do not ascend", consumed_bytes_);
  }
  last_key_ = {keys_[block->key_count - 1], tails_[block->key_count - 1]};
  if (keys_[0] < lowest_ || last_key_->head > highest_) {
    return broken("a key lies outside of its bucket", consumed_bytes_);
  }
  keys_left_ -= block->key_count;
  block_ = *block;
  return {};
}

Result<void> PartitionCursor::finish() {
  if (!stream_) return {};
  CRAWLSTORE_ASSERT(at_end() && keys_left_ == 0);
  return check_end();
}

/// Reads to the footer, and checks it and the checksums.
Result<void> PartitionCursor::check_end() {
  constexpr std::uint64_t kFooterBytes = sizeof(format::PartitionFooter);
  constexpr std::size_t kStepBytes = 65536;
  std::uint64_t place = consumed_bytes_;
  while (payload_bytes_ > place && payload_bytes_ - place > kFooterBytes) {
    CRAWLSTORE_TRY(const auto bytes, stream_->peek(kStepBytes));
    const auto step = std::min<std::uint64_t>(bytes.size(), payload_bytes_ - place - kFooterBytes);
    stream_->advance(static_cast<std::size_t>(step));
    place += step;
  }
  CRAWLSTORE_TRY(const auto bytes, stream_->peek(kFooterBytes));
  const std::vector<std::byte> footer_bytes(bytes.begin(), bytes.end());
  CRAWLSTORE_TRY(stream_->finish());
  const auto footer = format::parse_partition_footer(footer_bytes, payload_bytes_);
  if (!footer) return invalid(footer.error().text, run_offset_bytes_ + place, segment_);
  if (footer->value_bytes != shape_.value_bytes || footer->key_bytes != shape_.key_bytes) {
    return invalid("a partition has keys or values of another size than its DRUM",
                   run_offset_bytes_ + place, segment_);
  }
  if (footer->key_count != key_count_ || footer->index_offset_bytes != consumed_bytes_) {
    return invalid("the blocks of a partition do not hold as many keys as its DRUM says",
                   run_offset_bytes_ + consumed_bytes_, segment_);
  }
  return {};
}

Result<std::shared_ptr<const PartitionLookup>> PartitionLookup::open(
    std::shared_ptr<const container::RunReader> reader, Shape shape) {
  const auto payload = reader->run().payload_bytes;
  const auto offset = reader->run().offset_bytes;
  const SegmentId segment = reader->segment();
  if (payload < sizeof(format::PartitionFooter)) {
    return invalid("a partition is shorter than its footer", offset, segment);
  }
  CRAWLSTORE_TRY(const auto bytes, reader->bytes(payload - sizeof(format::PartitionFooter),
                                                 sizeof(format::PartitionFooter)));
  const auto footer = format::parse_partition_footer(bytes, payload);
  if (!footer) return invalid(footer.error().text, offset, segment);
  if (footer->value_bytes != shape.value_bytes || footer->key_bytes != shape.key_bytes) {
    return invalid("a partition has keys or values of another size than its DRUM", offset, segment);
  }
  PartitionLookup lookup(std::move(reader), *footer, shape);
  return std::make_shared<const PartitionLookup>(std::move(lookup));
}

Result<Key16> PartitionLookup::first_key(std::uint64_t index) const {
  const auto number = [&](std::uint64_t place) -> Result<std::uint64_t> {
    CRAWLSTORE_TRY(const auto bytes, reader_->bytes(footer_.index_offset_bytes + place * 8, 8));
    return format::load<std::uint64_t>(bytes.data());
  };
  CRAWLSTORE_TRY(const auto head, number(index));
  if (!shape_.is_wide()) return Key16{head};
  CRAWLSTORE_TRY(const auto tail, number(footer_.block_count + index));
  return Key16{head, tail};
}

/// Interpolates, then halves: for hashed keys one or two places of the index are touched.
Result<std::uint64_t> PartitionLookup::find_block(Key16 key) const {
  std::uint64_t low = 0;
  std::uint64_t high = footer_.block_count;  // first_key(low) <= key < first_key(high)
  const long double span = static_cast<long double>(footer_.last_key - footer_.first_key) + 1.0L;
  const long double share = static_cast<long double>(key.head - footer_.first_key) / span;
  auto probe = static_cast<std::uint64_t>(share * static_cast<long double>(high));
  std::uint64_t step = 1;
  while (high - low > 1) {
    probe = std::clamp(probe, low + 1, high - 1);
    CRAWLSTORE_TRY(const auto first, first_key(probe));
    const bool below = first <= key;
    (below ? low : high) = probe;
    // Gallop away from the guess, then halve.
    const std::uint64_t gallop = below ? low + step : high - std::min(high, step);
    probe = step < 64 ? gallop : low + (high - low) / 2;
    step *= 2;
  }
  return low;
}

Result<Extent> PartitionLookup::block_place(std::uint64_t index) const {
  const auto offsets = footer_.index_offset_bytes + footer_.block_count * shape_.key_bytes;
  CRAWLSTORE_TRY(const auto bytes, reader_->bytes(offsets + index * 4, 4));
  const std::uint64_t begin = std::uint64_t{format::load<std::uint32_t>(bytes.data())} * 8;
  std::uint64_t end = footer_.index_offset_bytes;
  if (index + 1 < footer_.block_count) {
    CRAWLSTORE_TRY(const auto next, reader_->bytes(offsets + (index + 1) * 4, 4));
    end = std::uint64_t{format::load<std::uint32_t>(next.data())} * 8;
  }
  if (begin >= end || end > footer_.index_offset_bytes) {
    return invalid("the block index of a partition is out of order", reader_->run().offset_bytes,
                   {});
  }
  return Extent{begin, end - begin};
}

/// Prefetches the memory that a search for the key in the block will use: its front, with the upper
/// bits, and the lower part at about the place that the first keys of this block and the next tell.
void PartitionLookup::prefetch(Key16 key, std::uint64_t index,
                               std::span<const std::byte> encoded) const {
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kFrontBytes = sizeof(format::KeyBlockHeader) + 2 * kLine;
  const auto near = [&](std::size_t offset) {
    if (offset < encoded.size()) __builtin_prefetch(encoded.data() + offset);
  };
  for (std::size_t offset = 0; offset < kFrontBytes + kLine; offset += kLine) near(offset);
  if (shape_.is_wide() || shape_.value_bytes != 0 || encoded.size() <= kFrontBytes) return;
  const auto first = first_key(index);
  const Result<Key16> end =
      index + 1 < footer_.block_count ? first_key(index + 1) : Result<Key16>(footer_.last_key);
  if (!first || !end || end->head <= first->head) return;
  const double share =
      static_cast<double>(key.head - first->head) / static_cast<double>(end->head - first->head);
  const std::size_t guess =
      kFrontBytes +
      static_cast<std::size_t>(share * static_cast<double>(encoded.size() - kFrontBytes));
  near(guess - kLine / 2);
  near(guess + kLine / 2);
}

Result<format::KeyBlock> PartitionLookup::block(std::uint64_t index) const {
  CRAWLSTORE_TRY(const auto place, block_place(index));
  CRAWLSTORE_TRY(const auto encoded, reader_->bytes(place.offset_bytes, place.length_bytes));
  auto block = format::parse_key_block(encoded, shape_.value_bytes, shape_.key_bytes);
  if (!block) {
    return invalid(block.error().text, reader_->run().offset_bytes + place.offset_bytes, {});
  }
  return block;
}

Result<std::optional<std::vector<std::byte>>> PartitionLookup::find(Key16 key) const {
  using Found = std::optional<std::vector<std::byte>>;
  if (key.head < footer_.first_key || key.head > footer_.last_key) return Found{};
  CRAWLSTORE_TRY(const auto index, find_block(key));
  CRAWLSTORE_TRY(const auto place, block_place(index));
  CRAWLSTORE_TRY(const auto encoded, reader_->bytes(place.offset_bytes, place.length_bytes));
  prefetch(key, index, encoded);
  const auto parsed = format::parse_key_block_bounds(encoded, shape_.value_bytes, shape_.key_bytes);
  if (!parsed) {
    return invalid(parsed.error().text, reader_->run().offset_bytes + place.offset_bytes, {});
  }
  const format::KeyBlock& block = *parsed;
  const auto position = format::find_key(block, key.head, key.tail);
  if (!position) return Found{};
  const auto value = format::value_at(block, *position, shape_.value_bytes);
  return Found{std::in_place, value.begin(), value.end()};
}

}  // namespace crawlstore::drum
