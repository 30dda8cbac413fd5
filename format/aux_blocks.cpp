// SPDX-License-Identifier: Apache-2.0
//
// Invariants: blocks_ of a reader begins where rest_ ends.
#include "aux_blocks.h"

#include <algorithm>
#include <utility>

#include <lz4.h>

#include "endian.h"
#include "layout.h"

namespace crawlstore::format {

namespace {

constexpr const char* kBroken = "a block of auxiliaries is broken";
constexpr std::size_t kOffsetBytes = 2;
constexpr unsigned kLongLength = 15;

/// LZ4's own bytes are char.
const char* chars(const std::byte* bytes) {
  return static_cast<const char*>(static_cast<const void*>(bytes));
}
char* chars(std::byte* bytes) {
  return static_cast<char*>(static_cast<void*>(bytes));
}

std::uint32_t raw_length(std::uint64_t raw_bytes_left) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(kAuxBlockBytes, raw_bytes_left));
}

/// Less than seven eighths remain.
bool pays(std::uint64_t stored_bytes, std::uint64_t raw_bytes) {
  return stored_bytes < raw_bytes / 8 * 7;
}

/// Exactly raw.size() bytes come out of `stored`.
bool decompress(std::span<const std::byte> stored, std::span<std::byte> raw) {
  const int length =
      LZ4_decompress_safe(chars(stored.data()), chars(raw.data()), static_cast<int>(stored.size()),
                          static_cast<int>(raw.size()));
  return length >= 0 && static_cast<std::size_t>(length) == raw.size();
}

/// The end of a length that begins in a token; past the end when it is cut off.
std::size_t skip_length(std::span<const std::byte> stored, std::size_t at, unsigned begin,
                        std::size_t& length) {
  length = begin;
  if (begin != kLongLength) return at;
  while (at < stored.size()) {
    const auto more = std::to_integer<unsigned>(stored[at++]);
    length += more;
    if (more != 255) return at;
  }
  return stored.size() + 1;
}

/// The library does not look: an offset of 0 gives it zeros.
bool has_offset_of_zero(std::span<const std::byte> stored) {
  std::size_t at = 0;
  while (at < stored.size()) {
    const auto token = std::to_integer<unsigned>(stored[at]);
    std::size_t literals = 0;
    at = skip_length(stored, at + 1, token >> 4, literals);
    at += literals;
    if (at + kOffsetBytes > stored.size()) return false;
    if (load<std::uint16_t>(stored.data() + at) == 0) return true;
    std::size_t match = 0;
    at = skip_length(stored, at + kOffsetBytes, token & kLongLength, match);
  }
  return false;
}

}  // namespace

std::optional<OwnedAuxBlocks> compress_auxes(std::span<const std::byte> raw) {
  if (raw.size() <= kUnitBytes) return std::nullopt;
  OwnedAuxBlocks blocks;
  blocks.lengths.reserve(aux_block_count(raw.size()));
  while (!raw.empty()) {
    const auto block = raw.first(raw_length(raw.size()));
    raw = raw.subspan(block.size());
    const std::size_t begin = blocks.bytes.size();
    blocks.bytes.resize(begin + block.size());
    // A block that does not become shorter stays as it is.
    const int written =
        LZ4_compress_default(chars(block.data()), chars(blocks.bytes.data() + begin),
                             static_cast<int>(block.size()), static_cast<int>(block.size()) - 1);
    const auto length = written > 0 ? static_cast<std::size_t>(written) : block.size();
    if (blocks.lengths.empty() && !pays(length, block.size())) return std::nullopt;
    if (written <= 0) {
      std::copy(block.begin(), block.end(),
                blocks.bytes.begin() + static_cast<std::ptrdiff_t>(begin));
    }
    blocks.bytes.resize(begin + length);
    blocks.lengths.push_back(static_cast<std::uint32_t>(length));
  }
  return blocks;
}

const char* check_block_lengths(const AuxBlocks& blocks) {
  std::uint64_t left = blocks.raw_bytes;
  for (const std::uint32_t stored : blocks.lengths) {
    const std::uint32_t raw = raw_length(left);
    left -= raw;
    if (stored > raw || std::uint64_t{stored} * kLz4ExpansionMax < raw) {
      return "a block of auxiliaries has a length that cannot be";
    }
  }
  return nullptr;
}

const char* check_blocks(const AuxBlocks& blocks) {
  std::vector<std::byte> buffer(kAuxBlockBytes);
  std::uint64_t left = blocks.raw_bytes;
  std::size_t begin = 0;
  for (const std::uint32_t length : blocks.lengths) {
    const auto stored = blocks.bytes.subspan(begin, length);
    const auto raw = std::span(buffer).first(raw_length(left));
    begin += length;
    left -= raw.size();
    if (length == raw.size()) continue;
    if (!decompress(stored, raw) || has_offset_of_zero(stored)) return kBroken;
  }
  return nullptr;
}

std::span<const std::byte> AuxReader::take(std::size_t length) {
  const auto taken = rest_.first(length);
  rest_ = rest_.subspan(length);
  return taken;
}

Result<void> AuxReader::read_block() {
  if (blocks_.lengths.empty() || blocks_.lengths.front() > blocks_.bytes.size()) {
    return fail(Errc::kSegmentInvalid, "an auxiliary run has too few bytes");
  }
  const std::uint32_t length = blocks_.lengths.front();
  const auto stored = blocks_.bytes.first(length);
  const std::uint32_t raw_bytes = raw_length(blocks_.raw_bytes);
  blocks_.bytes = blocks_.bytes.subspan(length);
  blocks_.lengths = blocks_.lengths.subspan(1);
  blocks_.raw_bytes -= raw_bytes;
  rest_ = stored;
  if (length == raw_bytes) return {};
  if (block_ != nullptr) kept_.push_back(std::move(block_));
  block_ = std::make_unique_for_overwrite<std::byte[]>(kAuxBlockBytes);
  const std::span<std::byte> raw(block_.get(), raw_bytes);
  if (!decompress(stored, raw)) return fail(Errc::kSegmentInvalid, kBroken);
  rest_ = raw;
  return {};
}

Result<std::span<const std::byte>> AuxReader::next(std::size_t length) {
  if (length > rest_.size() && length - rest_.size() > blocks_.raw_bytes) {
    return fail(Errc::kSegmentInvalid, "an auxiliary run has too few bytes");
  }
  if (rest_.empty() && length != 0) CRAWLSTORE_TRY(read_block());
  if (length <= rest_.size()) return take(length);
  // It goes on in the next blocks: a copy of its own.
  Buffer whole = std::make_unique_for_overwrite<std::byte[]>(length);
  std::size_t done = 0;
  while (done < length) {
    if (rest_.empty()) CRAWLSTORE_TRY(read_block());
    const auto part = take(std::min(length - done, rest_.size()));
    std::copy(part.begin(), part.end(), whole.get() + done);
    done += part.size();
  }
  kept_.push_back(std::move(whole));
  return std::span<const std::byte>(kept_.back().get(), length);
}

}  // namespace crawlstore::format
