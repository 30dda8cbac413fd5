// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/ui.h"

#include <algorithm>

#include <imgui_stdlib.h>

#include <crawlstore/error.h>

#include "inspector/core/shown_text.h"
#include "inspector/ui/internal.h"
#include "model/format_text.h"
#include "model/graph_labels.h"
#include "model/label.h"

namespace crawlstore::inspector {
namespace {

/// A piece of text is one list of at most 2^16 corners: more is cut in the middle.
std::string_view drawable(std::string_view text, std::string& cut) {
  constexpr std::size_t kBytesMax = 8192;
  if (text.size() <= kBytesMax) return text;
  cut = model::cut_middle(text, kBytesMax / 4);
  return cut;
}

}  // namespace

void draw_text(Ui& ui, std::string_view text) {
  std::string cut;
  text = drawable(text, cut);
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
  std::string cut;
  text = drawable(text, cut);
  // At the edge that can be seen: 0 would be that of what can be scrolled to.
  const float room = ImGui::GetContentRegionAvail().x;
  ui.fonts.want(text);
  const std::string lines =
      text_width(text) > room ? broken_at_blanks(text, room, text_width) : std::string(text);
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + room);
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  ImGui::TextUnformatted(lines.data(), lines.data() + lines.size());
  ImGui::PopStyleColor();
  ImGui::PopTextWrapPos();
  ui.probe.note_item({}, text);
}

float text_width(std::string_view text) {
  return ImGui::CalcTextSize(text.data(), text.data() + text.size()).x;
}

float button_width(std::string_view text) {
  return text_width(text) + 2 * ImGui::GetStyle().FramePadding.x;
}

float choice_width(std::string_view text) {
  return ImGui::GetFrameHeight() + ImGui::GetStyle().ItemInnerSpacing.x + text_width(text);
}

void place_beside(float width) {
  place_beside(width, ImGui::GetStyle().ItemSpacing.x);
}

void place_beside(float width, float gap) {
  ImGui::SameLine(0, gap);
  if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
}

void draw_heading(Ui& ui, std::string_view text) {
  ImGui::Dummy(ImVec2(0, ui.px(4)));
  draw_paragraph(ui, text, ui.palette.accent);
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

std::string fit_middle(Ui& ui, std::string_view text, float width) {
  constexpr std::size_t kLettersMax = 400;
  std::string whole = model::cut_middle(text, kLettersMax);
  ui.fonts.want(whole);
  if (text_width(whole) <= width) return whole;
  std::size_t fits = 0;
  std::size_t too_long = kLettersMax;
  while (too_long - fits > 1) {
    const std::size_t middle = (fits + too_long) / 2;
    (text_width(model::cut_middle(whole, middle)) <= width ? fits : too_long) = middle;
  }
  return model::cut_middle(whole, fits);
}

void draw_link(Ui& ui, std::string_view label, std::string_view text, const Location& location) {
  draw_link(ui, label, text, location, ui.palette.link);
}

void draw_link(Ui& ui, std::string_view label, std::string_view text, const Location& location,
               Colour colour) {
  ImGui::PushID(label.data(), label.data() + label.size());
  draw_text(ui, text, colour);
  const ImVec2 low = ImGui::GetItemRectMin();
  const ImVec2 high = ImGui::GetItemRectMax();
  ui.probe.note(label, text, low, high);
  if (ImGui::IsItemHovered()) {
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    ImGui::GetWindowDrawList()->AddLine(ImVec2(low.x, high.y), high, colour);
  }
  const bool is_pressed = take_stop(ui, label);
  if (is_pressed || ImGui::IsItemClicked(ImGuiMouseButton_Left)) ui.actions.go(location);
  if (ImGui::IsItemClicked(ImGuiMouseButton_Right)) {
    ui.actions.copy(format_location(location), "location");
  }
  ImGui::PopID();
}

float draw_name(Ui& ui, std::string_view name) {
  const std::string label = model::label_of(name);
  draw_text(ui, label, ui.palette.faint);
  if (ImGui::IsItemHovered()) draw_schema_name(ui, name, label);
  return text_width(label);
}

void draw_schema_name(Ui& ui, std::string_view name, std::string_view label) {
  if (name == label) return;
  ImGui::BeginTooltip();
  draw_text(ui, name);
  draw_text(ui, "in filters, exports and the command", ui.palette.faint);
  ImGui::EndTooltip();
}

void draw_field(Ui& ui, std::string_view name, std::string_view text, const Thing& thing,
                float name_width) {
  const float width = draw_name(ui, name);
  ImGui::SameLine(std::max(name_width, width + ui.px(16)));
  if (ImGui::GetContentRegionAvail().x < ui.px(60)) {  // too little even for broken lines
    ImGui::NewLine();
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + ui.px(16));
  }
  if (std::holds_alternative<std::monostate>(thing)) {
    draw_paragraph(ui, text, ui.palette.text);
  } else {
    draw_link(ui, name, text, {{}, thing});
  }
}

bool draw_button(Ui& ui, std::string_view label, std::string_view text, std::string_view hint) {
  ui.fonts.want(text);
  ImGui::PushID(label.data(), label.data() + label.size());
  bool is_clicked = ImGui::Button(std::string(text).c_str());
  ImGui::PopID();
  ui.probe.note_item(label, text);
  if (take_stop(ui, label)) is_clicked = true;
  if (!hint.empty() && ImGui::IsItemHovered()) {
    ImGui::BeginTooltip();
    draw_text(ui, hint);
    ImGui::EndTooltip();
  }
  return is_clicked;
}

bool draw_choice(Ui& ui, std::string_view label, std::string_view text, bool is_on) {
  ImGui::PushID(label.data(), label.data() + label.size());
  ImGui::BeginGroup();
  // Behind "##" ImGui shows nothing, so the text is drawn beside it.
  bool is_clicked = ImGui::RadioButton("##choice", is_on);
  ImGui::SameLine(0, ImGui::GetStyle().ItemInnerSpacing.x);
  draw_text(ui, text);
  is_clicked = is_clicked || ImGui::IsItemClicked();
  ImGui::EndGroup();
  is_clicked = is_clicked || ImGui::IsItemClicked();  // between the two
  ui.probe.note_item(label, text);
  ImGui::PopID();
  return take_stop(ui, label) || is_clicked;
}

bool draw_input(Ui& ui, std::string_view label, const char* hint, std::string& text) {
  ui.fonts.want(text);
  const std::string id = "##" + std::string(label);
  const bool is_entered =
      ImGui::InputTextWithHint(id.c_str(), hint, &text, ImGuiInputTextFlags_EnterReturnsTrue);
  ui.probe.note_item(label, text);
  if (take_stop(ui, label)) ImGui::SetKeyboardFocusHere(-1);
  if (ImGui::IsItemActive()) ui.focus.note_active();
  return is_entered;
}

bool take_stop(Ui& ui, std::string_view label) {
  // A disabled item is no stop.
  if (is_disabled()) return false;
  return ui.focus.stop(label, ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
}

void draw_problem(Ui& ui, const Error& error) {
  ui.actions.meet(error);
  draw_paragraph(ui, describe(error), ui.palette.bad);
  draw_problem_links(ui, error);
}

void draw_problem_links(Ui& ui, const Error& error) {
  const bool has_offset = error.offset != Error::kNoOffset;
  if (has_offset) {
    draw_link(ui, "problem_offset", "look at " + model::format_offset(error.offset),
              {"hex", ExtentThing{{error.offset, 0}}});
  }
  if (!error.segment) return;
  if (has_offset) ImGui::SameLine(0, ui.px(16));
  draw_link(ui, "problem_segment", "segment " + std::to_string(error.segment.value),
            {{}, SegmentThing{error.segment}});
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

void draw_sign(Ui& ui, Severity severity) {
  if (severity == Severity::kNote) return;
  const bool is_bad = severity == Severity::kBad;
  const Colour colour = colour_of(ui, severity);
  const float size = ImGui::GetTextLineHeight();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float middle = at.x + size / 2;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 top(middle, at.y + ui.px(1));
  const ImVec2 right(at.x + size, at.y + size - ui.px(1));
  const ImVec2 left(at.x, at.y + size - ui.px(1));
  if (is_bad) {
    list.AddTriangleFilled(top, right, left, colour);
  } else {
    list.AddTriangle(top, right, left, colour, ui.px(1.5F));
  }
  const Colour mark = is_bad ? ui.palette.window : colour;
  list.AddRectFilled(ImVec2(middle - ui.px(1), at.y + size * 0.4F),
                     ImVec2(middle + ui.px(1), at.y + size * 0.68F), mark);
  list.AddRectFilled(ImVec2(middle - ui.px(1), at.y + size * 0.76F),
                     ImVec2(middle + ui.px(1), at.y + size * 0.88F), mark);
  ImGui::Dummy(ImVec2(size, size));
  ui.probe.note_item(is_bad ? "sign.bad" : "sign.warning", {});
  ImGui::SameLine(0, ui.px(6));
}

}  // namespace crawlstore::inspector
