// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Requests of keys which an update or check_update before them, among the same requests, inserts.
/// They are duplicates and change nothing, so no merge sorts them: each is only a note of where it
/// stands among the keys, and which of them it repeats.
///
/// A note has 3 bytes: how many keys came since the repeat before (or the beginning), and, in two
/// bytes, how many keys stand between its key and it. Where the first number is kMoreKeys there is
/// no repeat: so many keys more came. In memory only: in a run a repeat is a key.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <crawlstore/types.h>

#include "drum/slabs.h"
#include "format/endian.h"
#include "format/request_run.h"

namespace crawlstore::drum {

class RepeatNotes {
 public:
  explicit RepeatNotes(const std::shared_ptr<SlabPool>& pool = nullptr) : list_(pool) {}
  RepeatNotes(RepeatNotes&& other) noexcept { swap(other); }
  RepeatNotes& operator=(RepeatNotes&& other) noexcept {
    RepeatNotes taken(std::move(other));
    swap(taken);
    return *this;
  }
  RepeatNotes(const RepeatNotes&) = delete;
  RepeatNotes& operator=(const RepeatNotes&) = delete;
  ~RepeatNotes() = default;

  /// Can a request that comes when there are `key_count` keys repeat this one?
  static bool can_reach(std::uint64_t key_count, std::uint64_t key_index) {
    return key_count - 1 - key_index <= kDistanceMax;
  }
  /// A request that comes when there are `key_count` keys, of one that it can reach.
  ///   common_tag  the tag of all repeats before it, unless they have had others already
  void append(std::uint64_t key_count, std::uint64_t key_index, std::uint16_t tag,
              std::uint16_t common_tag);
  /// Has it the place, and the memory, for a note without another before it?
  [[nodiscard]] bool has_room(std::uint64_t key_count) const {
    return next_ != end_ && key_count - key_count_ < kMoreKeys;
  }
  /// The fast way, when all have the common tag.
  void append_into_room(std::uint64_t key_count, std::uint64_t key_index) {
    put(key_count - key_count_, key_count - 1 - key_index);
    key_count_ = key_count;
    ++count_;
  }
  static constexpr std::uint64_t kNoteBytes = 3;

  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// What they need, without what the columns have in reserve.
  [[nodiscard]] std::uint64_t request_bytes() const {
    return note_count() * kNoteBytes + tags_.size() * 2;
  }
  [[nodiscard]] std::uint64_t memory_bytes() const {
    return list_.slabs().size() * kSlabBytes + tags_.capacity() * 2;
  }
  /// Empty: all have the common tag.
  [[nodiscard]] std::span<const std::uint16_t> tags() const { return tags_; }
  /// How many of them are answered as duplicates: an update is not.
  [[nodiscard]] std::uint64_t duplicate_count(std::uint16_t common_tag) const;

  /// Reads the notes, one after the other.
  class Cursor {
   public:
    Cursor() = default;
    explicit Cursor(const RepeatNotes& notes)
        : slab_(notes.list_.slabs().data()), left_(notes.note_count()) {
      key_count_ = 0;
      advance();
    }

    /// How many keys stand before the repeat; more than there can be behind the last one.
    [[nodiscard]] std::uint64_t key_count() const { return key_count_; }
    /// Which of them it repeats.
    [[nodiscard]] std::uint64_t key_index() const { return key_index_; }
    /// On to the next.
    void advance() {
      while (left_ != 0) {
        --left_;
        if (next_ == end_) {
          next_ = bytes_of(**slab_++);
          end_ = next_ + kSlabNotes * kNoteBytes;
        }
        const auto number = format::load<std::uint16_t>(next_ + 1);
        const auto gap = static_cast<std::uint64_t>(*next_);
        next_ += kNoteBytes;
        if (gap != kMoreKeys) {
          key_count_ += gap;
          key_index_ = key_count_ - 1 - number;
          return;
        }
        key_count_ += number;
      }
      key_count_ = std::numeric_limits<std::uint64_t>::max();
    }

   private:
    const SlabPtr* slab_ = nullptr;  // the next
    const std::byte* next_ = nullptr;
    const std::byte* end_ = nullptr;
    std::uint64_t left_ = 0;
    std::uint64_t key_count_ = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t key_index_ = 0;
  };

 private:
  static constexpr std::uint64_t kMoreKeys = 255;
  static constexpr std::uint64_t kDistanceMax = 0xFFFF;
  static constexpr std::size_t kSlabNotes = kSlabBytes / kNoteBytes;
  static_assert(kSlabBytes > kSlabNotes * kNoteBytes, "put() writes one byte more");

  static std::byte* bytes_of(Slab& slab) { return std::as_writable_bytes(std::span(slab)).data(); }
  [[nodiscard]] std::uint64_t note_count() const {
    return list_.slabs().size() * kSlabNotes - static_cast<std::size_t>(end_ - next_) / kNoteBytes;
  }
  void put(std::uint64_t gap, std::uint64_t number) {
    format::store(next_, static_cast<std::uint32_t>(gap | number << 8));
    next_ += kNoteBytes;
  }
  void put_anywhere(std::uint64_t gap, std::uint64_t number);
  void swap(RepeatNotes& other) noexcept {
    std::swap(next_, other.next_);
    std::swap(end_, other.end_);
    std::swap(key_count_, other.key_count_);
    std::swap(count_, other.count_);
    std::swap(list_, other.list_);
    tags_.swap(other.tags_);
  }

  std::byte* next_ = nullptr;  // into the last slab
  std::byte* end_ = nullptr;
  std::uint64_t key_count_ = 0;  // before the last repeat
  std::uint64_t count_ = 0;
  SlabList list_;
  std::vector<std::uint16_t> tags_;
};

/// Goes through keys and their repeats in arrival order.
class Arrivals {
 public:
  using Spans = std::span<const std::span<const std::uint64_t>>;
  /// `keys`: one span, or slabs; `tails`: of 16-byte keys, cut as their heads, else none. No
  /// repeats: nullptr.
  Arrivals(Spans keys, Spans tails, const RepeatNotes* repeats) : keys_(keys), tails_(tails) {
    if (repeats != nullptr) repeats_ = RepeatNotes::Cursor(*repeats);
  }

  struct Arrival {
    Key16 key;
    std::size_t index = 0;  ///< of the key, among the keys; of a repeat, among the repeats
    bool is_repeat = false;
  };
  /// The next one; there must be one.
  Arrival next() {
    if (repeats_.key_count() != key_count_) {
      if (next_ == end_) {
        next_ = keys_[span_].data();
        end_ = next_ + keys_[span_++].size();
      }
      const std::uint64_t tail = tails_.empty() ? 0 : at(tails_, key_count_);
      return {Key16(*next_++, tail), key_count_++, false};
    }
    const Arrival arrival{key(repeats_.key_index()), repeat_count_++, true};
    repeats_.advance();
    return arrival;
  }

 private:
  static std::uint64_t at(Spans numbers, std::size_t index) {
    return numbers.size() == 1 ? numbers.front()[index]
                               : numbers[index / kSlabKeys][index % kSlabKeys];
  }
  [[nodiscard]] Key16 key(std::size_t index) const {
    return {at(keys_, index), tails_.empty() ? 0 : at(tails_, index)};
  }

  Spans keys_;
  Spans tails_;
  RepeatNotes::Cursor repeats_;
  const std::uint64_t* next_ = nullptr;  // the next key, in the span before span_
  const std::uint64_t* end_ = nullptr;
  std::size_t span_ = 0;
  std::size_t key_count_ = 0;
  std::size_t repeat_count_ = 0;
};

}  // namespace crawlstore::drum
