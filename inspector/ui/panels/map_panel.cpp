// SPDX-License-Identifier: Apache-2.0
// The file from its first byte to its last: as rows of cells, as areas by size, as a table.
#include <algorithm>
#include <cmath>

#include "inspector/ui/internal.h"
#include "inspector/ui/panels/panels.h"
#include "inspector/ui/table64.h"
#include "model/format_text.h"
#include "model/label.h"
#include "model/map_view.h"
#include "model/parse_text.h"

namespace crawlstore::inspector {
namespace {

constexpr float kCellWidth = 9;
constexpr float kCellHeight = 14;
constexpr float kMapScrollbar = 14;
constexpr float kEnlargedMax = 4;
constexpr float kTileLeast = 7;  // the side of a square
constexpr float kHatchStep = 6;
constexpr std::uint32_t kDimAlpha = 48;

enum class Mode : std::uint8_t { kLinear, kTreemap, kTable };

class MapPanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    const auto view = ui.session.view();
    if (view == nullptr) return draw_no_file(ui);
    follow(*view);
    if (extents_.empty()) {
      draw_paragraph(ui, "No generation can be opened, so nothing tells what the bytes are.",
                     ui.palette.faint);
      if (problem_) draw_problem(ui, *problem_);
      return draw_link(ui, "map.hex", "look at the bytes", {"hex", {}});
    }
    draw_tools(ui);
    if (mode_ == Mode::kTable) {
      TableOptions options{.id = "extents"};
      options.is_main = true;
      options.has_swatches = true;
      table_.draw(ui, rows_, options);
      return;
    }
    draw_legend(ui);
    follow_damage(ui);
    if (mode_ == Mode::kLinear) {
      draw_linear(ui);
    } else {
      draw_treemap(ui);
    }
    show_selected(ui);
  }
  void let_go(Jobs& /*jobs*/) override {}

  void show(const Thing& thing) override {
    if (const auto* place = std::get_if<ExtentThing>(&thing)) wanted_ = place->extent.offset_bytes;
    if (const auto* segment = std::get_if<SegmentThing>(&thing)) {
      for (const ExtentInfo& extent : extents_) {
        if (extent.segment == segment->id) wanted_ = extent.extent.offset_bytes;
      }
      wanted_segment_ = segment->id;
    }
  }
  [[nodiscard]] std::string view_state() const override {
    return std::to_string(first_row_) + " " + std::to_string(zoom_) + " " +
           std::to_string(static_cast<int>(mode_));
  }
  void restore(std::string_view state) override {
    const auto first = state.find(' ');
    const auto second = state.rfind(' ');
    if (first == state.npos) return;
    first_row_ = model::parse_count(state.substr(0, first)).value_or(0);
    zoom_ = static_cast<unsigned>(std::min<std::uint64_t>(
        40, model::parse_count(state.substr(first + 1, second - first - 1)).value_or(0)));
    mode_ = static_cast<Mode>(
        std::min<std::uint64_t>(2, model::parse_count(state.substr(second + 1)).value_or(0)));
  }
  bool export_to(Ui& ui, const std::string& path) override { return table_.export_to(ui, path); }

 private:
  void follow(const model::FileView& view) {
    if (number_ == view.number) return;
    number_ = view.number;
    if (!view.snapshot) return;
    auto found = extents(*view.snapshot);
    problem_ = found ? std::nullopt : std::optional(found.error());
    if (!found) return;
    extents_ = std::move(*found);
    rows_ = std::make_shared<model::TableRows>(model::extents_table(extents_));
    by_size_.clear();
    cells_.clear();
    legend_.clear();
    for (std::size_t i = 0; i < extents_.size(); ++i) {
      const std::string_view name = model::extent_name(extents_[i]);
      const auto known = std::ranges::find(legend_, name, [](const auto& e) { return e.first; });
      if (known == legend_.end()) legend_.emplace_back(name, i);
    }
    if (std::ranges::none_of(legend_, [&](const auto& e) { return e.first == lit_; })) lit_.clear();
    if (wanted_segment_) show(SegmentThing{*wanted_segment_});
    wanted_segment_.reset();
  }

  void draw_tools(Ui& ui) {
    constexpr std::pair<Mode, const char*> kModes[] = {
        {Mode::kLinear, "by place"}, {Mode::kTreemap, "by size"}, {Mode::kTable, "as a table"}};
    for (const auto& [mode, text] : kModes) {
      if (mode != kModes[0].first) place_beside(choice_width(text));
      if (draw_choice(ui, std::string("map.") + text, text, mode_ == mode)) mode_ = mode;
    }
    if (mode_ != Mode::kLinear) return;
    place_beside(2 * button_width("+") + ui.px(4), ui.px(28));
    if (draw_button(ui, "map.zoom_in", "+", "finer") && zoom_ < 40) ++zoom_;
    ImGui::SameLine(0, ui.px(4));
    ImGui::BeginDisabled(zoom_ == 0);
    if (draw_button(ui, "map.zoom_out", "-", "coarser")) --zoom_;
    ImGui::EndDisabled();
    const std::string size = "a cell is " + model::format_bytes(cell_bytes_);
    place_beside(text_width(size));
    draw_text(ui, size, ui.palette.faint);
  }

  /// All there is, but never too little to see anything: then it is scrolled to.
  static ImVec2 canvas_room(const Ui& ui) {
    const ImVec2 room = ImGui::GetContentRegionAvail();
    return {std::max(room.x, ui.px(200)), std::max(room.y, ui.px(120))};
  }

  /// Draws the swatch of a kind with the sign that it has on the map.
  static void draw_legend_mark(Ui& ui, const ExtentInfo& extent) {
    const float height = ImGui::GetTextLineHeight();
    const float size = height * 0.7F;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 low(at.x, at.y + (height - size) / 2);
    draw_swatch(ui, colour_of_extent(ui, extent));
    draw_sign(ui, low, ImVec2(low.x + size, low.y + size), extent.use);
  }

  /// Every kind that the file has; a click dims all others, and the same click again none.
  void draw_legend(Ui& ui) {
    for (const auto& [name, example] : legend_) {
      const float swatch = ImGui::GetTextLineHeight() + ui.px(6);
      const std::string text = model::label_of(name);
      if (name != legend_.front().first) place_beside(swatch + text_width(text), ui.px(14));
      const std::string label = "legend." + std::string(name);
      ImGui::PushID(label.c_str());
      ImGui::BeginGroup();
      draw_legend_mark(ui, extents_[example]);
      draw_text(ui, text, lit_ == name ? ui.palette.accent : ui.palette.faint);
      ImGui::EndGroup();
      const bool is_clicked = ImGui::IsItemClicked();
      ui.probe.note_item(label, text);
      const bool is_chosen = take_stop(ui, label) || is_clicked;
      if (ImGui::IsItemHovered()) {
        ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
        draw_schema_name(ui, name, text);
      }
      ImGui::PopID();
      if (is_chosen) lit_ = lit_ == name ? std::string() : std::string(name);
    }
  }

  [[nodiscard]] static Colour colour_of_extent(const Ui& ui, const ExtentInfo& extent) {
    if (extent.use == ExtentUse::kRun) {
      return kind_colour(ui.palette, static_cast<unsigned>(extent.kind));
    }
    const bool is_free = extent.use == ExtentUse::kFree || extent.use == ExtentUse::kBehind;
    return is_free ? ui.palette.raised : space_colour(ui.palette, name_of(extent.use), 0);
  }

  /// Findings change with each check, and what they spoil with each generation.
  void follow_damage(const Ui& ui) {
    const std::pair wanted(number_, ui.session.health.number());
    if (damaged_of_ == wanted) return;
    damaged_of_ = wanted;
    damaged_.clear();
    damaged_ = model::damaged_extents(extents_, ui.session.health.problems());
  }

  void draw_mark(const Ui& ui, ImVec2 low, ImVec2 high, std::size_t index) const {
    const ExtentInfo& extent = extents_[index];
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const bool is_dim = !lit_.empty() && lit_ != model::extent_name(extent);
    const Colour colour = colour_of_extent(ui, extent);
    list.AddRectFilled(low, high, is_dim ? with_alpha(colour, kDimAlpha) : colour);
    draw_sign(ui, low, high, extent.use);
  }

  /// A second sign beside colour: what is held has a stripe, what is free a dot, what nobody uses a
  /// frame; what lies behind the high water mark both of these.
  static void draw_sign(const Ui& ui, ImVec2 low, ImVec2 high, ExtentUse use) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec2 middle((low.x + high.x) / 2, (low.y + high.y) / 2);
    if (use == ExtentUse::kHeld || use == ExtentUse::kHeldTable) {
      list.AddLine(ImVec2(low.x, high.y), ImVec2(high.x, low.y), ui.palette.panel);
    }
    if (use == ExtentUse::kFree || use == ExtentUse::kBehind) {
      list.AddRectFilled(ImVec2(middle.x - 1, middle.y - 1), ImVec2(middle.x + 1, middle.y + 1),
                         ui.palette.faint);
    }
    if (use == ExtentUse::kZeros || use == ExtentUse::kBehind) {
      list.AddRect(low, high, ui.palette.faint);
    }
  }

  /// Stripes on the panel's ground over the whole rectangle, whatever colour was there.
  static void draw_hatch(Ui& ui, ImVec2 low, ImVec2 high) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(low, high, ui.palette.panel);
    list.PushClipRect(low, high, true);
    const float height = high.y - low.y;
    // In step with the window, so that neighbours are hatched as one.
    const float step = ui.px(kHatchStep);
    const float begin = std::floor((low.x + low.y) / step) * step - low.y;
    const auto count = static_cast<int>(std::ceil((high.x + height - begin) / step));
    for (int i = 0; i < count; ++i) {
      const float x = begin + step * static_cast<float>(i);
      list.AddLine(ImVec2(x, low.y), ImVec2(x - height, high.y), ui.palette.bad, ui.px(2));
    }
    list.PopClipRect();
    ui.probe.note("map.damaged", {}, low, high);
  }

  void draw_frame(const Ui& ui, ImVec2 low, ImVec2 high, std::size_t index) const {
    if (selected_ != index) return;
    ImGui::GetWindowDrawList()->AddRect(low, high, ui.palette.text, 0, 0, ui.px(1.5F));
  }

  void take_click(Ui& ui, std::size_t extent, ImVec2 low, ImVec2 high) {
    if (!ImGui::IsWindowHovered() || !ImGui::IsMouseHoveringRect(low, high)) return;
    const ExtentInfo& info = extents_[extent];
    ImGui::BeginTooltip();
    draw_text(ui, model::label_of(model::extent_name(info)) + "  " +
                      model::format_offset(info.extent.offset_bytes) + "  " +
                      model::format_bytes(info.extent.length_bytes));
    if (info.segment) draw_text(ui, "segment " + std::to_string(info.segment.value));
    ImGui::EndTooltip();
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) selected_ = extent;
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
      ui.actions.go({"hex", ExtentThing{{info.extent.offset_bytes, 0}}});
    }
  }

  void draw_linear(Ui& ui) {
    const ImVec2 room = canvas_room(ui);
    const float label = ImGui::CalcTextSize("000000000000").x + ui.px(10);
    const float bar = ui.px(kMapScrollbar);
    const std::uint64_t size = extents_.back().extent.end_bytes();
    const float larger = enlargement(ui, ImVec2(room.x - label - bar, room.y), size);
    const float cell_width = ui.px(kCellWidth) * larger;
    const float cell_height = ui.px(kCellHeight) * larger;
    const auto columns =
        static_cast<std::uint64_t>(std::max(1.0F, (room.x - label - bar) / cell_width));
    const auto lines = static_cast<std::uint64_t>(std::max(1.0F, room.y / cell_height - 0.5F));
    const std::uint64_t whole = model::map_cell_bytes(size, columns * lines);
    cell_bytes_ = std::max<std::uint64_t>(whole >> std::min(zoom_, 40U), 4096);
    const std::uint64_t row_bytes = columns * cell_bytes_;
    const std::uint64_t rows = (size + row_bytes - 1) / row_bytes;
    if (wanted_) {
      first_row_ = *wanted_ / row_bytes - std::min(*wanted_ / row_bytes, lines / 3);
      selected_ = model::find_extent(extents_, *wanted_);
      wanted_.reset();
    }
    first_row_ = std::min(first_row_, rows > lines ? rows - lines : 0);
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    ImGui::BeginChild("cells", ImVec2(room.x - bar, room.y), false,
                      ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoNavInputs);
    if (ImGui::IsWindowHovered()) scroll(lines, rows);
    take_cells(first_row_ * row_bytes, static_cast<std::size_t>(columns * lines));
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const std::uint64_t column = i % columns;
      const std::uint64_t line = i / columns;
      const auto x = static_cast<float>(column);
      const auto y = static_cast<float>(line);
      const ImVec2 low(corner.x + label + x * cell_width, corner.y + y * cell_height);
      const ImVec2 high(low.x + cell_width - 1, low.y + cell_height - 1);
      draw_mark(ui, low, high, cells_[i].extent);
      if (model::damaged_bytes(damaged_, {cells_[i].offset_bytes, cell_bytes_}) > 0) {
        draw_hatch(ui, low, high);
      }
      draw_frame(ui, low, high, cells_[i].extent);
      take_click(ui, cells_[i].extent, low, high);
      if (column != 0) continue;
      const std::string offset = model::format_offset(cells_[i].offset_bytes);
      ImGui::GetWindowDrawList()->AddText(ImVec2(corner.x, low.y - ui.px(1)), ui.palette.faint,
                                          offset.c_str());
      ui.probe.note("map." + offset, offset, low, high);
    }
    ImGui::EndChild();
    (void)draw_row_scrollbar("mapbar", ImVec2(corner.x + room.x - bar, corner.y),
                             ImVec2(corner.x + room.x, corner.y + room.y), {lines, rows},
                             first_row_);
  }

  /// The factor by which cells of a unit each can be larger than usual, for a small file to fill
  /// the panel.
  static float enlargement(const Ui& ui, ImVec2 room, std::uint64_t size) {
    // In a small window at twice the scale no room is left.
    const float usual =
        std::max(room.x, 0.0F) / ui.px(kCellWidth) * (std::max(room.y, 0.0F) / ui.px(kCellHeight));
    const auto units = static_cast<float>(size) / 4096;
    return std::clamp(std::sqrt(usual / std::max(units, 1.0F)) * 0.9F, 1.0F, kEnlargedMax);
  }

  void scroll(std::uint64_t lines, std::uint64_t rows) {
    const auto notches = static_cast<std::int64_t>(-ImGui::GetIO().MouseWheel * 3);
    const auto distance = static_cast<std::uint64_t>(notches < 0 ? -notches : notches);
    const std::uint64_t last = rows > lines ? rows - lines : 0;
    first_row_ = notches < 0 ? first_row_ - std::min(first_row_, distance)
                             : std::min(last, first_row_ + distance);
  }

  /// The cells on the screen, made anew when the file or the window changed.
  void take_cells(std::uint64_t first_byte, std::size_t count) {
    if (!cells_.empty() && cells_first_ == first_byte && cells_count_ == count &&
        cells_bytes_ == cell_bytes_) {
      return;
    }
    cells_first_ = first_byte;
    cells_count_ = count;
    cells_bytes_ = cell_bytes_;
    cells_ = model::map_cells(extents_, first_byte, cell_bytes_, count);
  }

  /// The tiles, laid out anew when the file or the room changed. Tiles that would be too small to
  /// be seen and hit are one tile together.
  void take_tiles(const Ui& ui, ImVec2 room) {
    if (by_size_.empty()) {
      for (std::size_t i = 0; i < extents_.size(); ++i) by_size_.push_back(i);
      std::ranges::stable_sort(by_size_, std::greater<>{},
                               [&](std::size_t i) { return extents_[i].extent.length_bytes; });
    } else if (tiles_room_.x == room.x && tiles_room_.y == room.y) {
      return;
    }
    tiles_room_ = room;
    std::vector<double> sizes;
    for (const std::size_t i : by_size_) {
      sizes.push_back(static_cast<double>(extents_[i].extent.length_bytes));
    }
    const auto all = static_cast<double>(extents_.back().extent.end_bytes());
    const auto side = static_cast<double>(ui.px(kTileLeast));
    areas_ = model::merge_small_areas(
        sizes, all * side * side / (static_cast<double>(room.x) * static_cast<double>(room.y)));
    sizes.clear();
    for (const model::MapArea& area : areas_) sizes.push_back(area.shown);
    tiles_ = model::squarify(sizes, room.x, room.y);
  }

  void draw_treemap(Ui& ui) {
    const ImVec2 room = canvas_room(ui);
    take_tiles(ui, room);
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    ImGui::BeginChild("tiles", room, false, ImGuiWindowFlags_NoNavInputs);
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      const ImVec2 low(corner.x + tiles_[i].x, corner.y + tiles_[i].y);
      const ImVec2 high(low.x + tiles_[i].width - 1, low.y + tiles_[i].height - 1);
      if (high.x <= low.x || high.y <= low.y) continue;
      if (areas_[i].count > 1) {
        draw_small(ui, low, high, areas_[i]);
        continue;
      }
      const std::size_t index = by_size_[areas_[i].first];
      draw_mark(ui, low, high, index);
      draw_damaged_share(ui, low, high, areas_[i]);
      draw_frame(ui, low, high, index);
      take_click(ui, index, low, high);
      draw_tile_name(ui, low, high, extents_[index]);
    }
    ImGui::EndChild();
  }

  /// Hatches as much of a tile, from below, as is damaged of it, but so much that it can be seen.
  void draw_damaged_share(Ui& ui, ImVec2 low, ImVec2 high, const model::MapArea& area) const {
    std::uint64_t damaged = 0;
    for (std::size_t i = area.first; i < area.first + area.count && !damaged_.empty(); ++i) {
      damaged += model::damaged_bytes(damaged_, extents_[by_size_[i]].extent);
    }
    if (damaged == 0) return;
    const float height = high.y - low.y;
    const auto share = static_cast<float>(static_cast<double>(damaged) / area.size) * height;
    draw_hatch(ui, ImVec2(low.x, high.y - std::min(height, std::max(share, ui.px(8)))), high);
  }

  void draw_small(Ui& ui, ImVec2 low, ImVec2 high, const model::MapArea& area) {
    const std::string name = model::format_count(area.count) + " small";
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(low, high, ui.palette.hovered);
    list.AddRect(low, high, ui.palette.faint);
    draw_damaged_share(ui, low, high, area);
    const ImVec2 size = ImGui::CalcTextSize(name.c_str());
    if (size.x + ui.px(8) <= high.x - low.x && size.y + ui.px(4) <= high.y - low.y) {
      list.AddText(ImVec2(low.x + ui.px(4), low.y + ui.px(2)), ui.palette.text, name.c_str());
    }
    ui.probe.note("tile.small", name, low, high);
    if (!ImGui::IsWindowHovered() || !ImGui::IsMouseHoveringRect(low, high)) return;
    ImGui::BeginTooltip();
    draw_text(ui, name + ", " + model::format_bytes(static_cast<std::uint64_t>(area.size)) +
                      " together; a click shows the table");
    ImGui::EndTooltip();
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) mode_ = Mode::kTable;
  }

  static void draw_tile_name(Ui& ui, ImVec2 low, ImVec2 high, const ExtentInfo& extent) {
    std::string name(model::extent_name(extent));
    if (extent.segment) name += " " + std::to_string(extent.segment.value);
    std::string text = model::label_of(model::extent_name(extent));
    if (extent.segment) text += " " + std::to_string(extent.segment.value);
    ui.probe.note("tile." + name, text, low, high);
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    if (size.x + ui.px(8) > high.x - low.x || size.y + ui.px(4) > high.y - low.y) return;
    // Dark letters on bright tiles, bright ones on dark tiles.
    const Colour ground = colour_of_extent(ui, extent);
    constexpr Colour kDark = rgb(0x101010);
    constexpr Colour kBright = rgb(0xffffff);
    const bool is_bright = contrast(ground, kDark) > contrast(ground, kBright);
    ImGui::GetWindowDrawList()->AddText(ImVec2(low.x + ui.px(4), low.y + ui.px(2)),
                                        is_bright ? kDark : kBright, name.c_str());
  }

  void show_selected(Ui& ui) const {
    if (!selected_ || *selected_ >= extents_.size()) return;
    const ExtentInfo& extent = extents_[*selected_];
    ui.details.title = std::string(model::extent_name(extent));
    ui.details.lines = {
        {"offset_bytes", model::format_offset(extent.extent.offset_bytes),
         ExtentThing{{extent.extent.offset_bytes, 0}}},
        {"length_bytes", model::format_bytes(extent.extent.length_bytes), {}},
        {"end_bytes", model::format_offset(extent.extent.end_bytes()), {}},
    };
    const auto add = [&ui](const char* name, std::uint64_t value, Thing thing) {
      if (value != 0) ui.details.lines.push_back({name, std::to_string(value), std::move(thing)});
    };
    add("segment", extent.segment.value, SegmentThing{extent.segment});
    add("run_id", extent.run.value, {});
    add("born", extent.born.value, GenerationThing{extent.born});
    add("retired", extent.retired.value, GenerationThing{extent.retired});
  }

  std::uint64_t number_ = 0;
  std::vector<ExtentInfo> extents_;
  std::optional<Error> problem_;
  std::shared_ptr<const model::TableSource> rows_;
  Table64 table_;
  Mode mode_ = Mode::kLinear;
  unsigned zoom_ = 0;
  std::uint64_t first_row_ = 0;
  std::uint64_t cell_bytes_ = 4096;
  std::vector<model::MapCell> cells_;
  std::uint64_t cells_first_ = 0;
  std::uint64_t cells_bytes_ = 0;
  std::size_t cells_count_ = 0;
  std::vector<std::pair<std::string_view, std::size_t>> legend_;  // name, and an extent of it
  std::string lit_;                                               // name; empty = all
  std::vector<Extent> damaged_;
  std::pair<std::uint64_t, std::uint64_t> damaged_of_;  // numbers of the view, of the check
  std::vector<std::size_t> by_size_;
  std::vector<model::MapArea> areas_;
  std::vector<model::MapTile> tiles_;
  ImVec2 tiles_room_;
  std::optional<std::size_t> selected_;
  std::optional<std::uint64_t> wanted_;
  std::optional<SegmentId> wanted_segment_;
};

}  // namespace

std::unique_ptr<Panel> make_map_panel() {
  return std::make_unique<MapPanel>();
}

}  // namespace crawlstore::inspector
