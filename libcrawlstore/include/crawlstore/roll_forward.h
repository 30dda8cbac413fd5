// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Brings back a commit whose superblocks were lost: its directory and data still stand in space
/// that the newest readable generation calls free, until a commit takes that space.

#include <string>

#include <crawlstore/store.h>

namespace crawlstore {

/// Publishes the newest generation above the newest readable one that stands whole in free space:
/// every checksum and every rule is checked first. Returns its number. Other processes may read.
///   progress  told of bytes read; false stops with kCancelled, and nothing was written
///   errors    kNoPreviousGeneration: there is none; the damage family: there is one, and it is not
///             whole (of several, about the newest); kLocked, kBusyPinned, those of Store::open()
///   cost      one pass over free space, and one over what the generation refers to
[[nodiscard]] Result<Generation> roll_forward(const std::string& path,
                                              const OpenOptions& options = {},
                                              const Progress& progress = {});

}  // namespace crawlstore
