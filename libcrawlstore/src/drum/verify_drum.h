// SPDX-License-Identifier: Apache-2.0
#pragma once

/// VerifyLevel::kDeep for drums: the rules of spec/drum.md#drum.

#include "container/verify_segments.h"

namespace crawlstore::drum {

/// Bytes above those of a drum with the most buckets and consumers, all with the longest names.
inline constexpr std::uint64_t kDrumBytesMax = 16 * 1024 * 1024;

/// container::Kind::verify
Result<bool> verify_drum(container::SegmentVerifier& segments, const format::SegmentEntry& entry);

}  // namespace crawlstore::drum
