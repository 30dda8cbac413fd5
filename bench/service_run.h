// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The drivers of services share their arguments, what is measured, and the line of JSON.
/// The work itself is in service_work.h.
///
/// A driver runs with PATH URLS QUEUES URL_BYTES; with PATH --open, in a process of its own after
/// that: then it opens what is at the path, takes, and ends as if it was killed; or with PATH
/// --idle QUEUES: queues of one URL each, which is due in a month, and takes that find nothing.
///
/// Errors: fail(), which guarded_main() prints. Threads: one.

#include <functional>
#include <memory>
#include <string>

#include "seen_run.h"
#include "service_work.h"

namespace crawlstore::bench {

using OpenService = std::function<std::unique_ptr<BenchService>(const std::string& path)>;

int service_main(int argc, char** argv, const OpenService& open);

}  // namespace crawlstore::bench
