// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

#include "inspector/ui/log_axis.h"
#include "model/format_text.h"

namespace crawlstore::inspector {
namespace {

constexpr std::uint32_t kPale = 72;  // of 255: what has left a queue

/// The part of a plot with axes that has its bars or its line.
struct PlotArea {
  ImVec2 low;   // left, top
  ImVec2 high;  // right, bottom
};

/// The item drawn last is then the plot with its axes, which can be pressed.
PlotArea begin_plot(const Ui& ui, std::string_view label, ImVec2 size) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float foot = ImGui::GetTextLineHeight() + ui.px(6);
  const float head = ImGui::GetTextLineHeight() / 2;
  const float left = text_width("1e-300") + ui.px(6);
  ImGui::InvisibleButton(std::string(label).c_str(), size);
  return {ImVec2(at.x + left, at.y + head),
          ImVec2(at.x + std::max(size.x, left + ui.px(40)),
                 at.y + std::max(size.y - foot, head + ui.px(40)))};
}

/// Powers at the left, with lines across; and the axes.
void draw_left_axis(const Ui& ui, const PlotArea& area, const LogAxis& axis) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float line = ImGui::GetTextLineHeight();
  axis.for_each_tick(line + ui.px(4), [&](float y, const std::string& text) {
    const ImVec2 at(area.low.x - text_width(text) - ui.px(4), y - line / 2);
    list.AddText(at, ui.palette.faint, text.c_str());
    list.AddLine(ImVec2(area.low.x, y), ImVec2(area.high.x, y), with_alpha(ui.palette.border, 96));
  });
  list.AddLine(area.low, ImVec2(area.low.x, area.high.y), ui.palette.border);
  list.AddLine(ImVec2(area.low.x, area.high.y), area.high, ui.palette.border);
}

void draw_foot(const Ui& ui, const PlotArea& area, float x, const std::string& text) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddLine(ImVec2(x, area.high.y), ImVec2(x, area.high.y + ui.px(3)), ui.palette.border);
  const float width = text_width(text);
  const float left = std::max(std::min(x - width / 2, area.high.x - width), area.low.x);
  list.AddText(ImVec2(left, area.high.y + ui.px(4)), ui.palette.faint, text.c_str());
}

/// Notes what stands there, and says it when the pointer is there. Returns whether it is.
bool note_value(Ui& ui, const std::string& label, const std::string& text, const PlotArea& where) {
  ui.probe.note(label, text, where.low, where.high);
  if (!ImGui::IsMouseHoveringRect(where.low, where.high)) return false;
  ImGui::BeginTooltip();
  draw_text(ui, text);
  ImGui::EndTooltip();
  return true;
}

std::string score_text(double score) {
  return model::format_cell(score, model::Unit::kScore);
}

void draw_range(const Ui& ui, const PlotArea& area, float left, float right) {
  left = std::clamp(left, area.low.x, area.high.x);
  right = std::clamp(right, left, area.high.x);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(ImVec2(left, area.low.y), ImVec2(right, area.high.y),
                     with_alpha(ui.palette.link, 56));
  for (const float x : {left, right}) {
    list.AddLine(ImVec2(x, area.low.y), ImVec2(x, area.high.y), ui.palette.link);
  }
}

/// Pixels from the left to the right.
struct PixelRange {
  float left = 0;
  float right = 0;
};

/// Draws the range that is chosen, or the one that is being dragged over the item drawn last.
///   returns  what was dragged and let go just now; after a click a range of no width
std::optional<PixelRange> drag_range(const Ui& ui, const PlotArea& area,
                                     const std::optional<PixelRange>& chosen) {
  constexpr float kClick = 4;  // pixels that a pointer may move between press and release
  const ImVec2 pressed = ImGui::GetIO().MouseClickedPos[ImGuiMouseButton_Left];
  const auto [left, right] = std::minmax({pressed.x, ImGui::GetMousePos().x});
  const bool is_drag = right - left > kClick;
  if (ImGui::IsItemDeactivated()) return is_drag ? PixelRange{left, right} : PixelRange{};
  if (ImGui::IsItemActive()) {
    if (is_drag) draw_range(ui, area, left, right);
  } else if (chosen) {
    draw_range(ui, area, chosen->left, chosen->right);
  }
  return std::nullopt;
}

/// Bars of one width, from the left edge of the area on.
struct BarAxis {
  std::size_t first = 0;
  std::size_t count = 0;
  float left = 0;
  float step = 1;

  [[nodiscard]] float place(std::size_t bar) const {
    return left + step * (static_cast<float>(bar) - static_cast<float>(first));
  }
  [[nodiscard]] std::size_t bar_at(float x) const {
    const float place = std::clamp((x - left) / step, 0.0F, static_cast<float>(count) - 0.5F);
    return first + static_cast<std::size_t>(place);
  }
};

std::optional<BarRange> drag_bars(const Ui& ui, const PlotArea& area, const BarAxis& axis,
                                  const BarRange& chosen) {
  std::optional<PixelRange> shown;
  if (chosen != BarRange()) shown = {axis.place(chosen.first), axis.place(chosen.last + 1)};
  const auto dragged = drag_range(ui, area, shown);
  if (!dragged) return std::nullopt;
  if (dragged->left == dragged->right) return BarRange();
  return BarRange{axis.bar_at(dragged->left), axis.bar_at(dragged->right)};
}

std::optional<model::ScoreRange> drag_scores(const Ui& ui, const PlotArea& area,
                                             const LogAxis& axis, const model::ScoreRange& chosen) {
  // The axis has no place for 0, nor for what is endless.
  const auto place = [&](double score) {
    if (score > 0 && std::isfinite(score)) return axis.place(score);
    return score > 0 ? area.high.x : area.low.x;
  };
  std::optional<PixelRange> shown;
  if (chosen != model::ScoreRange()) shown = {place(chosen.low), place(chosen.high)};
  const auto dragged = drag_range(ui, area, shown);
  if (!dragged) return std::nullopt;
  if (dragged->left == dragged->right) return model::ScoreRange();
  return model::ScoreRange{axis.value_at(dragged->left), axis.value_at(dragged->right)};
}

/// A drag that goes beyond an edge of the plot has no limit there.
std::optional<model::PriorityRange> drag_priorities(const Ui& ui, const PlotArea& area,
                                                    const QueuePlot& plot) {
  const float width = area.high.x - area.low.x;
  const auto place = [&](double priority) {
    return area.low.x + width * static_cast<float>(model::place_among(plot.bins, priority));
  };
  std::optional<PixelRange> shown;
  if (plot.chosen != model::PriorityRange()) {
    shown = {place(plot.chosen.first), place(plot.chosen.last)};
  }
  const auto dragged = drag_range(ui, area, shown);
  if (!dragged) return std::nullopt;
  model::PriorityRange range;
  if (dragged->left == dragged->right) return range;
  const auto priority_at = [&](float x) {
    return model::priority_among(plot.bins, static_cast<double>((x - area.low.x) / width));
  };
  if (dragged->left > area.low.x) range.first = priority_at(dragged->left);
  if (dragged->right < area.high.x) range.last = priority_at(dragged->right);
  return range;
}

void draw_bar(ImVec2 low, ImVec2 high, Colour colour) {
  high.x = std::max(high.x, low.x + 1);
  ImGui::GetWindowDrawList()->AddRectFilled(low, high, colour);
}

/// From a half, so that a single entry has a bar.
LogAxis axis_of(std::span<const QueueBin> bins, const PlotArea& area) {
  const auto most = std::ranges::max_element(bins, {}, &QueueBin::entry_count)->entry_count;
  return {0.5, static_cast<double>(std::max<std::uint64_t>(most, 1)), area.high.y, area.low.y};
}

/// The number of waiting pages that leave before a bin. Bins that are not counted also have stale
/// entries, and are known only about: their sum is as good as all pages.
std::uint64_t count_before(const QueuePlot& plot, std::size_t bin) {
  const std::uint64_t all = model::remaining_before(plot.bins, plot.bins.size());
  if (all == 0) return 0;
  const auto before = static_cast<double>(model::remaining_before(plot.bins, bin));
  return static_cast<std::uint64_t>(
      std::llround(before / static_cast<double>(all) * static_cast<double>(plot.page_count)));
}

std::string text_of(const QueuePlot& plot, std::size_t number) {
  const QueueBin& bin = plot.bins[number];
  const std::string about = plot.is_counted ? "" : "about ";
  std::string text = score_text(bin.first_priority) + " to " + score_text(bin.last_priority) +
                     ": " + about + model::format_count(bin.remaining_count) + " wait";
  if (bin.remaining_count > 0) {
    text +=
        ", from " + about + "place " + model::format_count(count_before(plot, number) + 1) + " on";
  }
  const std::uint64_t left_count = bin.entry_count - bin.remaining_count;
  if (left_count > 0) text += "; about " + model::format_count(left_count) + " have left";
  return text;
}

void draw_queue_bins(Ui& ui, std::string_view label, const QueuePlot& plot, const PlotArea& area) {
  const std::span<const QueueBin> bins = plot.bins;
  const LogAxis counts = axis_of(bins, area);
  draw_left_axis(ui, area, counts);
  const float step = (area.high.x - area.low.x) / static_cast<float>(bins.size());
  const auto top = [&](std::uint64_t count) {
    return count == 0 ? area.high.y : counts.place(static_cast<double>(count));
  };
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const QueueBin& bin = bins[i];
    if (bin.entry_count == 0) continue;
    const float left = area.low.x + step * static_cast<float>(i);
    const bool is_hovered =
        note_value(ui, std::string(label) + "[" + std::to_string(i) + "]", text_of(plot, i),
                   {ImVec2(left, area.low.y), ImVec2(left + step, area.high.y)});
    const Colour colour = is_hovered ? ui.palette.link : ui.palette.accent;
    const float right = left + step - (step > 3 ? 1.0F : 0.0F);
    const float middle = top(bin.remaining_count);
    draw_bar(ImVec2(left, top(bin.entry_count)), ImVec2(right, middle), with_alpha(colour, kPale));
    draw_bar(ImVec2(left, middle), ImVec2(right, area.high.y), colour);
  }
}

std::string text_of(const QueueRunInfo& run) {
  std::string text = (run.has_changes ? "changes, run " : "run ") + std::to_string(run.run.value) +
                     ": entries " + model::format_count(run.entry_count) + ", priorities " +
                     score_text(run.first_priority) + " to " + score_text(run.last_priority);
  if (!run.cut) return text;
  return text + "; about " + model::format_count(run.remaining_count) + " remain behind " +
         score_text(run.cut->priority);
}

void draw_queue_runs(Ui& ui, std::string_view label, std::span<const QueueBin> bins,
                     std::span<const QueueRunInfo> runs, const PlotArea& area) {
  const float step = (area.high.y - area.low.y) / static_cast<float>(runs.size());
  const auto place = [&](double priority) {
    return area.low.x +
           (area.high.x - area.low.x) * static_cast<float>(model::place_among(bins, priority));
  };
  float top = area.low.y;
  for (const QueueRunInfo& run : runs) {
    const float bottom = top + step - (step > 3 ? 1.0F : 0.0F);
    const float left = place(run.first_priority);
    const float right = place(run.last_priority);
    const bool is_hovered =
        note_value(ui, std::string(label) + ".run[" + std::to_string(run.run.value) + "]",
                   text_of(run), {ImVec2(area.low.x, top), ImVec2(area.high.x, top + step)});
    const Colour usual = run.has_changes ? ui.palette.warning : ui.palette.accent;
    const Colour colour = is_hovered ? ui.palette.link : usual;
    const float cut = run.cut ? std::clamp(place(run.cut->priority), left, right) : left;
    if (run.cut) draw_bar(ImVec2(left, top), ImVec2(cut, bottom), with_alpha(colour, kPale));
    if (run.remaining_count > 0) draw_bar(ImVec2(cut, top), ImVec2(right, bottom), colour);
    top += step;
  }
}

/// Ticks of both axes: priorities below, and above them about which place such a page has.
void draw_queue_axes(Ui& ui, std::string_view label, const QueuePlot& plot, const PlotArea& area) {
  const std::span<const QueueBin> bins = plot.bins;
  constexpr std::size_t kTicks = 4;
  const float line = ImGui::GetTextLineHeight();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (std::size_t i = 0; i <= kTicks; ++i) {
    const std::size_t bin = i * bins.size() / kTicks;
    if (i > 0 && bin == (i - 1) * bins.size() / kTicks) continue;
    const float x = area.low.x + (area.high.x - area.low.x) * static_cast<float>(bin) /
                                     static_cast<float>(bins.size());
    draw_foot(ui, area, x,
              score_text(bin == 0 ? bins.front().first_priority : bins[bin - 1].last_priority));
    const std::uint64_t before = count_before(plot, bin);
    // Entries that have left have no places.
    if (i > 0 && before == 0) continue;
    const std::string place = model::format_count(std::min(before + 1, plot.page_count));
    list.AddLine(ImVec2(x, area.low.y - ui.px(3)), ImVec2(x, area.low.y), ui.palette.border);
    const ImVec2 at(std::min(x - text_width(place) / 2, area.high.x - text_width(place)),
                    area.low.y - line - ui.px(3));
    list.AddText(at, ui.palette.faint, place.c_str());
    ui.probe.note(std::string(label) + ".place[" + std::to_string(i) + "]", place, at,
                  ImVec2(at.x + text_width(place), at.y + line));
  }
}

/// An axis that has room for what is above 0 on one side of the pairs, and a little around it: what
/// stands on the very edge of an item cannot be clicked.
LogAxis axis_of(std::span<const model::ScorePair> pairs, double model::ScorePair::*side, float from,
                float to) {
  constexpr double kAround = 0.8;
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (const model::ScorePair& pair : pairs) {
    if (pair.*side > 0) low = std::min(low, pair.*side);
    high = std::max(high, pair.*side);
  }
  return high > 0 ? LogAxis(low * kAround, high / kAround, from, to) : LogAxis(0.1, 1, from, to);
}

}  // namespace

std::optional<BarRange> draw_histogram(Ui& ui, std::string_view label,
                                       std::span<const HistogramBar> bars, const BarRange& chosen,
                                       ImVec2 size) {
  const auto is_filled = [](const HistogramBar& bar) { return bar.count > 0; };
  const auto first = std::ranges::find_if(bars, is_filled);
  if (first == bars.end()) {
    draw_text(ui, "nothing to count", ui.palette.faint);
    return std::nullopt;
  }
  const auto last = std::find_if(bars.rbegin(), bars.rend(), is_filled).base();
  const PlotArea area = begin_plot(ui, label, size);
  const std::uint64_t most = std::ranges::max_element(bars, {}, &HistogramBar::count)->count;
  // From a half, so that a single one has a bar.
  const LogAxis counts(0.5, static_cast<double>(most), area.high.y, area.low.y);
  BarAxis axis{static_cast<std::size_t>(first - bars.begin()),
               static_cast<std::size_t>(last - first), area.low.x};
  axis.step = std::min((area.high.x - area.low.x) / static_cast<float>(axis.count), ui.px(64));
  const auto dragged = drag_bars(ui, area, axis, chosen);
  draw_left_axis(ui, area, counts);
  float labelled_to = area.low.x;
  for (std::size_t i = axis.first; i < axis.first + axis.count; ++i) {
    const HistogramBar& bar = bars[i];
    const float left = axis.place(i);
    const std::string text = bar.label + ": " + model::format_count(bar.count);
    const bool is_hovered =
        note_value(ui, std::string(label) + "." + bar.label, text,
                   {ImVec2(left, area.low.y), ImVec2(left + axis.step, area.high.y)});
    if (bar.count > 0) {
      draw_bar(ImVec2(left + 1, counts.place(static_cast<double>(bar.count))),
               ImVec2(left + axis.step - 1, area.high.y),
               is_hovered ? ui.palette.link : ui.palette.accent);
    }
    const float middle = left + axis.step / 2;
    const float half = text_width(bar.label) / 2;
    if (middle - half < labelled_to) continue;
    draw_foot(ui, area, middle, bar.label);
    labelled_to = middle + half + ui.px(8);
  }
  return dragged;
}

std::optional<model::ScoreRange> draw_scores(Ui& ui, std::string_view label,
                                             std::span<const model::ScoreBin> bins,
                                             const model::ScoreRange& chosen, ImVec2 size) {
  if (bins.empty()) {
    draw_text(ui, "no page has a score above 0", ui.palette.faint);
    return std::nullopt;
  }
  const PlotArea area = begin_plot(ui, label, size);
  const auto most = std::ranges::max_element(bins, {}, &model::ScoreBin::page_count)->page_count;
  // From a half, so that a single page has a bar.
  const LogAxis counts(0.5, static_cast<double>(most), area.high.y, area.low.y);
  const LogAxis scores(bins.front().low, bins.back().high, area.low.x, area.high.x);
  const auto dragged = drag_scores(ui, area, scores, chosen);
  draw_left_axis(ui, area, counts);
  scores.for_each_tick(text_width("1e-300 "),
                       [&](float x, const std::string& text) { draw_foot(ui, area, x, text); });
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const model::ScoreBin& bin = bins[i];
    if (bin.page_count == 0) continue;
    const float left = scores.place(bin.low);
    const float right = std::max(scores.place(bin.high) - 1, left + 1);
    const std::string text = score_text(bin.low) + " to " + score_text(bin.high) + ": " +
                             model::format_count(bin.page_count);
    const std::string name = std::string(label) + "[" + std::to_string(i) + "]";
    const bool is_hovered = note_value(
        ui, name, text, {ImVec2(left, area.low.y), ImVec2(scores.place(bin.high), area.high.y)});
    ImGui::GetWindowDrawList()->AddRectFilled(
        ImVec2(left, counts.place(static_cast<double>(bin.page_count))), ImVec2(right, area.high.y),
        is_hovered ? ui.palette.link : ui.palette.accent);
  }
  return dragged;
}

std::optional<std::size_t> draw_pairs(Ui& ui, std::string_view label,
                                      std::span<const model::ScorePair> pairs, ImVec2 size) {
  constexpr std::size_t kProbedMax = 500;
  const PlotArea area = begin_plot(ui, label, size);
  const LogAxis right = axis_of(pairs, &model::ScorePair::x, area.low.x, area.high.x);
  const LogAxis up = axis_of(pairs, &model::ScorePair::y, area.high.y, area.low.y);
  draw_left_axis(ui, area, up);
  right.for_each_tick(text_width("1e-300 "),
                      [&](float x, const std::string& text) { draw_foot(ui, area, x, text); });
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const bool is_hovered = ImGui::IsItemHovered();
  const ImVec2 mouse = ImGui::GetMousePos();
  std::optional<std::size_t> nearest;
  ImVec2 nearest_at;
  float distance_max = ui.px(8) * ui.px(8);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const ImVec2 at(pairs[i].x > 0 ? right.place(pairs[i].x) : area.low.x,
                    pairs[i].y > 0 ? up.place(pairs[i].y) : area.high.y);
    const ImVec2 low(at.x - ui.px(1.5F), at.y - ui.px(1.5F));
    const ImVec2 high(at.x + ui.px(1.5F), at.y + ui.px(1.5F));
    list.AddRectFilled(low, high, with_alpha(ui.palette.accent, 160));
    if (i < kProbedMax) {
      ui.probe.note(std::string(label) + "[" + std::to_string(pairs[i].index) + "]",
                    score_text(pairs[i].x) + ", " + score_text(pairs[i].y), low, high);
    }
    const float distance =
        (at.x - mouse.x) * (at.x - mouse.x) + (at.y - mouse.y) * (at.y - mouse.y);
    if (!is_hovered || distance >= distance_max) continue;
    distance_max = distance;
    nearest = i;
    nearest_at = at;
  }
  if (nearest) list.AddCircle(nearest_at, ui.px(5), ui.palette.link, 0, ui.px(2));
  return nearest;
}

void draw_residuals(Ui& ui, std::string_view label, std::span<const double> residuals,
                    double precision, ImVec2 size) {
  std::vector<double> shown;
  std::ranges::copy_if(residuals, std::back_inserter(shown), [](double x) { return x > 0; });
  if (shown.empty()) return draw_text(ui, "no residuals are kept", ui.palette.faint);
  if (precision > 0) shown.push_back(precision);
  const PlotArea area = begin_plot(ui, label, size);
  const auto [low, high] = std::ranges::minmax(shown);
  const LogAxis axis(low, high, area.high.y, area.low.y);
  draw_left_axis(ui, area, axis);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (precision > 0) {
    const float y = axis.place(precision);
    list.AddLine(ImVec2(area.low.x, y), ImVec2(area.high.x, y), ui.palette.good);
  }
  const float step = (area.high.x - area.low.x) / static_cast<float>(residuals.size());
  std::optional<ImVec2> before;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    if (!(residuals[i] > 0)) continue;
    const float left = area.low.x + step * static_cast<float>(i);
    const ImVec2 at(left + step / 2, axis.place(residuals[i]));
    if (before) list.AddLine(*before, at, ui.palette.accent, ui.px(1.5F));
    before = at;
    if (step > ui.px(4)) list.AddCircleFilled(at, ui.px(2), ui.palette.accent);
    note_value(ui, std::string(label) + "[" + std::to_string(i + 1) + "]",
               "iteration " + model::format_count(i + 1) + ": " + score_text(residuals[i]),
               {ImVec2(left, area.low.y), ImVec2(left + step, area.high.y)});
  }
  draw_foot(ui, area, area.low.x + step / 2, "1");
  if (residuals.size() > 1) {
    draw_foot(ui, area, area.high.x - step / 2, model::format_count(residuals.size()));
  }
}

std::optional<model::PriorityRange> draw_queue(Ui& ui, std::string_view label,
                                               const QueuePlot& plot, ImVec2 size) {
  PlotArea area = begin_plot(ui, label, size);
  const float line = ImGui::GetTextLineHeight();
  area.low.y += line / 2 + ui.px(4);
  const float height = area.high.y - area.low.y;
  const float of_runs = std::min(height / 2, static_cast<float>(plot.runs.size()) * ui.px(12));
  const PlotArea bars{area.low, ImVec2(area.high.x, area.high.y - of_runs - ui.px(4))};
  const auto dragged = drag_priorities(ui, bars, plot);
  draw_queue_bins(ui, label, plot, bars);
  draw_queue_runs(ui, label, plot.bins, plot.runs,
                  {ImVec2(area.low.x, area.high.y - of_runs), area.high});
  draw_queue_axes(ui, label, plot, area);
  const auto name = [&](const char* text, float y) {
    const ImVec2 at(area.low.x - text_width(text) - ui.px(8), y);
    ImGui::GetWindowDrawList()->AddText(at, ui.palette.faint, text);
  };
  name("place", area.low.y - line - ui.px(3));
  name("runs", area.high.y - (of_runs + line) / 2);
  name("priority", area.high.y + ui.px(4));
  return dragged;
}

}  // namespace crawlstore::inspector
