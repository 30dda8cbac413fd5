// SPDX-License-Identifier: Apache-2.0
//
// Invariants: blocks_ of a reader begins where rest_ ends.
#include "aux_blocks.h"

#include <algorithm>
#include <utility>

#include "layout.h"
#include "lz4_block.h"

namespace crawlstore::format {

namespace {

constexpr const char* kBroken = "a block of auxiliaries is broken";

std::uint32_t raw_length(std::uint64_t raw_bytes_left) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(kAuxBlockBytes, raw_bytes_left));
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
    const std::size_t written =
        compress_lz4(block, std::span(blocks.bytes).subspan(begin, block.size() - 1));
    const std::size_t length = written != 0 ? written : block.size();
    if (blocks.lengths.empty() && !lz4_pays(length, block.size())) return std::nullopt;
    if (written == 0) {
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
    if (!decompress_lz4(stored, raw) || has_lz4_offset_of_zero(stored)) return kBroken;
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
  if (!decompress_lz4(stored, raw)) return fail(Errc::kSegmentInvalid, kBroken);
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
