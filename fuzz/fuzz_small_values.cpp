// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no payload crashes the parser of small values or makes it read outside of the payload;
//   - an error is kSegmentInvalid, with a place in the payload;
//   - what an accepted payload holds, encoded anew, gives the same bytes.
//
// Input: a payload.

#include <cstdint>
#include <span>
#include <vector>

#include "format/small_values.h"
#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using crawlstore::fuzz::require;
  const auto bytes = std::as_bytes(std::span(data, size));
  const std::vector<std::byte> payload(bytes.begin(), bytes.end());
  const auto values = crawlstore::format::parse_values(payload);
  if (values) {
    require(crawlstore::format::encode_values(*values) == payload);
  } else {
    require(values.error().code == crawlstore::Errc::kSegmentInvalid);
    require(payload.empty() || values.error().offset < payload.size());
  }
  return 0;
}
