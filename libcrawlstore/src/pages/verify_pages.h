// SPDX-License-Identifier: Apache-2.0
#pragma once

/// VerifyLevel::kDeep for page databases: the rules of spec/format.md#pages.

#include "container/verify.h"

namespace crawlstore::pages {

/// Notes what is wrong with the page databases of a generation, and with segments that belong to
/// none. To be called behind the deep check of its drums.
///   memory  8 bytes for each page, of at most 2^23 pages at a time; blocks of what is read
///   errors  as container::SegmentVerifier::verify()
Result<void> verify_pages(container::Verification& verification,
                          container::SegmentVerifier& segments,
                          const container::Directory& directory, FindingKind kind);

}  // namespace crawlstore::pages
