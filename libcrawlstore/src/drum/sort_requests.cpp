// SPDX-License-Identifier: Apache-2.0
//
// One scatter by the leading bits (after those that all keys share) makes groups of about a
// hundred requests; a word holds the key bits after them, and the arrival index below. A group is
// sorted in the first-level cache, as plain numbers, so equal keys stay in arrival order. Groups
// are many enough that a word usually holds all bits that are left; else the rest is compared
// afterwards.
#include "drum/sort_requests.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/assert.h"

namespace crawlstore::drum {
namespace {

constexpr unsigned kGroupBitsMax = 12;
constexpr unsigned kGroupSizeBits = 7;
constexpr std::size_t kSmallGroup = 12;
constexpr unsigned kCellBitsMax = 11;
constexpr std::size_t kCellGroup = std::size_t{1} << kCellBitsMax;
/// Words in one cell above which they are not spread evenly. The requests of a popular key share a
/// cell, and cost nothing: they are in order already.
constexpr std::uint16_t kCellCountMax = 64;

void insertion_sort(std::span<std::uint64_t> words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::uint64_t word = words[i];
    std::size_t place = i;
    for (; place > 0 && words[place - 1] > word; --place) words[place] = words[place - 1];
    words[place] = word;
  }
}

/// Spreads evenly distributed words over as many cells as there are words, which leaves each near
/// its place. Returns false, and moves nothing, if they are not evenly distributed.
bool spread(std::span<std::uint64_t> words) {
  std::array<std::uint16_t, kCellGroup> cells;   // NOLINT(*-member-init): as far as it is used
  std::array<std::uint64_t, kCellGroup> spread;  // NOLINT(*-member-init)
  const auto bits = static_cast<unsigned>(std::bit_width(words.size() - 1));
  const unsigned shift = 64 - bits;
  const std::span used(cells.data(), std::size_t{1} << bits);
  std::fill(used.begin(), used.end(), std::uint16_t{0});
  for (const std::uint64_t word : words) ++used[word >> shift];
  std::uint16_t start = 0;
  std::uint16_t most = 0;
  for (auto& count : used) {
    most = std::max(most, count);
    start = static_cast<std::uint16_t>(start + std::exchange(count, start));
  }
  if (most > kCellCountMax) return false;
  for (const std::uint64_t word : words) spread[used[word >> shift]++] = word;
  std::copy_n(spread.begin(), words.size(), words.begin());
  return true;
}

void sort_group(std::span<std::uint64_t> words) {
  if (words.size() <= kSmallGroup || (words.size() <= kCellGroup && spread(words))) {
    insertion_sort(words);
  } else if (!std::is_sorted(words.begin(), words.end())) {
    std::sort(words.begin(), words.end());
  }
}

}  // namespace

/// The places of the bits of a key in group numbers and words.
struct SortedRequests::Shape {
  std::uint64_t first = 0;  // the first key
  unsigned shared_bits = 0;
  unsigned group_bits = 1;
  unsigned index_bits = 1;
  unsigned lost_bits = 0;  // lowest bits of keys for which words have no room

  Shape(std::uint64_t first_key, std::uint64_t difference, std::size_t count)
      : first(first_key),
        shared_bits(static_cast<unsigned>(std::countl_zero(difference | 1))),
        index_bits(std::max(1U, static_cast<unsigned>(std::bit_width(count - 1)))) {
    const unsigned wanted = index_bits > kGroupSizeBits ? index_bits - kGroupSizeBits : 1;
    const unsigned exact = index_bits > shared_bits ? index_bits - shared_bits : 1;
    group_bits = std::min(std::max(wanted, std::min(exact, wanted + 2)), kGroupBitsMax);
    const unsigned held_bits = shared_bits + group_bits;
    lost_bits = index_bits > held_bits ? index_bits - held_bits : 0;
  }
  [[nodiscard]] std::uint64_t index_mask() const { return (std::uint64_t{1} << index_bits) - 1; }
  [[nodiscard]] std::uint64_t group_of(std::uint64_t key) const {
    return key << shared_bits >> (64 - group_bits);
  }
  [[nodiscard]] std::uint64_t word_of(std::uint64_t key, std::uint64_t index) const {
    return (key << shared_bits << group_bits & ~index_mask()) | index;
  }
  /// Without its lost bits.
  [[nodiscard]] std::uint64_t key_of(std::uint64_t group, std::uint64_t word) const {
    const std::uint64_t bits = group << (64 - group_bits) | (word & ~index_mask()) >> group_bits;
    return (first & ~(~std::uint64_t{0} >> shared_bits)) | bits >> shared_bits;
  }
};

void SortedRequests::scatter(Spans keys, const Shape& shape) {
  starts_.assign((std::size_t{1} << shape.group_bits) + 1, 0);
  for (const auto& span : keys) {
    for (const std::uint64_t key : span) ++starts_[shape.group_of(key) + 1];
  }
  for (std::size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  std::uint64_t index = 0;
  for (const auto& span : keys) {
    for (const std::uint64_t key : span) {
      words_[starts_[shape.group_of(key)]++] = shape.word_of(key, index++);
    }
  }
}

void SortedRequests::emit(const Shape& shape, std::uint64_t group, std::size_t begin,
                          std::size_t end) {
  const std::uint64_t mask = shape.index_mask();
  for (std::size_t i = begin; i < end; ++i) {
    keys_[i] = shape.key_of(group, words_[i]);
    arrivals_[i] = static_cast<std::uint32_t>(words_[i] & mask);
  }
}

void SortedRequests::repair_ties(Spans keys, const Shape& shape) {
  // The words are no longer needed: their memory takes the keys in arrival order.
  auto end = words_.begin();
  for (const auto& span : keys) end = std::copy(span.begin(), span.end(), end);
  const auto before = [this](std::uint32_t a, std::uint32_t b) {
    return words_[a] != words_[b] ? words_[a] < words_[b] : a < b;
  };
  const std::uint64_t held = ~std::uint64_t{0} << shape.lost_bits;
  for (std::size_t begin = 0; begin < size_;) {
    std::size_t behind = begin + 1;
    while (behind < size_ && ((keys_[behind] ^ keys_[begin]) & held) == 0) ++behind;
    const std::span ties(arrivals_.data() + begin, behind - begin);
    if (!std::is_sorted(ties.begin(), ties.end(), before)) {
      std::sort(ties.begin(), ties.end(), before);
    }
    for (std::size_t i = begin; i < behind; ++i) keys_[i] = words_[arrivals_[i]];
    begin = behind;
  }
}

/// Sorts by `keys` alone.
void SortedRequests::sort_numbers(Spans keys) {
  size_ = 0;
  for (const auto& span : keys) size_ += span.size();
  CRAWLSTORE_ASSERT(size_ <= kSortCountMax);
  if (size_ == 0) return;
  if (keys_.size() < size_) {
    keys_.resize(size_);
    arrivals_.resize(size_);
    words_.resize(size_);
  }
  const std::uint64_t first = keys.front().front();
  std::uint64_t difference = 0;
  for (const auto& span : keys) {
    for (const std::uint64_t key : span) difference |= key ^ first;
  }
  const Shape shape(first, difference, size_);
  scatter(keys, shape);
  // Scattering has moved each start to the group's end.
  std::size_t begin = 0;
  for (std::uint64_t group = 0; group + 1 < starts_.size(); ++group) {
    const std::size_t end = starts_[group];
    sort_group(std::span(words_.data() + begin, end - begin));
    emit(shape, group, begin, end);
    begin = end;
  }
  if (shape.lost_bits != 0) repair_ties(keys, shape);
}

/// Puts requests with one head into the order of their tails, after a sort by heads.
void SortedRequests::sort_tails(Spans tails) {
  if (tails_.size() < size_) tails_.resize(size_);
  auto end = words_.begin();  // the words are done with: room for the tails in arrival order
  for (const auto& span : tails) end = std::copy(span.begin(), span.end(), end);
  const auto before = [this](std::uint32_t a, std::uint32_t b) {
    return words_[a] != words_[b] ? words_[a] < words_[b] : a < b;
  };
  for (std::size_t begin = 0; begin < size_;) {
    std::size_t behind = begin + 1;
    while (behind < size_ && keys_[behind] == keys_[begin]) ++behind;
    const auto first = arrivals_.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = arrivals_.begin() + static_cast<std::ptrdiff_t>(behind);
    if (!std::is_sorted(first, last, before)) std::sort(first, last, before);
    for (std::size_t i = begin; i < behind; ++i) tails_[i] = words_[arrivals_[i]];
    begin = behind;
  }
}

void SortedRequests::sort(Spans keys, Spans tails) {
  is_wide_ = !tails.empty();
  const bool share_head = is_wide_ && std::all_of(keys.begin(), keys.end(), [&](const auto& span) {
                            return std::all_of(span.begin(), span.end(), [&](std::uint64_t key) {
                              return key == keys.front().front();
                            });
                          });
  if (share_head) {
    sort_numbers(tails);
    std::swap(keys_, tails_);
    keys_.assign(tails_.size(), keys.front().front());
    return;
  }
  sort_numbers(keys);
  if (is_wide_) sort_tails(tails);
}

template <bool kIsWide>
void SortedRequests::keep_first_of(std::span<std::uint8_t> repeated) {
  std::size_t kept = 1;
  std::uint64_t last = keys_[0];
  std::uint64_t last_tail = kIsWide ? tails_[0] : 0;
  for (std::size_t i = 1; i < size_; ++i) {
    const std::uint64_t key = keys_[i];
    const std::uint32_t arrival = arrivals_[i];
    bool is_repeat = key == last;
    if constexpr (kIsWide) {
      const std::uint64_t tail = tails_[i];
      is_repeat = is_repeat && tail == last_tail;
      tails_[kept] = tail;
      last_tail = tail;
    }
    repeated[arrival] = is_repeat ? 1 : 0;
    keys_[kept] = key;
    arrivals_[kept] = arrival;
    kept += is_repeat ? 0 : 1;
    last = key;
  }
  repeated[arrivals_[0]] = 0;
  size_ = kept;
}

void SortedRequests::keep_first(std::span<std::uint8_t> repeated) {
  if (size_ == 0) return;
  is_wide_ ? keep_first_of<true>(repeated) : keep_first_of<false>(repeated);
}

}  // namespace crawlstore::drum
