// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Dense link runs that are put together number by number, whether they may be so or not.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "format/link_index.h"

namespace crawlstore::testing {

/// The context that the model of these runs has no codes for.
inline constexpr std::size_t kContextWithoutCodes = 22;

struct DenseNumber {
  std::size_t context;
  std::uint64_t number;
};

/// No pages: the block goes on with a row. No numbers: it has no bytes.
struct DenseBlock {
  std::uint32_t page_count;
  std::vector<DenseNumber> numbers;
};

/// In every context but one, the codes of small numbers have 6 bits, of others 7.
std::vector<std::byte> dense_run(std::uint64_t first_page, const std::vector<DenseBlock>& blocks,
                                 const format::LinkTotals& totals);

}  // namespace crawlstore::testing
