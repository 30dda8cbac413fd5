// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no bytes crash the search for the ends of runs;
//   - what is taken for the end of a run has an extent that ends there and begins where extents
//   may;
//   - an end that a run was sealed with is proved, and says of the run what it was sealed with;
//   - it is not proved by bytes of which one bit is another, nor under another uuid.
//
// Input: 64 bytes, the end of a run; 8 bytes, the place where it ends; 2 bytes, a bit; then the
// payload. The magic is made right, and for the checks of proofs place, length and checksum.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "format/checksum.h"
#include "format/endian.h"
#include "format/run_end.h"
#include "require.h"

namespace {

using namespace crawlstore;
using namespace crawlstore::format;
using crawlstore::fuzz::require;

constexpr std::size_t kPayloadMax = 4096;

void check_search(const RunEnd& end, std::uint64_t end_bytes) {
  const auto found = run_of_end(std::as_bytes(std::span(&end, 1)), end_bytes);
  if (!found) return;
  require(found->run.extent().end_bytes() == end_bytes);
  require(found->run.offset_bytes >= kDataStart);
  require(found->run.offset_bytes % kUnitBytes == 0);
  require(found->run.run_id == found->label.run && found->label.run.value == end.run_id);
  require(found->run.payload_bytes == end.payload_bytes);
}

void check_proof(const RunEnd& end, std::span<const std::byte> payload, std::size_t bit) {
  const Uuid uuid{};
  const RunLabel label{{end.segment_id | 1},
                       static_cast<SegmentKind>(end.kind),
                       {end.owner},
                       {end.run_id | 1},
                       end.first};
  ChecksumTreeBuilder tree({uuid, label.segment, label.run});
  std::vector<std::byte> padded(payload.begin(), payload.end());
  padded.resize(round_up(padded.size(), 8));
  tree.add_chunk(padded);
  auto tail = tree.finish(run_end(label, payload.size(), end.record_count));
  const std::span<std::byte> top(tail.bytes);  // one chunk: one level
  const std::uint64_t end_bytes = kDataStart + extent_bytes(payload.size());
  auto found = run_of_end(top.last(sizeof(RunEnd)), end_bytes);
  require(found.has_value() && prove_run_end(top, uuid, *found));
  require(found->run.checksum == tail.checksum && found->run.offset_bytes == kDataStart);
  require(found->label.owner == label.owner && found->label.first == label.first);
  require(found->run.record_count == end.record_count);
  Uuid other = uuid;
  other[0] ^= std::byte{1};
  require(!prove_run_end(top, other, *found));
  top[bit / 8 % top.size()] ^= std::byte{1} << bit % 8;
  require(!prove_run_end(top, uuid, *found));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> bytes(std::max<std::size_t>(size, sizeof(RunEnd) + 11));
  std::copy_n(std::as_bytes(std::span(data, size)).begin(), size, bytes.begin());
  auto end = load_struct<RunEnd>(bytes.data());
  end.magic = kRunEndMagic;
  const std::span<const std::byte> rest = std::span(bytes).subspan(sizeof end);
  check_search(end, load<std::uint64_t>(rest.data()));
  end.reserved = 0;
  check_search(end, load<std::uint64_t>(rest.data()) & ~(kUnitBytes - 1));
  const auto payload = rest.subspan(10);
  check_proof(end, payload.first(std::min(payload.size(), kPayloadMax)),
              load<std::uint16_t>(rest.data() + 8));
  return 0;
}
