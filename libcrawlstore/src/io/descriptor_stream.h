// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Bytes through a descriptor that blocks: file, pipe, socket. Not for stores: no storage seam.

#include <cstddef>
#include <span>

#include <crawlstore/error.h>

namespace crawlstore::io {

/// read(2), again after EINTR; 0 = the end.
Result<std::size_t> read_some(int descriptor, std::span<std::byte> into);

/// write(2) until all bytes are written.
Result<void> write_all(int descriptor, std::span<const std::byte> bytes);

}  // namespace crawlstore::io
