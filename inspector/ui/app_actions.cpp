// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/app_actions.h"

namespace crawlstore::inspector {

void AppActions::copy(const std::string& text, std::string_view what) {
  state_.platform.set_clipboard(text);
  say(Severity::kNote, std::string(what) + " copied");
}

void AppActions::run(std::string_view command, std::string_view argument) {
  if (!state_.commands.run(command, argument)) {
    say(Severity::kWarning, "\"" + std::string(command) + "\" cannot be done now");
  }
  redraw();
}

}  // namespace crawlstore::inspector
