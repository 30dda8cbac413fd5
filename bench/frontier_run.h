// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The drivers of frontiers share their arguments, what is measured, and the line of JSON.
/// The work itself is in frontier_work.h.
///
/// A driver runs with PATH ITEMS GROUPS BODY_BYTES CYCLES TAKE, or with PATH --open CYCLES, in a
/// process of its own after that: then it opens what is at the path, and takes one item.
///
/// Errors: fail(), which guarded_main() prints. Threads: one.

#include <functional>
#include <memory>
#include <string>

#include "frontier_work.h"
#include "seen_run.h"

namespace crawlstore::bench {

using OpenFrontier = std::function<std::unique_ptr<BenchFrontier>(const std::string& path)>;

int frontier_main(int argc, char** argv, const OpenFrontier& open);

}  // namespace crawlstore::bench
