// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which cells lead somewhere: every id shown is a link.

#include <string>

#include "inspector/core/location.h"
#include "model/table.h"

namespace crawlstore::inspector {

/// The thing that a cell of such a column names; monostate = none. Goes by the column's name, which
/// is the same in all tables: `offset_bytes`, `segment`, `generation`, `bucket`, `key` ...
///   drum   the DRUM that buckets and keys of the table belong to; empty = these lead nowhere
Thing thing_of(const model::Column& column, const model::Cell& cell, const std::string& drum);

}  // namespace crawlstore::inspector
