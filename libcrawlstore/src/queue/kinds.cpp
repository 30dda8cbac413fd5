// SPDX-License-Identifier: Apache-2.0
#include "format/superblock.h"
#include "queue/queue_content.h"

namespace crawlstore::queue {

namespace {

constexpr const char* kAdvice =
    "`crawlstore recover FILE NEW` keeps what can be read of the queue, and names what it lacks";

}  // namespace

std::vector<container::Kind> kinds() {
  using enum SegmentKind;
  return {
      {.rule = {kQueueEntries, "queue_entries", StorageClass::kLog, kQueue, format::kQueueFeature},
       .check = check_queue_run,
       .describe = describe_queue_run,
       .describe_at = describe_queue_run_at,
       .advice = kAdvice},
      {.rule = {kQueue, "queue", StorageClass::kBlob, {}, format::kQueueFeature},
       .describe = describe_queue,
       .verify = verify_queue,
       .unnamed = "no queue names this segment",
       .can_be_dropped = true,
       .advice = kAdvice},
  };
}

}  // namespace crawlstore::queue
