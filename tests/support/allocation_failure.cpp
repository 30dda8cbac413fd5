// SPDX-License-Identifier: Apache-2.0
#include "support/allocation_failure.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>

#include <malloc.h>

namespace crawlstore::testing {

std::atomic<std::int64_t> allocations_left{-1};
std::atomic<bool> an_allocation_failed{false};
std::atomic<std::int64_t> live_bytes{0};
std::atomic<std::int64_t> live_bytes_max{std::numeric_limits<std::int64_t>::max()};

namespace {

void* allocate(std::size_t bytes, std::size_t alignment) {
  const auto room =
      static_cast<std::uint64_t>(std::max<std::int64_t>(live_bytes_max - live_bytes, 0));
  const bool is_due = allocations_left.load() >= 0 && allocations_left.fetch_sub(1) == 0;
  if (is_due || bytes > room) {
    an_allocation_failed = true;
    throw std::bad_alloc();
  }
  const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + alignment - 1) & ~(alignment - 1);
  void* memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  live_bytes += static_cast<std::int64_t>(malloc_usable_size(memory));
  return memory;
}

void* allocate_or_null(std::size_t bytes) {
  try {
    return allocate(bytes, alignof(std::max_align_t));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void release(void* memory) {
  live_bytes -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace
}  // namespace crawlstore::testing

// Those of arrays, and those that do not throw, too: a sanitizer's own do not come here.

// tidy: raw memory, this is the owner of all
void* operator new(std::size_t bytes) {
  return crawlstore::testing::allocate(bytes, alignof(std::max_align_t));
}
// tidy: raw memory, this is the owner of all
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return crawlstore::testing::allocate_or_null(bytes);
}
// tidy: raw memory, this is the owner of all
void* operator new[](std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return crawlstore::testing::allocate_or_null(bytes);
}
// tidy: raw memory, this is the owner of all
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return crawlstore::testing::allocate(bytes, static_cast<std::size_t>(alignment));
}
// tidy: raw memory, this is the owner of all
void* operator new[](std::size_t bytes) {
  return crawlstore::testing::allocate(bytes, alignof(std::max_align_t));
}
// tidy: raw memory, this is the owner of all
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return crawlstore::testing::allocate(bytes, static_cast<std::size_t>(alignment));
}
// tidy: raw memory, this is the owner of all
void operator delete(void* memory) noexcept {
  crawlstore::testing::release(memory);
}
// tidy: raw memory, this is the owner of all
void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
  crawlstore::testing::release(memory);
}
// tidy: raw memory, this is the owner of all
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
  crawlstore::testing::release(memory);
}
// tidy: raw memory, this is the owner of all
void operator delete(void* memory, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  crawlstore::testing::release(memory);
}
// tidy: raw memory, this is the owner of all
void operator delete[](void* memory) noexcept {
  crawlstore::testing::release(memory);
}
// tidy: raw memory, this is the owner of all
void operator delete[](void* memory, std::size_t /*bytes*/) noexcept {
  crawlstore::testing::release(memory);
}
// tidy: raw memory, this is the owner of all
void operator delete[](void* memory, std::align_val_t /*alignment*/) noexcept {
  crawlstore::testing::release(memory);
}
// tidy: raw memory, this is the owner of all
void operator delete[](void* memory, std::size_t /*bytes*/,
                       std::align_val_t /*alignment*/) noexcept {
  crawlstore::testing::release(memory);
}
