// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace crawlstore::drum {

/// A page of keys.
inline constexpr std::size_t kChunkKeys = 512;
using KeyChunk = std::array<std::uint64_t, kChunkKeys>;

/// Keeps chunks for the next array: taking pages from the system and giving them back costs more
/// than filling them. Threads: any.
class ChunkPool {
 public:
  [[nodiscard]] std::unique_ptr<KeyChunk> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!chunks_.empty()) {
        auto chunk = std::move(chunks_.back());
        chunks_.pop_back();
        return chunk;
      }
    }
    return std::make_unique_for_overwrite<KeyChunk>();
  }
  void give_back(std::vector<std::unique_ptr<KeyChunk>> chunks) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      chunks_.insert(chunks_.end(), std::make_move_iterator(chunks.begin()),
                     std::make_move_iterator(chunks.end()));
    } catch (...) {  // no memory for the list: the system gets them
      return;
    }
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<KeyChunk>> chunks_;  // guarded by mutex_
};

/// Keys in arrival order, in chunks: growing moves nothing, and wastes less than a chunk.
class KeyChunks {
 public:
  explicit KeyChunks(std::shared_ptr<ChunkPool> pool = nullptr) : pool_(std::move(pool)) {}
  KeyChunks(KeyChunks&& other) noexcept { swap(other); }
  KeyChunks& operator=(KeyChunks&& other) noexcept {
    KeyChunks taken(std::move(other));
    swap(taken);
    return *this;
  }
  KeyChunks(const KeyChunks&) = delete;
  KeyChunks& operator=(const KeyChunks&) = delete;
  ~KeyChunks() {
    if (pool_ != nullptr) pool_->give_back(std::move(chunks_));
  }

  void push_back(std::uint64_t key) {
    if (!has_room()) grow();
    push_back_into_room(key);
  }
  [[nodiscard]] bool has_room() const { return next_ != end_; }
  void push_back_into_room(std::uint64_t key) { *next_++ = key; }

  [[nodiscard]] std::size_t size() const {
    return chunks_.size() * kChunkKeys - static_cast<std::size_t>(end_ - next_);
  }
  [[nodiscard]] bool empty() const { return chunks_.empty(); }
  [[nodiscard]] std::size_t memory_bytes() const { return chunks_.size() * sizeof(KeyChunk); }

  /// Adds the keys as spans, one behind the other.
  void append_spans(std::vector<std::span<const std::uint64_t>>& spans) const {
    std::size_t left = size();
    for (const auto& chunk : chunks_) {
      spans.emplace_back(chunk->data(), std::min(left, kChunkKeys));
      left -= spans.back().size();
    }
  }
  [[nodiscard]] const std::shared_ptr<ChunkPool>& pool() const { return pool_; }

 private:
  void swap(KeyChunks& other) noexcept {
    std::swap(next_, other.next_);
    std::swap(end_, other.end_);
    chunks_.swap(other.chunks_);
    pool_.swap(other.pool_);
  }
  void grow() {
    chunks_.push_back(pool_ != nullptr ? pool_->take()
                                       : std::make_unique_for_overwrite<KeyChunk>());
    next_ = chunks_.back()->data();
    end_ = next_ + kChunkKeys;
  }

  std::uint64_t* next_ = nullptr;  // into the last chunk
  std::uint64_t* end_ = nullptr;
  std::vector<std::unique_ptr<KeyChunk>> chunks_;
  std::shared_ptr<ChunkPool> pool_;
};

}  // namespace crawlstore::drum
