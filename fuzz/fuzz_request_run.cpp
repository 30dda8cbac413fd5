// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no payload crashes the parsers or makes them read outside it;
//   - all columns of an accepted run lie inside the payload and have as many entries as they must;
//   - lengths add up to what follows; operations, verdicts and sequences are in range and in order;
//   - encoding an accepted run again gives the same bytes: there is one payload for one content.
//
// Input: one byte (0: key run, 1: auxiliary run, 2: result run; modulo 3), then the payload.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "format/key_block.h"
#include "format/request_run.h"
#include "require.h"

namespace {

using namespace crawlstore::format;
using crawlstore::fuzz::require;
using Bytes = std::vector<std::byte>;

template <class T>
void require_inside(std::span<const T> column, const Bytes& payload) {
  const auto bytes = std::as_bytes(column);
  require(bytes.empty() || (bytes.data() >= payload.data() &&
                            bytes.data() + bytes.size() <= payload.data() + payload.size()));
}

std::uint64_t sum(std::span<const std::uint32_t> lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0});
}

void check_key_run(const Bytes& payload) {
  std::vector<std::uint64_t> keys;
  const auto run = parse_key_run(payload, keys);
  if (!run) return;
  const std::size_t count = run->keys.size();
  require(count != 0 && (run->tags.empty() || run->tags.size() == count));
  require(run->sequences.empty() || run->sequences.size() == count);
  require(count <= payload.size() * 8);
  require_inside(run->sequences, payload);
  require_inside(run->values, payload);
  for (const std::uint16_t tag : run->tags) require(operation_of(tag) <= Operation::kCheckUpdate);
  require(std::is_sorted(run->sequences.begin(), run->sequences.end()));
  require(run->values.size() == (run->value_bytes == kVariableValue
                                     ? sum(run->lengths)
                                     : count * static_cast<std::size_t>(run->value_bytes)));
  Bytes again;
  encode_key_run(*run, again);
  require(again == payload);
}

void check_aux_run(const Bytes& payload) {
  const auto run = parse_aux_run(payload);
  if (!run) return;
  require_inside(run->bytes, payload);
  require_inside(run->blocks.bytes, payload);
  require(
      run->bytes.size() + run->blocks.raw_bytes ==
      (run->lengths.empty() ? run->record_count * run->uniform_length_bytes : sum(run->lengths)));
  if (run->bytes.empty() || run->bytes.size() > kUnitBytes) return;  // for fuzz_aux_blocks
  Bytes again;
  encode_aux_run(*run, again);
  require(again == payload);
}

void check_result_run(const Bytes& payload) {
  const auto run = parse_result_run(payload);
  if (!run) return;
  const std::size_t count = run->keys.size();
  require(count != 0 && run->sequences.size() == count && run->tags.size() == count &&
          run->verdicts.size() == count && run->aux_lengths.size() == count);
  require_inside(run->verdicts, payload);
  require_inside(run->auxes, payload);
  for (const std::uint8_t verdict : run->verdicts) require(verdict <= 1);
  require(run->auxes.size() == sum(run->aux_lengths));
  Bytes again;
  encode_result_run(*run, again);
  require(again == payload);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  const Bytes payload(bytes.begin(), bytes.end());  // aligned, as parse_* asks
  if (data[0] % 3 == 0) check_key_run(payload);
  if (data[0] % 3 == 1) check_aux_run(payload);
  if (data[0] % 3 == 2) check_result_run(payload);
  return 0;
}
