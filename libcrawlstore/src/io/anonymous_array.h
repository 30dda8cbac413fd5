// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Large arrays of numbers that nobody else sees, from the system alone: zero at first, in huge
/// pages where it has them, and an error instead of an exception where it has no memory for them;
/// or, where memory is short, in a file without a name, from which the system fetches what is read
/// and to which it writes what it has no room for.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <crawlstore/error.h>

namespace crawlstore::io {

/// Ownership: owns its bytes, which begin at a unit of the memory. Threads: as those of a vector.
class AnonymousMemory {
 public:
  AnonymousMemory() = default;
  ~AnonymousMemory();
  AnonymousMemory(AnonymousMemory&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)),
        length_bytes_(std::exchange(other.length_bytes_, 0)) {}
  AnonymousMemory& operator=(AnonymousMemory&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(length_bytes_, other.length_bytes_);
    return *this;
  }

  ///   folder  where a file without a name is made for the bytes, which are mostly read and written
  ///           forwards; empty: they are in memory alone
  ///   errors  kOutOfMemory: at once where the system can see that it has not as much; it may
  ///           promise what it has not while others hold it. With a folder kNoSpace and the like:
  ///           all blocks of the file are there when this returns
  ///   cost    none until bytes are touched: what is not takes no memory
  static Result<AnonymousMemory> map(std::uint64_t length_bytes, const std::string& folder = {});

  [[nodiscard]] void* base() const { return base_; }

 private:
  void* base_ = nullptr;  // nullptr: no bytes
  std::uint64_t length_bytes_ = 0;
};

/// `count` numbers, zero at first.
template <class T>
class AnonymousArray {
  static_assert(std::is_arithmetic_v<T>);

 public:
  AnonymousArray() = default;

  /// errors, `folder`: as AnonymousMemory::map()
  static Result<AnonymousArray> map(std::uint64_t count, const std::string& folder = {}) {
    if (count > std::numeric_limits<std::uint64_t>::max() / sizeof(T)) {
      return fail(Errc::kOutOfMemory, "an array is larger than any memory");
    }
    CRAWLSTORE_TRY(auto memory, AnonymousMemory::map(count * sizeof(T), folder));
    AnonymousArray array;
    array.memory_ = std::move(memory);
    array.count_ = count;
    return array;
  }

  [[nodiscard]] std::uint64_t size() const { return count_; }
  [[nodiscard]] std::span<T> span() { return {data(), count_}; }
  [[nodiscard]] std::span<const T> span() const { return {data(), count_}; }

 private:
  [[nodiscard]] T* data() const { return static_cast<T*>(memory_.base()); }

  AnonymousMemory memory_;
  std::uint64_t count_ = 0;
};

}  // namespace crawlstore::io
