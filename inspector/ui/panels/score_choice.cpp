// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/panels/score_choice.h"

#include <algorithm>
#include <utility>

#include <imgui.h>

#include "inspector/core/shown_text.h"
#include "model/scores_view.h"

namespace crawlstore::inspector {

void ScoreChoice::look(const PageView& pages, std::uint64_t version) {
  if (version_ == version) return;
  version_ = version;
  auto [arrays, problem] = model::readable_scores(pages);
  arrays_ = std::move(arrays);
  problem_ = problem;
  std::erase_if(arrays_,
                [](const ScoresInfo& array) { return array.subject != ScoreSubject::kPage; });
}

std::string ScoreChoice::name() const {
  const auto has = [this](std::string_view name) {
    return std::ranges::find(arrays_, name, &ScoresInfo::name) != arrays_.end();
  };
  if (wanted_ && (wanted_->empty() || has(*wanted_))) return *wanted_;
  return has(ScoreView::kDefaultName) ? std::string(ScoreView::kDefaultName) : "";
}

bool ScoreChoice::draw(Ui& ui, std::string_view label) {
  if (arrays_.empty()) return false;
  const std::string chosen = name();
  bool is_chosen = false;
  const auto offer = [&](const std::string& id, const std::string& text, const std::string& name) {
    place_beside(choice_width(text));
    if (!draw_choice(ui, std::string(label) + "." + id, text, name == chosen)) return;
    wanted_ = name;
    is_chosen = true;
  };
  place_beside(text_width("score") + choice_width("none"), ui.px(20));
  ImGui::AlignTextToFramePadding();
  draw_text(ui, "score", ui.palette.faint);
  offer("none", "none", "");
  for (const ScoresInfo& array : arrays_) {
    const std::string shown = shown_text(array.name);
    offer("array." + shown, fit_text(ui, shown, ui.px(200)) + (array.is_stale ? " (stale)" : ""),
          array.name);
  }
  return is_chosen;
}

/// The first letter tells no choice from the choice of none.
std::string ScoreChoice::view_state() const {
  return wanted_ ? "=" + *wanted_ : "";
}

void ScoreChoice::restore(std::string_view state) {
  wanted_.reset();
  if (!state.empty()) wanted_ = state.substr(1);
}

}  // namespace crawlstore::inspector
