// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no payload crashes the parsers of a queue run or makes them read outside of the payload;
//   - an error is kSegmentInvalid, with a place in the payload;
//   - what an accepted payload holds, encoded anew, gives the same bytes: there is one payload for
//     one content.
//
// Input: a payload.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "format/queue_run.h"
#include "require.h"

namespace {

using namespace crawlstore;
using namespace crawlstore::format;
using crawlstore::fuzz::require;
using Bytes = std::vector<std::byte>;

Bytes piece_of(const Bytes& payload, std::uint64_t begin, std::uint64_t end) {
  return {payload.begin() + static_cast<std::ptrdiff_t>(begin),
          payload.begin() + static_cast<std::ptrdiff_t>(end)};
}

/// Checks a payload, and gives it as it is made again from what it holds.
Result<Bytes> made_again(const Bytes& payload) {
  const std::size_t footer_at = payload.size() - std::min(payload.size(), sizeof(QueueRunFooter));
  CRAWLSTORE_TRY(const auto footer,
                 parse_queue_footer(piece_of(payload, footer_at, payload.size()), payload.size()));
  const std::uint64_t index_at = footer_at - footer.fragment_count * sizeof(QueueFragment);
  CRAWLSTORE_TRY(const auto index,
                 parse_queue_index(piece_of(payload, index_at, footer_at), footer, payload.size()));
  CRAWLSTORE_TRY(check_queue_padding(index, piece_of(payload, index.offsets.back(), index_at)));
  Bytes again;
  std::vector<QueueFragment> fragments;
  for (std::size_t i = 0; i < index.fragments.size(); ++i) {
    std::vector<QueueEntry> entries(index.fragments[i].entry_count);
    CRAWLSTORE_TRY(decode_queue_fragment(
        index, i, piece_of(payload, index.offsets[i], index.offsets[i + 1]), entries));
    CRAWLSTORE_TRY(check_queue_fragment(index, i, entries));
    fragments.push_back(encode_queue_fragment(entries, again));
  }
  encode_queue_tail(fragments, index.highest, again);
  return again;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const Bytes payload(bytes.begin(), bytes.end());
  const auto again = made_again(payload);
  if (again) {
    require(*again == payload);
  } else {
    require(again.error().code == Errc::kSegmentInvalid);
    require(payload.empty() || again.error().offset < payload.size());
  }
  return 0;
}
