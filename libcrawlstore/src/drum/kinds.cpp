// SPDX-License-Identifier: Apache-2.0
#include "drum/drum_content.h"
#include "drum/drum_description.h"
#include "drum/verify_drum.h"
#include "format/superblock.h"

namespace crawlstore::drum {
namespace {

using container::check_whole;
using format::kDrumFeature;
using enum SegmentKind;
using enum StorageClass;

constexpr const char* kKeysAdvice =
    "`crawlstore recover FILE NEW` keeps all other keys; those that are lost will be seen as new, "
    "but for keys of pages, which it makes again from URLs";
constexpr const char* kLogAdvice =
    "`crawlstore recover FILE NEW` keeps all but these requests or answers, and says how many";

}  // namespace

std::vector<container::Kind> kinds() {
  return {
      {.rule = {kDrum, "drum", kBlob, {}, kDrumFeature},
       .describe = describe_drum,
       .verify = verify_drum,
       .unnamed = "no drum names this segment",
       .can_be_dropped = true,
       .needed_by = kPages,  // for the keys of its pages
       .advice = "`crawlstore recover FILE NEW` takes a generation of which more can be read, or "
                 "leaves the DRUM out, and says so"},
      {.rule = {kDrumPartition, "drum_partition", kBlob, kDrum, kDrumFeature},
       .check = check_partition,
       .describe = describe_partition,
       .describe_at = describe_partition_at,
       .advice = kKeysAdvice},
      {.rule = {kDrumKeyLog, "drum_key_log", kLog, kDrum, kDrumFeature},
       .check = check_whole<check_key_run>,
       .describe = describe_key_run,
       .advice = kLogAdvice},
      {.rule = {kDrumAuxLog, "drum_aux_log", kLog, kDrum, kDrumFeature},
       .check = check_whole<check_aux_run>,
       .describe = describe_aux_run,
       .advice = kLogAdvice},
      {.rule = {kDrumResults, "drum_results", kLog, kDrum, kDrumFeature},
       .check = check_whole<check_result_run>,
       .describe = describe_result_run,
       .advice = kLogAdvice},
  };
}

}  // namespace crawlstore::drum
