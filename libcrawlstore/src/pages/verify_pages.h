// SPDX-License-Identifier: Apache-2.0
#pragma once

/// VerifyLevel::kDeep for page databases: the rules of spec/pages.md#pages. For the rows of kinds:
/// container::Kind.

#include "container/verify_segments.h"

namespace crawlstore::pages {

///   memory  8 bytes for each page, of at most 2^23 pages at a time; blocks of what is read
Result<bool> verify_pages(container::SegmentVerifier& segments, const format::SegmentEntry& entry);

/// That drums which no page database names do not hold the keys of pages.
Result<void> verify_other_drums(container::SegmentVerifier& segments);

/// That all tiles are full but the last.
Result<bool> verify_record_tiles(container::SegmentVerifier& segments,
                                 const format::SegmentEntry& entry);

}  // namespace crawlstore::pages
