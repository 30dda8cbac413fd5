// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/app_state.h"

#include <algorithm>
#include <utility>

#include "inspector/ui/style.h"

namespace crawlstore::inspector {

void AppState::say(Severity severity, std::string text) {
  session.say(platform.now_us(), severity, std::move(text));
  redraws.want();
}

void AppState::save_settings() {
  options.settings = settings;
  const std::string problem = inspector::save_settings(settings, options.settings_path);
  if (!problem.empty()) say(Severity::kWarning, problem);
}

void AppState::set_scale(float scale) {
  settings.scale = std::clamp(scale, 1.0F, 2.0F);
  must_build_fonts = true;
}

void AppState::set_theme(std::string_view name) {
  settings.theme = find_palette(name).name;
  must_build_fonts = true;
}

void AppState::build_fonts() {
  apply_style(find_palette(settings.theme), settings.scale);
  fonts.build(settings.scale);
  must_build_fonts = false;
  if (!fonts.has_files() && !std::exchange(has_told_of_fonts, true)) {
    say(Severity::kWarning,
        "the fonts of the package fonts-dejavu-core are not there: "
        "plain letters, of Latin only");
  }
  redraws.want();
}

Ui AppState::ui(Actions& actions) {
  return Ui{session,
            settings,
            commands,
            actions,
            jobs,
            fonts,
            focus,
            probe,
            find_palette(settings.theme),
            settings.scale,
            platform.now_us()};
}

}  // namespace crawlstore::inspector
