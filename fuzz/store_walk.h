// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What users do with a file, to be tried on any bytes. Threads: one.

#include <memory>

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

}  // namespace crawlstore::fuzz
