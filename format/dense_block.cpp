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

/// A friend of LinkRows.
///   Numbers  reads them: a DenseDecoder, or one that notes what it reads
template <class Numbers>
class DenseBlockReader {
 public:
  DenseBlockReader(std::span<const std::byte> block, const Numbers& numbers, LinkRows& rows)
      : input_(block.data(), (block.size() - kDenseSlackBytes) * 8),
        numbers_(numbers),
        rows_(rows) {
    if (rows.links_.size() < kDensePieceLinks + kCopySlack) {
      rows.links_.resize(kDensePieceLinks + kCopySlack);
    }
    if (rows.pages_.size() < kDenseBlockRows) rows.pages_.resize(kDenseBlockRows);
    if (rows.degrees_.size() < kDenseBlockRows) rows.degrees_.resize(kDenseBlockRows);
    if (rows.row_ends_.size() < kDenseBlockRows) rows.row_ends_.resize(kDenseBlockRows);
    rows.row_count_ = rows.link_count_ = 0;
  }

  /// nullptr, or the text that names the broken rule.
  const char* read(const DensePages& pages) {
    RowClass before = RowClass::kNone;
    for (std::size_t offset = 0; offset < pages.count; ++offset) {
      if (pages.first + offset > pages.last_read) return nullptr;
      std::uint64_t type = number(type_context(before));
      if (type == kEmptyRows) {
        offset += number(kEmptiesContext) + 1;
        if (offset >= pages.count) return "a dense block ends with pages that have no links";
        if (pages.first + offset > pages.last_read) return nullptr;
        type = number(type_context(RowClass::kEmpty));
        if (type == kEmptyRows) return "pages without links of a dense block are told in two parts";
      }
      if (rows_.row_count_ == kDenseBlockRows) return "a dense block has too many rows";
      rows_.pages_[rows_.row_count_] = pages.first + offset;
      if (const char* broken = read_row(type)) return broken;
      if (input_.has_failed()) return "a dense block is cut short";
      before = class_of(type);
    }
    const bool is_exact =
        input_.bits_left() < 8 && (input_.peek() & ~(~std::uint64_t{0} << input_.bits_left())) == 0;
    return is_exact ? nullptr : "a dense block does not end with its last row";
  }

 private:
  std::uint64_t number(std::size_t context) { return numbers_.read(input_, context); }

  [[nodiscard]] std::size_t room() const {
    return (rows_.row_count_ == 0 ? kDensePieceLinks : kDenseBlockLinks) - rows_.link_count_;
  }

  const char* read_row(std::uint64_t type) {
    std::uint64_t* const row = rows_.links_.data() + rows_.link_count_;
    const bool is_plain = type == kPlainRow;
    const std::uint64_t distance = type < kEqualRow ? type - kReferringRow : type - kEqualRow;
    if (rows_.row_count_ != 0 && rows_.link_count_ > kDenseBlockLinks) {
      return "a dense block has too many links";
    }
    std::size_t degree = 0;
    if (is_plain) {
      degree = number(degree_context(rows_.row_count_ == 0 ? 0 : degree_before())) + 1;
      if (degree > room()) return "a dense block has too many links";
      if (const char* broken = read_extras(row, 0, degree)) return broken;
    } else {
      if (distance == 0 || distance > rows_.row_count_) {
        return "a row of a dense block refers to none before it";
      }
      const std::size_t of = rows_.row_count_ - distance;
      const std::span<const std::uint64_t> reference(
          rows_.links_.data() + rows_.row_ends_[of] - rows_.degrees_[of], rows_.degrees_[of]);
      if (type > kEqualRow) {
        degree = reference.size();
        if (degree > room()) return "a dense block has too many links";
        copy_links(reference.data(), row, degree);
      } else if (const char* broken = read_copies(reference, row, degree)) {
        return broken;
      }
    }
    if (row[degree - 1] > kPageMax) return "a link of a dense block is out of range";
    rows_.degrees_[rows_.row_count_] = static_cast<std::uint32_t>(degree);
    rows_.link_count_ += degree;
    rows_.row_ends_[rows_.row_count_] = static_cast<std::uint32_t>(rows_.link_count_);
    ++rows_.row_count_;
    return nullptr;
  }

  [[nodiscard]] std::uint32_t degree_before() const { return rows_.degrees_[rows_.row_count_ - 1]; }

  /// What the row takes of its reference, and its extras.
  const char* read_copies(std::span<const std::uint64_t> reference, std::uint64_t* row,
                          std::size_t& degree) {
    DenseInput input = input_;  // a copy stays in registers while links are written
    const auto number = [&](std::size_t context) { return numbers_.read(input, context); };
    std::size_t copied = 0;
    const std::uint64_t* from = reference.data();
    std::size_t left = reference.size();
    std::uint64_t run = number(first_run_context(left));
    run = run == 0 ? left : run - 1;
    for (bool copies = true;; copies = !copies) {
      if (run > left) return "a run of a dense block is longer than what it refers to";
      if (copies) {
        if (run > kDenseBlockLinks - rows_.link_count_ - copied) {
          return "a dense block has too many links";
        }
        copy_links(from, row + copied, run);
        copied += run;
      }
      from += run;
      left -= run;
      if (left == 0) break;
      if (left == 1) {
        run = 1;
        continue;
      }
      run = number(copies ? skip_context(left) : copy_context(left));
      if (run == 0) run = left;
    }
    const std::size_t extras = number(extra_count_context(reference.size() - copied));
    input_ = input;
    degree = copied + extras;
    if (extras > kDenseBlockLinks || degree > room()) return "a dense block has too many links";
    if (degree == 0) return "a row of a dense block has no links";
    if (extras == 0) return nullptr;
    std::copy_backward(row, row + copied, row + degree);
    return read_extras(row, copied, degree);
  }

  /// The copied links stand at the end of the row. They move forward while extras come between.
  const char* read_extras(std::uint64_t* row, std::size_t copied, std::size_t degree) {
    std::uint64_t* const end = row + degree;
    std::uint64_t* copy = end - copied;
    *end = ~std::uint64_t{0};
    std::uint64_t link = first_extra(copied);
    if (link > kPageMax) return "a link of a dense block is out of range";
    std::uint64_t* out = row;
    while (*copy < link) *out++ = *copy++;
    if (*copy == link) return "a link of a dense block is there twice";
    *out++ = link;
    std::size_t left = degree - copied - 1;
    if (left == 0) return nullptr;
    DenseInput input = input_;
    const auto number = [&](std::size_t context) { return numbers_.read(input, context); };
    std::uint64_t gap = number(second_extra_context(left + 1, copied));
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
        gap = number(gap_context(gap));
        continue;
      }
      zeros = 0;
      std::uint64_t more = number(kZerosContext);
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
      gap = number(gap_context(0)) + 1;
    }
    input_ = input;
    return link > kPageMax ? "a link of a dense block is out of range" : nullptr;
  }

  std::uint64_t first_extra(std::size_t copied) {
    std::uint64_t first = number(first_extra_context(rows_.row_count_, copied));
    std::uint64_t base = rows_.pages_[rows_.row_count_];
    if (rows_.row_count_ > 0) {
      if ((first & 1) != 0) base = rows_.links_[rows_.link_count_ - degree_before()];
      first >>= 1;
    }
    return base + unzigzag(first);
  }

  DenseInput input_;
  const Numbers& numbers_;
  LinkRows& rows_;
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
Result<void> decode_block(std::span<const std::byte> block, const Numbers& numbers,
                          const DensePages& pages, LinkRows& rows) {
  if (block.size() < kDenseSlackBytes) return invalid("a dense block is cut short");
  DenseBlockReader<Numbers> reader(block, numbers, rows);
  if (const char* broken = reader.read(pages)) return invalid(broken);
  return {};
}

}  // namespace

Result<void> decode_dense_block(std::span<const std::byte> block, const DenseDecoder& decoder,
                                const DensePages& pages, LinkRows& rows) {
  return decode_block(block, decoder, pages, rows);
}

Result<void> trace_dense_block(std::span<const std::byte> block, const DenseDecoder& decoder,
                               const DensePages& pages, LinkRows& rows,
                               std::vector<DenseNumber>& numbers) {
  numbers.clear();
  return decode_block(block, NotedNumbers(decoder, numbers), pages, rows);
}

}  // namespace crawlstore::format
