// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Page databases as a whole: what a store holds of them, and what was done to them.
/// Ownership: documents own all they hold. Threads: as Snapshot.

#include <cstdint>
#include <string>
#include <vector>

#include <crawlstore/page_view.h>
#include <crawlstore/pages.h>

#include "model/table.h"

namespace crawlstore::model {

/// All databases of the store, by name. errors of damage
Result<std::vector<PagesInfo>> page_databases(const Snapshot& snapshot);
/// The page databases of the newest generation.
Result<std::vector<PagesInfo>> page_databases(const Store& store);

/// `pages`, `crawled`, `links`, `bits_per_link` ... of the database of the default name; zeros when
/// there is none.
std::vector<Field> default_database_fields(const std::vector<PagesInfo>& databases);
/// The table `page_databases`: one row each.
Table page_databases_table(const std::vector<PagesInfo>& databases);

struct DatabaseSuperstep {
  std::string name;
  SuperstepReport report;
};
/// The table `supersteps`: one row a database.
Table supersteps_table(const std::vector<DatabaseSuperstep>& supersteps);

/// Counts of the lines that an import of pages has read.
struct ImportCounts {
  std::uint64_t lines = 0;           ///< of text
  std::uint64_t events = 0;          ///< of a stream, or that lines became
  std::uint64_t skipped = 0;         ///< empty lines, and comments
  std::uint64_t refused = 0;         ///< lines that are not of the format
  std::uint64_t cut = 0;             ///< lines that went on after the TAB that ends a URL
  std::uint64_t refused_links = 0;   ///< of lines that were taken
  std::uint64_t refused_inputs = 0;  ///< that are no text, or no events
  std::uint64_t elsewhere = 0;       ///< events of pages of other shards, left out
};
/// Counts, and what became of the database between two states of it.
Document import_view(const ImportCounts& counts, const PagesStatus& before,
                     const PagesStatus& after);

}  // namespace crawlstore::model
