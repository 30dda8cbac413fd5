// SPDX-License-Identifier: Apache-2.0
// Invariants: first_ is a row of the view (the selection, or all rows); selected_ one of the
// source; window_ holds the rows last fetched, and is fetched again when first_, the page, or the
// number of rows of the view changes. Widths only grow while a source lasts, so that nothing jumps.
#include "inspector/ui/table64.h"

#include <algorithm>
#include <limits>

#include <imgui.h>

#include "inspector/core/links.h"
#include "inspector/core/shown_text.h"
#include "inspector/ui/internal.h"
#include "inspector/ui/table64_layout.h"
#include "model/format_text.h"
#include "model/parse_text.h"

namespace crawlstore::inspector {
namespace {

constexpr std::uint64_t kWheelRows = 3;

/// The first cell says which row it is, in another look at the same table.
std::optional<std::uint64_t> find_row(const model::RowSource& source, const model::Cell& first) {
  const auto rows = source.rows(0, static_cast<std::size_t>(source.row_count()));
  if (!rows) return std::nullopt;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    if (!(*rows)[i].empty() && (*rows)[i].front() == first) return i;
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t Table64::row_count() const {
  return selection_ ? selection_->size() : source_->row_count();
}

void Table64::follow_source(const std::shared_ptr<const model::RowSource>& source) {
  source_ = source;
  if (source == drawn_.lock()) return;
  drawn_ = source;
  if (widths_.size() != source->columns().size()) {
    widths_.assign(source->columns().size(), 0);
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
  if (selection_) {
    window_.numbers = selection_->rows(first_, count);
    for (const std::uint64_t number : window_.numbers) {
      auto rows = source_->full_rows(number, 1);
      if (!rows) window_.problem = rows.error();
      window_.rows.push_back(rows && !rows->empty() ? std::move(rows->front()) : model::Row());
    }
  } else {
    auto rows = source_->full_rows(first_, count);
    if (rows) {
      window_.rows = std::move(*rows);
    } else {
      window_.problem = rows.error();
    }
    for (std::size_t i = 0; i < window_.rows.size(); ++i) window_.numbers.push_back(first_ + i);
  }
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

bool Table64::select_where(const std::shared_ptr<const model::RowSource>& source,
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
    widen(columns[c].name + "  ");
    for (const model::Row& row : window_.rows) {
      if (c < row.size()) widen(shown_text(row[c], columns[c].unit));
    }
  }
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

void Table64::take_input(Ui& ui, const Layout& layout, const TableOptions& options) {
  const ImGuiIO& io = ImGui::GetIO();
  const std::uint64_t page = layout.page;
  if (ImGui::IsWindowFocused()) used_frame_ = ImGui::GetFrameCount();
  if (ImGui::IsWindowHovered() && io.MouseWheel != 0 && !io.KeyShift) {
    scroll_by(static_cast<std::int64_t>(-io.MouseWheel * static_cast<float>(kWheelRows)), page);
  }
  if (ImGui::IsWindowHovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    const ImVec2 mouse = ImGui::GetMousePos();
    if (mouse.y < layout.visible_min.y + layout.row_height && source_->is_in_memory()) {
      for (std::size_t c = 0; c + 1 < layout.lefts.size(); ++c) {
        const float x = mouse.x - layout.origin.x;
        if (x < layout.lefts[c] || x >= layout.lefts[c + 1]) continue;
        // Up, down, as it was.
        if (sort_column_ != c) {
          sort_column_ = c;
          is_descending_ = false;
        } else if (!is_descending_) {
          is_descending_ = true;
        } else {
          sort_column_.reset();
        }
      }
    }
  }
  if (!ui.focus.owns_keys(options.id, layout.visible_min, layout.visible_max)) return;
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
                                thing_in_row(columns, *selected_cells_, c, {}, options.pages),
                                text != nullptr ? std::optional(*text) : std::nullopt});
  }
}

void Table64::draw(Ui& ui, const std::shared_ptr<const model::RowSource>& source,
                   const TableOptions& options) {
  ImGui::PushID(options.id.c_str());
  follow_source(source);
  if (options.has_filter) draw_filter(ui, options);
  start_selection(ui);
  find_bars(options);

  Layout layout;
  layout.row_height = ImGui::GetTextLineHeight() + ui.px(4);
  const float foot = ui.px(kScrollbar);  // where the horizontal scrollbar may be
  ImVec2 size = ImGui::GetContentRegionAvail();
  if (options.height > 0) size.y = std::min(size.y, options.height);
  if (options.fits_rows) {
    const auto rows = static_cast<float>(std::min<std::uint64_t>(row_count(), 1000) + 1);
    size.y = std::min(size.y, rows * layout.row_height + foot);
  }
  size.y = std::max(size.y, 3 * layout.row_height);
  const float rows_height = size.y - layout.row_height - foot;
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
  layout.lefts.push_back(0);
  for (const float width : widths_) {
    layout.lefts.push_back(layout.lefts.back() + width + 2 * ui.px(kCellPad));
  }

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
  ui.probe.end_scrolled();
  draw_menu(ui);
  ImGui::EndChild();
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
