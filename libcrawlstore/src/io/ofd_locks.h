// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Open-file-description locks: they belong to the description behind a descriptor, so that they
/// conflict between two descriptors of one process, survive the closing of another descriptor, and
/// vanish with the last copy of their own.
///
/// Threads: plain system calls, from any thread. EINTR is retried.

#include <cstdint>
#include <vector>

#include <crawlstore/error.h>

namespace crawlstore::io {

enum class LockKind : std::uint8_t { kShared, kExclusive };

/// Tries once to lock one byte. errors kLocked (somebody's lock conflicts), kNoLocks
Result<void> try_lock_byte(int descriptor, std::uint64_t byte, LockKind kind);

/// Gives the byte back. Nothing happens when it was not locked.
void unlock_byte(int descriptor, std::uint64_t byte);

/// The bytes in [from, to) that another description has locked, ascending, each once. Asks with
/// F_OFD_GETLK, which needs no write permission.
///   errors  kNoLocks; kBusyPinned when there are more than `count_max`
///   cost    one system call per lock found, and one per gap between them
Result<std::vector<std::uint64_t>> locked_bytes(int descriptor, std::uint64_t from,
                                                std::uint64_t to, std::uint64_t count_max);

}  // namespace crawlstore::io
