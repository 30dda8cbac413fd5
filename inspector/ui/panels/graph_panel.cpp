// SPDX-License-Identifier: Apache-2.0
// The links around a page, or around a host: gathered and laid out by a job, drawn on a canvas.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <imgui.h>

#include "inspector/core/graph_export.h"
#include "inspector/core/shown_text.h"
#include "inspector/ui/graph_canvas.h"
#include "inspector/ui/panels/graph_colours.h"
#include "inspector/ui/panels/graph_scene.h"
#include "inspector/ui/panels/pages_choice.h"
#include "inspector/ui/panels/panels.h"
#include "inspector/ui/panels/score_choice.h"
#include "inspector/ui/text_mask.h"
#include "model/format_text.h"
#include "model/graph_labels.h"
#include "model/parse_text.h"

namespace crawlstore::inspector {
namespace {

using model::EgoGraph;
using model::GraphDirection;
using model::GraphNode;

/// Only more or fewer nodes of the same graph.
bool is_like(const GraphQuestion& a, const GraphQuestion& b) {
  return a.centre == b.centre && a.direction == b.direction && a.depth == b.depth &&
         a.nodes_max == b.nodes_max;
}

class GraphPanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    const auto view = ui.session.view();
    if (view == nullptr) return draw_no_file(ui);
    const PageView* pages = choice_.draw(ui, *view, "graph");
    if (pages == nullptr) return let_go(ui.jobs);
    if (pages->info().page_count == 0) {
      return draw_text(ui, "There are no pages yet.", ui.palette.faint);
    }
    score_choice_.look(*pages, choice_.version());
    draw_tools(ui);
    ask(ui, *pages);
    const auto& found = *found_;
    if (found == nullptr) return draw_text(ui, "gathering ...", ui.palette.faint);
    const auto* host = std::get_if<HostThing>(&wanted_.centre);
    if (host != nullptr && found->problem && found->problem->code == Errc::kInvalidArgument) {
      return draw_paragraph(ui, "No page is of the host " + shown_text(host->host) + ".",
                            ui.palette.faint);
    }
    if (found->problem) return draw_problem(ui, *found->problem);
    take_scene(ui, found->scene);
    draw_state(ui);
    if (!is_of_hosts()) {
      const auto& problem = found->scores_problem ? found->scores_problem : score_choice_.problem();
      if (problem) draw_problem(ui, *problem);
    }
    canvas_.draw(ui, scene_, colours_.nodes);
    if (canvas_.chosen()) expand(ui, *canvas_.chosen());
    tell(ui);
  }

  /// The graph is in memory, and stays until another one is there.
  void let_go(Jobs& jobs) override {
    jobs.cancel_slot("graph");
    if (asked_) asked_->version = 0;  // of no look: it is asked again
  }
  void show(const Thing& thing) override {
    Thing centre = thing;
    if (const auto* page = std::get_if<PageThing>(&thing)) {
      choice_.choose(page->pages);
    } else if (const auto* host = std::get_if<HostThing>(&thing)) {
      choice_.choose(host->pages);
    } else {
      return;
    }
    if (wanted_.centre == centre) return;
    wanted_.centre = std::move(centre);
    wanted_.expanded.clear();
    canvas_.fit();
    canvas_.select(std::nullopt);
  }

  [[nodiscard]] std::string view_state() const override {
    return fmt::format("{} {} {} {} {}\n{}\n{}", wanted_.depth, static_cast<int>(wanted_.direction),
                       wanted_.nodes_max, static_cast<int>(colour_),
                       fmt::join(wanted_.expanded, ","), canvas_.view_state(),
                       score_choice_.view_state());
  }
  void restore(std::string_view state) override {
    const auto end = state.find('\n');
    if (end == state.npos) return;
    std::array<std::uint64_t, 4> numbers{};
    std::string_view words = state.substr(0, end);
    for (std::uint64_t& number : numbers) {
      const auto blank = words.find(' ');
      if (blank == words.npos) return;
      number = model::parse_count(words.substr(0, blank)).value_or(0);
      words.remove_prefix(blank + 1);
    }
    wanted_.depth = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(numbers[0], 1, 3));
    wanted_.direction = static_cast<GraphDirection>(std::min<std::uint64_t>(numbers[1], 2));
    wanted_.nodes_max = std::clamp<std::uint64_t>(numbers[2], 1, GraphQuestion::kBudgets.back());
    colour_ = static_cast<NodeColour>(std::min<std::uint64_t>(numbers[3], 3));
    wanted_.expanded.clear();
    while (!words.empty()) {
      const auto comma = std::min(words.find(','), words.size());
      if (const auto page = model::parse_count(words.substr(0, comma))) {
        wanted_.expanded.push_back(*page);
      }
      words.remove_prefix(std::min(comma + 1, words.size()));
    }
    state.remove_prefix(end + 1);
    const auto middle = std::min(state.find('\n'), state.size());
    canvas_.restore(state.substr(0, middle));
    score_choice_.restore(state.substr(std::min(middle + 1, state.size())));
    is_restored_ = true;
  }

  [[nodiscard]] std::span<const std::string_view> export_endings() const override {
    static constexpr std::array<std::string_view, 3> kEndings{".svg", ".dot", ".png"};
    return kEndings;
  }
  bool export_to(Ui& ui, const std::string& path) override {
    if (scene_ == nullptr) return false;
    std::vector<model::NodeLook> looks;
    for (std::size_t i = 0; i < scene_->points.size(); ++i) {
      const Colour colour = colours_.nodes[i];
      looks.push_back({(colour & 0xffU) << 16U | (colour & 0xff00U) | (colour >> 16U & 0xffU),
                       GraphCanvas::radius_of(scene_->sizes[i]) / 40, false});
    }
    for (std::size_t i = 0; i < std::min(GraphCanvas::kLabelsMax, scene_->ranked.size()); ++i) {
      looks[scene_->ranked[i]].has_label = true;
    }
    ui.jobs.start(
        "export " + path, {},
        [scene = scene_, looks = std::move(looks), labels = labels_of(ui), path,
         write = ui.actions.png_writer(), &actions = ui.actions](JobContext&) -> Jobs::Finish {
          const std::string problem = export_graph(
              {scene->graph, scene->scores, scene->points, looks, labels}, path, write);
          return [&actions, path, problem] {
            actions.say(problem.empty() ? Severity::kNote : Severity::kBad,
                        problem.empty() ? "the graph was written to " + path
                                        : "nothing was written to " + path + ": " + problem);
          };
        });
    return true;
  }

 private:
  /// Asks for the letters of labels that are not on the screen, too, so that an exported picture
  /// has them.
  void want_letters(Ui& ui) const {
    const std::size_t count = std::min(GraphCanvas::kLabelsMax, scene_->ranked.size());
    for (std::size_t i = 0; i < count; ++i) {
      ui.fonts.want(shown_text(scene_->graph.nodes[scene_->ranked[i]].label));
    }
  }

  /// The labels of the nodes that get one first.
  [[nodiscard]] std::vector<NodeLabel> labels_of(Ui& ui) const {
    std::vector<NodeLabel> labels;
    for (const std::uint32_t node : scene_->ranked) {
      if (labels.size() == GraphCanvas::kLabelsMax) break;
      const std::string name = model::short_label(scene_->graph, scene_->graph.nodes[node]);
      const std::string text = fit_middle(ui, shown_text(name), ui.px(240));
      labels.push_back({node, text_mask(*ui.fonts.text(), text)});
    }
    return labels;
  }

  void ask(Ui& ui, const PageView& pages) {
    // A page of another database is another page.
    const auto* page = std::get_if<PageThing>(&wanted_.centre);
    if (page != nullptr && page->pages != choice_.name()) wanted_.centre = {};
    wanted_.version = choice_.version();
    wanted_.scores = is_of_hosts() ? "" : score_choice_.name();
    wanted_.is_thorough = asked_ && asked_->is_thorough;
    const bool is_other = asked_ != wanted_;
    // Once a first picture is there, a better one.
    const bool is_shown = scene_ != nullptr && scene_->number == asked_count_;
    if (!is_other && (wanted_.is_thorough || !is_shown || !scene_->is_rough)) return;
    wanted_.is_thorough = !is_other;
    if (asked_ && asked_->centre != wanted_.centre) *found_ = nullptr;
    const bool has_view = std::exchange(is_restored_, false);
    if (asked_ && !is_like(*asked_, wanted_) && !has_view) canvas_.fit();
    if (is_other) before_ = *found_ == nullptr ? nullptr : scene_;
    asked_ = wanted_;
    ++asked_count_;
    const std::string centre = describe_thing(wanted_.centre);
    ui.jobs.start(
        "graph around " + (centre.empty() ? "the best page" : centre), "graph",
        [pages, question = wanted_, before = before_, rough = is_other ? nullptr : scene_,
         number = asked_count_, box = found_](JobContext& context) -> Jobs::Finish {
          const auto progress = [&](auto... at) { return context.progress(at...); };
          auto found = find_scene(pages, question, {before.get(), rough.get()}, number, progress);
          if (found == nullptr) return nullptr;
          return [box, found = std::move(found)] { *box = found; };
        });
  }

  void draw_tools(Ui& ui) {
    ImGui::AlignTextToFramePadding();
    draw_text(ui, "depth", ui.palette.faint);
    for (std::uint32_t depth = 1; depth <= 3; ++depth) {
      const std::string text = std::to_string(depth);
      place_beside(choice_width(text));
      if (draw_choice(ui, "graph.depth." + text, text, wanted_.depth == depth)) {
        wanted_.depth = depth;
      }
    }
    constexpr std::array<std::pair<GraphDirection, const char*>, 3> kDirections{
        {{GraphDirection::kOut, "out"},
         {GraphDirection::kIn, "in"},
         {GraphDirection::kBoth, "both"}}};
    // A label goes to the next line with its first choice.
    place_beside(text_width("links ") + choice_width("out"), ui.px(20));
    draw_text(ui, "links", ui.palette.faint);
    for (const auto& [direction, text] : kDirections) {
      place_beside(choice_width(text));
      if (draw_choice(ui, std::string("graph.links.") + text, text,
                      wanted_.direction == direction)) {
        wanted_.direction = direction;
      }
    }
    place_beside(text_width("nodes ") + choice_width("100"), ui.px(20));
    draw_text(ui, "nodes", ui.palette.faint);
    for (const std::size_t budget : GraphQuestion::kBudgets) {
      const std::string text = model::format_count(budget);
      place_beside(choice_width(text));
      if (draw_choice(ui, "graph.nodes." + std::to_string(budget), text,
                      wanted_.nodes_max == budget)) {
        wanted_.nodes_max = budget;
      }
    }
    draw_look_tools(ui);
  }

  void draw_look_tools(Ui& ui) {
    ImGui::AlignTextToFramePadding();
    draw_colour_choice(ui);
    if (!is_of_hosts()) {
      if (score_choice_.draw(ui, "graph.score")) choose_colour(NodeColour::kScore);
    }
    place_beside(button_width("Fit"), ui.px(20));
    if (draw_button(ui, "graph.fit", "Fit", "all in sight (Home)")) canvas_.fit();
    place_beside(button_width("+"));
    if (draw_button(ui, "graph.zoom_in", "+", "larger (=)")) canvas_.zoom_by(1.25F);
    place_beside(button_width("-"));
    if (draw_button(ui, "graph.zoom_out", "-", "smaller (-)")) canvas_.zoom_by(0.8F);
    place_beside(button_width("Export ..."));
    if (draw_button(ui, "graph.export", "Export ...", "as SVG, DOT or PNG")) {
      ui.actions.run("export");
    }
    ImGui::BeginDisabled(wanted_.expanded.empty());
    place_beside(button_width("Fold"));
    if (draw_button(ui, "graph.fold", "Fold", "takes back the last double click")) {
      wanted_.expanded.pop_back();
    }
    ImGui::EndDisabled();
  }

  void draw_colour_choice(Ui& ui) {
    constexpr std::array<std::pair<NodeColour, const char*>, 4> kColours{
        {{NodeColour::kHost, "host"},
         {NodeColour::kState, "state"},
         {NodeColour::kDepth, "depth"},
         {NodeColour::kScore, "score"}}};
    const bool has_scores = !is_of_hosts() && !score_choice_.name().empty();
    const bool is_host = colour_ == NodeColour::kScore && !has_scores;
    const NodeColour chosen = is_host ? NodeColour::kHost : colour_;
    draw_text(ui, "colour", ui.palette.faint);
    for (const auto& [colour, text] : kColours) {
      if (colour == NodeColour::kScore && !has_scores) continue;
      place_beside(choice_width(text));
      if (draw_choice(ui, std::string("graph.colour.") + text, text, chosen == colour)) {
        choose_colour(colour);
      }
    }
  }

  void choose_colour(NodeColour colour) {
    colour_ = colour;
    coloured_ = 0;
  }

  /// The wanted kind of graph, not the one that is shown yet.
  [[nodiscard]] bool is_of_hosts() const {
    return std::holds_alternative<HostThing>(wanted_.centre);
  }

  void take_scene(Ui& ui, const std::shared_ptr<const GraphScene>& scene) {
    if (scene_ != scene) {
      // A person who only expanded a node keeps the view; one who went back has the one that was
      // there.
      canvas_.fit_unless_moved();
      keep_selection(*scene);
      scene_ = scene;
      // Whatever is best later, this one stays in the middle.
      if (std::holds_alternative<std::monostate>(wanted_.centre)) {
        wanted_.centre = PageThing{choice_.name(), scene->graph.nodes.front().page};
        if (asked_) asked_->centre = wanted_.centre;
      }
      if (scene->is_rough) ui.actions.redraw();
      coloured_ = 0;
      want_letters(ui);
    }
    if (coloured_ == scene->number && palette_ == ui.palette.name) return;
    coloured_ = scene->number;
    palette_ = ui.palette.name;
    colours_ = graph_colours(ui.palette, *scene, colour_);
  }

  void keep_selection(const GraphScene& next) {
    if (scene_ == nullptr || !canvas_.selected()) return;
    const std::uint64_t page = scene_->graph.nodes[*canvas_.selected()].page;
    const auto at = std::ranges::find(next.graph.nodes, page, &GraphNode::page);
    canvas_.select(at == next.graph.nodes.end()
                       ? std::nullopt
                       : std::optional(static_cast<std::uint32_t>(at - next.graph.nodes.begin())));
  }

  void draw_state(Ui& ui) const {
    const EgoGraph& graph = scene_->graph;
    std::string text =
        fit_middle(ui, shown_text(graph.nodes.front().label), ui.px(320)) + ": " +
        model::format_counted(graph.nodes.size(), graph.is_of_hosts ? "host" : "page") + ", " +
        model::format_counted(graph.edges.size(), "edge") + left_out(graph);
    if (scene_->is_rough) text += "; a better picture is on its way";
    draw_paragraph(ui, text, ui.palette.faint);
    ui.probe.note_item("graph.state", text);
    draw_legend(ui, colours_);
  }

  /// Tells which nodes the picture does not have.
  static std::string left_out(const EgoGraph& graph) {
    std::uint64_t hidden = 0;
    bool is_known = true;
    for (const GraphNode& node : graph.nodes) {
      hidden += node.hidden_count.value_or(0);
      is_known = is_known && node.hidden_count.has_value();
    }
    std::string text;
    if (hidden > 0) {
      text += std::string("; links to what is not shown: ") + (is_known ? "" : "at least ") +
              model::format_count(hidden);
    }
    if (graph.unseen_page_count > 0) {
      text += "; pages of these hosts that were not looked at: " +
              model::format_count(graph.unseen_page_count);
    }
    return text;
  }

  [[nodiscard]] Thing thing_of(const GraphNode& node) const {
    if (scene_->graph.is_of_hosts) return HostThing{choice_.name(), node.host};
    return PageThing{choice_.name(), node.page};
  }

  void expand(Ui& ui, std::uint32_t node) {
    const std::uint64_t page = scene_->graph.nodes[node].page;
    if (scene_->graph.nodes[node].hidden_count == 0) {
      return ui.actions.say(Severity::kNote, "all its neighbours are there");
    }
    wanted_.expanded.push_back(page);
    ui.actions.redraw();
  }

  void tell(Ui& ui) const {
    if (!canvas_.selected()) return;
    const GraphNode& node = scene_->graph.nodes[*canvas_.selected()];
    const bool is_host = scene_->graph.is_of_hosts;
    ui.details.title = node.label;
    ui.details.lines.clear();
    const auto add = [&](std::string name, std::string text, Thing thing = {}) {
      ui.details.lines.push_back({std::move(name), std::move(text), std::move(thing)});
    };
    if (!is_host) add("index", std::to_string(node.page), PageThing{choice_.name(), node.page});
    add("host", shown_text(node.host), HostThing{choice_.name(), node.host});
    add("state", std::string(name_of(node.state)));
    add("score", fmt::format("{}", node.score));
    if (const auto& scores = scene_->scores) {
      add("score:" + shown_text(scores->name), model::describe_score(*scores, *canvas_.selected()));
    }
    add("depth", std::to_string(node.depth));
    add("distance", std::to_string(node.distance));
    if (is_host) add("pages", model::format_count(node.page_count));
    if (node.hidden_count) add("not shown", model::format_count(*node.hidden_count));
    ui.details.lines.front().bytes.reset();
  }

  PagesChoice choice_;
  GraphQuestion wanted_;
  std::optional<GraphQuestion> asked_;
  std::uint64_t asked_count_ = 0;
  ScoreChoice score_choice_;
  NodeColour colour_ = NodeColour::kScore;
  std::shared_ptr<std::shared_ptr<const FoundGraph>> found_ =
      std::make_shared<std::shared_ptr<const FoundGraph>>();
  std::shared_ptr<const GraphScene> scene_;
  // The scene that was shown when the question was asked: both pictures begin there.
  std::shared_ptr<const GraphScene> before_;
  GraphColours colours_;
  std::uint64_t coloured_ = 0;  // number of the scene that colours_ is for
  std::string_view palette_;
  GraphCanvas canvas_;
  bool is_restored_ = false;  // the canvas has the view that belongs to what is wanted
};

}  // namespace

std::unique_ptr<Panel> make_graph_panel() {
  return std::make_unique<GraphPanel>();
}

}  // namespace crawlstore::inspector
