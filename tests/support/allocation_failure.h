// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A program with allocation_failure.cpp has an operator new that can be made to fail, and counts.
/// LZ4, zstd and the like ask malloc(), which does not come here.

#include <atomic>
#include <cstdint>

namespace crawlstore::testing {

/// The allocations of all threads that succeed before one fails. Negative: none fails.
extern std::atomic<std::int64_t> allocations_left;
extern std::atomic<bool> an_allocation_failed;
/// Bytes that new has given and delete has not taken back.
extern std::atomic<std::int64_t> live_bytes;
/// An allocation that would make live_bytes more fails.
extern std::atomic<std::int64_t> live_bytes_max;

}  // namespace crawlstore::testing
