// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/ui.h"

#include <algorithm>

#include <crawlstore/error.h>

#include "model/format_text.h"

namespace crawlstore::inspector {

void draw_text(Ui& ui, std::string_view text) {
  ui.fonts.want(text);
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
  ui.probe.note_item({}, text);
}

void draw_text(Ui& ui, std::string_view text, Colour colour) {
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  draw_text(ui, text);
  ImGui::PopStyleColor();
}

void draw_paragraph(Ui& ui, std::string_view text, Colour colour) {
  ImGui::PushTextWrapPos(0);
  draw_text(ui, text, colour);
  ImGui::PopTextWrapPos();
}

void draw_heading(Ui& ui, std::string_view text) {
  ImGui::Dummy(ImVec2(0, ui.px(4)));
  draw_text(ui, text, ui.palette.accent);
  ImGui::Separator();
}

std::string fit_text(Ui& ui, std::string_view text, float width) {
  constexpr std::size_t kBytesMax = 2048;  // more fits no screen
  constexpr std::string_view kRest = "...";
  ui.fonts.want(text.substr(0, kBytesMax));
  const auto width_of = [](std::string_view part) {
    return ImGui::CalcTextSize(part.data(), part.data() + part.size()).x;
  };
  if (text.size() <= kBytesMax && width_of(text) <= width) return std::string(text);
  std::size_t fits = 0;
  std::size_t too_long = std::min(text.size(), kBytesMax) + 1;
  while (too_long - fits > 1) {
    const std::size_t middle = (fits + too_long) / 2;
    const bool is_fit = width_of(text.substr(0, middle)) + width_of(kRest) <= width;
    (is_fit ? fits : too_long) = middle;
  }
  // Not in the middle of a code point.
  const auto is_inside = [&](std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80;
  };
  while (fits > 0 && is_inside(fits)) --fits;
  return std::string(text.substr(0, fits)) + std::string(kRest);
}

void draw_link(Ui& ui, std::string_view label, std::string_view text, const Location& location) {
  ImGui::PushID(label.data(), label.data() + label.size());
  draw_text(ui, text, ui.palette.link);
  const ImVec2 low = ImGui::GetItemRectMin();
  const ImVec2 high = ImGui::GetItemRectMax();
  ui.probe.note(label, text, low, high);
  if (ImGui::IsItemHovered()) {
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    ImGui::GetWindowDrawList()->AddLine(ImVec2(low.x, high.y), high, ui.palette.link);
  }
  if (ImGui::IsItemClicked(ImGuiMouseButton_Left)) ui.actions.go(location);
  if (ImGui::IsItemClicked(ImGuiMouseButton_Right)) {
    ui.actions.copy(format_location(location), "location");
  }
  ImGui::PopID();
}

void draw_field(Ui& ui, std::string_view name, std::string_view text, const Thing& thing,
                float name_width) {
  draw_text(ui, name, ui.palette.faint);
  ImGui::SameLine(name_width);
  if (std::holds_alternative<std::monostate>(thing)) {
    draw_text(ui, text);
  } else {
    draw_link(ui, name, text, {{}, thing});
  }
}

bool draw_button(Ui& ui, std::string_view label, std::string_view text, std::string_view hint) {
  ui.fonts.want(text);
  ImGui::PushID(label.data(), label.data() + label.size());
  const bool is_clicked = ImGui::Button(std::string(text).c_str());
  ImGui::PopID();
  ui.probe.note_item(label, text);
  if (!hint.empty() && ImGui::IsItemHovered()) {
    ImGui::BeginTooltip();
    draw_text(ui, hint);
    ImGui::EndTooltip();
  }
  return is_clicked;
}

bool draw_choice(Ui& ui, std::string_view label, std::string_view text, bool is_chosen) {
  ImGui::PushID(label.data(), label.data() + label.size());
  const ImVec2 low = ImGui::GetCursorScreenPos();
  // Behind "##" ImGui shows nothing, so the text is drawn beside it.
  bool is_clicked = ImGui::RadioButton("##choice", is_chosen);
  ImGui::SameLine(0, ImGui::GetStyle().ItemInnerSpacing.x);
  draw_text(ui, text);
  is_clicked = is_clicked || ImGui::IsItemClicked();
  ui.probe.note(label, text, low, ImGui::GetItemRectMax());
  ImGui::PopID();
  return is_clicked;
}

void draw_problem(Ui& ui, const Error& error) {
  draw_paragraph(ui, describe(error), ui.palette.bad);
  if (error.offset != Error::kNoOffset) {
    draw_link(ui, "problem_offset", "look at " + model::format_offset(error.offset),
              {"hex", ExtentThing{{error.offset, 0}}});
  }
  if (error.segment != 0) {
    draw_link(ui, "problem_segment", "segment " + std::to_string(error.segment),
              {{}, SegmentThing{SegmentId{error.segment}}});
  }
}

void draw_no_file(Ui& ui) {
  draw_text(ui, "No file is open.", ui.palette.faint);
  draw_link(ui, "go_start", "Open one", {"start", {}});
}

void draw_swatch(Ui& ui, Colour colour) {
  const float size = ImGui::GetTextLineHeight() * 0.7F;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float top = at.y + (ImGui::GetTextLineHeight() - size) / 2;
  ImGui::GetWindowDrawList()->AddRectFilled(ImVec2(at.x, top), ImVec2(at.x + size, top + size),
                                            colour);
  ImGui::Dummy(ImVec2(size, ImGui::GetTextLineHeight()));
  ImGui::SameLine(0, ui.px(6));
}

Colour colour_of(const Ui& ui, Severity severity) {
  if (severity == Severity::kBad) return ui.palette.bad;
  return severity == Severity::kWarning ? ui.palette.warning : ui.palette.text;
}

}  // namespace crawlstore::inspector
