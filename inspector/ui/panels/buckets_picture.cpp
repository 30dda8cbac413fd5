// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/panels/buckets_picture.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <imgui.h>

#include "model/format_text.h"

namespace crawlstore::inspector {
namespace {

constexpr float kColumnWidth = 3;      // pixels at least, of a bar and what is between two
constexpr float kColumnWidthMax = 48;  // at most, so that two buckets do not look like walls
constexpr float kSignSize = 7;
constexpr double kNearShare = 0.1;  // of a threshold; below, the largest bar fills its half
constexpr std::uint32_t kKeysAlpha = 150;

/// One side of the axis.
struct Half {
  float base = 0;  // pixels
  float tip = 0;
  double share_at_tip = 1;
  bool has_threshold = false;

  [[nodiscard]] float place(double share) const {
    return base + (tip - base) * static_cast<float>(std::min(share / share_at_tip, 1.0));
  }
};

Half make_half(float base, float tip, double share_max, bool is_stated) {
  if (!is_stated) return {base, tip, 1, false};
  if (share_max > 0 && share_max < kNearShare) return {base, tip, share_max, false};
  constexpr double kAbove = 1.06;  // so that the line is inside
  return {base, tip, std::max(share_max, 1.0) * kAbove, true};
}

std::string percent(double share) {
  return model::format_cell(100 * share, model::Unit::kRatio) + " %";
}

std::string text_of(const model::BucketColumn& column, const model::BucketBars& bars) {
  const model::BucketBar& bar = column.fullest;
  std::string text = "bucket " + model::format_count(bar.bucket);
  if (column.bar_count > 1) {
    text += ", the fullest of " + model::format_count(column.bar_count) + " here";
  }
  text += ": " + model::format_counted(bar.pending_count, "request") +
          (bar.pending_count == 1 ? " waits, " : " wait, ") + percent(bar.merge_share) +
          (bars.states_merge ? " of the threshold for a merge" : " of the most") + "; " +
          model::format_counted(bar.key_count, "key") + ", " + percent(bar.split_share) +
          (bars.states_split ? " of the threshold for a split" : " of the most");
  if (bar.mark != model::BucketMark::kNone) text += "; " + std::string(name_of(bar.mark));
  return text;
}

/// The place of the bars, and their width.
struct BucketsArea {
  ImVec2 low;
  ImVec2 high;
  float step = 0;
  Half merge{};
  Half split{};
};

/// The end of an axis: a number, and what it counts.
struct AxisEnd {
  std::string number;
  std::string word;

  [[nodiscard]] float width() const { return std::max(text_width(number), text_width(word)); }
};

/// A threshold where there is a line, else the numbers of the bar that fills its half.
AxisEnd merge_end(const BucketsPicture& picture, const Half& half) {
  if (half.has_threshold) return {picture.merge_at, "merge"};
  const auto& bars = picture.bars.bars;
  const auto most = std::ranges::max_element(bars, {}, &model::BucketBar::merge_share);
  return {model::format_count(most->pending_count), most->pending_count == 1 ? "waits" : "wait"};
}

AxisEnd split_end(const BucketsPicture& picture, const Half& half) {
  if (half.has_threshold) return {picture.split_at, "split"};
  const auto& bars = picture.bars.bars;
  const auto most = std::ranges::max_element(bars, {}, &model::BucketBar::split_share);
  return {model::format_count(most->key_count), most->key_count == 1 ? "key" : "keys"};
}

/// The two lines stand between the end and the axis.
void draw_side(Ui& ui, const BucketsArea& area, const Half& half, const AxisEnd& end,
               const char* label) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float y = half.has_threshold ? half.place(1) : half.tip;
  const float line = ImGui::GetTextLineHeight();
  float top = half.tip < half.base ? y - line / 2 : y - 1.5F * line;
  ui.probe.note(label, end.number + " " + end.word,
                ImVec2(area.low.x - end.width() - ui.px(4), top),
                ImVec2(area.low.x, top + 2 * line));
  for (const std::string& text : {end.number, end.word}) {
    list.AddText(ImVec2(area.low.x - text_width(text) - ui.px(4), top), ui.palette.faint,
                 text.c_str());
    top += line;
  }
  if (half.has_threshold) {
    list.AddLine(ImVec2(area.low.x, y), ImVec2(area.high.x, y), ui.palette.warning);
  }
}

void draw_half_bar(float left, float right, const Half& half, double share, Colour colour) {
  if (share <= 0) return;
  float y = half.place(share);
  // A bar of more than nothing can be seen.
  if (std::abs(y - half.base) < 1) y = half.base + (half.tip < half.base ? -1.0F : 1.0F);
  ImGui::GetWindowDrawList()->AddRectFilled(ImVec2(left, std::min(y, half.base)),
                                            ImVec2(right, std::max(y, half.base)), colour);
}

/// Filled: a merge is due; hollow: it is the next one.
void draw_mark(const Ui& ui, model::BucketMark mark, float x, float y) {
  if (mark == model::BucketMark::kNone) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float size = ui.px(kSignSize);
  const ImVec2 left(x - size / 2, y);
  const ImVec2 right(x + size / 2, y);
  const ImVec2 tip(x, y + size);
  if (mark == model::BucketMark::kMergeDue) {
    list.AddTriangleFilled(left, right, tip, ui.palette.warning);
  } else {
    list.AddTriangle(left, right, tip, ui.palette.text);
  }
}

Colour colour_of_mark(const Ui& ui, model::BucketMark mark) {
  if (mark == model::BucketMark::kMergeDue) return ui.palette.warning;
  return mark == model::BucketMark::kMergeNext ? ui.palette.text : ui.palette.accent;
}

/// Returns whether the pointer is there.
bool draw_column(Ui& ui, const BucketsArea& area, const model::BucketColumn& column, float left,
                 const std::string& text) {
  const float right = left + area.step;
  const float bar_right = right - (area.step > 2 * kColumnWidth ? 2.0F : 1.0F);
  const ImVec2 low(left, area.low.y);
  const ImVec2 high(right, area.high.y);
  ui.probe.note("buckets.bar[" + std::to_string(column.fullest.bucket) + "]", text, low, high);
  const bool is_hovered = ImGui::IsItemHovered() && ImGui::IsMouseHoveringRect(low, high);
  if (is_hovered) ImGui::GetWindowDrawList()->AddRectFilled(low, high, ui.palette.raised);
  draw_half_bar(left, bar_right, area.merge, column.fullest.merge_share,
                colour_of_mark(ui, column.fullest.mark));
  draw_half_bar(left, bar_right, area.split, column.split_share,
                column.split_share > 1 && area.split.has_threshold
                    ? ui.palette.warning
                    : with_alpha(ui.palette.accent, kKeysAlpha));
  draw_mark(ui, column.fullest.mark, (left + bar_right) / 2, area.low.y);
  return is_hovered;
}

/// Numbers of buckets at the foot, all equally far apart.
void draw_foot(const Ui& ui, const BucketsArea& area,
               const std::vector<model::BucketColumn>& columns) {
  std::uint64_t last = 0;
  for (const model::BucketColumn& column : columns) last = std::max(last, column.fullest.bucket);
  const float needed = text_width(std::to_string(last)) + ui.px(12);
  const auto every = static_cast<std::size_t>(std::max(1.0F, std::ceil(needed / area.step)));
  for (std::size_t i = 0; i < columns.size(); i += every) {
    const std::string number = std::to_string(columns[i].fullest.bucket);
    const float x = area.low.x + area.step * static_cast<float>(i);
    if (i > 0 && x + text_width(number) > area.high.x) break;
    ImGui::GetWindowDrawList()->AddText(ImVec2(x, area.high.y), ui.palette.faint, number.c_str());
  }
}

/// Places the bars of the picture in the area: how wide and how long they may be.
BucketsArea place_bars(const Ui& ui, const BucketsPicture& picture,
                       const std::vector<model::BucketColumn>& columns, BucketsArea area) {
  area.step = std::min((area.high.x - area.low.x) / static_cast<float>(columns.size()),
                       ui.px(kColumnWidthMax));
  area.high.x = area.low.x + area.step * static_cast<float>(columns.size());
  double merge_max = 0;
  double split_max = 0;
  for (const model::BucketColumn& column : columns) {
    merge_max = std::max(merge_max, column.fullest.merge_share);
    split_max = std::max(split_max, column.split_share);
  }
  const float line = ImGui::GetTextLineHeight();
  const float top = area.low.y + ui.px(kSignSize) + line / 2;
  const float axis = top + (area.high.y - top) * 0.6F;
  area.merge = make_half(axis, top, merge_max, picture.bars.states_merge);
  area.split = make_half(axis, area.high.y - line / 2, split_max, picture.bars.states_split);
  return area;
}

}  // namespace

std::optional<std::uint64_t> draw_buckets(Ui& ui, const BucketsPicture& picture, ImVec2 size) {
  const model::BucketBars& bars = picture.bars;
  if (bars.bars.empty()) return std::nullopt;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::InvisibleButton("buckets.picture", size);
  const bool is_clicked = ImGui::IsItemClicked();
  // Whether there are lines does not depend on how wide the bars are.
  BucketsArea area{{at.x, at.y}, {at.x + size.x, at.y + size.y - ImGui::GetTextLineHeight()}};
  area = place_bars(ui, picture, model::bucket_columns(bars.bars, bars.bars.size()), area);
  const AxisEnd merge = merge_end(picture, area.merge);
  const AxisEnd split = split_end(picture, area.split);
  area.low.x = at.x + std::max(merge.width(), split.width()) + ui.px(8);
  area.high.x = std::max(at.x + size.x, area.low.x + ui.px(kColumnWidth));
  const auto columns = model::bucket_columns(
      bars.bars, static_cast<std::size_t>((area.high.x - area.low.x) / ui.px(kColumnWidth)));
  if (columns.empty()) return std::nullopt;
  area = place_bars(ui, picture, columns, area);

  ImDrawList& list = *ImGui::GetWindowDrawList();
  std::optional<std::uint64_t> clicked;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const model::BucketColumn& column = columns[i];
    const float x = area.low.x + area.step * static_cast<float>(i);
    const std::string text = text_of(column, bars);
    if (draw_column(ui, area, column, x, text)) {
      ImGui::BeginTooltip();
      draw_text(ui, text);
      ImGui::EndTooltip();
      if (is_clicked) clicked = column.fullest.bucket;
    }
    const auto group = std::span(bars.bars).subspan(column.first, column.bar_count);
    if (std::ranges::find(group, picture.chosen, &model::BucketBar::bucket) != group.end()) {
      list.AddRect(ImVec2(x - 1, area.low.y), ImVec2(x + area.step, area.high.y), ui.palette.link);
    }
  }
  draw_foot(ui, area, columns);
  list.AddLine(ImVec2(area.low.x, area.merge.base), ImVec2(area.high.x, area.merge.base),
               ui.palette.border);
  draw_side(ui, area, area.merge, merge, "buckets.merge_axis");
  draw_side(ui, area, area.split, split, "buckets.split_axis");
  return clicked;
}

}  // namespace crawlstore::inspector
