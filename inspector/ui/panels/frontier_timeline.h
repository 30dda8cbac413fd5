// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <imgui.h>

#include "inspector/ui/ui.h"
#include "model/frontier_look.h"

namespace crawlstore::inspector {

/// Draws the next ten minutes of a frontier: a lane for groups, one for items whose time comes, one
/// for leases that end, a bar for each ten seconds, and at the left what is due now or overdue. The
/// heights are logarithmic. The interval under the pointer says its numbers.
///   label  that of an interval: its number follows, 0 for what is due now
void draw_timeline(Ui& ui, std::string_view label, const model::Timeline& timeline, ImVec2 size);

}  // namespace crawlstore::inspector
