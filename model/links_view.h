// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The storage of links: spec/links.md, link runs and dense link runs.

#include <string>
#include <vector>

#include <crawlstore/page_view.h>
#include <crawlstore/tools/link_runs.h>

#include "model/table.h"

namespace crawlstore::model {

/// `link_directions`: a row for each database and way: what the links take, and what they would
/// take after compaction, as an estimate; that is null where links cannot be read.
struct LinkDirections {
  Table table;
  std::vector<Error> problems;  ///< why something is null
};
LinkDirections link_directions(const std::vector<PageView>& databases);

/// `link_runs`: a row a run, with the bytes of its parts.
Table link_runs_table(const std::vector<PageView>& databases);

/// The parts of the rows of the dense runs of one way.
struct DenseWay {
  std::string name;  // of the database
  bool incoming = false;
  DenseRowSums sums;
};
/// `dense_rows`: rows by how they are told, links that are copied, bits a link of each part.
Table dense_rows_table(const std::vector<DenseWay>& ways);

/// All page databases of a snapshot.
Result<std::vector<PageView>> page_views(const Snapshot& snapshot);

}  // namespace crawlstore::model
