// SPDX-License-Identifier: Apache-2.0
// Header, rows, cells and the menu of a Table64.
#include <algorithm>

#include "inspector/core/links.h"
#include "inspector/core/shown_text.h"
#include "inspector/ui/table64.h"
#include "inspector/ui/table64_layout.h"
#include "model/store_view.h"

namespace crawlstore::inspector {
namespace {

constexpr float kTooltipLines = 10;

bool is_number(model::Unit unit) {
  return unit != model::Unit::kText && unit != model::Unit::kFlag && unit != model::Unit::kTimeUs;
}

}  // namespace

void Table64::draw_header(Ui& ui, const Layout& layout) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const auto& columns = source_->columns();
  const float bottom = layout.visible_min.y + layout.row_height;
  list.AddRectFilled(layout.visible_min, ImVec2(layout.visible_max.x, bottom), ui.palette.raised);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const float left = layout.origin.x + layout.lefts[c];
    const float right = layout.origin.x + layout.lefts[c + 1];
    if (right < layout.visible_min.x || left > layout.visible_max.x) continue;
    std::string text = columns[c].name;
    if (sort_column_ == c && source_->is_in_memory()) text += is_descending_ ? " v" : " ^";
    const float width = ImGui::CalcTextSize(text.c_str()).x;
    const float at =
        is_number(columns[c].unit) ? right - ui.px(kCellPad) - width : left + ui.px(kCellPad);
    list.AddText(ImVec2(at, layout.visible_min.y + ui.px(2)), ui.palette.faint, text.c_str());
    ui.probe.note("column." + columns[c].name, text, ImVec2(left, layout.visible_min.y),
                  ImVec2(std::min(right, layout.visible_max.x), bottom));
  }
}

Location Table64::link_of(const TableOptions& options, std::size_t column,
                          const model::Row& row) const {
  const model::Column& head = source_->columns()[column];
  if (options.link) {
    Location location = options.link(head, row);
    if (!location.panel.empty() || !std::holds_alternative<std::monostate>(location.thing)) {
      return location;
    }
  }
  return {{}, thing_in_row(source_->columns(), row, column, options.drum, options.pages)};
}

bool Table64::has_swatch(const TableOptions& options, std::size_t column) const {
  return options.has_swatches && source_->columns()[column].name == "kind";
}

/// The colour of a kind, as a square; returns how much room it takes.
float Table64::draw_kind(const Ui& ui, const std::string& name, ImVec2 at) {
  const auto kind = find_segment_kind(name);
  const Colour colour = space_colour(ui.palette, name, kind ? static_cast<unsigned>(*kind) : 0);
  const ImVec2 low(at.x, at.y + ui.px(5));
  const ImVec2 high(low.x + ui.px(10), low.y + ui.px(10));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(low, high, colour);
  // Free is hollow, held is half: not by colour alone.
  if (name == "free") list.AddRect(low, high, ui.palette.faint);
  if (name == "held") list.AddTriangleFilled(low, ImVec2(high.x, low.y), high, ui.palette.panel);
  return ui.px(kSwatch);
}

void Table64::draw_bar(Ui& ui, const Layout& layout, std::size_t column, const model::Cell& cell,
                       float top) const {
  const auto* count = std::get_if<std::uint64_t>(&cell);
  const auto* ratio = std::get_if<double>(&cell);
  if (column >= bar_max_.size() || bar_max_[column] <= 0) return;
  if (count == nullptr && ratio == nullptr) return;
  const double value = count != nullptr ? static_cast<double>(*count) : *ratio;
  const float left = layout.origin.x + layout.lefts[column] + ui.px(2);
  const float room = layout.origin.x + layout.lefts[column + 1] - ui.px(2) - left;
  const auto share = static_cast<float>(std::min(1.0, value / bar_max_[column]));
  ImGui::GetWindowDrawList()->AddRectFilled(
      ImVec2(left, top + ui.px(2)), ImVec2(left + room * share, top + layout.row_height - ui.px(2)),
      with_alpha(value > bar_max_[column] ? ui.palette.warning : ui.palette.accent, 80));
}

void Table64::draw_cell(Ui& ui, const Layout& layout, const TableOptions& options,
                        std::size_t index, std::size_t column) {
  const model::Row& row = window_.rows[index];
  if (column >= row.size()) return;
  const model::Unit unit = source_->columns()[column].unit;
  const std::string text = shown_text(row[column], unit);
  ui.fonts.want(text);
  const float left = layout.origin.x + layout.lefts[column] + ui.px(kCellPad);
  const float right = layout.origin.x + layout.lefts[column + 1] - ui.px(kCellPad);
  if (right < layout.visible_min.x || left > layout.visible_max.x) return;
  const float top = layout.visible_min.y + layout.row_height * static_cast<float>(index + 1);
  draw_bar(ui, layout, column, row[column], top);
  const float width = ImGui::CalcTextSize(text.c_str(), text.c_str() + text.size()).x;
  float at = is_number(unit) ? std::max(left, right - width) : left;
  if (has_swatch(options, column)) at += draw_kind(ui, text, ImVec2(left, top));
  const Location location = link_of(options, column, row);
  const bool is_link =
      !location.panel.empty() || !std::holds_alternative<std::monostate>(location.thing);
  const ImVec2 low(at, top + ui.px(2));
  const ImVec2 high(std::min({at + width, right, layout.visible_max.x}), top + layout.row_height);
  const ImVec4 clip(std::max(left, layout.visible_min.x), top,
                    std::min(right + 1, layout.visible_max.x), layout.visible_max.y);
  ImGui::GetWindowDrawList()->AddText(ImGui::GetFont(), ImGui::GetFontSize(), low,
                                      is_link ? ui.palette.link : ui.palette.text, text.c_str(),
                                      text.c_str() + text.size(), 0, &clip);
  const std::string& name = source_->columns()[column].name;
  ui.probe.note(options.id + "[" + std::to_string(window_.numbers[index]) + "]." + name, text, low,
                high);
  if (!ImGui::IsWindowHovered() || !ImGui::IsMouseHoveringRect(low, high)) return;
  if (width > right - left) {
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(ui.px(kColumnMax));
    draw_text(ui, fit_text(ui, text, kTooltipLines * ui.px(kColumnMax)));
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
  }
  if (!is_link) return;
  ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  ImGui::GetWindowDrawList()->AddLine(ImVec2(low.x, high.y - ui.px(2)),
                                      ImVec2(high.x, high.y - ui.px(2)), ui.palette.link);
  if (ImGui::IsMouseReleased(ImGuiMouseButton_Left) &&
      ImGui::GetMouseDragDelta(ImGuiMouseButton_Left).x == 0) {
    ui.actions.go(location);
  }
}

void Table64::draw_row(Ui& ui, const Layout& layout, const TableOptions& options,
                       std::size_t index) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float top = layout.visible_min.y + layout.row_height * static_cast<float>(index + 1);
  const ImVec2 low(layout.visible_min.x, top);
  const ImVec2 high(layout.visible_max.x, top + layout.row_height);
  const bool is_hovered = ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(low, high);
  const bool is_selected = selected_ == window_.numbers[index];
  if (is_selected) {
    list.AddRectFilled(low, high, ui.palette.selected);
  } else if (is_hovered) {
    list.AddRectFilled(low, high, ui.palette.raised);
  }
  for (std::size_t c = 0; c < source_->columns().size(); ++c) {
    draw_cell(ui, layout, options, index, c);
  }
  if (!is_hovered) return;
  const bool is_left = ImGui::IsMouseClicked(ImGuiMouseButton_Left);
  const bool is_right = ImGui::IsMouseClicked(ImGuiMouseButton_Right);
  if (is_left || is_right) {
    selected_ = window_.numbers[index];
    selected_cells_ = window_.rows[index];
  }
  if (is_left && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left) && options.choose) {
    options.choose(window_.rows[index]);
  }
  if (is_right) {
    menu_row_ = index;
    const float x = ImGui::GetMousePos().x - layout.origin.x;
    menu_column_ = 0;
    while (menu_column_ + 2 < layout.lefts.size() && layout.lefts[menu_column_ + 1] < x) {
      ++menu_column_;
    }
    ImGui::OpenPopup("row menu");
  }
}

void Table64::draw_rows(Ui& ui, const Layout& layout, const TableOptions& options) {
  ImGui::PushClipRect(layout.visible_min, layout.visible_max, true);
  for (std::size_t i = 0; i < window_.rows.size(); ++i) draw_row(ui, layout, options, i);
  if (window_.problem) {
    ImGui::SetCursorScreenPos(ImVec2(layout.visible_min.x + ui.px(kCellPad),
                                     layout.visible_min.y + layout.row_height * 1.5F));
    draw_problem(ui, *window_.problem);
  } else if (window_.rows.empty()) {
    const char* text = selection_ && !selection_->is_complete ? "looking ..." : "nothing";
    ImGui::GetWindowDrawList()->AddText(ImVec2(layout.visible_min.x + ui.px(kCellPad),
                                               layout.visible_min.y + layout.row_height + ui.px(2)),
                                        ui.palette.faint, text);
    ui.probe.note({}, text, layout.visible_min, layout.visible_max);
  }
  ImGui::PopClipRect();
}

void Table64::draw_menu(Ui& ui) {
  if (!ImGui::BeginPopup("row menu")) return;
  if (!menu_row_ || *menu_row_ >= window_.rows.size()) {
    ImGui::EndPopup();
    return;
  }
  const auto& columns = source_->columns();
  const model::Row& row = window_.rows[*menu_row_];
  const model::Unit unit = columns[menu_column_].unit;
  const model::Cell cell = menu_column_ < row.size() ? row[menu_column_] : model::Cell();
  if (ImGui::MenuItem("Copy the cell")) {
    const auto whole = source_->whole_row(window_.numbers[*menu_row_], row);
    const bool has_cell = whole && menu_column_ < whole->size();
    const CopiedText copied = copied_text(has_cell ? (*whole)[menu_column_] : cell, unit);
    ui.actions.copy(copied.text,
                    copied.is_hex ? "cell as hexadecimal digits, for it is no text," : "cell");
  }
  ui.probe.note_item("menu.copy_cell", "Copy the cell");
  if (ImGui::MenuItem("Copy the row")) ui.actions.run("copy_row");
  ui.probe.note_item("menu.copy_row", "Copy the row");
  if (ImGui::MenuItem("Copy the row as JSON")) ui.actions.run("copy_row_json");
  ui.probe.note_item("menu.copy_row_json", "Copy the row as JSON");
  if (ImGui::MenuItem("Show only rows with this")) {
    filter_text_ = columns[menu_column_].name + "=" + quote_filter_word(shown_text(cell, unit));
  }
  ui.probe.note_item("menu.filter", "Show only rows with this");
  if (ImGui::MenuItem("Export what is shown ...")) ui.actions.run("export");
  ui.probe.note_item("menu.export", "Export what is shown ...");
  ImGui::EndPopup();
}

}  // namespace crawlstore::inspector
