// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The shared parts of all drivers of queues: the pages, the clock, the sum that shows which pages
/// left in which order, and the one line of JSON.
///
/// ENTRIES pages, in random order, are inserted in batches. Then cycles: the BATCH first are taken,
/// in order, and come back with new priorities, until TAKE were taken. The clock runs while the
/// queue works, not while priorities are made; of the cycles the processor's time, of all threads,
/// is taken as well, since the clock tells little on a machine that is shared.
///
///   random      24 random bits; a page comes back lower by as many: by up to all of the range
///   equal       all the same, so those that were taken are the first again
///   ascending   each higher than all before it: the last comes first
///   descending  each lower than all before it: the first comes first
///   above       built as random; then each above all before it
///   ties        1/k with k from 1 to 64; a page comes back with a k that is higher by as much
///   crawl       no page comes back; for each that was taken ten new ones are inserted, and for
///   each
///               100,000 taken 1 % of those that wait are inserted again, spread over the cycles.
///               Pages are numbered as they are first inserted. A link to a page of host k adds
///               Pareto(1.1) / sqrt(k) to its priority, a float as scores are: its first link, and
///               one each time that it is inserted again. Hosts are 1 to 65,536, and k has 1/k of
///               the pages of host 1. The choice of pages to insert again is uniform, so by hosts
///               it is as skewed. crawlstore's queue is a set; on top of the others, whose pages
///               cannot be changed, there is LazyQueue (queue_crawl.h), whose time counts.
///
/// COMMIT says when a queue commits that can: `million`, each 2^20 pages that were inserted, or
/// `cycle`, each cycle as well; and at the end.
///
/// Errors: fail(), which guarded_main() prints. Threads: one.

#include <functional>
#include <memory>

#include "bench_queue.h"
#include "seen_run.h"

namespace crawlstore::bench {

/// Runs a driver with PATH ENTRIES TAKE BATCH INPUT MEMORY COMMIT, and prints its line.
int queue_main(int argc, char** argv,
               const std::function<std::unique_ptr<BenchQueue>(const QueueOptions& options)>& open);

}  // namespace crawlstore::bench
