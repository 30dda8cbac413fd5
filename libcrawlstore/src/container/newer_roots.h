// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Directory roots that no superblock leads to: what a commit that was not finished leaves in free
/// space, and what is left of a commit whose superblocks were lost.

#include <functional>
#include <vector>

#include <crawlstore/storage.h>

#include "container/directory_state.h"

namespace crawlstore::container {

struct NewerRoot {
  format::Superblock superblock;  ///< that would lead to it
  bool is_whole = false;          ///< its own bytes are; its tables and runs may not be
};

/// Looks at the ends of all units that are not live in `newest`, and gives the roots of generations
/// above `above`, newest first, at most 64.
///   newest   the directory of the newest generation that can be read; null: there is none
///   advance  told the bytes that were read, now and then; its failure ends the search
///   errors   kIo
Result<std::vector<NewerRoot>> find_newer_roots(
    Storage& storage, const Uuid& uuid, const Directory* newest, std::uint64_t above,
    const std::function<Result<void>(std::uint64_t bytes)>& advance);

}  // namespace crawlstore::container
