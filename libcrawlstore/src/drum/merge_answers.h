// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include <crawlstore/drum_core.h>

#include "container/writer.h"
#include "drum/bucket_merge.h"

namespace crawlstore::drum {

/// Visits the answers of a merge in arrival order, at most 256 in a call. The bytes that they refer
/// to stay until the call ends.
///   nobody  whose batches may be left out; 0: none
///   errors  of the auxiliary runs, which are read and checked here; those of `visit`
Result<void> visit_answers(container::Writer& writer, const MergeOutcome& outcome,
                           ConsumerId nobody,
                           const std::function<Result<void>(std::span<const RawAnswer>)>& visit);

}  // namespace crawlstore::drum
