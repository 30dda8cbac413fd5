// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/plot.h"

#include <algorithm>

#include "model/format_text.h"

namespace crawlstore::inspector {

void draw_histogram(Ui& ui, std::string_view label, const std::vector<HistogramBar>& bars,
                    float height) {
  const auto is_filled = [](const HistogramBar& bar) { return bar.count > 0; };
  const auto first = std::ranges::find_if(bars, is_filled);
  if (first == bars.end()) return draw_text(ui, "nothing to count", ui.palette.faint);
  const auto last = std::find_if(bars.rbegin(), bars.rend(), is_filled).base();
  const std::uint64_t most = std::ranges::max_element(bars, {}, &HistogramBar::count)->count;
  const auto count = static_cast<float>(last - first);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float foot = ImGui::GetTextLineHeight() + ui.px(4);
  const float width = std::min(ImGui::GetContentRegionAvail().x / count, ui.px(64));
  const float room = std::max(height - foot - ui.px(24), ui.px(40));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  float left = at.x;
  for (auto bar = first; bar != last; ++bar, left += width) {
    const float share = static_cast<float>(bar->count) / static_cast<float>(most);
    const ImVec2 low(left + 1, at.y + room * (1 - share));
    const ImVec2 high(left + width - 1, at.y + room);
    const bool is_hovered =
        ImGui::IsMouseHoveringRect(ImVec2(left, at.y), ImVec2(left + width, high.y + foot));
    list.AddRectFilled(low, high, is_hovered ? ui.palette.link : ui.palette.accent);
    const std::string text = bar->label + ": " + model::format_count(bar->count);
    ui.probe.note(std::string(label) + "." + bar->label, text, low, high);
    if (is_hovered) {
      ImGui::BeginTooltip();
      draw_text(ui, text);
      ImGui::EndTooltip();
    }
    if (ImGui::CalcTextSize(bar->label.c_str()).x < width) {
      list.AddText(ImVec2(left + 2, high.y + ui.px(2)), ui.palette.faint, bar->label.c_str());
    }
  }
  list.AddLine(ImVec2(at.x, at.y + room), ImVec2(left, at.y + room), ui.palette.border);
  ImGui::Dummy(ImVec2(left - at.x, room + foot));
}

}  // namespace crawlstore::inspector
