// SPDX-License-Identifier: Apache-2.0
#include "drum/drum_content.h"
#include "drum/drum_description.h"
#include "format/superblock.h"
#include "pages/page_content.h"
#include "pages/verify_pages.h"

namespace crawlstore::pages {
namespace {

using container::check_whole;
using format::kContentsFeature;
using format::kFreshKeysFeature;
using format::kPagesFeature;
using enum SegmentKind;
using enum StorageClass;

}  // namespace

std::vector<container::Kind> kinds() {
  return {
      {.rule = {kPageOrigins, "page_origins", kLog, kPages, kPagesFeature},
       .check = check_origin_run,
       .describe = describe_origins,
       .describe_at = describe_origins_at,
       .advice = "`crawlstore recover FILE NEW` keeps all other pages; those whose URLs are lost "
                 "are forgotten, and it names them"},
      {.rule = {kPageRecords, "page_records", kTiled, kPages, kPagesFeature},
       .check = check_whole<check_record_tile>,
       .describe = describe_record_tile,
       .verify = verify_record_tiles,
       .advice = "`crawlstore recover FILE NEW` keeps these pages with their URLs and links, but "
                 "as if they had never been crawled, and names them"},
      {.rule = {kPageEvents, "page_events", kLog, kPages, kPagesFeature},
       .check = check_whole<check_event_run>,
       .describe = describe_event_run,
       .advice = "`crawlstore recover FILE NEW` keeps all but these edits, which wait for a "
                 "superstep: submit them again"},
      {.rule = {kFreshKeys, "fresh_keys", kLog, kPages, kFreshKeysFeature},
       .check = drum::check_partition,
       .describe = drum::describe_partition,
       .describe_at = drum::describe_partition_at,
       .advice = "nothing is lost: `crawlstore recover FILE NEW` makes these keys again from URLs"},
      {.rule = {kPageContents, "page_contents", kLog, kPages, kContentsFeature},
       .check = drum::check_partition,
       .describe = drum::describe_partition,
       .describe_at = drum::describe_partition_at,
       .advice = "nothing is lost: `crawlstore recover FILE NEW` makes the index of contents again "
                 "from records"},
      // Behind its records: what is wrong with them alone is found first.
      {.rule = {kPages, "pages", kBlob, {}, kPagesFeature},
       .describe = describe_pages,
       .verify = verify_pages,
       .verify_rest = verify_other_drums,
       .unnamed = "no page database names this segment",
       .advice = "`crawlstore recover FILE NEW` takes a generation of which more can be read, or "
                 "leaves the page database out, and says so"},
  };
}

}  // namespace crawlstore::pages
