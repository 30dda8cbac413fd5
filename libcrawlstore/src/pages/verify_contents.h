// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "container/verify.h"
#include "format/directory.h"

namespace crawlstore::pages {

/// That the index of contents has a key for each page that has a content, each key once, and none
/// of a page that does not exist: spec/pages.md#pages. Both segments are whole by themselves.
/// Memory: 64 MiB; reads both once for each 8 million pages.
///   records   nullptr: there are no pages
///   contents  nullptr: there are no keys
///   errors    kSegmentInvalid: what is wrong first; of reading
Result<void> verify_contents(container::Verification& verification,
                             const format::SegmentEntry* records,
                             const format::SegmentEntry* contents, SegmentId database);

}  // namespace crawlstore::pages
