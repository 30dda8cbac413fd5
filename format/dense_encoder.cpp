// SPDX-License-Identifier: Apache-2.0
//
// One function, put_row(), says what a row consists of: for its cost, for counting and for writing.
#include <algorithm>
#include <array>
#include <bit>

#include "base/assert.h"
#include "dense_block.h"
#include "dense_contexts.h"
#include "zigzag.h"

namespace crawlstore::format {

namespace {

/// Counts of a sample weigh as much beside a token that was not seen in it.
constexpr std::uint64_t kSeenWeight = 16;

/// The highest number that may come in a context.
std::uint64_t highest_number(std::size_t context, std::uint64_t number_max) {
  if (context < kEmptiesContext) return kEqualRow + kDenseBlockRows - 1;
  if (context == kEmptiesContext) return kDenseBlockPages;
  if (context >= first_extra_context(0, 0) && context < second_extra_context(0, 0)) {
    return 4 * number_max + 3;  // a distance, its sign, and from where
  }
  if (context >= second_extra_context(0, 0) && context < kZerosContext) return number_max;
  return kDensePieceLinks;
}

struct CostSink {
  const DenseCodes& codes;
  std::uint32_t limit;
  std::uint32_t bits = 0;
  void put(std::size_t context, std::uint64_t number) { bits += codes.cost(context, number); }
  [[nodiscard]] bool is_over() const { return bits >= limit; }
};

struct CountSink {
  DenseCounts& counts;
  std::uint64_t weight;
  void put(std::size_t context, std::uint64_t number) {
    counts[context][DenseToken::of(number).token] += weight;
  }
  static constexpr bool is_over() { return false; }
};

/// Bits one after another, the first one lowest.
struct BitSink {
  const DenseCodes& codes;
  std::vector<std::byte>& out;
  std::uint64_t waiting = 0;
  unsigned waiting_bits = 0;

  void put(std::size_t context, std::uint64_t number) {
    const DenseToken token = DenseToken::of(number);
    const DenseCodes::Code code = codes.code(context, token.token);
    CRAWLSTORE_DCHECK(code.length != 0);
    put_bits(code.bits, code.length);
    put_bits(number & ~(~std::uint64_t{0} << token.raw_bits), token.raw_bits);
  }
  void put_bits(std::uint64_t bits, unsigned count) {
    waiting |= bits << waiting_bits;
    waiting_bits += count;
    for (; waiting_bits >= 8; waiting_bits -= 8, waiting >>= 8) {
      out.push_back(static_cast<std::byte>(waiting));
    }
  }
  void end() {
    if (waiting_bits != 0) out.push_back(static_cast<std::byte>(waiting));
  }
  static constexpr bool is_over() { return false; }
};

}  // namespace

DenseLengths dense_model(const DenseCounts& counts, std::uint64_t number_max) {
  number_max = std::max<std::uint64_t>(number_max, 1);  // a code has at least two tokens
  DenseCounts weights{};
  for (std::size_t context = 0; context < kDenseContexts; ++context) {
    const std::size_t end = DenseToken::of(highest_number(context, number_max)).token + 1U;
    for (std::size_t token = 0; token < end; ++token) {
      weights[context][token] = counts[context][token] * kSeenWeight + 1;
    }
  }
  return dense_code_lengths(weights);
}

DenseLengths rough_dense_model() {
  DenseCounts counts{};
  for (auto& of_context : counts) {
    for (std::size_t token = 0; token < kDenseTokens; ++token) {
      const std::size_t bits = token < 16 ? 2 * std::bit_width(token + 1) : token / 4 + 6;
      of_context[token] = std::uint64_t{1} << (40 - bits);
    }
  }
  return dense_code_lengths(counts);
}

/// The circumstances besides the row that its numbers depend on.
struct DenseBlockEncoder::Place {
  std::uint64_t page = 0;
  std::size_t row = 0;  // of those with links
  RowClass before = RowClass::kNone;
  std::uint64_t degree_before = 0;
  std::uint64_t first_link_before = 0;  // of the row before
};

template <class Sink>
void DenseBlockEncoder::put_row(const Form& form, const Place& place, Sink& sink) {
  sink.put(type_context(place.before), form.type);
  if (form.type > kEqualRow) return;
  const std::uint64_t extra_count = form.extras.size();
  if (form.type == kPlainRow) {
    sink.put(degree_context(place.degree_before), extra_count - 1);
  } else {
    const bool has_all = form.runs.size() == 1;
    sink.put(first_run_context(form.reference_degree), has_all ? 0 : form.runs[0] + 1U);
    std::uint64_t left = form.reference_degree - form.runs[0];
    for (std::size_t i = 1; i < form.runs.size() && left > 1; ++i) {
      const std::size_t context = i % 2 == 1 ? skip_context(left) : copy_context(left);
      sink.put(context, i + 1 == form.runs.size() ? 0 : form.runs[i]);
      left -= form.runs[i];
    }
    sink.put(extra_count_context(form.reference_degree - form.copied), extra_count);
    if (extra_count == 0) return;
  }
  if (sink.is_over()) return;
  std::uint64_t first = zigzag(form.extras[0] - place.page);
  if (place.row > 0) {
    const std::uint64_t by_row = zigzag(form.extras[0] - place.first_link_before);
    first = by_row < first ? by_row << 1 | 1 : first << 1;
  }
  sink.put(first_extra_context(place.row, form.copied), first);
  if (extra_count == 1) return;
  sink.put(second_extra_context(extra_count, form.copied), form.gaps[0]);
  unsigned zeros = form.gaps[0] == 0 ? 1 : 0;
  for (std::size_t i = 1; i < form.gaps.size(); ++i) {
    if (zeros == kZeroGaps) {
      const auto next = std::find_if(form.gaps.begin() + static_cast<std::ptrdiff_t>(i),
                                     form.gaps.end(), [](std::uint64_t gap) { return gap != 0; });
      const auto more = static_cast<std::size_t>(next - form.gaps.begin()) - i;
      sink.put(kZerosContext, more);
      i += more;
      if (i == form.gaps.size()) return;
      sink.put(gap_context(0), form.gaps[i] - 1);
      zeros = 0;
      continue;
    }
    sink.put(gap_context(form.gaps[i - 1]), form.gaps[i]);
    zeros = form.gaps[i] == 0 ? zeros + 1 : 0;
  }
}

void DenseBlockEncoder::split(std::span<const std::uint64_t> links,
                              std::span<const std::uint64_t> reference, Form& form) {
  form.reference_degree = reference.size();
  form.copied = 0;
  form.runs.clear();
  form.extras.clear();
  form.gaps.clear();
  std::uint32_t run = 0;
  bool is_copying = true;
  std::uint64_t copied_before = 0;  // when the last extra came
  const auto turn = [&](bool copies) {
    if (is_copying == copies) return;
    form.runs.push_back(run);
    run = 0;
    is_copying = copies;
  };
  auto next = reference.begin();
  for (const std::uint64_t link : links) {
    for (; next != reference.end() && *next < link; ++next) {
      turn(false);
      ++run;
    }
    if (next != reference.end() && *next == link) {
      turn(true);
      ++run;
      ++form.copied;
      ++next;
      continue;
    }
    if (!form.extras.empty()) {
      form.gaps.push_back(link - form.extras.back() - 1 - (form.copied - copied_before));
    }
    form.extras.push_back(link);
    copied_before = form.copied;
  }
  if (next != reference.end()) {
    turn(false);
    run += static_cast<std::uint32_t>(reference.end() - next);
  }
  form.runs.push_back(run);
}

void DenseBlockEncoder::choose(std::span<const std::uint64_t> links, const Place& place) {
  split(links, {}, best_);
  best_.type = kPlainRow;
  CostSink plain{codes_, ~std::uint32_t{0}};
  put_row(best_, place, plain);
  std::uint32_t bits = plain.bits;
  for (std::size_t distance = 1; distance <= rows_.size(); ++distance) {
    split(links, rows_[rows_.size() - distance], tried_);
    if (tried_.copied == 0) continue;
    const bool is_equal = tried_.runs.size() == 1 && tried_.extras.empty();
    tried_.type = (is_equal ? kEqualRow : kReferringRow) + distance;
    CostSink sink{codes_, bits};
    put_row(tried_, place, sink);
    if (sink.is_over()) continue;
    bits = sink.bits;
    std::swap(best_, tried_);
  }
}

template <class Sink>
void DenseBlockEncoder::put_rows(std::uint64_t first_page, const LinkRowSpans& rows, Sink& sink) {
  CRAWLSTORE_ASSERT(!rows.pages.empty() && rows.pages.size() <= kDenseBlockRows);
  CRAWLSTORE_ASSERT(rows.pages.back() - first_page < kDenseBlockPages);
  CRAWLSTORE_ASSERT(rows.links.size() <=
                    (rows.pages.size() == 1 ? kDensePieceLinks : kDenseBlockLinks));
  rows_.clear();
  Place place;
  std::uint64_t next_page = first_page;
  std::size_t begin = 0;
  for (std::size_t row = 0; row < rows.pages.size(); ++row) {
    place.row = row;
    place.page = rows.pages[row];
    if (place.page != next_page) {
      sink.put(type_context(place.before), kEmptyRows);
      sink.put(kEmptiesContext, place.page - next_page - 1);
      place.before = RowClass::kEmpty;
    }
    const auto links = rows.links.subspan(begin, rows.degrees[row]);
    CRAWLSTORE_ASSERT(!links.empty());
    choose(links, place);
    put_row(best_, place, sink);
    place.before = class_of(best_.type);
    place.degree_before = links.size();
    place.first_link_before = links[0];
    rows_.push_back(links);
    next_page = place.page + 1;
    begin += links.size();
  }
}

void DenseBlockEncoder::encode(std::uint64_t first_page, const LinkRowSpans& rows,
                               std::vector<std::byte>& out) {
  BitSink sink{codes_, out};
  put_rows(first_page, rows, sink);
  sink.end();
}

void DenseBlockEncoder::count(std::uint64_t first_page, const LinkRowSpans& rows,
                              std::uint64_t weight, DenseCounts& counts) {
  CountSink sink{counts, weight};
  put_rows(first_page, rows, sink);
}

std::uint64_t DenseBlockEncoder::memory_bytes() const {
  std::uint64_t bytes = sizeof *this + rows_.capacity() * sizeof(decltype(rows_)::value_type);
  for (const Form* form : {&best_, &tried_}) {
    bytes += form->runs.capacity() * sizeof(std::uint32_t) +
             (form->extras.capacity() + form->gaps.capacity()) * sizeof(std::uint64_t);
  }
  return bytes;
}

}  // namespace crawlstore::format
