// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Requests of keys that an earlier update or check_update of the same array inserts. They are
/// duplicates and change nothing, so no merge sorts them. Each is only a note of its place among
/// the keys, and of the key that it repeats.
///
/// A note has 3 bytes: one counts the keys since the repeat before (or the beginning), two count
/// the keys between its key and itself. If the first is kMoreKeys, there is no repeat: the other
/// counts further keys. Notes are in memory only: in a run a repeat is a key.

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

  /// Whether a request after `key_count` keys can repeat key number `key_index`.
  static bool can_reach(std::uint64_t key_count, std::uint64_t key_index) {
    return key_count - 1 - key_index <= kDistanceMax;
  }
  /// Adds a request after `key_count` keys that repeats key number `key_index`, within its reach.
  ///   common_tag  the tag of all repeats before it, unless they have had others already
  void append(std::uint64_t key_count, std::uint64_t key_index, std::uint16_t tag,
              std::uint16_t common_tag);
  /// Whether the last slab has room for a note, and the note needs no kMoreKeys before it.
  [[nodiscard]] bool has_room(std::uint64_t key_count) const {
    return next_ != end_ && key_count - key_count_ < kMoreKeys;
  }
  /// Adds a request fast, if has_room() and all repeats have the common tag.
  void append_into_room(std::uint64_t key_count, std::uint64_t key_index) {
    put(key_count - key_count_, key_count - 1 - key_index);
    key_count_ = key_count;
    ++count_;
  }
  static constexpr std::uint64_t kNoteBytes = 3;

  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// Returns the bytes that the notes fill, without those that the columns have in reserve.
  [[nodiscard]] std::uint64_t request_bytes() const {
    return note_count() * kNoteBytes + tags_.size() * 2;
  }
  [[nodiscard]] std::uint64_t memory_bytes() const {
    return list_.slabs().size() * kSlabBytes + tags_.capacity() * 2;
  }
  /// Returns the tags of the repeats; none if all have the common tag.
  [[nodiscard]] std::span<const std::uint16_t> tags() const { return tags_; }
  /// Returns the number of repeats that are answered as duplicates: updates are not.
  [[nodiscard]] std::uint64_t duplicate_count(std::uint16_t common_tag) const;

  /// Reads the notes in their order.
  class Cursor {
   public:
    Cursor() = default;
    explicit Cursor(const RepeatNotes& notes)
        : slab_(notes.list_.slabs().data()), left_(notes.note_count()) {
      key_count_ = 0;
      advance();
    }

    /// Returns the number of keys before the repeat; after the last repeat the highest number.
    [[nodiscard]] std::uint64_t key_count() const { return key_count_; }
    /// Returns the number of the key that it repeats.
    [[nodiscard]] std::uint64_t key_index() const { return key_index_; }
    /// Goes to the next repeat.
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
  /// `keys` are one span, or slabs; `tails` those of 16-byte keys, cut as their heads, else none.
  /// `repeats` is nullptr if there are none.
  Arrivals(Spans keys, Spans tails, const RepeatNotes* repeats) : keys_(keys), tails_(tails) {
    if (repeats != nullptr) repeats_ = RepeatNotes::Cursor(*repeats);
  }

  struct Arrival {
    Key16 key;
    std::size_t index = 0;  ///< of the key, among the keys; of a repeat, among the repeats
    bool is_repeat = false;
  };
  /// Returns the next arrival; there must be one.
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
