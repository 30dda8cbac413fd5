// SPDX-License-Identifier: Apache-2.0
// Invariants: first_ is a row of the view (the selection, or all rows); selected_ one of the
// source; window_ holds the rows last fetched, and is fetched again when first_, the page, or the
// number of rows of the view changes. Widths only grow while a source lasts, so that nothing jumps.
#include "inspector/ui/table64.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <imgui.h>

#include "inspector/core/links.h"
#include "inspector/core/shown_text.h"
#include "inspector/ui/internal.h"
#include "inspector/ui/table64_layout.h"
#include "model/format_text.h"
#include "model/label.h"
#include "model/parse_text.h"

namespace crawlstore::inspector {
namespace {

constexpr std::uint64_t kWheelRows = 3;

/// The first cell says which row it is, in another look at the same table.
std::optional<std::uint64_t> find_row(const model::TableSource& source, const model::Cell& first) {
  const auto rows = source.rows(0, static_cast<std::size_t>(source.row_count()));
  if (!rows) return std::nullopt;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    if (!(*rows)[i].empty() && (*rows)[i].front() == first) return i;
  }
  return std::nullopt;
}

bool is_amount(model::Unit unit) {
  constexpr std::array kOthers{model::Unit::kText, model::Unit::kId, model::Unit::kOffset,
                               model::Unit::kBits, model::Unit::kFromNow};
  return std::ranges::find(kOthers, unit) == kOthers.end();
}

}  // namespace

std::uint64_t Table64::row_count() const {
  return selection_ ? selection_->size() : source_->row_count();
}

void Table64::follow_source(const std::shared_ptr<const model::TableSource>& source) {
  source_ = source;
  if (source == drawn_.lock()) return;
  drawn_ = source;
  if (widths_.size() != source->columns().size()) {
    widths_.assign(source->columns().size(), 0);
    sort_column_.reset();
  } else if (source->is_in_memory()) {
    std::optional<model::Cell> top;
    if (!window_.rows.empty() && window_.first == first_) top = window_.rows.front().front();
    if (selected_ && selected_cells_) selected_ = find_row(*source, selected_cells_->front());
    const auto row = top && !selection_ ? find_row(*source, *top) : std::nullopt;
    if (row && first_ > 0) first_ = *row;
  }
  if (selected_ && *selected_ >= source->row_count()) selected_.reset();
  selected_cells_.reset();
  bar_max_.clear();
  window_ = {};
  selection_of_ = "\n";  // made anew
}

void Table64::find_bars(const TableOptions& options) {
  if (!bar_max_.empty() || !source_->is_in_memory()) return;
  if (options.bars.empty() && options.bars_against.empty()) return;
  bar_max_.assign(source_->columns().size(), 0);
  for (std::size_t c = 0; c < bar_max_.size(); ++c) {
    for (const auto& [column, full] : options.bars_against) {
      if (column == source_->columns()[c].name) bar_max_[c] = full;
    }
  }
  const auto rows = source_->rows(0, static_cast<std::size_t>(source_->row_count()));
  if (!rows) return;
  for (std::size_t c = 0; c < bar_max_.size(); ++c) {
    if (std::ranges::find(options.bars, source_->columns()[c].name) == options.bars.end()) continue;
    for (const model::Row& row : *rows) {
      if (const auto* value = std::get_if<std::uint64_t>(&row[c])) {
        bar_max_[c] = std::max(bar_max_[c], static_cast<double>(*value));
      }
    }
  }
}

void Table64::fetch(std::size_t count) {
  const std::uint64_t view_rows = row_count();
  if (window_.count >= count && window_.first == first_ && window_.view_rows == view_rows) return;
  window_ = {first_, count, view_rows, {}, {}, {}};
  model::ReadableRows read;
  if (selection_) {
    window_.numbers = selection_->rows(first_, count);
    for (const std::uint64_t number : window_.numbers) {
      auto one = source_->readable_rows(number, 1);
      for (const Error& problem : one.problems) read.note(problem);
      read.rows.push_back(one.rows.empty() ? model::Row() : std::move(one.rows.front()));
    }
  } else {
    read = source_->readable_rows(first_, count);
    for (std::size_t i = 0; i < read.rows.size(); ++i) window_.numbers.push_back(first_ + i);
  }
  window_.rows = std::move(read.rows);
  window_.problems = std::move(read.problems);
  for (std::size_t i = 0; i < window_.rows.size(); ++i) {
    if (selected_ == window_.numbers[i]) selected_cells_ = window_.rows[i];
  }
}

void Table64::select(std::uint64_t row) {
  selected_ = row;
  selected_cells_.reset();
  scroll_to_ = row;
}

void Table64::scroll_to_top(std::uint64_t row) {
  first_ = row;
  selected_.reset();
  selected_cells_.reset();
}

bool Table64::select_where(const std::shared_ptr<const model::TableSource>& source,
                           std::string_view column, const model::Cell& value) {
  const auto& columns = source->columns();
  const auto found = std::ranges::find(columns, column, &model::Column::name);
  if (found == columns.end()) return false;
  const auto index = static_cast<std::size_t>(found - columns.begin());
  const auto rows = source->rows(0, static_cast<std::size_t>(source->row_count()));
  if (!rows) return false;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    if ((*rows)[i][index] != value) continue;
    select(i);
    return true;
  }
  return false;
}

void Table64::set_filter(std::string text) {
  filter_text_ = std::move(text);
}

void Table64::measure(const Ui& ui, const TableOptions& options) {
  const auto& columns = source_->columns();
  widths_.resize(columns.size(), 0);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto widen = [&](const std::string& text) {
      float width = ImGui::CalcTextSize(text.c_str(), text.c_str() + text.size()).x;
      if (has_swatch(options, c)) width += ui.px(kSwatch);
      widths_[c] = std::max(widths_[c], std::min(width, ui.px(kColumnMax)));
    };
    widen(model::label_of(columns[c].name) + "  ");
    for (const model::Row& row : window_.rows) {
      if (c < row.size()) widen(shown_text(row[c], columns[c].unit));
    }
  }
}

std::string Table64::width_key(std::size_t column) const {
  return source_->name() + "." + source_->columns()[column].name;
}

void Table64::place_columns(const Ui& ui, float room, Layout& layout) const {
  std::vector<float> widths;
  std::vector<std::size_t> elastic;
  const auto is_kept = [&](std::size_t c) {
    return ui.settings.column_widths.contains(width_key(c));
  };
  float others = 0;
  for (std::size_t c = 0; c < widths_.size(); ++c) {
    const auto kept = ui.settings.column_widths.find(width_key(c));
    widths.push_back(is_kept(c) ? ui.px(kept->second) : widths_[c] + 2 * ui.px(kCellPad));
    if (!is_kept(c) && is_url_column(source_->columns()[c])) {
      elastic.push_back(c);
    } else {
      others += widths.back();
    }
  }
  // Columns that were cut at the usual most take what is left, if none is elastic.
  if (elastic.empty() && others < room) {
    for (std::size_t c = 0; c < widths.size(); ++c) {
      if (widths_[c] >= ui.px(kColumnMax) && !is_kept(c)) elastic.push_back(c);
    }
    for (const std::size_t c : elastic) others -= widths[c];
  }
  for (const std::size_t c : elastic) {
    const float share = (room - others) / static_cast<float>(elastic.size());
    widths[c] = std::max(share, std::min(widths[c], ui.px(kUrlLeast)));
  }
  layout.lefts.push_back(0);
  for (const float width : widths) layout.lefts.push_back(layout.lefts.back() + width);
}

void Table64::draw_filter(Ui& ui, const TableOptions& options) {
  ImGui::SetNextItemWidth(std::min(ui.px(420), ImGui::GetContentRegionAvail().x * 0.6F));
  draw_input(ui, options.id + ".filter",
             "filter: word  column:word  column>10KiB  column~/re/  -not", filter_text_);
  if (ImGui::IsItemActive()) used_frame_ = ImGui::GetFrameCount();
  if (!filter_problem_.empty()) {
    place_beside(text_width(filter_problem_));
    draw_paragraph(ui, filter_problem_, ui.palette.bad);
    return;
  }
  std::string count = model::format_count(row_count());
  if (selection_ && sort_column_ && !source_->is_in_memory()) {
    count = "the " + count + (is_descending_ ? " largest" : " smallest") + " by " +
            model::label_of(source_->columns()[*sort_column_].name);
    if (!filter_text_.empty()) {
      count += " of " + model::format_count(selection_->matched_count) + " that match";
    }
  }
  if (selection_) count += " of " + model::format_count(source_->row_count());
  if (selection_ && !selection_->is_complete) {
    count += "  (looked at " + model::format_count(selection_->scanned_count) + " so far)";
  }
  place_beside(text_width(count));
  draw_text(ui, count, ui.palette.faint);
}

void Table64::scroll_by(std::int64_t rows, std::uint64_t page) {
  const std::uint64_t count = row_count();
  const std::uint64_t last = count > page ? count - page : 0;
  const auto distance = static_cast<std::uint64_t>(rows < 0 ? -rows : rows);
  if (rows < 0) {
    first_ -= std::min(first_, distance);
  } else {
    first_ = std::min(last, first_ + std::min(distance, last));
  }
}

void Table64::move_selection(std::int64_t rows, std::uint64_t page) {
  const std::uint64_t count = row_count();
  if (count == 0) return;
  std::uint64_t at = first_;
  if (selected_) {
    const auto place = selection_ ? selection_->find(*selected_) : selected_;
    const auto distance = static_cast<std::uint64_t>(rows < 0 ? -rows : rows);
    if (place) {
      at = rows < 0 ? *place - std::min(*place, distance)
                    : *place + std::min(count - 1 - std::min(*place, count - 1), distance);
    }
  }
  at = std::min(at, count - 1);
  const auto numbers = selection_ ? selection_->rows(at, 1) : std::vector<std::uint64_t>{at};
  if (numbers.empty()) return;
  selected_ = numbers.front();
  selected_cells_.reset();
  if (at < first_) first_ = at;
  if (page > 0 && at >= first_ + page) first_ = at - page + 1;
  window_.count = 0;
}

/// The row after the selection, after the last one the first; where a filter hides the selection,
/// the first match after it.
void Table64::select_next(std::uint64_t page) {
  const auto place = selected_ && selection_ ? selection_->find(*selected_) : selected_;
  if (place && *place + 1 >= row_count()) {
    move_selection(-std::numeric_limits<std::int64_t>::max(), page);
  } else if (place || !selected_ || sort_column_) {
    move_selection(1, page);
  } else {
    const auto next = selection_->rows(selection_->find_after(*selected_).value_or(0), 1);
    if (!next.empty()) select(next.front());
  }
}

void Table64::sort_by(Ui& ui, std::size_t column) {
  const bool is_in_memory = source_->is_in_memory();
  if (!is_in_memory && source_->is_costly(column)) {
    const std::string& name = source_->columns()[column].name;
    return ui.actions.say(Severity::kWarning,
                          "no order by " + model::label_of(name) +
                              ": each value takes a look elsewhere in the file. A filter such as " +
                              quote_filter_word(model::label_of(name)) + ">10 looks through all " +
                              model::format_count(source_->row_count()) + " rows");
  }
  // Down, up, as it was: what is largest is asked for more often. Names, numbers of things and
  // places are looked for from the first on.
  const bool begins_down = !is_in_memory || is_amount(source_->columns()[column].unit);
  if (sort_column_ != column) {
    sort_column_ = column;
    is_descending_ = begins_down;
  } else if (is_descending_ == begins_down) {
    is_descending_ = !begins_down;
  } else {
    sort_column_.reset();
  }
}

void Table64::take_header_click(Ui& ui, const Layout& layout) {
  if (!ImGui::IsWindowHovered() || !ImGui::IsMouseClicked(ImGuiMouseButton_Left)) return;
  const ImVec2 mouse = ImGui::GetMousePos();
  if (mouse.y >= layout.visible_min.y + layout.row_height) return;
  const float x = mouse.x - layout.origin.x;
  for (std::size_t c = 0; c + 1 < layout.lefts.size(); ++c) {
    if (x >= layout.lefts[c] && x < layout.lefts[c + 1]) sort_by(ui, c);
  }
}

/// Whether the mouse is on the border between two names, or drags one. A double click gives the
/// column the width back that it needs.
bool Table64::take_border(Ui& ui, const Layout& layout) {
  const ImVec2 mouse = ImGui::GetMousePos();
  if (drag_ && drag_->column + 1 < layout.lefts.size() &&
      ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    if (mouse.x != drag_->from) {
      const float width =
          std::max(ui.px(Settings::kWidthLeast), drag_->width + mouse.x - drag_->from);
      ui.actions.keep_width(width_key(drag_->column), width / ui.scale);
      ui.actions.redraw();
    }
    return true;
  }
  drag_.reset();
  if (!ImGui::IsWindowHovered() || mouse.y >= layout.visible_min.y + layout.row_height)
    return false;
  for (std::size_t c = 0; c + 1 < layout.lefts.size(); ++c) {
    const float border = layout.origin.x + layout.lefts[c + 1];
    if (mouse.x < border - ui.px(kBorder) || mouse.x > border + ui.px(kBorder)) continue;
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
      ui.actions.keep_width(width_key(c), 0);
    } else if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
      drag_ = Drag{c, mouse.x, layout.lefts[c + 1] - layout.lefts[c]};
    }
    return true;
  }
  return false;
}

/// The wheel is the table's as far as it has rows, and then the panel's.
void Table64::take_wheel(Ui& ui, std::uint64_t page) {
  const ImGuiIO& io = ImGui::GetIO();
  if (!ImGui::IsWindowHovered()) return;
  ui.has_wheel = true;
  if (io.MouseWheel == 0 || io.KeyShift) return;
  const std::uint64_t before = first_;
  scroll_by(static_cast<std::int64_t>(-io.MouseWheel * static_cast<float>(kWheelRows)), page);
  if (first_ == before) wheel_left_ = io.MouseWheel;
}

void Table64::take_input(Ui& ui, const Layout& layout, const TableOptions& options) {
  const ImGuiIO& io = ImGui::GetIO();
  const std::uint64_t page = layout.page;
  if (ImGui::IsWindowFocused()) used_frame_ = ImGui::GetFrameCount();
  take_wheel(ui, page);
  if (!take_border(ui, layout)) take_header_click(ui, layout);
  const bool owns_keys = ui.focus.owns_keys(options.id, layout.visible_min, layout.visible_max);
  if (ui.focus.takes_row_step(options.id)) select_next(page);
  if (!owns_keys) return;
  constexpr auto kAll = std::numeric_limits<std::int64_t>::max();
  const auto step = static_cast<std::int64_t>(std::max<std::uint64_t>(page, 1));
  const auto pressed = [](int key) { return ImGui::IsKeyPressed(key); };
  if (pressed(kKeyUp)) move_selection(-1, page);
  if (pressed(kKeyDown)) move_selection(1, page);
  if (pressed(kKeyPageUp)) move_selection(-step, page);
  if (pressed(kKeyPageDown)) move_selection(step, page);
  if (pressed(kKeyHome)) move_selection(-kAll, page);
  if (pressed(kKeyEnd)) move_selection(kAll, page);
  if (pressed(kKeyEnter) && selected_cells_ && options.choose) options.choose(*selected_cells_);
  if (io.KeyCtrl && pressed('C') && selected_cells_) ui.actions.run("copy_row");
}

const Table64& Table64::last_used(std::initializer_list<const Table64*> tables) {
  return **std::ranges::max_element(tables, std::less<>{},
                                    [](const Table64* table) { return table->used_frame_; });
}

void Table64::show_details(Ui& ui, const TableOptions& options) const {
  if (!selected_cells_) return;
  const auto& columns = source_->columns();
  ui.details.title = source_->name() + ", row " + model::format_count(*selected_);
  ui.details.lines.clear();
  for (std::size_t c = 0; c < columns.size() && c < selected_cells_->size(); ++c) {
    const model::Cell& cell = (*selected_cells_)[c];
    const auto* text = std::get_if<std::string>(&cell);
    ui.details.lines.push_back({columns[c].name, shown_text(cell, columns[c].unit),
                                options.choose_column.empty()
                                    ? thing_in_row(columns, *selected_cells_, c, {}, options.pages)
                                    : Thing(),
                                text != nullptr ? std::optional(*text) : std::nullopt});
  }
}

/// With room at its foot, where the horizontal scrollbar may be.
ImVec2 Table64::size_of(const Ui& ui, float row_height, const TableOptions& options) const {
  const auto height_of = [&](std::uint64_t rows) {
    return static_cast<float>(rows + 1) * row_height + ui.px(kScrollbar);
  };
  ImVec2 size = ImGui::GetContentRegionAvail();
  if (options.height > 0) size.y = std::min(size.y, options.height);
  // The height is that of all rows: a table does not change it while a filter looks for some.
  auto least = std::clamp<std::uint64_t>(source_->row_count(), 1, kRowsLeast);
  if (options.fits_rows) {
    const auto rows = std::clamp<std::uint64_t>(row_count(), 1, 1000);
    size.y = std::min(size.y, height_of(rows));
    least = std::min(least, rows);
  }
  size.y = std::max(size.y, height_of(least));
  return size;
}

void Table64::draw(Ui& ui, const std::shared_ptr<const model::TableSource>& source,
                   const TableOptions& options) {
  ImGui::PushID(options.id.c_str());
  follow_source(source);
  if (options.has_filter) draw_filter(ui, options);
  start_selection(ui);
  find_bars(options);

  Layout layout;
  layout.row_height = ImGui::GetTextLineHeight() + ui.px(4);
  const ImVec2 size = size_of(ui, layout.row_height, options);
  const float rows_height = size.y - layout.row_height - ui.px(kScrollbar);
  layout.page = static_cast<std::uint64_t>(std::max(1.0F, rows_height / layout.row_height + 0.01F));
  const float bar = row_count() > layout.page ? ui.px(kScrollbar) : 0;
  if (scroll_to_) {
    const auto place = selection_ ? selection_->find(*scroll_to_) : scroll_to_;
    if (place && (*place < first_ || *place >= first_ + layout.page)) {
      first_ = *place - std::min(*place, layout.page / 3);
    }
    if (place || !selection_ || selection_->is_complete) scroll_to_.reset();
  }
  scroll_by(0, layout.page);
  fetch(static_cast<std::size_t>(layout.page) + 1);
  measure(ui, options);
  place_columns(ui, size.x - bar, layout);

  const ImVec2 corner = ImGui::GetCursorScreenPos();
  ImGui::SetNextWindowContentSize(ImVec2(layout.lefts.back(), 0));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::BeginChild("rows", ImVec2(size.x - bar, size.y), false,
                    ImGuiWindowFlags_HorizontalScrollbar | ImGuiWindowFlags_NoScrollWithMouse |
                        ImGuiWindowFlags_NoNavInputs);
  ImGui::PopStyleVar();
  layout.visible_min = corner;
  layout.visible_max = ImVec2(corner.x + size.x - bar, corner.y + size.y);
  layout.origin = ImVec2(corner.x - ImGui::GetScrollX(), corner.y);
  take_input(ui, layout, options);
  fetch(static_cast<std::size_t>(layout.page) + 1);
  ui.probe.begin_scrolled();
  draw_rows(ui, layout, options);
  draw_header(ui, layout);
  ui.probe.note(options.id + ".rows", {}, ImVec2(corner.x, corner.y + layout.row_height),
                ImVec2(layout.visible_max.x, corner.y + size.y - ui.px(kScrollbar)));
  ui.probe.end_scrolled();
  draw_problems(ui, layout);
  draw_menu(ui, options);
  ImGui::EndChild();
  if (const float notches = std::exchange(wheel_left_, 0.0F); notches != 0) {
    ImGui::SetScrollY(ImGui::GetScrollY() -
                      notches * static_cast<float>(kWheelRows) * layout.row_height);
  }
  if (options.is_main && ui.brings_table) {
    ui.brings_table = false;
    scroll_into_sight(corner, ImVec2(corner.x + size.x, corner.y + size.y));
  }
  if (bar > 0 && draw_row_scrollbar("bar", ImVec2(corner.x + size.x - bar, corner.y),
                                    ImVec2(corner.x + size.x, corner.y + size.y),
                                    {layout.page, row_count()}, first_)) {
    ui.actions.redraw();
  }
  show_details(ui, options);
  ImGui::PopID();
  source_.reset();
}

std::string Table64::view_state() const {
  return std::to_string(first_) + " " + (selected_ ? std::to_string(*selected_) : "-") + " " +
         filter_text_;
}

void Table64::restore(std::string_view state) {
  const auto blank = state.find(' ');
  const auto second = state.find(' ', blank == state.npos ? blank : blank + 1);
  if (second == state.npos) return;
  first_ = model::parse_count(state.substr(0, blank)).value_or(0);
  selected_ = model::parse_count(state.substr(blank + 1, second - blank - 1));
  selected_cells_.reset();
  filter_text_ = state.substr(second + 1);
  scroll_to_.reset();
  window_.count = 0;
}

}  // namespace crawlstore::inspector
