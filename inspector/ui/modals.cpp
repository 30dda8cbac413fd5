// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/modals.h"

#include <algorithm>

#include <imgui.h>
#include <imgui_stdlib.h>

#include "inspector/core/fuzzy.h"
#include "inspector/core/shown_text.h"
#include "inspector/ui/panel.h"

namespace crawlstore::inspector {
namespace {

constexpr std::size_t kMatchesMax = 14;
constexpr float kWidth = 620;

/// Centred, near the top; true when it is open.
bool begin_box(const Ui& ui, const char* id, bool& must_open) {
  if (must_open) ImGui::OpenPopup(id);
  must_open = false;
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float width = std::min(ui.px(kWidth), screen.x - ui.px(40));
  ImGui::SetNextWindowPos(ImVec2((screen.x - width) / 2, screen.y * 0.12F));
  ImGui::SetNextWindowSize(ImVec2(width, 0));
  ImGui::SetNextWindowSizeConstraints(ImVec2(width, 0), ImVec2(width, screen.y * 0.85F));
  return ImGui::BeginPopup(id, ImGuiWindowFlags_NoMove);
}

}  // namespace

void CommandPalette::open(std::string text) {
  must_open_ = true;
  must_focus_ = true;
  text_ = std::move(text);
  chosen_ = 0;
}

std::vector<CommandPalette::Match> CommandPalette::find(Ui& ui) const {
  std::vector<Match> matches;
  const auto location = parse_location(text_);
  const bool is_panel = location && std::ranges::any_of(panel_kinds(), [&](const PanelKind& kind) {
                          return kind.id == location->panel;
                        });
  if (location && (location->panel.empty() || is_panel)) {
    matches.push_back({1000, "Go to " + format_location(*location), "", "",
                       [location](Ui& at) { at.actions.go(*location); }});
  }
  if (text_.starts_with('#') || is_url(text_)) {
    matches.push_back({1000, "Go to the page " + fit_middle(ui, shown_text(text_), ui.px(440)), "",
                       "", [text = text_](Ui& at) { at.actions.run("go_to", text); }});
  }
  for (const Command& command : ui.commands.all()) {
    // nullopt is less than any score.
    const auto score = std::max(fuzzy_score(text_, command.title + " " + command.id),
                                words_score(text_, command.help));
    if (!score || !command.enabled() || command.id == "palette") continue;
    matches.push_back({*score, command.title, command.help, command.keys,
                       [id = command.id](Ui& at) { at.actions.run(id); }});
  }
  std::ranges::stable_sort(matches, std::greater<>{}, &Match::score);
  if (matches.size() > kMatchesMax) matches.resize(kMatchesMax);
  return matches;
}

/// Draws the help behind the title, as far as there is room, and the keys at the right edge.
void CommandPalette::draw_match(Ui& ui, const Match& match, float left) {
  const float right = ImGui::GetContentRegionMax().x - text_width(match.keys);
  const float help_left = left + text_width(match.title) + ui.px(16);
  const float room = right - ui.px(12) - help_left;
  if (!match.help.empty() && room > ui.px(60)) {
    ImGui::SameLine(help_left);
    draw_text(ui, fit_text(ui, match.help, room), ui.palette.faint);
  }
  if (match.keys.empty()) return;
  ImGui::SameLine(right);
  draw_text(ui, match.keys, ui.palette.faint);
}

void CommandPalette::draw_matches(Ui& ui, const std::vector<Match>& matches) {
  for (std::size_t i = 0; i < matches.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    const float left = ImGui::GetCursorPosX();
    const bool is_clicked = ImGui::Selectable(matches[i].title.c_str(), i == chosen_);
    ui.probe.note_item("palette[" + std::to_string(i) + "]", matches[i].title);
    const bool is_walked = ImGui::IsKeyPressed(kKeyDown) || ImGui::IsKeyPressed(kKeyUp);
    if (i == chosen_ && is_walked) ImGui::SetScrollHereY();
    draw_match(ui, matches[i], left);
    ImGui::PopID();
    if (!is_clicked) continue;
    matches[i].run(ui);
    ImGui::CloseCurrentPopup();
    return;
  }
  if (matches.empty()) draw_text(ui, "no such command, panel or location", ui.palette.faint);
}

void CommandPalette::draw(Ui& ui) {
  if (!begin_box(ui, "palette", must_open_)) return;
  if (must_focus_) ImGui::SetKeyboardFocusHere();
  must_focus_ = false;
  ImGui::SetNextItemWidth(-1);
  const bool is_entered = ImGui::InputTextWithHint(
      "##palette", "a command, a location (segment/12, offset/0x14000), a URL, #7", &text_,
      ImGuiInputTextFlags_EnterReturnsTrue);
  ui.probe.note_item("palette.text", text_);
  const auto matches = find(ui);
  if (ImGui::IsKeyPressed(kKeyDown)) ++chosen_;
  if (ImGui::IsKeyPressed(kKeyUp) && chosen_ > 0) --chosen_;
  chosen_ = std::min(chosen_, matches.empty() ? 0 : matches.size() - 1);
  if (is_entered && !matches.empty()) {
    matches[chosen_].run(ui);
    ImGui::CloseCurrentPopup();
  } else {
    draw_matches(ui, matches);
  }
  ImGui::EndPopup();
}

void Question::open(std::string title, std::string text, std::string hint, Answer answer) {
  must_open_ = true;
  must_focus_ = true;
  title_ = std::move(title);
  text_ = std::move(text);
  hint_ = std::move(hint);
  problem_.clear();
  answer_ = std::move(answer);
}

void Question::draw(Ui& ui) {
  if (!begin_box(ui, "question", must_open_)) return;
  draw_paragraph(ui, title_, ui.palette.text);
  if (must_focus_) ImGui::SetKeyboardFocusHere();
  must_focus_ = false;
  ImGui::SetNextItemWidth(-1);
  const bool is_entered = ImGui::InputTextWithHint("##question", hint_.c_str(), &text_,
                                                   ImGuiInputTextFlags_EnterReturnsTrue);
  ui.probe.note_item("question.text", text_);
  if (!problem_.empty()) draw_paragraph(ui, problem_, ui.palette.bad);
  if (is_entered) {
    problem_ = answer_(text_);
    if (problem_.empty()) {
      ImGui::CloseCurrentPopup();
    } else {
      must_focus_ = true;
    }
  }
  ImGui::EndPopup();
}

void HelpBox::open(std::string title, std::string text) {
  must_open_ = true;
  title_ = std::move(title);
  text_ = std::move(text);
}

void HelpBox::draw(Ui& ui) {
  if (!begin_box(ui, "help", must_open_)) return;
  draw_heading(ui, title_);
  draw_paragraph(ui, text_, ui.palette.text);
  ImGui::Dummy(ImVec2(0, ui.px(4)));
  const bool is_clicked = draw_button(ui, "help.close", "Close");
  if (is_clicked || ImGui::IsKeyPressed(kKeyEnter)) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

}  // namespace crawlstore::inspector
