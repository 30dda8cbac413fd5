// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The actions of users on a file, to be tried on any bytes. Threads: one.

#include <cstddef>
#include <memory>
#include <vector>

#include <crawlstore/storage.h>

namespace crawlstore::fuzz {

/// Asks a snapshot everything there is to ask, every DRUM for its keys and pending requests,
/// and every page database for its pages, links and edits. Keys must ascend. Returns whether no
/// question failed.
bool walk(std::shared_ptr<Storage> file);

/// Submits a few requests to the DRUM "fuzz", merges, takes results, commits, closes. Returns
/// whether nothing failed.
bool write(std::unique_ptr<Storage> file);

/// The same with the page database "fuzz": a page, a superstep, a host forgotten, compaction.
bool write_pages(std::unique_ptr<Storage> file);

/// Verifies, describes, walks and writes a file of these bytes, each on a copy of its own. A file
/// that deep verify finds whole must be walked and written without an error.
///   write  one of the two
void check_file(const std::vector<std::byte>& bytes, bool (*write)(std::unique_ptr<Storage> file));

}  // namespace crawlstore::fuzz
