// SPDX-License-Identifier: Apache-2.0
#include "format/small_values.h"
#include "format/superblock.h"
#include "values/values_content.h"

namespace crawlstore::values {

std::vector<container::Kind> kinds() {
  return {{.rule = {.kind = SegmentKind::kValues,
                    .name = "values",
                    .storage_class = StorageClass::kBlob,
                    .owner = {},
                    .feature = format::kValuesFeature},
           .check = check_values,
           .describe = describe_values,
           .verify = verify_values,
           .advice =
               "all small values are lost: `crawlstore recover FILE NEW` leaves them out, and "
               "the program that set them has to set them again"}};
}

}  // namespace crawlstore::values
