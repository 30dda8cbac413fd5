// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no bytes make the decoders read outside of selectors and data;
//   - both decoders give the same, and say that they used no more data than there are;
//   - what they give, encoded again, takes no more data and comes back.
//
// Input: the count of numbers (1 byte), selectors, data.

#include <cstdint>
#include <span>
#include <vector>

#include "format/short_numbers.h"
#include "require.h"

namespace {

using namespace crawlstore::format;
using crawlstore::fuzz::require;
using Bytes = std::vector<std::byte>;

void check(std::size_t count, const Bytes& selectors, const Bytes& data) {
  std::vector<std::uint32_t> numbers(count);
  std::vector<std::uint32_t> portable(count);
  const auto used = decode_short_numbers(selectors, data, numbers);
  require(used == decode_short_numbers_portable(selectors, data, portable));
  if (!used) return;
  require(numbers == portable && *used <= data.size());
  Bytes selectors_again(selectors.size());
  Bytes data_again(count * 4);
  data_again.resize(encode_short_numbers(numbers, selectors_again, data_again));
  require(data_again.size() <= *used);
  require(decode_short_numbers(selectors_again, data_again, portable) == data_again.size());
  require(numbers == portable);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  const std::size_t length = selector_bytes(data[0]);
  if (bytes.size() < length) return 0;
  const auto selectors = bytes.first(length);
  const auto rest = bytes.subspan(length);
  check(data[0], {selectors.begin(), selectors.end()}, {rest.begin(), rest.end()});
  return 0;
}
