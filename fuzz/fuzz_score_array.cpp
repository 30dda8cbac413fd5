// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no payload crashes the check of a score array or makes it read outside of the payload;
//   - an error is kSegmentInvalid, with a place in the payload, and the same whatever pieces the
//     payload is taken in;
//   - what an accepted payload holds, encoded anew, gives the same bytes: there is one payload for
//     one content.
//
// Input: a payload.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "format/score_array.h"
#include "require.h"

namespace {

using namespace crawlstore;
using namespace crawlstore::format;
using crawlstore::fuzz::require;
using Bytes = std::vector<std::byte>;

Result<ScoreArray> check(const Bytes& payload, std::size_t piece_bytes) {
  const std::size_t footer_bytes = std::min(payload.size(), sizeof(ScoreFooter));
  CRAWLSTORE_TRY(const auto array,
                 parse_score_footer(std::span(payload).last(footer_bytes), payload.size()));
  ScoreArrayRules rules(array);
  auto rest = std::span(payload).first(payload.size() - footer_bytes);
  while (!rest.empty()) {
    // In memory of its own, so that a byte too many is seen.
    const auto next = rest.first(std::min(rest.size(), piece_bytes));
    const Bytes piece(next.begin(), next.end());
    CRAWLSTORE_TRY(rules.take(piece));
    rest = rest.subspan(piece.size());
  }
  CRAWLSTORE_TRY(rules.finish());
  return array;
}

template <class T>
std::vector<T> loaded(const Bytes& payload, Extent place) {
  std::vector<T> numbers(place.length_bytes / sizeof(T));
  const auto bytes = std::span(payload).subspan(place.offset_bytes, place.length_bytes);
  std::ranges::copy(bytes, std::as_writable_bytes(std::span(numbers)).begin());
  return numbers;
}

/// The payload of what an accepted one holds.
Bytes made_again(const Bytes& payload, const ScoreArray& array) {
  const ScorePlaces places = score_places(array);
  require(places.payload_bytes() == payload.size());
  Bytes out(payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(places.value_bytes));
  encode_score_tail(array, loaded<std::uint64_t>(payload, places.first_pages),
                    loaded<double>(payload, places.residuals), out);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const Bytes payload(bytes.begin(), bytes.end());
  const auto checked = check(payload, size + 8 - size % 8);
  for (const std::size_t piece_bytes : {8U, 24U}) {
    const auto again = check(payload, piece_bytes);
    require(again.has_value() == checked.has_value());
    require(again || (again.error().offset == checked.error().offset &&
                      std::string_view(again.error().text) == checked.error().text));
  }
  if (checked) {
    require(made_again(payload, *checked) == payload);
  } else {
    require(checked.error().code == Errc::kSegmentInvalid);
    require(payload.empty() || checked.error().offset < payload.size());
  }
  return 0;
}
