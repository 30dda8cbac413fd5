// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Options that PageRank and HITS have in common, which verbs take once.

#include <crawlstore/ranking.h>

namespace crawlstore::cli {

/// HITS with all that it takes of these; the names of its arrays are the usual ones.
inline HitsOptions hits_options_of(const RankOptions& rank) {
  HitsOptions hits;
  hits.database = rank.database;
  hits.precision = rank.precision;
  hits.max_iterations = rank.max_iterations;
  hits.thread_count = rank.thread_count;
  hits.memory_bytes = rank.memory_bytes;
  hits.folder = rank.folder;
  hits.by_content_scores = rank.by_content_scores;
  hits.is_warm = rank.is_warm;
  hits.progress = rank.progress;
  return hits;
}

}  // namespace crawlstore::cli
