// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/panels/frontier_timeline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "model/format_text.h"

namespace crawlstore::inspector {
namespace {

using model::DueCounts;
using model::Timeline;

struct Lane {
  const char* name;
  std::uint64_t DueCounts::*count;
  std::size_t hue;
};
constexpr std::array<Lane, 3> kLanes{{{"groups due", &DueCounts::group_count, 2},
                                      {"later items", &DueCounts::later_count, 6},
                                      {"leases end", &DueCounts::lease_end_count, 3}}};
constexpr std::size_t kMinuteIntervals = 60'000 / Timeline::kIntervalMs;

/// Pixels of the picture: the names of lanes, what is due now, the intervals, what comes after
/// them.
struct TimelineArea {
  ImVec2 low;
  ImVec2 high;
  float now_left = 0;
  float left = 0;
  float step = 0;
  float beyond = 0;
  float lane_height = 0;

  [[nodiscard]] float place(std::size_t interval) const {
    return left + step * static_cast<float>(interval);
  }
};

TimelineArea area_of(const Ui& ui, ImVec2 at, ImVec2 size) {
  TimelineArea area;
  const float foot = ImGui::GetTextLineHeight() + ui.px(6);
  area.low = at;
  area.high = ImVec2(at.x + size.x, at.y + std::max(size.y - foot, ui.px(30)));
  float names = 0;
  for (const Lane& lane : kLanes) names = std::max(names, text_width(lane.name));
  area.now_left = at.x + names + ui.px(8);
  const float now_width = std::max(text_width("now"), ui.px(18));
  area.left = area.now_left + now_width + ui.px(8);
  area.beyond = area.high.x - text_width("after 10 min") - ui.px(8);
  const float room = std::max(area.beyond - area.left, ui.px(40));
  area.step = room / static_cast<float>(Timeline::kIntervals);
  area.lane_height = (area.high.y - area.low.y) / static_cast<float>(kLanes.size());
  return area;
}

const DueCounts& counts_of(const Timeline& timeline, std::size_t number) {
  return number == 0 ? timeline.overdue : timeline.intervals[number - 1];
}

std::string duration_of(std::size_t interval) {
  return model::format_duration(static_cast<double>(interval * Timeline::kIntervalMs) / 1000);
}

std::string text_of(const Timeline& timeline, std::size_t number) {
  const DueCounts& counts = counts_of(timeline, number);
  const std::string when = number == 0
                               ? "now or overdue"
                               : "in " + duration_of(number - 1) + " to " + duration_of(number);
  return when + ": " + model::format_counted(counts.group_count, "group") + " due, " +
         model::format_counted(counts.later_count, "later item") + ", " +
         model::format_counted(counts.lease_end_count, "end") + " of leases";
}

void draw_lane(const Ui& ui, const TimelineArea& area, const Timeline& timeline,
               std::size_t number) {
  const Lane& lane = kLanes[number];
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float top = area.low.y + area.lane_height * static_cast<float>(number);
  const float base = top + area.lane_height - 1;
  const float line = ImGui::GetTextLineHeight();
  list.AddText(ImVec2(area.low.x, base - line), ui.palette.faint, lane.name);
  list.AddLine(ImVec2(area.now_left, base), ImVec2(area.place(Timeline::kIntervals), base),
               ui.palette.border);
  const std::string beyond = model::format_count(timeline.beyond.*lane.count);
  list.AddText(ImVec2(area.beyond + ui.px(8), base - line), ui.palette.faint, beyond.c_str());
  std::uint64_t most = timeline.overdue.*lane.count;
  for (const DueCounts& counts : timeline.intervals) most = std::max(most, counts.*lane.count);
  const float room = area.lane_height - ui.px(4);
  for (std::size_t i = 0; i <= Timeline::kIntervals; ++i) {
    const std::uint64_t count = counts_of(timeline, i).*lane.count;
    if (count == 0) continue;
    const double share =
        std::log1p(static_cast<double>(count)) / std::log1p(static_cast<double>(most));
    const float height = std::max(room * static_cast<float>(share), ui.px(2));
    const float left = i == 0 ? area.now_left : area.place(i - 1);
    const float right = i == 0 ? area.left - ui.px(8) : std::max(area.place(i) - 1, left + 1);
    list.AddRectFilled(ImVec2(left, base - height), ImVec2(right, base), ui.palette.hues[lane.hue]);
  }
}

void draw_foot(const Ui& ui, const TimelineArea& area) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float y = area.high.y + ui.px(4);
  list.AddText(ImVec2(area.now_left, y), ui.palette.faint, "now");
  list.AddText(ImVec2(area.beyond + ui.px(8), y), ui.palette.faint, "after 10 min");
  float told_to = area.left;
  for (std::size_t i = kMinuteIntervals; i <= Timeline::kIntervals; i += kMinuteIntervals) {
    const float x = area.place(i);
    list.AddLine(ImVec2(x, area.low.y), ImVec2(x, area.high.y), with_alpha(ui.palette.border, 96));
    const std::string text = std::to_string(i / kMinuteIntervals) + " min";
    const float left = x - text_width(text) / 2;
    if (left < told_to || left + text_width(text) > area.beyond) continue;
    list.AddText(ImVec2(left, y), ui.palette.faint, text.c_str());
    told_to = left + text_width(text) + ui.px(12);
  }
}

}  // namespace

void draw_timeline(Ui& ui, std::string_view label, const model::Timeline& timeline, ImVec2 size) {
  const TimelineArea area = area_of(ui, ImGui::GetCursorScreenPos(), size);
  ImGui::Dummy(size);
  for (std::size_t i = 0; i < kLanes.size(); ++i) draw_lane(ui, area, timeline, i);
  draw_foot(ui, area);
  for (std::size_t i = 0; i <= Timeline::kIntervals; ++i) {
    const float left = i == 0 ? area.now_left : area.place(i - 1);
    const float right = i == 0 ? area.left : area.place(i);
    const ImVec2 low(left, area.low.y);
    const ImVec2 high(right, area.high.y);
    if (counts_of(timeline, i) == DueCounts()) continue;
    const std::string text = text_of(timeline, i);
    ui.probe.note(std::string(label) + "[" + std::to_string(i) + "]", text, low, high);
    if (!ImGui::IsMouseHoveringRect(low, high)) continue;
    ImGui::GetWindowDrawList()->AddRectFilled(low, high, with_alpha(ui.palette.link, 56));
    ImGui::BeginTooltip();
    draw_text(ui, text);
    ImGui::EndTooltip();
  }
}

}  // namespace crawlstore::inspector
