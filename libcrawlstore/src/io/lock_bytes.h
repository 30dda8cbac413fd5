// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The bytes of the file that locks stand on: see the reader and writer protocol in
/// spec/commit.md. They lie far past any data and are never read or written.

#include <cstdint>

namespace crawlstore::io {

inline constexpr std::uint64_t kWriterLockByte = (std::uint64_t{1} << 62) - 1;
inline constexpr std::uint64_t kPinLockBase = std::uint64_t{1} << 62;

/// Generations from here on have no lock byte: file offsets are signed.
inline constexpr std::uint64_t kPinnableGenerationEnd = (std::uint64_t{1} << 62) - 1;

/// More pinned generations than this in one answer are no readers of ours but somebody's lock on
/// the whole file: kBusyPinned.
inline constexpr std::uint64_t kPinnedCountMax = std::uint64_t{1} << 20;

}  // namespace crawlstore::io
