// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Functions that panels with choices share: they draw names, and read the choices that a stored
/// state begins with.

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inspector/core/shown_text.h"
#include "inspector/ui/ui.h"

namespace crawlstore::inspector {

/// A row of the names of things; the one of this name is chosen, without it the first.
///   label    the name of the thing follows
///   returns  the thing that is chosen now
template <class Thing>
const Thing& draw_names(Ui& ui, const std::string& label, const std::vector<Thing>& things,
                        std::string_view name) {
  auto chosen = std::ranges::find(things, name, &Thing::name);
  if (chosen == things.end()) chosen = things.begin();
  for (auto thing = things.begin(); thing != things.end(); ++thing) {
    const std::string shown = shown_text(thing->name);
    const std::string fitted = fit_text(ui, shown, ui.px(300));
    if (thing != things.begin()) place_beside(choice_width(fitted));
    if (draw_choice(ui, label + shown, fitted, thing == chosen)) chosen = thing;
  }
  return *chosen;
}

/// Takes the lines that a state begins with; nullopt: there are fewer.
template <std::size_t kCount>
std::optional<std::array<std::string_view, kCount>> take_lines(std::string_view& state) {
  std::array<std::string_view, kCount> lines;
  for (std::string_view& line : lines) {
    const auto end = state.find('\n');
    if (end == state.npos) return std::nullopt;
    line = state.substr(0, end);
    state.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace crawlstore::inspector
