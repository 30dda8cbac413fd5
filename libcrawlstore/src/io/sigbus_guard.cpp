// SPDX-License-Identifier: Apache-2.0
//
// The one file with mutable state at namespace scope: a signal handler can reach nothing else.
//
// Invariants:
// - A slot is free iff begin == 0. It is claimed by a compare-exchange of begin from 0 to kClaimed,
//   and visible to the handler when begin holds a real address: end and first_fault were set
//   before.
// - slots_used is at least the index of every claimed slot + 1, and never falls.
// - previous_action is written once, by sigaction itself, before our handler can run for a range.
// - The handler calls mmap, sigaction, raise and the previous handler, and touches atomics; it
//   leaves errno as it was.

#include "io/sigbus_guard.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"

namespace crawlstore::io {
namespace {

constexpr std::uintptr_t kClaimed = 1;  // never an address of a mapping
constexpr std::uint64_t kNoFault = ~std::uint64_t{0};

/// Each page of zeros can cost two of the process's mappings (vm.max_map_count, 65,530), and past
/// that limit no call can help any more: after so many faults the whole range becomes zeros.
constexpr std::uint32_t kFaultsMax = 8192;

struct Slot {
  std::atomic<std::uintptr_t> begin = 0;
  std::atomic<std::uintptr_t> end = 0;
  std::atomic<std::uint64_t> first_fault = kNoFault;
  std::atomic<std::uint32_t> fault_count = 0;
};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

constinit std::array<Slot, kGuardedRangeCountMax> slots;
constinit std::atomic<std::size_t> slots_used = 0;
constinit std::atomic<std::uintptr_t> page_bytes = 4096;
constinit struct sigaction previous_action = {};
constinit std::once_flag installed;

/// The system call itself: a sanitizer's mmap wrapper is no place for a signal handler.
bool map_zeros(std::uintptr_t begin, std::uintptr_t end) {
  const long mapped = ::syscall(
      SYS_mmap, begin, end - begin, static_cast<long>(PROT_READ),
      static_cast<long>(MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE), -1L, 0L);
  return mapped != -1;
}

/// Puts zeros under the faulting address when it is in a range of ours.
bool mend(std::uintptr_t address) {
  const std::size_t used = slots_used.load(std::memory_order_acquire);
  for (std::size_t slot_index = 0; slot_index < used; ++slot_index) {
    Slot& slot = slots[slot_index];
    const std::uintptr_t begin = slot.begin.load(std::memory_order_acquire);
    if (begin <= kClaimed || address < begin) continue;
    const std::uintptr_t end = slot.end.load(std::memory_order_relaxed);
    if (address >= end) continue;
    std::uint64_t expected = kNoFault;
    slot.first_fault.compare_exchange_strong(expected, address - begin);
    const std::uintptr_t page = page_bytes.load(std::memory_order_relaxed);
    const std::uintptr_t page_begin = address / page * page;
    const bool few = slot.fault_count.fetch_add(1, std::memory_order_relaxed) < kFaultsMax;
    return (few && map_zeros(page_begin, page_begin + page)) || map_zeros(begin, end);
  }
  return false;
}

void pass_on(int signal_number, siginfo_t* info, void* context) {
  if ((previous_action.sa_flags & SA_SIGINFO) != 0) {
    previous_action.sa_sigaction(signal_number, info, context);
    return;
  }
  const bool sent = info->si_code <= 0;  // by kill() and the like: it will not come again by itself
  if (previous_action.sa_handler == SIG_IGN && sent) return;
  if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
    previous_action.sa_handler(signal_number);
    return;
  }
  // Default: end as if we had never been here. A real fault happens again on return and dumps core
  // at the right place; a sent signal is raised again and delivered when this handler returns.
  struct sigaction ending = {};
  ending.sa_handler = SIG_DFL;
  ::sigaction(signal_number, &ending, nullptr);
  if (sent) ::raise(signal_number);
}

void on_sigbus(int signal_number, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const bool is_fault = info->si_code > 0 && info->si_code != BUS_ADRALN;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (!is_fault || !mend(address)) pass_on(signal_number, info, context);
  errno = saved_errno;
}

void install() {
  page_bytes.store(static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE)));
  // The mask and the alternate stack that the earlier handler asked for are its to keep.
  CRAWLSTORE_ASSERT(::sigaction(SIGBUS, nullptr, &previous_action) == 0);
  struct sigaction action = {};
  action.sa_sigaction = on_sigbus;
  action.sa_mask = previous_action.sa_mask;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | (previous_action.sa_flags & SA_NODEFER);
  CRAWLSTORE_ASSERT(::sigaction(SIGBUS, &action, nullptr) == 0);
}

}  // namespace

Result<GuardedRange> GuardedRange::make(const std::byte* base, std::uint64_t length_bytes) {
  std::call_once(installed, install);
  const auto begin = reinterpret_cast<std::uintptr_t>(base);
  CRAWLSTORE_ASSERT(begin > kClaimed);
  for (std::size_t slot_index = 0; slot_index < slots.size(); ++slot_index) {
    Slot& slot = slots[slot_index];
    std::uintptr_t expected = 0;
    if (!slot.begin.compare_exchange_strong(expected, kClaimed)) continue;
    slot.end.store(begin + length_bytes, std::memory_order_relaxed);
    slot.first_fault.store(kNoFault, std::memory_order_relaxed);
    slot.fault_count.store(0, std::memory_order_relaxed);
    slot.begin.store(begin, std::memory_order_release);
    std::size_t used = slots_used.load();
    while (used <= slot_index && !slots_used.compare_exchange_weak(used, slot_index + 1)) {
    }
    return GuardedRange(slot_index);
  }
  return fail(Errc::kOutOfMemory, "too many mapped stores in one process");
}

GuardedRange::~GuardedRange() {
  if (slot_index_ != kNoSlot) slots[slot_index_].begin.store(0, std::memory_order_release);
}

std::optional<std::uint64_t> GuardedRange::first_fault() const {
  if (slot_index_ == kNoSlot) return std::nullopt;
  const std::uint64_t offset = slots[slot_index_].first_fault.load();
  if (offset == kNoFault) return std::nullopt;
  return offset;
}

}  // namespace crawlstore::io
