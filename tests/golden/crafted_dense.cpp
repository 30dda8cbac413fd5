// SPDX-License-Identifier: Apache-2.0
#include "golden/crafted_dense.h"

#include "format/dense_index.h"

namespace crawlstore::testing {
namespace {

format::DenseLengths model() {
  format::DenseLengths lengths{};
  for (std::size_t context = 0; context < lengths.size(); ++context) {
    if (context == kContextWithoutCodes) continue;
    for (std::size_t token = 0; token < format::kDenseTokens; ++token) {
      lengths[context][token] = token < 32 ? 6 : 7;
    }
  }
  return lengths;
}

std::vector<std::byte> encode(const std::vector<DenseNumber>& numbers) {
  const format::DenseCodes codes(model());
  std::vector<std::byte> bytes;
  std::size_t bit_count = 0;
  const auto put = [&](std::uint64_t bits, unsigned count) {
    for (unsigned i = 0; i < count; ++i, ++bit_count) {
      if (bit_count % 8 == 0) bytes.emplace_back();
      bytes.back() |= std::byte((bits >> i & 1) << bit_count % 8);
    }
  };
  for (const auto& [context, number] : numbers) {
    const auto token = format::DenseToken::of(number);
    const auto code = codes.code(context, token.token);
    put(code.bits, code.length);
    put(number, token.raw_bits);
  }
  return bytes;
}

}  // namespace

std::vector<std::byte> dense_run(std::uint64_t first_page, const std::vector<DenseBlock>& blocks,
                                 const format::LinkTotals& totals) {
  std::vector<std::byte> run;
  format::DenseIndex index;
  for (const auto& [page_count, numbers] : blocks) {
    const auto bytes = encode(numbers);
    index.add({first_page, run.size(), page_count, static_cast<std::uint32_t>(bytes.size())});
    run.insert(run.end(), bytes.begin(), bytes.end());
  }
  index.encode_tail(model(), totals, run);
  return run;
}

}  // namespace crawlstore::testing
