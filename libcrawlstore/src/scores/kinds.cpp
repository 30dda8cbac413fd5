// SPDX-License-Identifier: Apache-2.0
#include "format/superblock.h"
#include "scores/score_content.h"

namespace crawlstore::scores {

std::vector<container::Kind> kinds() {
  return {{.rule = {.kind = SegmentKind::kScoreArray,
                    .name = "score_array",
                    .storage_class = StorageClass::kBlob,
                    .owner = SegmentKind::kPages,
                    .feature = format::kScoresFeature,
                    .is_named = true},
           .check = check_score_array,
           .describe = describe_score_array,
           .describe_at = describe_score_array_at,
           .verify = verify_score_array,
           .advice = "nothing else needs these scores: compute them again, as `crawlstore rank` "
                     "does, or leave them out with `crawlstore recover FILE NEW`"}};
}

}  // namespace crawlstore::scores
