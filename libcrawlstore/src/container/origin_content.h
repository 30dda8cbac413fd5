// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The rules that the payload of an origin run must keep by itself: spec/format.md#origin-runs.

#include "container/run_content.h"

namespace crawlstore::container {

/// check_run_content() of a page_origins log. memory  two windows and one block
Result<RunContent> check_origin_run(const PayloadSource& payload, const ContentProgress& progress);

}  // namespace crawlstore::container
