// SPDX-License-Identifier: Apache-2.0
// Invariants: selected_ and hovered_ are nodes of the scene drawn last; at most one job draws
// edges, for the box it was given: it is asked for another picture only when it has brought one, so
// that panning cannot starve it.
#include "inspector/ui/graph_canvas.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "inspector/core/shown_text.h"
#include "model/format_text.h"

namespace crawlstore::inspector {
namespace {

constexpr float kZoomMin = 0.5F;
constexpr float kZoomMax = 2000;
constexpr std::size_t kArrowsMax = 600;
constexpr std::size_t kProbedMax = 500;
constexpr std::uint8_t kEdgeOpacity = 70;

/// A letter of the font, as large as that: a rectangle of its texture, which costs a tenth of a
/// drawn shape. False: the font does not have it, or not yet.
bool draw_letter(ImDrawList& list, ImWchar letter, ImVec2 at, float radius, Colour colour) {
  const ImFont* font = ImGui::GetFont();
  const ImFontGlyph* glyph = font->FindGlyphNoFallback(letter);
  if (glyph == nullptr || glyph->X1 <= glyph->X0) return false;
  const float scale = 2 * radius / (glyph->X1 - glyph->X0);
  const ImVec2 place(at.x - (glyph->X0 + glyph->X1) / 2 * scale,
                     at.y - (glyph->Y0 + glyph->Y1) / 2 * scale);
  font->RenderChar(&list, font->FontSize * scale, place, colour, letter);
  return true;
}

/// Whether the shape of a state is only its outline.
bool is_hollow(PageState state) {
  return state == PageState::kKnown || state == PageState::kGone || state == PageState::kDenied ||
         state == PageState::kElsewhere;
}

ImWchar letter_of(PageState state) {
  switch (state) {
    case PageState::kKnown:
    case PageState::kElsewhere:
    case PageState::kCrawled:
      return 0x25cf;  // a disc
    case PageState::kRedirect:
    case PageState::kDenied:
      return 0x25c6;  // a diamond
    case PageState::kDuplicate:
      return 0x25b2;  // a triangle
    case PageState::kGone:
    case PageState::kFailed:
      break;
  }
  return 0x25a0;  // a square
}

/// The shapes of draw_shape() without outlines, for many nodes.
bool draw_letters(const Ui& ui, PageState state, ImVec2 at, float radius, Colour colour) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImWchar letter = letter_of(state);
  if (!draw_letter(list, letter, at, radius, colour)) return false;
  return !is_hollow(state) || draw_letter(list, letter, at, radius * 0.5F, ui.palette.panel);
}

/// A diamond: filled, or only its lines.
void draw_diamond(ImVec2 at, float radius, Colour colour, float line) {
  const ImVec2 left(at.x - radius, at.y);
  const ImVec2 top(at.x, at.y - radius);
  const ImVec2 right(at.x + radius, at.y);
  const ImVec2 bottom(at.x, at.y + radius);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (line == 0) return list.AddQuadFilled(left, top, right, bottom, colour);
  list.AddQuad(left, top, right, bottom, colour, line);
}

/// A second sign beside colour: crawled is full, known and elsewhere a ring, failed a square, gone
/// hollow, a redirect a diamond, denied a hollow one, a duplicate a triangle. The outline is there
/// for colours that are near that of the ground.
void draw_shape(const Ui& ui, PageState state, ImVec2 at, float radius, Colour colour) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 low(at.x - radius, at.y - radius);
  const ImVec2 high(at.x + radius, at.y + radius);
  const Colour outline = with_alpha(ui.palette.text, 110);
  const float line = std::min(ui.px(2), radius * 0.6F);
  switch (state) {
    case PageState::kCrawled:
      list.AddCircleFilled(at, radius, colour);
      list.AddCircle(at, radius, outline, 0, 1);
      break;
    case PageState::kFailed:
      list.AddRectFilled(low, high, colour);
      list.AddRect(low, high, outline, 0, 0, 1);
      break;
    case PageState::kGone:
      list.AddRect(low, high, colour, 0, 0, line);
      break;
    case PageState::kRedirect:
      draw_diamond(at, radius, colour, 0);
      draw_diamond(at, radius, outline, 1);
      break;
    case PageState::kDenied:
      draw_diamond(at, radius, colour, line);
      break;
    case PageState::kDuplicate:
      list.AddTriangleFilled(ImVec2(at.x, low.y), high, ImVec2(low.x, high.y), colour);
      list.AddTriangle(ImVec2(at.x, low.y), high, ImVec2(low.x, high.y), outline, 1);
      break;
    case PageState::kKnown:
    case PageState::kElsewhere:
      list.AddCircleFilled(at, radius, ui.palette.panel);
      list.AddCircle(at, radius, colour, 0, line);
      break;
  }
}

}  // namespace

ImVec2 GraphCanvas::place_of(const model::GraphPoint& point) const {
  return {(min_.x + max_.x) / 2 + view_.shift_x + point.x * view_.zoom,
          (min_.y + max_.y) / 2 + view_.shift_y + point.y * view_.zoom};
}

/// Smaller where nodes are near each other, so that they do not cover each other.
float GraphCanvas::radius_of(const Ui& ui, float size) const {
  return std::max(ui.px(2.5F), ui.px(radius_of(size)) * std::min(1.0F, view_.zoom / ui.px(45)));
}

void GraphCanvas::fit_now(const Ui& ui, const GraphScene& scene) {
  must_fit_ = false;
  is_moved_ = false;
  fitted_height_ = max_.y - min_.y;
  if (scene.points.empty()) return;
  const auto [left, right] = std::ranges::minmax(scene.points, {}, &model::GraphPoint::x);
  const auto [top, bottom] = std::ranges::minmax(scene.points, {}, &model::GraphPoint::y);
  const float width = std::max(right.x - left.x, 0.1F);
  const float height = std::max(bottom.y - top.y, 0.1F);
  const float room_x = std::max(max_.x - min_.x - ui.px(120), 20.0F);
  const float room_y = std::max(max_.y - min_.y - ui.px(50), 20.0F);
  view_.zoom = std::clamp(std::min(room_x / width, room_y / height), kZoomMin, ui.px(160));
  view_.shift_x = -(left.x + right.x) / 2 * view_.zoom;
  view_.shift_y = -(top.y + bottom.y) / 2 * view_.zoom;
}

void GraphCanvas::zoom_by(float factor) {
  const float zoom = std::clamp(view_.zoom * factor, kZoomMin, kZoomMax);
  view_.shift_x *= zoom / view_.zoom;
  view_.shift_y *= zoom / view_.zoom;
  view_.zoom = zoom;
  is_moved_ = true;
}

void GraphCanvas::find_hovered(const Ui& ui, const GraphScene& scene) {
  hovered_.reset();
  if (!ImGui::IsItemHovered()) return;
  const ImVec2 mouse = ImGui::GetMousePos();
  float best = ui.px(12) * ui.px(12);
  for (std::uint32_t i = 0; i < scene.points.size(); ++i) {
    const ImVec2 at = place_of(scene.points[i]);
    const float x = at.x - mouse.x;
    const float y = at.y - mouse.y;
    if (x * x + y * y > best) continue;
    best = x * x + y * y;
    hovered_ = i;
  }
}

void GraphCanvas::take_keys(Ui& ui, const GraphScene& scene) {
  if (!ui.focus.owns_keys("graph", min_, max_)) return;
  const auto pressed = [](int key) { return ImGui::IsKeyPressed(key); };
  const float step = ui.px(40);
  if (pressed(kKeyLeft)) view_.shift_x += step;
  if (pressed(kKeyRight)) view_.shift_x -= step;
  if (pressed(kKeyUp)) view_.shift_y += step;
  if (pressed(kKeyDown)) view_.shift_y -= step;
  if (!ImGui::GetIO().KeyCtrl && pressed('=')) zoom_by(1.25F);
  if (!ImGui::GetIO().KeyCtrl && pressed('-')) zoom_by(0.8F);
  if (pressed(kKeyHome)) fit();
  const auto count = static_cast<std::uint32_t>(scene.points.size());
  if (count == 0) return;
  if (pressed(kKeyPageDown)) selected_ = selected_ ? (*selected_ + 1) % count : 0;
  if (pressed(kKeyPageUp)) selected_ = selected_ ? (*selected_ + count - 1) % count : count - 1;
  if (pressed(kKeyEnter) && selected_) chosen_ = selected_;
}

void GraphCanvas::take_input(Ui& ui, const GraphScene& scene) {
  const ImGuiIO& io = ImGui::GetIO();
  find_hovered(ui, scene);
  chosen_.reset();
  const View before = view_;
  if (ImGui::IsItemHovered() && io.MouseWheel != 0) {
    const ImVec2 mouse(ImGui::GetMousePos().x - (min_.x + max_.x) / 2,
                       ImGui::GetMousePos().y - (min_.y + max_.y) / 2);
    view_.shift_x -= mouse.x;
    view_.shift_y -= mouse.y;
    zoom_by(std::pow(1.2F, io.MouseWheel));
    view_.shift_x += mouse.x;
    view_.shift_y += mouse.y;
  }
  if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 3)) {
    view_.shift_x += io.MouseDelta.x;
    view_.shift_y += io.MouseDelta.y;
  } else if (ImGui::IsItemHovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    selected_ = hovered_;
  }
  if (hovered_ && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) chosen_ = hovered_;
  take_keys(ui, scene);
  if (view_ == before) return;
  is_moved_ = true;
  ui.actions.redraw();
}

void GraphCanvas::ask_edges(Ui& ui, const std::shared_ptr<const GraphScene>& scene) {
  const auto& picture = *edges_;
  const int width = static_cast<int>(max_.x - min_.x);
  const int height = static_cast<int>(max_.y - min_.y);
  const bool is_right = picture && picture->view == view_ &&
                        picture->scene_number == scene->number && picture->mask->width == width &&
                        picture->mask->height == height;
  if (is_right || !pending_.expired() || width <= 0 || height <= 0) return;
  const auto alive = std::make_shared<int>();
  pending_ = alive;
  ui.jobs.start(
      "draw edges", {},
      [scene, view = view_, width, height, alive,
       box = edges_](JobContext& context) -> Jobs::Finish {
        auto mask = std::make_shared<Mask>(width, height);
        const float x = static_cast<float>(width) / 2 + view.shift_x;
        const float y = static_cast<float>(height) / 2 + view.shift_y;
        std::vector<Line> lines;
        lines.reserve(scene->graph.edges.size());
        for (const model::GraphEdge& edge : scene->graph.edges) {
          const auto& from = scene->points[edge.from];
          const auto& to = scene->points[edge.to];
          lines.push_back({x + from.x * view.zoom, y + from.y * view.zoom, x + to.x * view.zoom,
                           y + to.y * view.zoom});
        }
        // More edges, paler ones.
        const auto opacity = static_cast<std::uint8_t>(std::max(
            16.0, kEdgeOpacity / std::sqrt(1 + static_cast<double>(lines.size()) / 10'000)));
        draw_lines(*mask, lines, opacity, [&context] { return !context.is_cancelled(); });
        if (context.is_cancelled()) return nullptr;
        return [box, mask, view, alive, number = scene->number] {
          *box = EdgePicture{mask, view, number};
        };
      });
}

/// The picture, moved and scaled to where its edges are now.
void GraphCanvas::draw_edge_picture(Ui& ui) const {
  const auto& picture = *edges_;
  if (!picture || picture->scene_number != scene_number_) return;
  const ImTextureID texture = ui.actions.texture(picture->mask);
  if (texture == nullptr) return;
  const float factor = view_.zoom / picture->view.zoom;
  const ImVec2 middle((min_.x + max_.x) / 2 + view_.shift_x - picture->view.shift_x * factor,
                      (min_.y + max_.y) / 2 + view_.shift_y - picture->view.shift_y * factor);
  const float half_x = static_cast<float>(picture->mask->width) / 2 * factor;
  const float half_y = static_cast<float>(picture->mask->height) / 2 * factor;
  ImVec2 low(middle.x - half_x, middle.y - half_y);
  if (factor == 1) low = {std::round(low.x), std::round(low.y)};
  const ImVec2 high(low.x + 2 * half_x, low.y + 2 * half_y);
  ImGui::GetWindowDrawList()->AddImage(texture, low, high, ImVec2(0, 0), ImVec2(1, 1),
                                       with_alpha(ui.palette.faint, 140));
}

void GraphCanvas::draw_edge(const Ui& ui, const GraphScene& scene, const model::GraphEdge& edge,
                            Colour colour) const {
  const ImVec2 from = place_of(scene.points[edge.from]);
  const ImVec2 to = place_of(scene.points[edge.to]);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddLine(from, to, colour);
  const float x = to.x - from.x;
  const float y = to.y - from.y;
  const float length = std::hypot(x, y);
  const float gap = radius_of(ui, scene.sizes[edge.to]) + 1;
  if (scene.graph.edges.size() > kArrowsMax || length < gap + ui.px(10)) return;
  const ImVec2 way(x / length, y / length);
  const ImVec2 tip(to.x - way.x * gap, to.y - way.y * gap);
  const ImVec2 back(tip.x - way.x * ui.px(6), tip.y - way.y * ui.px(6));
  const float half = ui.px(2.5F);
  list.AddTriangleFilled(tip, ImVec2(back.x - way.y * half, back.y + way.x * half),
                         ImVec2(back.x + way.y * half, back.y - way.x * half), colour);
}

void GraphCanvas::draw_edges(Ui& ui, const std::shared_ptr<const GraphScene>& scene) {
  if (scene->graph.edges.size() > kDrawnEdgesMax) {
    ask_edges(ui, scene);
    draw_edge_picture(ui);
  } else {
    // More edges, paler ones: nodes stay in sight.
    const double many = std::sqrt(1 + static_cast<double>(scene->graph.edges.size()) / 500);
    const auto inside = static_cast<std::uint32_t>(110 / many);
    const auto across = static_cast<std::uint32_t>(150 / many);
    for (const model::GraphEdge& edge : scene->graph.edges) {
      const bool is_inside = scene->graph.nodes[edge.from].host == scene->graph.nodes[edge.to].host;
      draw_edge(
          ui, *scene, edge,
          is_inside ? with_alpha(ui.palette.faint, inside) : with_alpha(ui.palette.accent, across));
    }
  }
  draw_marked_edges(ui, *scene);
}

/// Those of the node under the pointer, or else of the selected one.
void GraphCanvas::draw_marked_edges(const Ui& ui, const GraphScene& scene) const {
  const auto marked = hovered_ ? hovered_ : selected_;
  if (!marked) return;
  for (const model::GraphEdge& edge : scene.graph.edges) {
    if (edge.from == marked) draw_edge(ui, scene, edge, ui.palette.accent);
    if (edge.to == marked) draw_edge(ui, scene, edge, ui.palette.warning);
  }
}

void GraphCanvas::draw_node(const Ui& ui, const GraphScene& scene, std::uint32_t node,
                            Colour colour) const {
  const ImVec2 at = place_of(scene.points[node]);
  const float radius = radius_of(ui, scene.sizes[node]);
  if (at.x < min_.x - radius || at.x > max_.x + radius || at.y < min_.y - radius ||
      at.y > max_.y + radius) {
    return;
  }
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 low(at.x - radius, at.y - radius);
  const ImVec2 high(at.x + radius, at.y + radius);
  const PageState state = scene.graph.nodes[node].state;
  const bool is_letter =
      scene.points.size() > kDrawnShapesMax && draw_letters(ui, state, at, radius, colour);
  if (!is_letter) draw_shape(ui, state, at, radius, colour);
  if (node == 0) list.AddCircle(at, radius + ui.px(4), ui.palette.text, 0, ui.px(1.5F));
  if (selected_ == node) {
    list.AddRect(ImVec2(low.x - ui.px(3), low.y - ui.px(3)),
                 ImVec2(high.x + ui.px(3), high.y + ui.px(3)), ui.palette.text, 0, 0, ui.px(1.5F));
  }
}

void GraphCanvas::draw_nodes(Ui& ui, const GraphScene& scene,
                             const std::vector<Colour>& colours) const {
  if (scene.points.size() > kDrawnShapesMax) ui.fonts.want("\xe2\x97\x8f\xe2\x96\xa0");
  for (std::size_t i = scene.points.size(); i-- > 0;) {
    const auto node = static_cast<std::uint32_t>(i);
    draw_node(ui, scene, node, i < colours.size() ? colours[i] : ui.palette.text);
    if (!ui.probe.is_on() || i >= kProbedMax) continue;
    const ImVec2 at = place_of(scene.points[i]);
    ui.probe.note(fmt::format("graph.node[{}]", scene.graph.nodes[i].page),
                  shown_text(scene.graph.nodes[i].label), ImVec2(at.x - 2, at.y - 2),
                  ImVec2(at.x + 2, at.y + 2));
  }
}

void GraphCanvas::draw_hovered(Ui& ui, const GraphScene& scene) const {
  if (!hovered_) return;
  const model::GraphNode& node = scene.graph.nodes[*hovered_];
  ImGui::BeginTooltip();
  draw_text(ui, fit_text(ui, shown_text(node.label), ui.px(500)));
  std::string more = std::string(name_of(node.state)) + ", depth " + std::to_string(node.depth);
  if (scene.graph.is_of_hosts) more = model::format_counted(node.page_count, "page");
  if (node.hidden_count.value_or(0) > 0) {
    more += ", " + model::format_count(*node.hidden_count) + " neighbours not shown";
  }
  draw_text(ui, more, ui.palette.faint);
  if (scene.scores) {
    const std::string score = model::describe_score(*scene.scores, *hovered_);
    draw_text(ui, fit_text(ui, shown_text(scene.scores->name), ui.px(300)) + ": " + score,
              ui.palette.faint);
  }
  ImGui::EndTooltip();
}

void GraphCanvas::draw(Ui& ui, const std::shared_ptr<const GraphScene>& scene,
                       const std::vector<Colour>& colours) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  min_ = ImGui::GetCursorScreenPos();
  max_ = ImVec2(min_.x + std::max(room.x, ui.px(160)), min_.y + std::max(room.y, ui.px(100)));
  if (scene_number_ != scene->number) {
    scene_number_ = scene->number;
    labels_.clear();
    if (selected_ && *selected_ >= scene->points.size()) selected_.reset();
    hovered_.reset();
  }
  // A line above it may come and go with a job. Details beside it move no node from the pointer.
  const bool is_other_height = !is_moved_ && max_.y - min_.y != fitted_height_;
  if (must_fit_ || is_other_height || view_.zoom <= 0) fit_now(ui, *scene);
  ImGui::InvisibleButton("graph", ImVec2(max_.x - min_.x, max_.y - min_.y));
  ui.probe.note_item("graph", {});
  take_input(ui, *scene);
  ImGui::PushClipRect(min_, max_, true);
  draw_edges(ui, scene);
  draw_nodes(ui, *scene, colours);
  draw_labels(ui, *scene);
  ImGui::PopClipRect();
  draw_hovered(ui, *scene);
}

std::string GraphCanvas::view_state() const {
  return fmt::format("{} {} {}", view_.zoom, view_.shift_x, view_.shift_y);
}

void GraphCanvas::restore(std::string_view state) {
  std::array<float, 3> numbers{};
  for (float& number : numbers) {
    const auto [end, error] = std::from_chars(state.data(), state.data() + state.size(), number);
    if (error != std::errc() || !std::isfinite(number)) return;
    state.remove_prefix(static_cast<std::size_t>(end - state.data()));
    if (state.starts_with(' ')) state.remove_prefix(1);
  }
  view_ = {std::clamp(numbers[0], kZoomMin, kZoomMax), numbers[1], numbers[2]};
  must_fit_ = numbers[0] <= 0;
  is_moved_ = !must_fit_;
}

}  // namespace crawlstore::inspector
