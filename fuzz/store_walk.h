// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What users do with a file, to be tried on any bytes. Threads: one.

#include <memory>

#include <crawlstore/storage.h>

namespace crawlstore::fuzz {

/// Asks a snapshot everything there is to ask, and every DRUM for its keys and pending requests.
/// Keys must ascend. Returns whether no question failed.
bool walk(std::shared_ptr<Storage> file);

/// Submits a few requests to the DRUM "fuzz", merges, takes results, commits, closes. Returns
/// whether nothing failed.
bool write(std::unique_ptr<Storage> file);

}  // namespace crawlstore::fuzz
