// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no blocks crash the readers, make them read outside the payload, or ask for more than 255
//     times its length of memory;
//   - what check_blocks() accepts is read whole, and in pieces of any length, to the same bytes;
//   - these bytes, compressed again, come back.
//
// Input: one byte (modulo 64: how often the reader forgets), then the payload of an auxiliary run.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "format/lz4_block.h"
#include "format/request_run.h"
#include "require.h"

namespace {

using namespace crawlstore;
using namespace crawlstore::format;
using crawlstore::fuzz::require;
using Bytes = std::vector<std::byte>;

Bytes read_whole(std::span<const std::byte> raw, const AuxBlocks& blocks, std::size_t raw_bytes) {
  AuxReader reader(raw, blocks);
  const auto all = reader.next(raw_bytes);
  return all ? Bytes(all->begin(), all->end()) : Bytes();
}

/// Reads like a dispatcher: auxiliary by auxiliary. False when a block is broken.
bool is_read_in_pieces(const AuxRun& run, std::size_t forget_after, const Bytes& whole) {
  AuxReader reader(run.bytes, run.blocks);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < run.record_count && begin < whole.size(); ++i) {
    const auto aux = reader.next(run.lengths.empty() ? run.uniform_length_bytes : run.lengths[i]);
    if (!aux) return false;
    require(aux->size() <= whole.size() - begin);
    require(std::equal(aux->begin(), aux->end(), whole.begin() + static_cast<long>(begin)));
    begin += aux->size();
    if (i % 64 >= forget_after) reader.forget();
  }
  return true;
}

void check_again(const Bytes& whole) {
  const auto blocks = compress_auxes(whole);
  if (!blocks) return;
  const AuxBlocks view{whole.size(), blocks->lengths, blocks->bytes};
  require(check_block_lengths(view) == nullptr && check_blocks(view) == nullptr);
  require(read_whole({}, view, whole.size()) == whole);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  const Bytes payload(bytes.begin(), bytes.end());  // aligned, as parse_aux_run() asks
  const auto run = parse_aux_run(payload);
  if (!run) return 0;
  const std::size_t raw_bytes = run->bytes.size() + run->blocks.raw_bytes;
  require(raw_bytes <= payload.size() * kLz4ExpansionMax);
  const Bytes whole = read_whole(run->bytes, run->blocks, raw_bytes);
  const bool is_valid = check_blocks(run->blocks) == nullptr;
  require(!is_valid || whole.size() == raw_bytes);
  if (whole.size() != raw_bytes) return 0;
  require(is_read_in_pieces(*run, data[0] % 64, whole) || !is_valid);
  check_again(whole);
  return 0;
}
