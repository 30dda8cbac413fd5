// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <crawlstore/drum_core.h>

#include "container/run_io.h"
#include "drum/insert_index.h"
#include "drum/repeat_notes.h"
#include "drum/shape.h"
#include "drum/slabs.h"
#include "drum/value_begins.h"
#include "format/request_run.h"

namespace crawlstore::drum {

/// Requests of one bucket in arrival order, as columns. A column stays empty while all its numbers
/// are equal. Keys and auxiliaries grow slab by slab. Repeats (repeat_notes.h) are apart from the
/// keys that a merge sorts; there are none among requests with sequences or values.
class alignas(kLineBytes) RequestColumns {
 public:
  /// Makes empty columns; those that grow by slabs take them from the pool, and give them back.
  explicit RequestColumns(const std::shared_ptr<SlabPool>& pool = nullptr)
      : keys_(pool), repeats_(pool), tails_(pool), auxes_(pool) {}

  /// Prefetches the memory that append() will use: first the columns, later their ends.
  void prefetch() const {
    const auto* const begin = static_cast<const std::byte*>(static_cast<const void*>(this));
    for (std::size_t i = 0; i < sizeof(*this); i += kLineBytes) __builtin_prefetch(begin + i, 1);
  }
  void prefetch_ends() const {
    __builtin_prefetch(keys_.next_place(), 1);
    __builtin_prefetch(values_.data() + values_.size(), 1);
    auxes_.prefetch_end();
  }

  /// Appends a request. A missing value of fixed size is zeros.
  void append(std::uint16_t tag, Key16 key, Shape shape, std::span<const std::byte> value,
              std::span<const std::byte> aux);
  /// Appends a key without value or auxiliary fast, if takes_plain_key().
  void append_plain_key(std::uint64_t key) { keys_.push_back_into_room(key); }
  void append_plain_key(Key16 key) {
    keys_.push_back_into_room(key.head);
    tails_.push_back_into_room(key.tail);  // as long as keys_
  }
  /// Whether there is room for such a key, and all requests have this tag and no auxiliary.
  [[nodiscard]] bool takes_plain_key(std::uint16_t tag) const {
    return plain_tag_ == tag && keys_.has_room();
  }
  /// Appends a request, of any operation, that repeats key number `key_index`, which its request
  /// inserts. Requires can_repeat(), and no values.
  void append_repeat(std::uint16_t tag, std::uint64_t key_index, std::span<const std::byte> aux);
  /// Whether `key` is the key number `index`. The window has compared keys of 8 bytes.
  [[nodiscard]] static bool has_key(std::uint64_t, std::uint64_t) { return true; }
  [[nodiscard]] bool has_key(std::uint64_t index, Key16 key) const {
    return tails_.empty() || (keys_.at(index) == key.head && tails_.at(index) == key.tail);
  }
  [[nodiscard]] bool can_repeat(std::uint64_t key_index) const {
    return RepeatNotes::can_reach(keys_.size(), key_index);
  }
  /// Appends a repeat without auxiliary fast, in kPlainRepeatBytes. Requires takes_plain_repeat()
  /// and can_repeat().
  void append_plain_repeat(std::uint64_t key_index) {
    repeats_.append_into_room(keys_.size(), key_index);
  }
  /// Whether there is room for such a repeat, and all requests have this tag and no auxiliary.
  [[nodiscard]] bool takes_plain_repeat(std::uint16_t tag) const {
    return plain_tag_ == tag && repeats_.has_room(keys_.size());
  }
  static constexpr std::uint64_t kPlainRepeatBytes = RepeatNotes::kNoteBytes;
  /// Sets the number of the array for the recent-keys window, never used before; 0 means none.
  void set_number(std::uint64_t number) { number_ = number; }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  /// Sets the sequence of the request appended last; either all have one or none.
  void append_sequence(std::uint64_t sequence) { sequences_.push_back(sequence); }
  /// Whether the sequence can follow the first one, as runs store sequences as 32-bit offsets.
  [[nodiscard]] bool can_hold(std::uint64_t sequence) const {
    return sequences_.empty() || sequence - sequences_.front() <= 0xFFFFFFFF;
  }
  /// Returns the last sequence; there must be one.
  [[nodiscard]] std::uint64_t last_sequence() const { return sequences_.back(); }

  /// Moves the requests out, and leaves empty columns.
  [[nodiscard]] RequestColumns take() { return std::exchange(*this, RequestColumns(keys_.pool())); }
  void clear() { (void)take(); }

  [[nodiscard]] std::uint64_t count() const { return keys_.size() + repeats_.count(); }
  /// Returns the number of keys that a merge sorts.
  [[nodiscard]] std::uint64_t key_count() const { return keys_.size(); }
  [[nodiscard]] bool empty() const { return keys_.empty(); }
  [[nodiscard]] std::uint64_t aux_bytes() const { return auxes_.size(); }
  [[nodiscard]] std::uint64_t value_bytes() const { return values_.size(); }
  [[nodiscard]] std::uint64_t memory_bytes() const;
  /// Returns the bytes that the requests fill, without those that the columns have in reserve.
  [[nodiscard]] std::uint64_t request_bytes() const { return key_bytes() + other_bytes_; }
  /// Returns the part of request_bytes() that keys and repeats fill.
  [[nodiscard]] std::uint64_t key_bytes() const {
    return (keys_.size() + tails_.size()) * 8 + repeats_.request_bytes();
  }
  /// Estimates the bytes of the requests in runs, where a repeat is a key.
  [[nodiscard]] std::uint64_t logged_bytes() const {
    return count() * (tails_.empty() ? 8 : 16) + other_bytes_;
  }

  /// The input of a merge. Spans are valid while these columns stay as they are.
  struct View {
    std::uint64_t key_count = 0;
    std::uint16_t uniform_tag = 0;
    std::vector<std::span<const std::uint64_t>> keys;   ///< together all keys; no span is empty
    std::vector<std::span<const std::uint64_t>> tails;  ///< of 16-byte keys, cut as their heads
    std::span<const std::uint16_t> tags;                ///< of the keys; empty: all uniform_tag
    const RepeatNotes* repeats = nullptr;               ///< their common tag is uniform_tag
    std::span<const std::uint32_t> value_lengths;       ///< values of any length only
    std::span<const std::byte> values;
    std::uint32_t uniform_aux_bytes = 0;
    std::span<const std::uint32_t> aux_lengths;   ///< of all requests; empty: uniform_aux_bytes
    std::span<const std::span<std::byte>> auxes;  ///< together all auxiliaries
  };
  [[nodiscard]] View view() const;

  /// Returns the value of the last update or check_update of the key, or nothing. Valid until the
  /// next append. Threads: one at a time.
  ///   hash  InsertIndex::hash_of(key)
  ///   cost  O(1) for itself and for each request since the last call; 5 to 11 bytes a key
  [[nodiscard]] std::optional<std::span<const std::byte>> find(Key16 key, std::uint64_t hash) const;
  /// Prefetches the memory that find() will use.
  void prefetch_inserts(std::uint64_t hash) const { inserts_.prefetch(hash); }

  /// The destination of runs: logs of a bucket, key run `id`, and auxiliary run `id` + 1.
  struct Place {
    SegmentId drum;
    SegmentId key_log;
    SegmentId aux_log;
    RunId id;
  };
  /// The runs that hold these requests (auxes.payload_bytes 0: all auxiliaries are empty).
  struct Runs {
    format::RunRef keys;
    format::RunRef auxes;
  };
  /// The payloads of these runs.
  struct Encoded {
    std::vector<std::byte> keys;
    std::vector<std::byte> auxes;  // empty: all auxiliaries are
    std::uint64_t count = 0;
  };
  /// Encodes the requests, on any thread. first_sequence counts if they have no sequences.
  void encode(std::uint64_t first_sequence, std::int32_t value_bytes, Encoded& to) const;
  /// Writes the runs; the caller owns their extents.
  static Result<Runs> write(container::SegmentWriter& writer, Place place, const Encoded& encoded);

 private:
  static constexpr std::int32_t kNotPlain = -1;

  void note_tag(std::uint16_t tag);
  void append_aux(std::span<const std::byte> aux);
  void write_tags(std::vector<std::uint16_t>& tags) const;

  void write_keys(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& tails) const;
  [[nodiscard]] bool is_insert(std::size_t index) const {
    return format::operation_of(tags_.empty() ? uniform_tag_ : tags_[index]) !=
           format::Operation::kCheck;
  }
  [[nodiscard]] Key16 key_at(std::size_t index) const {
    return {keys_.at(index), tails_.empty() ? 0 : tails_.at(index)};
  }
  void index_inserts() const;

  // The members that the fast ways use are in two cache lines.
  KeySlabs keys_;  // of 16-byte keys the heads
  /// The tag of all requests while they share it and have no auxiliaries; else kNotPlain.
  std::int32_t plain_tag_ = kNotPlain;
  std::uint16_t uniform_tag_ = 0;
  std::uint64_t number_ = 0;
  RepeatNotes repeats_;
  KeySlabs tails_;                   // of 16-byte keys, else empty
  std::vector<std::uint16_t> tags_;  // of the keys; empty: all uniform_tag_
  std::vector<std::uint64_t> sequences_;
  std::vector<std::uint32_t> value_lengths_;
  std::vector<std::byte> values_;
  std::uint32_t uniform_aux_bytes_ = 0;
  std::vector<std::uint32_t> aux_lengths_;  // empty: all uniform_aux_bytes_
  ByteSlabs auxes_;
  std::uint64_t other_bytes_ = 0;  // of the requests, in addition to key_bytes()
  mutable InsertIndex inserts_;    // of the first keys, up to its end()
  mutable ValueBegins begins_;     // if values have any length
};

inline Key16 key_of(const RawRequest& request) {
  return {request.key, request.key_tail};
}

inline std::uint16_t tag_of(const RawRequest& request) {
  return format::make_tag(static_cast<format::Operation>(request.operation), request.consumer);
}

/// Visits the requests of a key run and of its auxiliary run (empty: none), in arrival order.
///   errors  kSegmentInvalid
Result<void> for_each_request(std::span<const std::byte> key_payload,
                              std::span<const std::byte> aux_payload,
                              const std::function<void(const RawRequest&, std::uint64_t)>& visit);

}  // namespace crawlstore::drum
