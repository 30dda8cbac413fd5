// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Brings back a commit whose superblocks were lost: its directory and data still stand in space
/// that the newest readable generation calls free, until a commit takes that space.

#include <string>

#include <crawlstore/store.h>

#pragma GCC visibility push(default)
namespace crawlstore {

/// Publishes the newest generation that stands in free space above the newest readable one, if it
/// is whole: every checksum and every rule is checked first. An older one it never takes in its
/// place. Returns its number. Other processes may read.
///   progress  told of bytes read; false stops with kCancelled, and nothing was written
///   errors    kNoPreviousGeneration: there is none; the damage family: it is not whole; kLocked,
///             kBusyPinned, those of Store::open()
///   cost      one pass over free space, and one over what the generation refers to
[[nodiscard]] Result<Generation> roll_forward(const std::string& path,
                                              const OpenOptions& options = {},
                                              const Progress& progress = {});

}  // namespace crawlstore
#pragma GCC visibility pop
