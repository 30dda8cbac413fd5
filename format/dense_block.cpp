// SPDX-License-Identifier: Apache-2.0
//
// Invariants: no row writes behind kDensePieceLinks links and kCopySlack more; whatever a number
// says is bounded before it is used as a length. A number that is read behind the end is garbage,
// and the input has failed: the row ends with that error.
#include "dense_block.h"

#include <algorithm>

#include "dense_contexts.h"
#include "invalid.h"
#include "zigzag.h"

namespace crawlstore::format {

namespace {

/// Links are copied four at a time, and a row is read up to a link that is above all others.
constexpr std::size_t kCopySlack = 8;

const std::uint64_t* copy_links(const std::uint64_t* from, std::uint64_t* to, std::size_t count) {
  for (std::size_t i = 0; i < count; i += 4) {
    std::array<std::uint64_t, 4> four;
    std::copy_n(from + i, 4, four.begin());
    std::copy_n(four.begin(), 4, to + i);
  }
  return to + count;
}

}  // namespace

/// A friend of LinkRows. Functions that read become part of read(), so that the input stays in
/// registers, and part of the caller of that, so that they have its instructions.
///   Numbers  reads them: a DenseDecoder, or one that notes what it reads
template <class Numbers>
class DenseBlockReader {
 public:
  DenseBlockReader(std::span<const std::byte> block, const Numbers& numbers, LinkRows& rows)
      : block_(block), numbers_(numbers), rows_(rows) {
    if (rows.links_.size() < kDensePieceLinks + kCopySlack) {
      rows.links_.resize(kDensePieceLinks + kCopySlack);
    }
    if (rows.pages_.size() < kDenseBlockRows) rows.pages_.resize(kDenseBlockRows);
    if (rows.degrees_.size() < kDenseBlockRows) rows.degrees_.resize(kDenseBlockRows);
    if (rows.row_ends_.size() < kDenseBlockRows) rows.row_ends_.resize(kDenseBlockRows);
    rows.row_count_ = rows.link_count_ = 0;
  }

  /// nullptr, or the text that names the broken rule.
  [[gnu::always_inline]] const char* read(const DensePages& pages) {
    link_max_ = pages.link_max;
    DenseInput input(block_.data(), (block_.size() - kDenseSlackBytes) * 8);
    RowClass before = RowClass::kNone;
    for (std::size_t offset = 0; offset < pages.count; ++offset) {
      if (pages.first + offset > pages.last_read) return nullptr;
      input.load_word();  // mostly enough for a row; that it is used up is hard to predict
      std::uint64_t type = number(input, type_context(before));
      if (type == kEmptyRows) {
        offset += number(input, kEmptiesContext) + 1;
        if (offset >= pages.count) return "a dense block ends with pages that have no links";
        if (pages.first + offset > pages.last_read) return nullptr;
        type = number(input, type_context(RowClass::kEmpty));
        if (type == kEmptyRows) return "pages without links of a dense block are told in two parts";
      }
      if (rows_.row_count_ == kDenseBlockRows) return "a dense block has too many rows";
      rows_.pages_[rows_.row_count_] = pages.first + offset;
      if (const char* broken = read_row(input, type)) return broken;
      if (input.has_failed()) return "a dense block is cut short";
      before = class_of(type);
    }
    input.load_word();
    const bool is_exact =
        input.bits_left() < 8 && (input.word() & ~(~std::uint64_t{0} << input.bits_left())) == 0;
    return is_exact ? nullptr : "a dense block does not end with its last row";
  }

 private:
  [[gnu::always_inline]] std::uint64_t number(DenseInput& input, std::size_t context) const {
    return numbers_.read(input, context);
  }

  [[nodiscard]] std::size_t room() const {
    return (rows_.row_count_ == 0 ? kDensePieceLinks : kDenseBlockLinks) - rows_.link_count_;
  }

  [[gnu::always_inline]] const char* read_row(DenseInput& input, std::uint64_t type) {
    std::uint64_t* const row = rows_.links_.data() + rows_.link_count_;
    if (rows_.row_count_ != 0 && rows_.link_count_ > kDenseBlockLinks) {
      return "a dense block has too many links";
    }
    std::size_t copied = 0;
    std::size_t extras = 0;
    if (type == kPlainRow) {
      extras = number(input, degree_context(rows_.row_count_ == 0 ? 0 : degree_before())) + 1;
    } else {
      const std::uint64_t distance = type < kEqualRow ? type - kReferringRow : type - kEqualRow;
      if (distance == 0 || distance > rows_.row_count_) {
        return "a row of a dense block refers to none before it";
      }
      const std::size_t of = rows_.row_count_ - distance;
      const std::span<const std::uint64_t> reference(
          rows_.links_.data() + rows_.row_ends_[of] - rows_.degrees_[of], rows_.degrees_[of]);
      if (type > kEqualRow) {
        copied = reference.size();
        if (copied > room()) return "a dense block has too many links";
        copy_links(reference.data(), row, copied);
      } else {
        if (const char* broken = read_copies(input, reference, row, copied)) return broken;
        extras = number(input, extra_count_context(reference.size() - copied));
      }
    }
    const std::size_t degree = copied + extras;
    if (degree > room()) return "a dense block has too many links";
    if (degree == 0) return "a row of a dense block has no links";
    if (extras != 0) {
      if (copied != 0) std::copy_backward(row, row + copied, row + degree);
      if (const char* broken = read_extras(input, row, copied, degree)) return broken;
    }
    if (row[degree - 1] > link_max_) return "a link of a dense block is out of range";
    rows_.degrees_[rows_.row_count_] = static_cast<std::uint32_t>(degree);
    rows_.link_count_ += degree;
    rows_.row_ends_[rows_.row_count_] = static_cast<std::uint32_t>(rows_.link_count_);
    ++rows_.row_count_;
    return nullptr;
  }

  [[nodiscard]] std::uint32_t degree_before() const { return rows_.degrees_[rows_.row_count_ - 1]; }

  /// Copies the links that the row takes of its reference.
  [[gnu::always_inline]] const char* read_copies(DenseInput& input,
                                                 std::span<const std::uint64_t> reference,
                                                 std::uint64_t* row, std::size_t& copied) const {
    const std::uint64_t* from = reference.data();
    std::size_t left = reference.size();
    std::uint64_t run = number(input, first_run_context(left));
    run = run == 0 ? left : run - 1;
    while (true) {
      if (run > left) return "a run of a dense block is longer than what it refers to";
      if (run > kDenseBlockLinks - rows_.link_count_ - copied) {
        return "a dense block has too many links";
      }
      copy_links(from, row + copied, run);
      copied += run;
      from += run;
      left -= run;
      if (left <= 1) return nullptr;
      run = number(input, skip_context(left));
      if (run == 0) return nullptr;
      if (run > left) return "a run of a dense block is longer than what it refers to";
      from += run;
      left -= run;
      if (left == 0) return nullptr;
      run = left == 1 ? 1 : number(input, copy_context(left));
      if (run == 0) run = left;
    }
  }

  /// The copied links stand at the end of the row. They move forward while extras come between.
  [[gnu::always_inline]] const char* read_extras(DenseInput& input, std::uint64_t* row,
                                                 std::size_t copied, std::size_t degree) const {
    std::uint64_t* const end = row + degree;
    std::uint64_t* copy = end - copied;
    *end = ~std::uint64_t{0};
    std::uint64_t link = first_extra(input, copied);
    if (link > link_max_) return "a link of a dense block is out of range";
    std::uint64_t* out = row;
    while (*copy < link) *out++ = *copy++;
    if (*copy == link) return "a link of a dense block is there twice";
    *out++ = link;
    std::size_t left = degree - copied - 1;
    if (left == 0) return nullptr;
    std::uint64_t gap = number(input, second_extra_context(left + 1, copied));
    unsigned zeros = 0;
    while (true) {
      link += gap + 1;
      while (*copy <= link) {
        *out++ = *copy++;
        ++link;
      }
      *out++ = link;
      if (--left == 0) break;
      zeros = gap == 0 ? zeros + 1 : 0;
      if (zeros < kZeroGaps) {
        gap = number(input, gap_context(gap));
        continue;
      }
      zeros = 0;
      std::uint64_t more = number(input, kZerosContext);
      if (more > left) return "a dense block has too many links";
      left -= more;
      for (; more > 0; --more) {
        ++link;
        while (*copy <= link) {
          *out++ = *copy++;
          ++link;
        }
        *out++ = link;
      }
      if (left == 0) break;
      gap = number(input, gap_context(0)) + 1;
    }
    return link > link_max_ ? "a link of a dense block is out of range" : nullptr;
  }

  [[gnu::always_inline]] std::uint64_t first_extra(DenseInput& input, std::size_t copied) const {
    std::uint64_t first = number(input, first_extra_context(rows_.row_count_, copied));
    std::uint64_t base = rows_.pages_[rows_.row_count_];
    if (rows_.row_count_ > 0) {
      const std::array bases{base, rows_.links_[rows_.link_count_ - degree_before()]};
      base = bases[first & 1];
      first >>= 1;
    }
    return base + unzigzag(first);
  }

  std::span<const std::byte> block_;
  const Numbers& numbers_;
  LinkRows& rows_;
  std::uint64_t link_max_ = 0;
};

namespace {

/// Reads numbers, and notes where they were.
class NotedNumbers {
 public:
  NotedNumbers(const DenseDecoder& decoder, std::vector<DenseNumber>& notes)
      : decoder_(decoder), notes_(notes) {}

  [[nodiscard]] std::uint64_t read(DenseInput& input, std::size_t context) const {
    const std::uint64_t begin = input.position();
    const std::uint64_t value = decoder_.read(input, context);
    if (!input.has_failed()) {
      notes_.push_back({static_cast<std::uint8_t>(context), value, begin, input.position()});
    }
    return value;
  }

 private:
  const DenseDecoder& decoder_;
  std::vector<DenseNumber>& notes_;
};

template <class Numbers>
const char* read_block(DenseBlockReader<Numbers>& reader, const DensePages& pages) {
  return reader.read(pages);
}

#if defined(__x86_64__)
/// Shifts a word in one instruction, which else takes three, and masks it in one.
[[gnu::target("bmi,bmi2")]] const char* read_block_bmi2(DenseBlockReader<DenseDecoder>& reader,
                                                        const DensePages& pages) {
  return reader.read(pages);
}
#endif

template <class Numbers>
Result<void> decode_block(std::span<const std::byte> block, const Numbers& numbers,
                          const DensePages& pages, LinkRows& rows,
                          const char* (*read)(DenseBlockReader<Numbers>&, const DensePages&)) {
  if (block.size() < kDenseSlackBytes) return invalid("a dense block is cut short");
  DenseBlockReader<Numbers> reader(block, numbers, rows);
  if (const char* broken = read(reader, pages)) return invalid(broken);
  return {};
}

}  // namespace

Result<void> decode_dense_block(std::span<const std::byte> block, const DenseDecoder& decoder,
                                const DensePages& pages, LinkRows& rows) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")) {
    return decode_block(block, decoder, pages, rows, read_block_bmi2);
  }
#endif
  return decode_dense_block_portable(block, decoder, pages, rows);
}

Result<void> decode_dense_block_portable(std::span<const std::byte> block,
                                         const DenseDecoder& decoder, const DensePages& pages,
                                         LinkRows& rows) {
  return decode_block(block, decoder, pages, rows, read_block<DenseDecoder>);
}

Result<void> trace_dense_block(std::span<const std::byte> block, const DenseDecoder& decoder,
                               const DensePages& pages, LinkRows& rows,
                               std::vector<DenseNumber>& numbers) {
  numbers.clear();
  return decode_block(block, NotedNumbers(decoder, numbers), pages, rows, read_block<NotedNumbers>);
}

}  // namespace crawlstore::format
