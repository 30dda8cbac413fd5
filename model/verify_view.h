// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The findings of a verification, as a table.

#include <string_view>
#include <vector>

#include <crawlstore/tools/verify.h>

#include "model/table.h"

namespace crawlstore::model {

/// "whole", "reduced_redundancy" or "damaged".
std::string_view health_name(const VerifyReport& report);

/// The same of a quick verification, in words that say what it looked at.
std::string_view glance_of(const VerifyReport& report);

/// Table `findings`: kind, generation, code, segment, offset_bytes and a text that says what to do.
Table findings_table(const std::vector<Finding>& findings);
/// Fields: health, level, what was checked. Table `findings`.
Document verify_view(const VerifyReport& report, VerifyLevel level);

}  // namespace crawlstore::model
