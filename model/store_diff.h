// SPDX-License-Identifier: Apache-2.0
#pragma once

/// All that differs between two states of crawl files, as one document: what `crawlstore diff`
/// prints and the inspector draws.
/// Ownership: documents own all they hold. Threads: as Snapshot.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <crawlstore/snapshot.h>

#include "model/diff_view.h"
#include "model/table_source.h"

namespace crawlstore::model {

struct StoreDiffOptions {
  /// With `gaps` the comparison goes past damage: of page databases pages, links and edits are left
  /// out, of the others a whole DRUM, array of scores, queue or frontier; nothing counts as added
  /// or gone because one state cannot tell. The table `gaps` is last then.
  DiffViewOptions view;
  /// Called with how far a part of the comparison is; false stops with kCancelled.
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress;
  /// Right before an error of one of the states: of which.
  std::function<void(bool in_new)> failed;
};

/// The first field, `is_different`, says whether anything differs, the second, `summary`, how much,
/// in a sentence. Tables: drums, segments, buckets, keys, requests, page_databases, pages, hosts,
/// page_links, edits, links, scores, queues, frontiers, frontier_groups, frontier_items,
/// small_values.
///   errors  kCancelled; of damage
///   cost    as diff(), diff_pages(), add_scores_diff() and diff_frontiers(), one after the other
Result<Document> store_diff(const Snapshot& older, const Snapshot& newer,
                            const StoreDiffOptions& options);

/// "+499 and -2 pages, 16 became gone, 3,000 changed, +13,676 and -6,678 links, +1,200 keys, the
/// queue -1,000"; "nothing differs". So + less - is by how much the count of pages differs: a page
/// that became gone is still there. Scores that one state alone has are told apart from those that
/// both have and that changed.
///   document  with the tables of store_diff()
std::string diff_sentence(const Document& document);

/// A table of store_diff() as a screen shows it: pages, hosts, groups and items in front, then what
/// became of them. Columns that say nothing are folded away: those in which all cells are 0, "no",
/// empty or nothing, and the database or the frontier where there is one.
struct ShownDiff {
  std::shared_ptr<const TableSource> rows;
  std::vector<std::string> folded;  ///< names of columns
};
/// Moves the table of that name out of the document; an empty one if there is none.
ShownDiff take_shown_diff(Document& document, const std::string& table);

}  // namespace crawlstore::model
