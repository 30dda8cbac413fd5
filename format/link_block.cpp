// SPDX-License-Identifier: Apache-2.0
#include "link_block.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "endian.h"
#include "invalid.h"
#include "short_numbers.h"
#include "zigzag.h"

namespace crawlstore::format {

/// The count of numbers of each part of a block.
struct LinkBlockCounts {
  std::uint64_t gaps = 0;
  std::uint64_t degrees = 0;
  std::uint64_t links = 0;

  static LinkBlockCounts of(const LinkBlockHeader& header) {
    const bool has_gaps = (header.flags & kLinkPageGaps) != 0;
    return {has_gaps ? header.row_count - 1U : 0U, header.row_count, header.link_count};
  }
  [[nodiscard]] std::uint64_t selectors() const {
    return selector_bytes(gaps) + selector_bytes(degrees) + selector_bytes(links);
  }
  [[nodiscard]] std::uint64_t all() const { return gaps + degrees + links; }
};

namespace {

bool is_short(const LinkBlockHeader& header) {
  return header.codec == static_cast<std::uint16_t>(LinkCodec::kShort);
}

/// The numbers of a block, before their lengths are chosen.
struct Numbers {
  std::vector<std::uint64_t> gaps;  // empty: all are 0
  std::vector<std::uint64_t> links;
  bool fits_short = false;
};

Numbers numbers_of(const LinkRowSpans& rows) {
  Numbers numbers;
  std::uint64_t any = 0;
  numbers.links.resize(rows.links.size());
  std::size_t begin = 0;
  for (std::size_t row = 0; row < rows.pages.size(); ++row) {
    const std::size_t end = begin + rows.degrees[row];
    if (begin == end) continue;
    numbers.links[begin] = zigzag(rows.links[begin] - rows.pages[row]);
    any |= numbers.links[begin];
    for (std::size_t i = begin + 1; i < end; ++i) {
      numbers.links[i] = rows.links[i] - rows.links[i - 1] - 1;
      any |= numbers.links[i];
    }
    begin = end;
  }
  const bool is_dense = rows.pages.back() - rows.pages.front() == rows.pages.size() - 1;
  for (std::size_t row = 1; row < rows.pages.size() && !is_dense; ++row) {
    numbers.gaps.push_back(rows.pages[row] - rows.pages[row - 1] - 1);
    any |= numbers.gaps.back();
  }
  numbers.fits_short = any >> 32 == 0;
  return numbers;
}

/// Writes one part, selectors and data, and moves both on.
void put_short(std::span<const std::uint64_t> wide, std::span<std::byte>& selectors,
               std::span<std::byte>& data) {
  std::vector<std::uint32_t> numbers(wide.begin(), wide.end());
  const std::size_t length =
      encode_short_numbers(numbers, selectors.first(selector_bytes(numbers.size())), data);
  selectors = selectors.subspan(selector_bytes(numbers.size()));
  data = data.subspan(length);
}

void put_plain(std::span<const std::uint64_t> numbers, std::span<std::byte>& data) {
  for (std::size_t i = 0; i < numbers.size(); ++i) store(data.data() + i * 8, numbers[i]);
  data = data.subspan(numbers.size() * 8);
}

const char* check_header(const LinkBlockHeader& header) {
  if (header.codec != static_cast<std::uint16_t>(LinkCodec::kShort) &&
      header.codec != static_cast<std::uint16_t>(LinkCodec::kPlain)) {
    return "the codec of a link block is unknown";
  }
  if ((header.flags & ~kLinkPageGaps) != 0) return "a flag of a link block is unknown";
  if (header.row_count == 0 || header.row_count > kLinkBlockRowsMax ||
      header.link_count > kLinkBlockLinksMax || header.first_page > kPageMax) {
    return "a number in the header of a link block is out of range";
  }
  return nullptr;
}

template <class T>
void grow(std::vector<T>& column, std::size_t count) {
  if (column.size() < count) column.resize(count);
}

}  // namespace

/// Turns the parts of one block into rows. Whatever was loaded once is believed only as far as it
/// has been checked since, and never loaded again.
class LinkBlockDecoder {
 public:
  LinkBlockDecoder(const LinkBlockHeader& header, std::span<const std::byte> block, LinkRows& rows,
                   std::uint64_t link_max)
      : header_(header),
        counts_(LinkBlockCounts::of(header)),
        selectors_(block.subspan(sizeof header, is_short(header) ? counts_.selectors() : 0)),
        data_(block.subspan(sizeof header + selectors_.size())),
        rows_(rows),
        link_max_(link_max) {
    rows.row_count_ = header.row_count;
    rows.link_count_ = header.link_count;
    grow(rows.pages_, counts_.degrees);
    grow(rows.degrees_, counts_.degrees);
    grow(rows.row_ends_, counts_.degrees);
    grow(rows.links_, counts_.links);
  }

  /// nullptr, or what is wrong.
  const char* decode_short() {
    grow(rows_.numbers_, std::max({counts_.gaps, counts_.links + 1, counts_.degrees}));
    const std::span<std::uint32_t> numbers(rows_.numbers_);
    if (!take_short(numbers.first(counts_.gaps))) return kCutShort;
    if (const char* broken = set_pages(numbers.first(counts_.gaps))) return broken;
    if (!take_short(std::span(rows_.degrees_).first(counts_.degrees))) return kCutShort;
    if (!set_row_ends()) return kWrongDegrees;
    if (!take_short(numbers.first(counts_.links))) return kCutShort;
    if (used_bytes_ != header_.data_bytes) return "the data of a link block have another length";
    return set_links_short() ? nullptr : kOutOfRange;
  }

  const char* decode_plain() {
    std::vector<std::uint64_t> numbers(std::max(counts_.gaps, counts_.links));
    const std::span<std::uint64_t> all(numbers);
    take_plain(all.first(counts_.gaps));
    if (const char* broken = set_pages(all.first(counts_.gaps))) return broken;
    for (std::uint32_t& degree : std::span(rows_.degrees_).first(counts_.degrees)) {
      std::uint64_t number = 0;
      take_plain(std::span(&number, 1));
      if (number > kLinkBlockLinksMax) return kWrongDegrees;
      degree = static_cast<std::uint32_t>(number);
    }
    if (!set_row_ends()) return kWrongDegrees;
    take_plain(all.first(counts_.links));
    return set_links_plain(all) ? nullptr : kOutOfRange;
  }

 private:
  static constexpr auto kCutShort = "a link block is cut short";
  static constexpr auto kWrongDegrees = "the rows of a link block have another number of links";
  static constexpr auto kOutOfRange = "a link is out of range";

  bool take_short(std::span<std::uint32_t> numbers) {
    const std::uint64_t length = selector_bytes(numbers.size());
    const auto used = decode_short_numbers(selectors_.first(length), data_, numbers);
    if (!used) return false;
    selectors_ = selectors_.subspan(length);
    data_ = data_.subspan(*used);
    used_bytes_ += *used;
    return true;
  }

  void take_plain(std::span<std::uint64_t> numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = load<std::uint64_t>(data_.data() + i * 8);
    }
    data_ = data_.subspan(numbers.size() * 8);
  }

  template <class T>
  const char* set_pages(std::span<const T> gaps) {
    std::uint64_t page = header_.first_page;
    std::uint64_t highest_gap = 0;
    rows_.pages_[0] = page;
    for (std::size_t row = 1; row < header_.row_count; ++row) {
      const std::uint64_t gap = gaps.empty() ? 0 : gaps[row - 1];
      highest_gap = std::max(highest_gap, gap);
      page += gap + 1;
      rows_.pages_[row] = page;
      if (page > kPageMax || gap > kPageMax) return "a page of a link block is out of range";
    }
    if (!gaps.empty() && highest_gap == 0) return "page gaps of a link block are all zero";
    return nullptr;
  }
  template <class T>
  const char* set_pages(std::span<T> gaps) {
    return set_pages(std::span<const T>(gaps));
  }

  bool set_row_ends() {
    std::uint64_t end = 0;  // at most 2^24 * 2^32
    for (std::size_t row = 0; row < header_.row_count; ++row) {
      end += rows_.degrees_[row];
      rows_.row_ends_[row] = static_cast<std::uint32_t>(end);
    }
    return end == header_.link_count;
  }

  /// The first link of a row lies at its distance from the page, each other one behind the last:
  /// sums that begin so that the first number, plus 1, leads to the first link. At most 2^28
  /// numbers of 32 bits are added, so no sum wraps; one that began below 0 is seen as too high.
  bool set_links_short() {
    const std::uint32_t* const numbers = rows_.numbers_.data();
    const std::uint32_t* const degrees = rows_.degrees_.data();
    const std::uint64_t* const pages = rows_.pages_.data();
    std::uint64_t* const links = rows_.links_.data();
    std::uint64_t highest = 0;
    std::size_t begin = 0;
    for (std::size_t row = 0; row < counts_.degrees; ++row) {
      const std::size_t degree = degrees[row];
      if (degree == 0) continue;
      const std::uint64_t first = pages[row] + unzigzag(numbers[begin]);
      std::uint64_t link = first - numbers[begin] - 1;
      for (std::size_t i = begin; i < begin + degree; ++i) {
        link += std::uint64_t{numbers[i]} + 1;
        links[i] = link;
      }
      highest = std::max({highest, first, link});
      begin += degree;
    }
    return highest <= link_max_;
  }

  bool set_links_plain(std::span<const std::uint64_t> numbers) {
    std::size_t i = 0;
    for (std::size_t row = 0; row < header_.row_count; ++row) {
      const std::size_t end = rows_.row_ends_[row];
      const std::size_t begin = i;
      std::uint64_t link = rows_.pages_[row];
      for (; i < end; ++i) {
        if (numbers[i] > 2 * kPageMax) return false;
        link += i == begin ? unzigzag(numbers[i]) : numbers[i] + 1;
        if (link > link_max_) return false;
        rows_.links_[i] = link;
      }
    }
    return true;
  }

  const LinkBlockHeader header_;
  const LinkBlockCounts counts_;
  std::span<const std::byte> selectors_;
  std::span<const std::byte> data_;  // may go on behind the data: padding
  std::uint64_t used_bytes_ = 0;
  LinkRows& rows_;
  const std::uint64_t link_max_;
};

void LinkRows::append(std::span<const std::uint64_t> links) {
  const std::size_t end = link_count_ + links.size();
  if (links_.size() < end) links_.resize(std::max(end, 2 * links_.size()));
  std::copy(links.begin(), links.end(), links_.begin() + static_cast<std::ptrdiff_t>(link_count_));
  link_count_ = end;
  degrees_[row_count_ - 1] += static_cast<std::uint32_t>(links.size());
  row_ends_[row_count_ - 1] = static_cast<std::uint32_t>(end);
}

std::size_t LinkRows::find(std::uint64_t page) const {
  const auto all = pages();
  const auto place = std::lower_bound(all.begin(), all.end(), page);
  return place != all.end() && *place == page ? static_cast<std::size_t>(place - all.begin())
                                              : row_count_;
}

void encode_link_block(const LinkRowSpans& rows, std::vector<std::byte>& out) {
  CRAWLSTORE_ASSERT(!rows.pages.empty() && rows.pages.size() <= kLinkBlockRowsMax &&
                    rows.links.size() <= kLinkBlockLinksMax &&
                    rows.degrees.size() == rows.pages.size());
  const Numbers numbers = numbers_of(rows);
  LinkBlockHeader header{};
  header.first_page = rows.pages.front();
  header.row_count = static_cast<std::uint32_t>(rows.pages.size());
  header.link_count = static_cast<std::uint32_t>(rows.links.size());
  header.codec =
      static_cast<std::uint16_t>(numbers.fits_short ? LinkCodec::kShort : LinkCodec::kPlain);
  header.flags = numbers.gaps.empty() ? std::uint16_t{0} : kLinkPageGaps;
  const LinkBlockCounts counts = LinkBlockCounts::of(header);
  const std::uint64_t selectors_bytes = numbers.fits_short ? counts.selectors() : 0;
  const std::uint64_t number_bytes = numbers.fits_short ? 4 : 8;
  const std::size_t start = out.size();
  out.resize(start + sizeof header + selectors_bytes + counts.all() * number_bytes + 8);
  const auto block = std::span(out).subspan(start);
  auto selectors = block.subspan(sizeof header, selectors_bytes);
  auto data = block.subspan(sizeof header + selectors_bytes);
  const std::vector<std::uint64_t> degrees(rows.degrees.begin(), rows.degrees.end());
  const auto data_start = data.data();
  for (const std::span<const std::uint64_t> part :
       {std::span(numbers.gaps), std::span(degrees), std::span(numbers.links)}) {
    if (numbers.fits_short) {
      put_short(part, selectors, data);
    } else {
      put_plain(part, data);
    }
  }
  header.data_bytes = static_cast<std::uint32_t>(data.data() - data_start);
  store_struct(block.data(), header);
  const std::size_t end = start + sizeof header + selectors_bytes + header.data_bytes;
  out.resize(end);  // what lies behind the data holds parts of numbers
  out.resize(start + round_up(end - start, 8));
}

Result<std::uint64_t> link_block_bytes(const LinkBlockHeader& header) {
  if (const char* broken = check_header(header)) return invalid(broken);
  const LinkBlockCounts counts = LinkBlockCounts::of(header);
  if (!is_short(header)) {
    if (header.data_bytes != counts.all() * 8) {
      return invalid("the data of a link block have another length");
    }
    return sizeof header + counts.all() * 8;
  }
  return round_up(sizeof header + counts.selectors() + header.data_bytes, 8);
}

Result<void> decode_link_block(std::span<const std::byte> block, LinkRows& rows,
                               std::uint64_t link_max) {
  if (block.size() < sizeof(LinkBlockHeader)) return invalid("a link block is cut short");
  const auto header = load_struct<LinkBlockHeader>(block.data());
  const auto length = link_block_bytes(header);
  if (!length) return tl::unexpected<Error>(length.error());
  if (*length != block.size()) return invalid("a link block has another length");
  LinkBlockDecoder decoder(header, block, rows, link_max);
  const char* broken = is_short(header) ? decoder.decode_short() : decoder.decode_plain();
  if (broken != nullptr) return invalid(broken);
  const std::uint64_t end = sizeof header + header.data_bytes +
                            (is_short(header) ? LinkBlockCounts::of(header).selectors() : 0);
  if (!is_zero(block.subspan(end))) return invalid("padding of a link block is not zero", end);
  return {};
}

}  // namespace crawlstore::format
