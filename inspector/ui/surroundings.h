// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The surroundings of the panels, drawn from the session alone, each in the current window.

#include "inspector/core/history.h"
#include "inspector/ui/ui.h"

namespace crawlstore::inspector {

void draw_menu(Ui& ui);
/// Back and forward, file, panel and thing, and what is shown of the file.
void draw_address_bar(Ui& ui, const History& history);
/// Says what is wrong with all that is shown.
void draw_banner(Ui& ui);
///   front  id of the panel in front
void draw_navigator(Ui& ui, std::string_view front);
void draw_status_line(Ui& ui);

}  // namespace crawlstore::inspector
