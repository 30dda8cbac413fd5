// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Columns that grow page by page: growing moves nothing, and wastes less than a page.

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

inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::size_t kPageKeys = kPageBytes / sizeof(std::uint64_t);
/// As long as nothing else is said, a page is numbers.
using Page = std::array<std::uint64_t, kPageKeys>;
using PagePtr = std::unique_ptr<Page>;

/// Keeps pages for the next array: taking them from the system and giving them back costs more than
/// filling them. Threads: any.
class PagePool {
 public:
  [[nodiscard]] PagePtr take() {
    {
      const std::lock_guard lock(mutex_);
      if (!pages_.empty()) {
        auto page = std::move(pages_.back());
        pages_.pop_back();
        return page;
      }
    }
    return std::make_unique_for_overwrite<Page>();
  }
  void give_back(std::vector<PagePtr> pages) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      pages_.insert(pages_.end(), std::make_move_iterator(pages.begin()),
                    std::make_move_iterator(pages.end()));
    } catch (...) {  // no memory for the list: the system gets them
      return;
    }
  }

 private:
  std::mutex mutex_;
  std::vector<PagePtr> pages_;  // guarded by mutex_
};

/// The pages of a column, from a pool (they go back there) or from the system.
class PageList {
 public:
  explicit PageList(std::shared_ptr<PagePool> pool = nullptr) : pool_(std::move(pool)) {}
  PageList(PageList&& other) noexcept { swap(other); }
  PageList& operator=(PageList&& other) noexcept {
    PageList taken(std::move(other));
    swap(taken);
    return *this;
  }
  PageList(const PageList&) = delete;
  PageList& operator=(const PageList&) = delete;
  ~PageList() {
    if (pool_ != nullptr) pool_->give_back(std::move(pages_));
  }

  Page& add() {
    pages_.push_back(pool_ != nullptr ? pool_->take() : std::make_unique_for_overwrite<Page>());
    return *pages_.back();
  }
  [[nodiscard]] const std::vector<PagePtr>& pages() const { return pages_; }
  [[nodiscard]] const std::shared_ptr<PagePool>& pool() const { return pool_; }

 private:
  void swap(PageList& other) noexcept {
    pages_.swap(other.pages_);
    pool_.swap(other.pool_);
  }
  std::vector<PagePtr> pages_;
  std::shared_ptr<PagePool> pool_;
};

/// Keys in arrival order.
class KeyPages {
 public:
  explicit KeyPages(std::shared_ptr<PagePool> pool = nullptr) : list_(std::move(pool)) {}
  KeyPages(KeyPages&& other) noexcept
      : next_(std::exchange(other.next_, nullptr)),
        end_(std::exchange(other.end_, nullptr)),
        list_(std::move(other.list_)) {}
  KeyPages& operator=(KeyPages&& other) noexcept {
    next_ = std::exchange(other.next_, nullptr);
    end_ = std::exchange(other.end_, nullptr);
    list_ = std::move(other.list_);
    return *this;
  }
  KeyPages(const KeyPages&) = delete;
  KeyPages& operator=(const KeyPages&) = delete;
  ~KeyPages() = default;

  void push_back(std::uint64_t key) {
    if (!has_room()) {
      next_ = list_.add().data();
      end_ = next_ + kPageKeys;
    }
    push_back_into_room(key);
  }
  [[nodiscard]] bool has_room() const { return next_ != end_; }
  void push_back_into_room(std::uint64_t key) { *next_++ = key; }

  [[nodiscard]] std::size_t size() const {
    return list_.pages().size() * kPageKeys - static_cast<std::size_t>(end_ - next_);
  }
  [[nodiscard]] bool empty() const { return list_.pages().empty(); }
  [[nodiscard]] std::size_t memory_bytes() const { return list_.pages().size() * kPageBytes; }
  /// The keys, one span behind the other; none is empty.
  [[nodiscard]] std::vector<std::span<const std::uint64_t>> spans() const {
    std::vector<std::span<const std::uint64_t>> spans;
    std::size_t left = size();
    for (const auto& page : list_.pages()) {
      spans.emplace_back(page->data(), std::min(left, kPageKeys));
      left -= spans.back().size();
    }
    return spans;
  }
  [[nodiscard]] const std::shared_ptr<PagePool>& pool() const { return list_.pool(); }

 private:
  std::uint64_t* next_ = nullptr;  // into the last page
  std::uint64_t* end_ = nullptr;
  PageList list_;
};

/// Byte strings in arrival order, each contiguous. Long ones have memory of their own.
class BytePages {
 public:
  explicit BytePages(std::shared_ptr<PagePool> pool = nullptr) : list_(std::move(pool)) {}

  void append(std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    std::byte* to = bytes.size() <= kPageBytes / 4 ? room(bytes.size()) : own_room(bytes.size());
    std::memcpy(to, bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t memory_bytes() const {
    return list_.pages().size() * kPageBytes + own_bytes_;
  }
  /// The bytes, one span behind the other; no string crosses spans.
  [[nodiscard]] std::span<const std::span<std::byte>> spans() const { return spans_; }

 private:
  std::byte* room(std::size_t length) {
    if (page_left_ < length) {
      spans_.push_back(std::as_writable_bytes(std::span(list_.add())).first(0));
      page_left_ = kPageBytes;
    }
    std::span<std::byte>& span = spans_.back();
    std::byte* const to = span.data() + span.size();
    span = {span.data(), span.size() + length};
    page_left_ -= length;
    return to;
  }
  std::byte* own_room(std::size_t length) {
    own_.push_back(std::make_unique_for_overwrite<std::byte[]>(length));
    own_bytes_ += length;
    spans_.emplace_back(own_.back().get(), length);
    page_left_ = 0;
    return own_.back().get();
  }

  PageList list_;
  std::vector<std::unique_ptr<std::byte[]>> own_;
  std::vector<std::span<std::byte>> spans_;
  std::size_t page_left_ = 0;  // behind the last span
  std::size_t own_bytes_ = 0;
  std::size_t size_ = 0;
};

}  // namespace crawlstore::drum
