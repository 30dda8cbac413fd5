// SPDX-License-Identifier: Apache-2.0
// The labels of a graph: which nodes have one, and where.
#include "model/graph_labels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "inspector/core/shown_text.h"
#include "inspector/ui/graph_canvas.h"

namespace crawlstore::inspector {
namespace {

constexpr std::size_t kFewerLabelsFrom = 1500;  // nodes

bool overlaps(const ImVec4& a, const ImVec4& b) {
  return a.x < b.z && b.x < a.z && a.y < b.w && b.y < a.w;
}

}  // namespace

/// In cells, so that a label asks those near it only.
class GraphCanvas::Covered {
 public:
  Covered(ImVec2 low, ImVec2 high) : low_(low) {
    columns_ = static_cast<std::size_t>(std::max(high.x - low.x, 0.0F) / kCell) + 1;
    rows_ = static_cast<std::size_t>(std::max(high.y - low.y, 0.0F) / kCell) + 1;
    cells_.resize(columns_ * rows_);
  }
  /// A box is that of a node, or of a label, which is nobody's.
  void add(const ImVec4& box, std::optional<std::uint32_t> node) {
    for_each_cell(box, [&](std::size_t cell) {
      cells_[cell].push_back({box, node});
      return true;
    });
  }
  /// Whether there is anything but that node.
  [[nodiscard]] bool has(const ImVec4& box, std::uint32_t node) const {
    return !for_each_cell(box, [&](std::size_t cell) {
      return std::ranges::none_of(cells_[cell], [&](const Thing& thing) {
        return thing.node != node && overlaps(thing.box, box);
      });
    });
  }

 private:
  static constexpr float kCell = 48;
  struct Thing {
    ImVec4 box;
    std::optional<std::uint32_t> node;
  };
  [[nodiscard]] std::size_t cell_at(float distance, std::size_t count) const {
    return std::min(count - 1, static_cast<std::size_t>(std::max(distance, 0.0F) / kCell));
  }
  /// Until `visit` returns false; returns whether it never did.
  template <class Visit>
  bool for_each_cell(const ImVec4& box, const Visit& visit) const {
    const std::size_t last_row = cell_at(box.w - low_.y, rows_);
    const std::size_t last_column = cell_at(box.z - low_.x, columns_);
    for (std::size_t row = cell_at(box.y - low_.y, rows_); row <= last_row; ++row) {
      for (std::size_t at = cell_at(box.x - low_.x, columns_); at <= last_column; ++at) {
        if (!visit(row * columns_ + at)) return false;
      }
    }
    return true;
  }

  ImVec2 low_;
  std::size_t columns_ = 1;
  std::size_t rows_ = 1;
  std::vector<std::vector<Thing>> cells_;
};

std::optional<ImVec4> GraphCanvas::place_of_label(const Ui& ui, const GraphScene& scene,
                                                  std::uint32_t node, float width,
                                                  const Covered& covered) const {
  const ImVec2 at = place_of(scene.points[node]);
  const float gap = radius_of(ui, scene.sizes[node]) + ui.px(3);
  const float height = ImGui::GetTextLineHeight();
  const std::array<ImVec2, 8> ways{ImVec2(1, 0), ImVec2(-1, 0), ImVec2(0, 1),  ImVec2(0, -1),
                                   ImVec2(1, 1), ImVec2(1, -1), ImVec2(-1, 1), ImVec2(-1, -1)};
  constexpr std::size_t kWaysBeside = 4;
  constexpr int kRings = 24;
  const auto best = std::span(scene.ranked).first(std::min(kBestMax, scene.ranked.size()));
  const bool is_best = std::ranges::find(best, node) != best.end();
  for (int ring = 0; ring <= (is_best ? kRings : 0); ++ring) {
    const float distance = gap + static_cast<float>(ring) * height;
    for (std::size_t i = 0; i < (ring == 0 ? kWaysBeside : ways.size()); ++i) {
      const ImVec2 way = ways[i];
      const ImVec2 low(at.x + way.x * distance + (way.x - 1) / 2 * width,
                       at.y + way.y * distance + (way.y - 1) / 2 * height);
      const ImVec4 box(low.x, low.y, low.x + width, low.y + height);
      if (box.x < min_.x || box.y < min_.y || box.z > max_.x || box.w > max_.y) continue;
      if (!covered.has(box, node)) return box;
    }
  }
  return std::nullopt;
}

void GraphCanvas::draw_leader(const Ui& ui, const GraphScene& scene, std::uint32_t node,
                              const ImVec4& label) const {
  const ImVec2 at = place_of(scene.points[node]);
  const ImVec2 end(std::clamp(at.x, label.x, label.z), std::clamp(at.y, label.y, label.w));
  const float length = std::hypot(end.x - at.x, end.y - at.y);
  const float radius = radius_of(ui, scene.sizes[node]);
  if (length <= radius + ui.px(4)) return;
  const float begin = radius / length;
  ImGui::GetWindowDrawList()->AddLine(
      ImVec2(at.x + (end.x - at.x) * begin, at.y + (end.y - at.y) * begin), end, ui.palette.text,
      ui.px(1));
}

const GraphCanvas::Label& GraphCanvas::label_of(Ui& ui, const GraphScene& scene,
                                                std::uint32_t node) {
  if (std::exchange(labels_scale_, ui.scale) != ui.scale) labels_.clear();
  const auto known = labels_.find(node);
  if (known != labels_.end()) return known->second;
  const std::string name = shown_text(model::short_label(scene.graph, scene.graph.nodes[node]));
  Label label{fit_middle(ui, name, ui.px(170))};
  label.width = text_width(label.text);
  return labels_.emplace(node, std::move(label)).first->second;
}

/// The centre and the best nodes have labels; the others, in the order of their scores, where there
/// is room left.
void GraphCanvas::draw_labels(Ui& ui, const GraphScene& scene) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const bool is_large = scene.points.size() > kFewerLabelsFrom;
  const std::size_t labels_max = is_large ? kLabelsMax / 3 : kLabelsMax;
  const auto is_inside = [&](ImVec2 at) {
    return at.x >= min_.x && at.x <= max_.x && at.y >= min_.y && at.y <= max_.y;
  };
  Covered covered(min_, max_);
  for (std::uint32_t node = 0; node < scene.points.size(); ++node) {
    const ImVec2 at = place_of(scene.points[node]);
    const float radius = radius_of(ui, scene.sizes[node]);
    const ImVec4 box(at.x - radius, at.y - radius, at.x + radius, at.y + radius);
    if (is_inside(at)) covered.add(box, node);
  }
  std::size_t drawn = 0;
  std::size_t tried = 0;
  for (const std::uint32_t node : scene.ranked) {
    if (!is_inside(place_of(scene.points[node]))) continue;
    if (drawn == labels_max || ++tried > 4 * labels_max) break;
    const Label& label = label_of(ui, scene, node);
    const auto box = place_of_label(ui, scene, node, label.width, covered);
    if (!box) continue;
    ++drawn;
    covered.add(*box, std::nullopt);
    draw_leader(ui, scene, node, *box);
    list.AddRectFilled(ImVec2(box->x, box->y), ImVec2(box->z, box->w),
                       with_alpha(ui.palette.panel, 160));
    list.AddText(ImVec2(box->x, box->y), node == 0 ? ui.palette.text : ui.palette.faint,
                 label.text.c_str(), label.text.c_str() + label.text.size());
    ui.probe.note(fmt::format("graph.label[{}]", scene.graph.nodes[node].page), label.text,
                  ImVec2(box->x, box->y), ImVec2(box->z, box->w));
  }
}

}  // namespace crawlstore::inspector
