// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The cells that lead somewhere: every id shown is a link.

#include <cstddef>
#include <string>
#include <vector>

#include "inspector/core/location.h"
#include "model/table.h"
#include "model/table_source.h"

namespace crawlstore::inspector {

/// The thing that a cell of such a column names; monostate = none. Goes by the column's name, which
/// is the same in all tables: `offset_bytes`, `segment`, `generation`, `bucket`, `key` ...
///   drum   the DRUM that buckets and keys of the table belong to; empty = not known: buckets lead
///          nowhere, keys into the DRUM that is shown
///   pages  the page database that indexes and hosts belong to, as in PageThing
Thing thing_of(const model::Column& column, const model::Cell& cell, const std::string& drum,
               const std::string& pages = {});

/// The same for a cell of a row; where the table has a column `drum`, that DRUM is meant.
Thing thing_in_row(const std::vector<model::Column>& columns, const model::Row& row,
                   std::size_t column, const std::string& drum, const std::string& pages = {});

}  // namespace crawlstore::inspector
