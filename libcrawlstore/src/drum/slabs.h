// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Columns that grow slab by slab: growth moves nothing, and wastes less than a slab.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace crawlstore::drum {

inline constexpr std::size_t kSlabBytes = 4096;
inline constexpr std::size_t kSlabKeys = kSlabBytes / sizeof(std::uint64_t);
inline constexpr std::size_t kLineBytes = 64;  // of the processor's caches
/// A slab is an array of numbers, which ByteSlabs uses as bytes.
using Slab = std::array<std::uint64_t, kSlabKeys>;
using SlabPtr = std::unique_ptr<Slab>;

/// Keeps slabs for the next array, as allocating and freeing them costs more than filling them.
/// Threads: any.
class SlabPool {
 public:
  [[nodiscard]] SlabPtr take() {
    {
      const std::lock_guard lock(mutex_);
      if (!slabs_.empty()) {
        auto slab = std::move(slabs_.back());
        slabs_.pop_back();
        return slab;
      }
    }
    return std::make_unique_for_overwrite<Slab>();
  }
  void give_back(std::vector<SlabPtr> slabs) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      slabs_.insert(slabs_.end(), std::make_move_iterator(slabs.begin()),
                    std::make_move_iterator(slabs.end()));
    } catch (...) {  // without memory for the list the slabs are freed
      return;
    }
  }

 private:
  std::mutex mutex_;
  std::vector<SlabPtr> slabs_;  // guarded by mutex_
};

/// The slabs of a column, from a pool, to which they return, or from the system.
class SlabList {
 public:
  explicit SlabList(std::shared_ptr<SlabPool> pool = nullptr) : pool_(std::move(pool)) {}
  SlabList(SlabList&& other) noexcept { swap(other); }
  SlabList& operator=(SlabList&& other) noexcept {
    SlabList taken(std::move(other));
    swap(taken);
    return *this;
  }
  SlabList(const SlabList&) = delete;
  SlabList& operator=(const SlabList&) = delete;
  ~SlabList() {
    if (pool_ != nullptr) pool_->give_back(std::move(slabs_));
  }

  Slab& add() {
    slabs_.push_back(pool_ != nullptr ? pool_->take() : std::make_unique_for_overwrite<Slab>());
    return *slabs_.back();
  }
  [[nodiscard]] const std::vector<SlabPtr>& slabs() const { return slabs_; }
  [[nodiscard]] const std::shared_ptr<SlabPool>& pool() const { return pool_; }

 private:
  void swap(SlabList& other) noexcept {
    slabs_.swap(other.slabs_);
    pool_.swap(other.pool_);
  }
  std::vector<SlabPtr> slabs_;
  std::shared_ptr<SlabPool> pool_;
};

/// Keys in arrival order.
class KeySlabs {
 public:
  explicit KeySlabs(std::shared_ptr<SlabPool> pool = nullptr) : list_(std::move(pool)) {}
  KeySlabs(KeySlabs&& other) noexcept
      : next_(std::exchange(other.next_, nullptr)),
        end_(std::exchange(other.end_, nullptr)),
        list_(std::move(other.list_)) {}
  KeySlabs& operator=(KeySlabs&& other) noexcept {
    next_ = std::exchange(other.next_, nullptr);
    end_ = std::exchange(other.end_, nullptr);
    list_ = std::move(other.list_);
    return *this;
  }
  KeySlabs(const KeySlabs&) = delete;
  KeySlabs& operator=(const KeySlabs&) = delete;
  ~KeySlabs() = default;

  void push_back(std::uint64_t key) {
    if (!has_room()) {
      next_ = list_.add().data();
      end_ = next_ + kSlabKeys;
    }
    push_back_into_room(key);
  }
  [[nodiscard]] bool has_room() const { return next_ != end_; }
  /// Returns the place of the next key, if there is room.
  [[nodiscard]] const std::uint64_t* next_place() const { return next_; }
  void push_back_into_room(std::uint64_t key) { *next_++ = key; }

  [[nodiscard]] std::size_t size() const {
    return list_.slabs().size() * kSlabKeys - static_cast<std::size_t>(end_ - next_);
  }
  [[nodiscard]] bool empty() const { return list_.slabs().empty(); }
  [[nodiscard]] std::uint64_t at(std::size_t index) const {
    return (*list_.slabs()[index / kSlabKeys])[index % kSlabKeys];
  }
  [[nodiscard]] std::size_t memory_bytes() const { return list_.slabs().size() * kSlabBytes; }
  /// Returns at most kSlabKeys keys from number kSlabKeys * index on; there must be some.
  [[nodiscard]] std::span<const std::uint64_t> slab(std::size_t index) const {
    return {list_.slabs()[index]->data(), std::min(size() - index * kSlabKeys, kSlabKeys)};
  }
  /// Returns spans that together have all keys; none is empty.
  [[nodiscard]] std::vector<std::span<const std::uint64_t>> spans() const {
    std::vector<std::span<const std::uint64_t>> spans;
    for (std::size_t i = 0; i < list_.slabs().size(); ++i) spans.push_back(slab(i));
    return spans;
  }
  [[nodiscard]] const std::shared_ptr<SlabPool>& pool() const { return list_.pool(); }

 private:
  std::uint64_t* next_ = nullptr;  // into the last slab
  std::uint64_t* end_ = nullptr;
  SlabList list_;
};

/// Byte strings in arrival order, each contiguous. Long ones have memory of their own.
class ByteSlabs {
 public:
  explicit ByteSlabs(std::shared_ptr<SlabPool> pool = nullptr) : list_(std::move(pool)) {}

  void append(std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    std::byte* to = bytes.size() <= kSlabBytes / 4 ? room(bytes.size()) : own_room(bytes.size());
    std::memcpy(to, bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  /// Prefetches the place of the next string.
  void prefetch_end() const {
    if (spans_.empty()) return;
    const std::byte* const end = spans_.back().data() + spans_.back().size();
    __builtin_prefetch(end, 1);
    __builtin_prefetch(end + kLineBytes, 1);
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t memory_bytes() const {
    return list_.slabs().size() * kSlabBytes + own_bytes_;
  }
  /// Returns spans that together have all bytes; no string crosses spans.
  [[nodiscard]] std::span<const std::span<std::byte>> spans() const { return spans_; }

 private:
  std::byte* room(std::size_t length) {
    if (slab_left_ < length) {
      spans_.push_back(std::as_writable_bytes(std::span(list_.add())).first(0));
      slab_left_ = kSlabBytes;
    }
    std::span<std::byte>& span = spans_.back();
    std::byte* const to = span.data() + span.size();
    span = {span.data(), span.size() + length};
    slab_left_ -= length;
    return to;
  }
  std::byte* own_room(std::size_t length) {
    own_.push_back(std::make_unique_for_overwrite<std::byte[]>(length));
    own_bytes_ += length;
    spans_.emplace_back(own_.back().get(), length);
    slab_left_ = 0;
    return own_.back().get();
  }

  SlabList list_;
  std::vector<std::unique_ptr<std::byte[]>> own_;
  std::vector<std::span<std::byte>> spans_;
  std::size_t slab_left_ = 0;  // bytes of the slab after the last span
  std::size_t own_bytes_ = 0;
  std::size_t size_ = 0;
};

}  // namespace crawlstore::drum
