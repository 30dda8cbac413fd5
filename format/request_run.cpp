// SPDX-License-Identifier: Apache-2.0
#include "request_run.h"

#include <algorithm>

#include "base/assert.h"
#include "endian.h"
#include "invalid.h"
#include "key_block.h"
#include "packed_keys.h"

namespace crawlstore::format {

namespace {

/// Appends `header` and makes room for the columns behind it.
template <class Header>
void append_header(const Header& header, std::size_t column_bytes, std::vector<std::byte>& out) {
  const auto bytes = std::as_bytes(std::span(&header, 1));
  out.reserve(out.size() + bytes.size() + column_bytes);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

/// Appends `column` and zeros up to a multiple of 8.
template <class T>
void append_column(std::span<const T> column, std::vector<std::byte>& out) {
  const auto bytes = std::as_bytes(column);
  out.insert(out.end(), bytes.begin(), bytes.end());
  out.resize(out.size() + (round_up(bytes.size(), 8) - bytes.size()));
}

/// Takes columns from the front of hostile bytes. After the first failure all columns are empty and
/// broken() names it.
class Columns {
 public:
  Columns(std::span<const std::byte> bytes, std::size_t header_bytes)
      : bytes_(bytes), offset_(header_bytes) {}

  template <class T>
  std::span<const T> take(std::uint64_t count) {
    const std::uint64_t rest = bytes_.size() - offset_;  // a multiple of 8, as is offset_
    if (broken_ != nullptr || count > rest / sizeof(T)) {
      broken_ = broken_ != nullptr ? broken_ : "a run is cut short";
      return {};
    }
    const std::span<const std::byte> column = bytes_.subspan(offset_, count * sizeof(T));
    const std::uint64_t end = round_up(column.size(), 8);
    for (std::uint64_t i = column.size(); i < end; ++i) {
      if (bytes_[offset_ + i] != std::byte{0}) {
        broken_ = "padding of a run is not zero";
      }
    }
    offset_ += end;
    return numbers<T>(column);
  }

  /// Takes the values of `count` records: fixed ones, or those with `lengths`.
  std::span<const std::byte> take_values(std::uint64_t count, std::int32_t value_bytes,
                                         std::span<const std::uint32_t> lengths) {
    if (value_bytes == kVariableValue) {
      return take_lengths(lengths, kValueBytesMax);
    }
    const auto length = static_cast<std::uint64_t>(value_bytes);
    if (length != 0 && count > (bytes_.size() - offset_) / length) {
      broken_ = broken_ != nullptr ? broken_ : "a run is cut short";
      return {};
    }
    return take<std::byte>(count * length);
  }

  /// Takes sum(lengths) bytes, each length at most `length_max`.
  std::span<const std::byte> take_lengths(std::span<const std::uint32_t> lengths,
                                          std::uint32_t length_max) {
    return take<std::byte>(sum_of(lengths, length_max));
  }
  std::uint64_t sum_of(std::span<const std::uint32_t> lengths, std::uint32_t length_max) {
    std::uint64_t sum = 0;
    std::uint32_t longest = 0;
    for (const std::uint32_t length : lengths) {
      sum += length;
      longest = std::max(longest, length);
    }
    if (longest > length_max && broken_ == nullptr) {
      broken_ = "a value or an auxiliary of a run is too long";
    }
    return sum;
  }

  /// nullptr, or what is wrong; all bytes must have been taken.
  [[nodiscard]] const char* broken() const {
    return broken_ == nullptr && offset_ != bytes_.size() ? "a run is too long" : broken_;
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t offset_;
  const char* broken_ = nullptr;
};

/// Whether the bytes can hold a header and columns of 8-byte words.
template <class Header>
bool has_header(std::span<const std::byte> bytes) {
  CRAWLSTORE_ASSERT(reinterpret_cast<std::uintptr_t>(bytes.data()) % 8 == 0);
  return bytes.size() >= sizeof(Header) && bytes.size() % 8 == 0;
}

bool are_operations(std::span<const std::uint16_t> tags) {
  return std::all_of(tags.begin(), tags.end(), [](std::uint16_t tag) { return (tag & 3) != 3; });
}

template <class T>
bool do_ascend(std::span<const T> numbers) {
  bool result = true;
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    result &= numbers[i] > numbers[i - 1];
  }
  return result;
}

const char* check_key_run_header(const KeyRunHeader& header) {
  if (header.magic != kKeyRunMagic) {
    return "the magic number of a key run is wrong";
  }
  if ((header.flags & ~(kRunHasTags | kRunHasSequences)) != 0) {
    return "a flag of a key run is unknown";
  }
  const bool has_tags = (header.flags & kRunHasTags) != 0;
  if (header.record_count == 0 || header.record_count > kRequestsPerRunMax ||
      !is_value_bytes(header.value_bytes) || !is_key_bytes(header.key_bytes) ||
      header.reserved != 0 || (has_tags && header.uniform_tag != 0) ||
      header.key_bits < kPackedBitsMin || header.key_bits > kPackedBitsMax) {
    return "a number in the header of a key run is out of range";
  }
  if (!are_operations(std::span(&header.uniform_tag, 1))) {
    return "an operation in a key run is unknown";
  }
  return nullptr;
}

const char* check_key_run(const KeyRun& run, std::uint64_t count) {
  if (!are_operations(run.tags)) {
    return "an operation in a key run is unknown";
  }
  if (!run.sequences.empty() && run.sequences.front() != 0) {
    return "the sequence numbers of a key run do not begin with its first";
  }
  if (!do_ascend(run.sequences)) {
    return "the sequence numbers of a key run do not ascend";
  }
  const std::uint64_t last = run.sequences.empty() ? count - 1 : run.sequences.back();
  if (last > ~std::uint64_t{0} - run.first_sequence) {
    return "the sequence numbers of a key run overflow";
  }
  for (std::size_t i = 0; i < run.lengths.size(); ++i) {
    const std::uint16_t tag = run.tags.empty() ? run.uniform_tag : run.tags[i];
    if (operation_of(tag) == Operation::kCheck && run.lengths[i] != 0) {
      return "a check in a key run has a value";
    }
  }
  return nullptr;
}

}  // namespace

void encode_key_run(const KeyRun& run, std::vector<std::byte>& out) {
  CRAWLSTORE_ASSERT(!run.keys.empty() && is_value_bytes(run.value_bytes));
  CRAWLSTORE_ASSERT(run.tails.empty() || run.tails.size() == run.keys.size());
  CRAWLSTORE_ASSERT(run.tags.empty() || run.tags.size() == run.keys.size());
  CRAWLSTORE_ASSERT(run.sequences.empty() ||
                    (run.sequences.size() == run.keys.size() && run.sequences.front() == 0));
  CRAWLSTORE_ASSERT(run.lengths.size() ==
                    (run.value_bytes == kVariableValue ? run.keys.size() : 0));
  KeyRunHeader fields{};
  fields.magic = kKeyRunMagic;
  fields.record_count = run.keys.size();
  fields.first_sequence = run.first_sequence;
  fields.flags =
      (run.tags.empty() ? 0 : kRunHasTags) | (run.sequences.empty() ? 0 : kRunHasSequences);
  fields.value_bytes = run.value_bytes;
  fields.uniform_tag = run.tags.empty() ? run.uniform_tag : std::uint16_t{0};
  fields.key_bytes = run.tails.empty() ? kKeyBytes : kWideKeyBytes;
  const PackedKeys packed = PackedKeys::of(run.keys);
  fields.key_bits = static_cast<std::uint16_t>(packed.bits);
  fields.key_base = packed.base;
  std::vector<std::uint64_t> words(packed_words(run.keys.size(), packed.bits));
  pack_keys(run.keys, packed, words);
  append_header(fields,
                words.size() * 8 + run.tails.size_bytes() + run.tags.size_bytes() +
                    run.sequences.size_bytes() + run.lengths.size_bytes() + run.values.size() +
                    4 * 8,
                out);
  append_column(std::span<const std::uint64_t>(words), out);
  append_column(run.tails, out);
  append_column(run.tags, out);
  append_column(run.sequences, out);
  append_column(run.lengths, out);
  append_column(run.values, out);
}

Result<KeyRun> parse_key_run(std::span<const std::byte> bytes, std::vector<std::uint64_t>& keys) {
  if (!has_header<KeyRunHeader>(bytes)) {
    return invalid("a key run is cut short in its header");
  }
  const auto header = load_struct<KeyRunHeader>(bytes.data());
  if (const char* broken = check_key_run_header(header)) {
    return invalid(broken);
  }
  const std::uint64_t count = header.record_count;
  Columns columns(bytes, sizeof header);
  KeyRun run;
  run.first_sequence = header.first_sequence;
  run.value_bytes = header.value_bytes;
  run.uniform_tag = header.uniform_tag;
  const PackedKeys packed{header.key_base, header.key_bits};
  const auto words = columns.take<std::uint64_t>(packed_words(count, packed.bits));
  run.tails = columns.take<std::uint64_t>(header.key_bytes == kWideKeyBytes ? count : 0);
  run.tags = columns.take<std::uint16_t>((header.flags & kRunHasTags) != 0 ? count : 0);
  run.sequences = columns.take<std::uint32_t>((header.flags & kRunHasSequences) != 0 ? count : 0);
  run.lengths = columns.take<std::uint32_t>(run.value_bytes == kVariableValue ? count : 0);
  run.values = columns.take_values(count, run.value_bytes, run.lengths);
  const char* broken = columns.broken();
  if (broken == nullptr) {
    broken = check_key_run(run, count);
  }
  if (broken == nullptr) {
    keys.resize(count);
    broken = unpack_keys(words, packed, keys);
  }
  if (broken != nullptr) {
    return invalid(broken);
  }
  run.keys = keys;
  return run;
}

void encode_aux_run(const AuxRun& run, std::vector<std::byte>& out) {
  const bool is_uniform = run.lengths.empty();
  CRAWLSTORE_ASSERT(run.record_count != 0 &&
                    (is_uniform || run.lengths.size() == run.record_count));
  CRAWLSTORE_ASSERT(!is_uniform || run.uniform_length_bytes != 0);
  CRAWLSTORE_ASSERT(!is_uniform || run.bytes.size() == run.record_count * run.uniform_length_bytes);
  AuxRunHeader fields{};
  fields.magic = kAuxRunMagic;
  fields.record_count = run.record_count;
  fields.flags = is_uniform ? kAuxUniformLength : 0;
  fields.uniform_length_bytes = is_uniform ? run.uniform_length_bytes : 0;
  const auto blocks = compress_auxes(run.bytes);
  const auto stored = blocks ? std::span<const std::byte>(blocks->bytes) : run.bytes;
  const auto block_lengths =
      blocks ? std::span<const std::uint32_t>(blocks->lengths) : std::span<const std::uint32_t>();
  fields.codec = static_cast<std::uint16_t>(blocks ? AuxCodec::kLz4 : AuxCodec::kRaw);
  append_header(fields,
                run.lengths.size_bytes() + block_lengths.size_bytes() + stored.size() + 3 * 8, out);
  append_column(run.lengths, out);
  append_column(block_lengths, out);
  append_column(stored, out);
}

Result<AuxRun> parse_aux_run(std::span<const std::byte> bytes) {
  if (!has_header<AuxRunHeader>(bytes)) {
    return invalid("an auxiliary run is cut short in its header");
  }
  const auto header = load_struct<AuxRunHeader>(bytes.data());
  if (header.magic != kAuxRunMagic) {
    return invalid("the magic number of an auxiliary run is wrong");
  }
  const bool is_uniform = header.flags == kAuxUniformLength;
  if (header.record_count == 0 || header.record_count > kRequestsPerRunMax ||
      (header.flags & ~kAuxUniformLength) != 0 ||
      is_uniform != (header.uniform_length_bytes != 0) ||
      header.uniform_length_bytes > kAuxBytesMax ||
      header.reserved != std::array<std::uint16_t, 3>{}) {
    return invalid("a number in the header of an auxiliary run is out of range");
  }
  const auto codec = static_cast<AuxCodec>(header.codec);
  if (codec != AuxCodec::kRaw && codec != AuxCodec::kLz4) {
    return invalid("the codec of an auxiliary run is unknown");
  }
  AuxRun run;
  run.record_count = header.record_count;
  run.uniform_length_bytes = header.uniform_length_bytes;
  Columns columns(bytes, sizeof header);
  std::uint64_t raw_bytes = run.record_count * run.uniform_length_bytes;  // at most 2^50
  if (!is_uniform) {
    run.lengths = columns.take<std::uint32_t>(run.record_count);
    raw_bytes = columns.sum_of(run.lengths, kAuxBytesMax);
  }
  const char* broken = nullptr;
  if (codec == AuxCodec::kLz4) {
    run.blocks.raw_bytes = raw_bytes;
    run.blocks.lengths = columns.take<std::uint32_t>(aux_block_count(raw_bytes));
    run.blocks.bytes = columns.take_lengths(run.blocks.lengths, kAuxBlockBytes);
    broken = check_block_lengths(run.blocks);
  } else {
    run.bytes = columns.take<std::byte>(raw_bytes);
  }
  if (columns.broken() != nullptr) broken = columns.broken();
  if (broken != nullptr) return invalid(broken);
  return run;
}

void encode_result_run(const ResultRun& run, std::vector<std::byte>& out) {
  const std::size_t count = run.keys.size();
  CRAWLSTORE_ASSERT(count != 0 && is_value_bytes(run.value_bytes));
  CRAWLSTORE_ASSERT(run.tails.empty() || run.tails.size() == count);
  CRAWLSTORE_ASSERT(run.sequences.size() == count && run.tags.size() == count &&
                    run.verdicts.size() == count && run.aux_lengths.size() == count);
  CRAWLSTORE_ASSERT(run.value_lengths.size() == (run.value_bytes == kVariableValue ? count : 0));
  ResultRunHeader fields{};
  fields.magic = kResultRunMagic;
  fields.record_count = count;
  fields.value_bytes = run.value_bytes;
  fields.key_bytes = run.tails.empty() ? kKeyBytes : kWideKeyBytes;
  append_header(
      fields,
      count * 31 + run.value_lengths.size_bytes() + run.values.size() + run.auxes.size() + 8 * 8,
      out);
  append_column(run.keys, out);
  append_column(run.tails, out);
  append_column(run.sequences, out);
  append_column(run.tags, out);
  append_column(run.verdicts, out);
  append_column(run.value_lengths, out);
  append_column(run.aux_lengths, out);
  append_column(run.values, out);
  append_column(run.auxes, out);
}

Result<ResultRun> parse_result_run(std::span<const std::byte> bytes) {
  if (!has_header<ResultRunHeader>(bytes)) {
    return invalid("a result run is cut short in its header");
  }
  const auto header = load_struct<ResultRunHeader>(bytes.data());
  if (header.magic != kResultRunMagic) {
    return invalid("the magic number of a result run is wrong");
  }
  if (header.record_count == 0 || header.reserved != 0 || !is_value_bytes(header.value_bytes) ||
      !is_key_bytes(header.key_bytes)) {
    return invalid("a number in the header of a result run is out of range");
  }
  const std::uint64_t count = header.record_count;
  Columns columns(bytes, sizeof header);
  ResultRun run;
  run.value_bytes = header.value_bytes;
  run.keys = columns.take<std::uint64_t>(count);
  run.tails = columns.take<std::uint64_t>(header.key_bytes == kWideKeyBytes ? count : 0);
  run.sequences = columns.take<std::uint64_t>(count);
  run.tags = columns.take<std::uint16_t>(count);
  run.verdicts = columns.take<std::uint8_t>(count);
  run.value_lengths = columns.take<std::uint32_t>(run.value_bytes == kVariableValue ? count : 0);
  run.aux_lengths = columns.take<std::uint32_t>(count);
  run.values = columns.take_values(count, run.value_bytes, run.value_lengths);
  run.auxes = columns.take_lengths(run.aux_lengths, kAuxBytesMax);
  if (const char* broken = columns.broken()) {
    return invalid(broken);
  }
  if (!are_operations(run.tags)) {
    return invalid("an operation in a result run is unknown");
  }
  if (std::any_of(run.verdicts.begin(), run.verdicts.end(), [](auto v) { return v > 1; })) {
    return invalid("a verdict in a result run is unknown");
  }
  return run;
}

}  // namespace crawlstore::format
