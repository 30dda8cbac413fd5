// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/curves.h"

#include <algorithm>
#include <cmath>

#include "model/format_text.h"

namespace crawlstore::inspector {
namespace {

/// The area in which points lie on the screen.
struct CurveArea {
  ImVec2 low;
  ImVec2 high;
  std::int64_t first_us = 0;
  std::int64_t last_us = 0;
  std::uint64_t count_max = 1;

  [[nodiscard]] ImVec2 place(const CurvePoint& point) const {
    const auto all = static_cast<double>(std::max<std::int64_t>(last_us - first_us, 1));
    const double along = static_cast<double>(point.time_us - first_us) / all;
    const double up = static_cast<double>(point.count) / static_cast<double>(count_max);
    return {low.x + (high.x - low.x) * static_cast<float>(along),
            high.y - (high.y - low.y) * static_cast<float>(up)};
  }
};

CurveArea area_of(std::span<const Curve> curves, ImVec2 low, ImVec2 high) {
  CurveArea area{low, high};
  bool is_first = true;
  for (const Curve& curve : curves) {
    for (const CurvePoint& point : curve.points) {
      area.first_us = is_first ? point.time_us : std::min(area.first_us, point.time_us);
      area.last_us = is_first ? point.time_us : std::max(area.last_us, point.time_us);
      area.count_max = std::max(area.count_max, point.count);
      is_first = false;
    }
  }
  return area;
}

void draw_hovered(Ui& ui, const CurveArea& area, std::span<const Curve> curves) {
  const float x = ImGui::GetMousePos().x;
  ImGui::BeginTooltip();
  for (const Curve& curve : curves) {
    if (curve.points.empty()) continue;
    const auto nearest = std::ranges::min_element(curve.points, {}, [&](const CurvePoint& point) {
      return std::abs(area.place(point).x - x);
    });
    draw_text(ui, model::format_time(nearest->time_us) + "  " + curve.name + " " +
                      model::format_count(nearest->count));
  }
  ImGui::EndTooltip();
}

}  // namespace

void draw_curves(Ui& ui, std::string_view label, std::span<const Curve> curves, ImVec2 size) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::InvisibleButton(std::string(label).c_str(), size);
  ui.probe.note_item(label, {});
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float line = ImGui::GetTextLineHeight();
  const ImVec2 end(at.x + size.x, at.y + size.y - line - ui.px(2));
  list.AddRectFilled(at, end, ui.palette.raised);
  const CurveArea area = area_of(curves, ImVec2(at.x + ui.px(6), at.y + ui.px(6)),
                                 ImVec2(end.x - ui.px(6), end.y - ui.px(6)));
  for (const Curve& curve : curves) {
    for (std::size_t i = 1; i < curve.points.size(); ++i) {
      list.AddLine(area.place(curve.points[i - 1]), area.place(curve.points[i]), curve.colour,
                   ui.px(1.5F));
    }
    for (const CurvePoint& point : curve.points) {
      list.AddCircleFilled(area.place(point), ui.px(curve.points.size() > 100 ? 1.0F : 2.0F),
                           curve.colour);
    }
  }
  if (ImGui::IsItemHovered()) draw_hovered(ui, area, curves);
  const auto write = [&](const std::string& text, ImVec2 place) {
    list.AddText(place, ui.palette.faint, text.c_str());
  };
  write(model::format_count(area.count_max), ImVec2(at.x + ui.px(6), at.y + ui.px(2)));
  // Seconds of the day, where there is no room for more.
  const auto time_text = [&](std::int64_t time_us) {
    const std::string text = model::format_time(time_us - time_us % 1'000'000);
    return 2 * text_width(text) < size.x ? text : text.substr(text.find('T') + 1);
  };
  write(time_text(area.first_us), ImVec2(at.x, end.y + ui.px(2)));
  const std::string last = time_text(area.last_us);
  write(last, ImVec2(end.x - text_width(last), end.y + ui.px(2)));
}

}  // namespace crawlstore::inspector
