// SPDX-License-Identifier: Apache-2.0
#include "drum/kinds.h"

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

}  // namespace

std::vector<container::Kind> kinds() {
  return {
      {.rule = {kDrum, "drum", kBlob, {}, kDrumFeature},
       .describe = describe_drum,
       .verify = verify_drum,
       .unnamed = "no drum names this segment"},
      {.rule = {kDrumPartition, "drum_partition", kBlob, kDrum, kDrumFeature},
       .check = check_partition,
       .describe = describe_partition,
       .describe_at = describe_partition_at},
      {.rule = {kDrumKeyLog, "drum_key_log", kLog, kDrum, kDrumFeature},
       .check = check_whole<check_key_run>,
       .describe = describe_key_run},
      {.rule = {kDrumAuxLog, "drum_aux_log", kLog, kDrum, kDrumFeature},
       .check = check_whole<check_aux_run>,
       .describe = describe_aux_run},
      {.rule = {kDrumResults, "drum_results", kLog, kDrum, kDrumFeature},
       .check = check_whole<check_result_run>,
       .describe = describe_result_run},
  };
}

}  // namespace crawlstore::drum
