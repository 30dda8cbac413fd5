// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The report of a recovery, as tables.

#include <string>

#include <crawlstore/tools/recover.h>

#include "model/table.h"

namespace crawlstore::model {

/// "keys", "records" ...
std::string lost_part_name(LostPart part);

/// Fields: the generation, and what was read of it. Table `losses`: part, name, first_page,
/// end_page, first_key_hex, last_key_hex, lost_count, code and a text.
Document recover_view(const RecoverReport& report);

}  // namespace crawlstore::model
