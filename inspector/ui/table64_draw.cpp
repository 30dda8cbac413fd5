// SPDX-License-Identifier: Apache-2.0
// Header, rows, cells and the menu of a Table64.
#include <algorithm>

#include <crawlstore/page_key.h>

#include "inspector/core/links.h"
#include "inspector/core/shown_text.h"
#include "inspector/ui/table64.h"
#include "inspector/ui/table64_layout.h"
#include "model/label.h"
#include "model/store_view.h"

namespace crawlstore::inspector {
namespace {

constexpr float kTooltipLines = 10;

bool is_number(model::Unit unit) {
  return unit != model::Unit::kText && unit != model::Unit::kFlag && unit != model::Unit::kTimeUs;
}

/// Ends a text that is cut in "...". Numbers are left whole: a part of one is another number.
std::string fit_cell(Ui& ui, const model::Column& column, const std::string& text, float room) {
  if (is_url_column(column)) return fit_middle(ui, text, room);
  // A column is as wide as its longest text, but for rounding.
  return column.unit == model::Unit::kText ? fit_text(ui, text, room + 0.5F) : text;
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
    const std::string label = model::label_of(columns[c].name);
    std::string text = label;
    if (sort_column_ == c) text += is_descending_ ? " v" : " ^";
    const float width = ImGui::CalcTextSize(text.c_str()).x;
    const float at =
        is_number(columns[c].unit) ? right - ui.px(kCellPad) - width : left + ui.px(kCellPad);
    list.AddText(ImVec2(at, layout.visible_min.y + ui.px(2)), ui.palette.faint, text.c_str());
    ui.probe.note("column." + columns[c].name, text, ImVec2(left, layout.visible_min.y),
                  ImVec2(std::min(right, layout.visible_max.x), bottom));
    if (ImGui::IsWindowHovered() &&
        ImGui::IsMouseHoveringRect(ImVec2(left, layout.visible_min.y), ImVec2(right, bottom))) {
      draw_schema_name(ui, columns[c].name, label);
    }
    if (right > layout.visible_max.x) continue;
    list.AddLine(ImVec2(right - 1, layout.visible_min.y + ui.px(4)),
                 ImVec2(right - 1, bottom - ui.px(4)), ui.palette.border);
    ui.probe.note("border." + columns[c].name, {},
                  ImVec2(right - ui.px(kBorder), layout.visible_min.y), ImVec2(right, bottom));
  }
}

Location Table64::link_of(const TableOptions& options, std::size_t column,
                          const model::Row& row) const {
  const model::Column& head = source_->columns()[column];
  if (!options.choose_column.empty()) return {};
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
  // Unused bytes are hollow, held is half: not by colour alone.
  if (colour == ui.palette.panel) list.AddRect(low, high, ui.palette.faint);
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
  const float left = layout.origin.x + layout.lefts[column] + ui.px(kCellPad);
  const float right = layout.origin.x + layout.lefts[column + 1] - ui.px(kCellPad);
  if (right < layout.visible_min.x || left > layout.visible_max.x) return;
  ui.fonts.want(text);
  const std::string drawn = fit_cell(ui, source_->columns()[column], text, right - left);
  const float top = layout.visible_min.y + layout.row_height * static_cast<float>(index + 1);
  draw_bar(ui, layout, column, row[column], top);
  const float width = ImGui::CalcTextSize(text.c_str(), text.c_str() + text.size()).x;
  float at = is_number(unit) ? std::max(left, right - width) : left;
  if (has_swatch(options, column)) at += draw_kind(ui, text, ImVec2(left, top));
  const std::string& name = source_->columns()[column].name;
  const Location location = link_of(options, column, row);
  const bool chooses = options.choose && name == options.choose_column;
  const bool is_link = chooses || location != Location();
  const ImVec2 low(at, top + ui.px(2));
  const ImVec2 high(std::min({at + width, right, layout.visible_max.x}), top + layout.row_height);
  const ImVec4 clip(std::max(left, layout.visible_min.x), top,
                    std::min(right + 1, layout.visible_max.x), layout.visible_max.y);
  ImGui::GetWindowDrawList()->AddText(ImGui::GetFont(), ImGui::GetFontSize(), low,
                                      is_link ? ui.palette.link : ui.palette.text, drawn.c_str(),
                                      drawn.c_str() + drawn.size(), 0, &clip);
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
    chooses ? options.choose(row) : ui.actions.go(location);
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
  if (window_.rows.empty()) {
    const char* text = selection_ && !selection_->is_complete ? "looking ..." : "nothing";
    ImGui::GetWindowDrawList()->AddText(ImVec2(layout.visible_min.x + ui.px(kCellPad),
                                               layout.visible_min.y + layout.row_height + ui.px(2)),
                                        ui.palette.faint, text);
    ui.probe.note({}, text, layout.visible_min, layout.visible_max);
  }
  ImGui::PopClipRect();
}

/// Over the last rows, so that rows do not move when one that is damaged comes into sight.
void Table64::draw_problems(Ui& ui, const Layout& layout) const {
  if (window_.problems.empty()) return;
  for (const Error& problem : window_.problems) ui.actions.meet(problem);
  const Error& first = window_.problems.front();
  const float height = 2 * layout.row_height + ui.px(8);
  const ImVec2 low(layout.visible_min.x, layout.visible_max.y - ui.px(kScrollbar) - height);
  const ImVec2 high(layout.visible_max.x, low.y + height);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(low, high, ui.palette.raised);
  list.AddRectFilled(low, ImVec2(low.x + ui.px(4), high.y), ui.palette.bad);
  ImGui::SetCursorScreenPos(ImVec2(low.x + ui.px(12), low.y + ui.px(4)));
  const std::string text = "Some of these rows cannot be read: " + describe(first);
  draw_text(ui, fit_text(ui, text, high.x - low.x - ui.px(24)), ui.palette.bad);
  ImGui::SetCursorScreenPos(ImVec2(low.x + ui.px(12), low.y + ui.px(4) + layout.row_height));
  draw_problem_links(ui, first);
  ImGui::SameLine(0, ui.px(16));
  draw_link(ui, "problem_list", "all problems", {"problems", {}});
}

/// Places to which the row leads: that of the cell under the mouse, or else of the first one; pages
/// and hosts that any cell names.
void Table64::draw_menu_places(Ui& ui, const TableOptions& options, const model::Row& row) {
  Location own;
  std::optional<PageThing> page;
  std::optional<HostThing> host;
  const std::size_t count = std::min(row.size(), source_->columns().size());
  for (std::size_t i = 0; i <= count && count > 0; ++i) {
    const std::size_t c = i == 0 ? std::min(menu_column_, count - 1) : i - 1;
    const Location location = link_of(options, c, row);
    if (own == Location() && (i == 0 || c == 0)) own = location;
    const auto* page_here = std::get_if<PageThing>(&location.thing);
    const auto* host_here = std::get_if<HostThing>(&location.thing);
    if (!page && page_here != nullptr) page = *page_here;
    if (!host && host_here != nullptr) host = *host_here;
    const auto* url = std::get_if<std::string>(&row[c]);
    if (host || url == nullptr || !is_url_column(source_->columns()[c])) continue;
    if (std::string name = url_host(*url); !name.empty()) host = {options.pages, std::move(name)};
  }
  const auto draw_item = [&ui](const char* label, const char* text) {
    const bool is_chosen = ImGui::MenuItem(text);
    ui.probe.note_item(label, text);
    return is_chosen;
  };
  if (options.choose && draw_item("menu.open", "Open")) options.choose(row);
  if (!options.choose && own != Location() && draw_item("menu.open", "Open")) ui.actions.go(own);
  if (page && draw_item("menu.graph", "Show in the graph")) ui.actions.go({"graph", *page});
  if (host && draw_item("menu.host", "Go to the host")) ui.actions.go({{}, *host});
  if (own != Location() && draw_item("menu.copy_location", "Copy the location")) {
    ui.actions.copy(format_location(own), "location");
  }
  if (options.choose || own != Location()) ImGui::Separator();
}

void Table64::draw_menu(Ui& ui, const TableOptions& options) {
  if (!ImGui::BeginPopup("row menu")) return;
  if (!menu_row_ || *menu_row_ >= window_.rows.size()) {
    ImGui::EndPopup();
    return;
  }
  const auto& columns = source_->columns();
  const model::Row& row = window_.rows[*menu_row_];
  const model::Unit unit = columns[menu_column_].unit;
  const model::Cell cell = menu_column_ < row.size() ? row[menu_column_] : model::Cell();
  draw_menu_places(ui, options, row);
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
