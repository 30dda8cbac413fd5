// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "inspector/ui/app_actions.h"
#include "inspector/ui/modals.h"

namespace crawlstore::inspector {

/// The parts of the app. Each knows those above it that it is given, and none below.
struct AppParts {
  AppParts(Platform platform, AppOptions options)
      : state{std::move(platform), std::move(options), jobs},
        jobs(state.platform.wake, state.platform.now_us) {}

  AppState state;
  Tabs tabs{state};
  DetailsPane details{};
  Places places{state, tabs, details};
  FileChecks checks{state};
  OpenFile file{state, tabs, places, checks};
  AppActions actions{state, places, checks, file};
  CommandPalette palette{};
  Question question{};
  HelpBox help{};
  Jobs jobs;  // last: its threads end first

  [[nodiscard]] bool shows_details() { return details.is_open() && tabs.current().has_details(); }
};

}  // namespace crawlstore::inspector
