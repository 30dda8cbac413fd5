// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The changes between two states, as tables. Ownership: documents own all they hold. Threads: as
/// the diff() that fills them.

#include <cstddef>

#include <crawlstore/tools/diff.h>

#include "model/diff_gaps.h"
#include "model/table.h"

namespace crawlstore::model {

struct DiffViewOptions {
  std::size_t rows_max = 1000;  ///< of each list; fields and `drums` count all there is
  bool with_keys = false;       ///< fills `keys`, `requests` and `links`
  DiffGaps* gaps = nullptr;     ///< goes past damage, and adds there what that leaves out
};

/// Collects what diff() tells; then the whole is a document.
class DiffView {
 public:
  explicit DiffView(const DiffViewOptions& options);

  /// For diff(); not longer than this view.
  [[nodiscard]] DiffSink sink();

  /// Generations and uuids of both states, whether they differ, the counts, and the tables
  /// `drums`, `segments`, `buckets`, `keys` and `requests`.
  ///   errors  kIo, kForked
  [[nodiscard]] Result<Document> document(const Snapshot& older, const Snapshot& newer,
                                          const DiffReport& report) const;

 private:
  void add(Table& table, std::vector<Cell> row) const;

  DiffViewOptions options_;
  Table segments_;
  Table buckets_;
  Table keys_;
  Table requests_;
};

}  // namespace crawlstore::model
