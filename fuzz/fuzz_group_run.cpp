// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no payload crashes the parser of a group run or makes it read outside of the payload;
//   - an error is kSegmentInvalid, with a place in the payload;
//   - keys can be read one after another, and are as long as the run says;
//   - an accepted payload without blocks, too short to have some, encoded anew gives the same
//   bytes;
//     one with blocks gives the same keys.
//
// Input: a payload.

#include <cstdint>
#include <span>
#include <vector>

#include "format/group_run.h"
#include "require.h"

namespace {

using namespace crawlstore;
using namespace crawlstore::format;
using crawlstore::fuzz::must;
using crawlstore::fuzz::require;
using Bytes = std::vector<std::byte>;

Result<Bytes> all_keys(const GroupRun& run) {
  Bytes keys;
  AuxReader reader = keys_of(run);
  for (const std::uint16_t length : run.lengths) {
    CRAWLSTORE_TRY(const auto key, reader.next(length));
    require(key.size() == length);
    keys.insert(keys.end(), key.begin(), key.end());
    reader.forget();
  }
  return keys;
}

Result<void> check_payload(const Bytes& payload) {
  CRAWLSTORE_TRY(const auto run, parse_group_run(payload));
  const auto keys = all_keys(run);
  CRAWLSTORE_TRY(check_group_blocks(run));
  require(keys.has_value());
  Bytes again;
  encode_group_run({run.first_group, run.lengths, *keys}, again);
  if (run.blocks.lengths.empty() && keys->size() <= kUnitBytes) require(again == payload);
  require(must(all_keys(must(parse_group_run(again)))) == *keys);
  return {};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const Bytes payload(bytes.begin(), bytes.end());  // aligned, as the parser asks
  const auto checked = check_payload(payload);
  if (!checked) {
    require(checked.error().code == Errc::kSegmentInvalid);
    require(payload.empty() || checked.error().offset < payload.size());
  }
  return 0;
}
