// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A graph that is panned by dragging and zoomed by the wheel. Few edges are drawn anew in each
/// frame; of many a job makes a picture, and until it is there the last one is moved along, so that
/// panning never waits.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inspector/core/line_raster.h"
#include "inspector/ui/ui.h"
#include "model/ego_graph.h"
#include "model/graph_layout.h"
#include "model/graph_scores.h"

namespace crawlstore::inspector {

/// The drawn graph; immutable, shared with jobs.
struct GraphScene {
  model::EgoGraph graph;
  std::vector<model::GraphPoint> points;     ///< of the nodes
  std::vector<float> sizes;                  ///< of the nodes: 0 to 1
  std::vector<std::uint32_t> ranked;         ///< nodes, those first that get a label first
  std::optional<model::GraphScores> scores;  ///< of the array that was chosen
  std::uint64_t number = 0;                  ///< another number, another scene
  bool is_rough = false;                     ///< it was made in a hurry: a better one takes longer
};

class GraphCanvas {
 public:
  static constexpr std::size_t kDrawnEdgesMax = 2000;  ///< more are a picture
  static constexpr std::size_t kDrawnShapesMax = 500;  ///< more nodes are letters of the font
  static constexpr std::size_t kLabelsMax = 60;
  static constexpr std::size_t kBestMax = 6;  ///< with the centre; labels of these find room

  /// Draws it into all the room there is.
  ///   colours  of the nodes
  void draw(Ui& ui, const std::shared_ptr<const GraphScene>& scene,
            const std::vector<Colour>& colours);
  /// All of it in sight, when it is drawn next.
  void fit() { must_fit_ = true; }
  /// The same, unless somebody has moved it since it was all in sight.
  void fit_unless_moved() { must_fit_ = must_fit_ || !is_moved_; }
  void zoom_by(float factor);

  /// The node somebody clicked on; nullopt = none.
  [[nodiscard]] std::optional<std::uint32_t> selected() const { return selected_; }
  void select(std::optional<std::uint32_t> node) { selected_ = node; }
  /// A node that was double-clicked, or chosen by Enter, in the frame drawn last.
  [[nodiscard]] std::optional<std::uint32_t> chosen() const { return chosen_; }

  [[nodiscard]] std::string view_state() const;
  void restore(std::string_view state);

  /// The radius of a node at most on the screen, in pixels at scale 1.
  static float radius_of(float size) { return 3 + 8 * size; }

 private:
  /// A view of the layout: pixels = place * zoom + shift, from the canvas's middle.
  struct View {
    float zoom = 0;
    float shift_x = 0;
    float shift_y = 0;
    bool operator==(const View&) const = default;
  };
  /// The edges as a picture, for one view of one scene.
  struct EdgePicture {
    std::shared_ptr<const Mask> mask;
    View view;
    std::uint64_t scene_number = 0;
  };

  void fit_now(const Ui& ui, const GraphScene& scene);
  [[nodiscard]] ImVec2 place_of(const model::GraphPoint& point) const;
  [[nodiscard]] float radius_of(const Ui& ui, float size) const;
  void take_input(Ui& ui, const GraphScene& scene);
  void take_keys(Ui& ui, const GraphScene& scene);
  void find_hovered(const Ui& ui, const GraphScene& scene);
  void draw_edges(Ui& ui, const std::shared_ptr<const GraphScene>& scene);
  void ask_edges(Ui& ui, const std::shared_ptr<const GraphScene>& scene);
  void draw_edge_picture(Ui& ui) const;
  void draw_edge(const Ui& ui, const GraphScene& scene, const model::GraphEdge& edge,
                 Colour colour) const;
  void draw_marked_edges(const Ui& ui, const GraphScene& scene) const;
  void draw_nodes(Ui& ui, const GraphScene& scene, const std::vector<Colour>& colours) const;
  void draw_node(const Ui& ui, const GraphScene& scene, std::uint32_t node, Colour colour) const;
  void draw_labels(Ui& ui, const GraphScene& scene);
  /// The room that nodes on the screen and their labels take.
  class Covered;
  /// Beside its node, where it covers neither a node nor a label; of the best nodes, where there is
  /// no such place, farther off; nullopt = nowhere.
  [[nodiscard]] std::optional<ImVec4> place_of_label(const Ui& ui, const GraphScene& scene,
                                                     std::uint32_t node, float width,
                                                     const Covered& covered) const;
  /// From a label that is not beside its node.
  void draw_leader(const Ui& ui, const GraphScene& scene, std::uint32_t node,
                   const ImVec4& label) const;
  struct Label {
    std::string text;
    float width = 0;
  };
  const Label& label_of(Ui& ui, const GraphScene& scene, std::uint32_t node);
  void draw_hovered(Ui& ui, const GraphScene& scene) const;

  View view_;
  bool must_fit_ = true;
  float fitted_height_ = 0;  // of the canvas
  bool is_moved_ = false;
  std::uint64_t scene_number_ = 0;
  ImVec2 min_;
  ImVec2 max_;
  std::map<std::uint32_t, Label> labels_;  // of nodes of the scene that were wanted so far
  float labels_scale_ = 0;
  std::optional<std::uint32_t> selected_;
  std::optional<std::uint32_t> hovered_;
  std::optional<std::uint32_t> chosen_;
  // Shared with the job that fills it.
  std::shared_ptr<std::optional<EdgePicture>> edges_ =
      std::make_shared<std::optional<EdgePicture>>();
  std::weak_ptr<const void> pending_;  // alive while a job draws edges
};

}  // namespace crawlstore::inspector
