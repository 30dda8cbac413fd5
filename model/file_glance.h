// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A crawl file as a list of files shows it, without opening it.

#include <cstdint>
#include <optional>
#include <string>

#include <crawlstore/error.h>
#include <crawlstore/types.h>

namespace crawlstore::model {

struct FileGlance {
  std::optional<Error> problem;  ///< why nobody can open it; kNotFound = it is not there
  std::uint64_t file_bytes = 0;
  std::optional<Generation> generation;  ///< the newest; nullopt = no superblock is whole
  bool has_writer = false;               ///< a writer that this user may see has it open
};

/// Looks at the file at `path`. Any thread; nothing is pinned.
///   cost  reads the superblocks, 20 KiB, and asks the system for the descriptors of each process
///         of this user
FileGlance glance_at(const std::string& path);

}  // namespace crawlstore::model
