// SPDX-License-Identifier: Apache-2.0
//
// Invariants checked:
//   - no bytes crash the decoders or make them read outside of what they were given;
//   - rows of an accepted block ascend and have links, which ascend, all at most kPageMax; as many
//     as a block may have, and the last one is that of the last page;
//   - decoded up to a row, by plain instructions, or told number by number, a block is the same;
//   - coded again, by a model of their own, all rows come back.
//
// Input: one byte; if it is even, a model (else that which knows nothing); the number of pages (1
// byte); a block.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "format/dense_block.h"
#include "require.h"

namespace {

using namespace crawlstore::format;
using crawlstore::fuzz::require;
using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kFirstPage = 1000;

bool are_equal(const LinkRows& a, const LinkRows& b) {
  return std::ranges::equal(a.pages(), b.pages()) && std::ranges::equal(a.degrees(), b.degrees()) &&
         std::ranges::equal(a.links(), b.links());
}

bool decode(Bytes block, const DenseLengths& model, std::size_t page_count, std::uint64_t last_page,
            LinkRows& rows) {
  block.resize(block.size() + kDenseSlackBytes);
  block.shrink_to_fit();
  const DenseDecoder decoder(model);
  const DensePages pages{kFirstPage, page_count, last_page};
  const bool is_block = decode_dense_block(block, decoder, pages, rows).has_value();
  LinkRows again;
  require(decode_dense_block_portable(block, decoder, pages, again).has_value() == is_block);
  require(!is_block || are_equal(again, rows));
  std::vector<DenseNumber> numbers;
  require(trace_dense_block(block, decoder, pages, again, numbers).has_value() == is_block);
  for (std::size_t i = 1; i < numbers.size(); ++i)
    require(numbers[i].begin_bits == numbers[i - 1].end_bits);
  return is_block;
}

void check_rows(const LinkRows& rows, std::size_t page_count) {
  require(rows.row_count() > 0 && rows.row_count() <= kDenseBlockRows);
  require(rows.links().size() <= (rows.row_count() == 1 ? kDensePieceLinks : kDenseBlockLinks));
  require(rows.pages().back() == kFirstPage + page_count - 1);
  for (std::size_t row = 0; row < rows.row_count(); ++row) {
    require(row == 0 || rows.page(row) > rows.page(row - 1));
    const auto links = rows.links(row);
    require(!links.empty() && links.back() <= kPageMax);
    require(std::ranges::adjacent_find(links, std::ranges::greater_equal()) == links.end());
  }
}

void check_coded_again(const LinkRows& rows, std::size_t page_count) {
  const LinkRowSpans spans{rows.pages(), rows.degrees(), rows.links()};
  DenseCounts counts{};
  DenseBlockEncoder(rough_dense_model()).count(kFirstPage, spans, 1, counts);
  const DenseLengths model = dense_model(counts, kPageMax);
  Bytes block;
  DenseBlockEncoder(model).encode(kFirstPage, spans, block);
  LinkRows again;
  require(decode(block, model, page_count, kPageMax, again) && are_equal(again, rows));
}

void check_block(const DenseLengths& model, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const auto page_count = std::max<std::size_t>(1, std::to_integer<std::size_t>(bytes[0]));
  const Bytes block(bytes.begin() + 1, bytes.end());
  LinkRows rows;
  if (!decode(block, model, page_count, kPageMax, rows)) return;
  check_rows(rows, page_count);
  LinkRows part;
  const std::size_t middle = rows.row_count() / 2;
  require(decode(block, model, page_count, rows.page(middle), part));
  require(std::ranges::equal(part.pages(), rows.pages().first(middle + 1)));
  require(std::ranges::equal(part.links(), rows.links().first(part.links().size())));
  check_coded_again(rows, page_count);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  if (data[0] % 2 == 1) check_block(rough_dense_model(), bytes);
  if (data[0] % 2 == 1 || bytes.size() <= kDenseModelBytes) return 0;
  const auto model = parse_dense_model(bytes.first<kDenseModelBytes>());
  if (model) check_block(*model, bytes.subspan(kDenseModelBytes));
  return 0;
}
