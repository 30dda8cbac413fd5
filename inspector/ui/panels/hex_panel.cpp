// SPDX-License-Identifier: Apache-2.0
// The bytes, what they mean, and both linked: a field under the pointer frames its bytes, a byte
// its field.
#include <algorithm>

#include <imgui.h>

#include <crawlstore/tools/inspect.h>

#include "inspector/core/shown_text.h"
#include "inspector/ui/hexgrid.h"
#include "inspector/ui/panels/panels.h"
#include "inspector/ui/table64.h"
#include "model/dump_view.h"
#include "model/format_text.h"
#include "model/parse_text.h"

namespace crawlstore::inspector {
namespace {

constexpr std::size_t kValueBytes = 16;
constexpr std::uint64_t kFramedMax = 64;  // longer fields are only tinted

class HexPanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    const auto view = ui.session.view();
    if (view == nullptr) return draw_no_file(ui);
    follow(ui, *view);
    if (bytes_ == nullptr) return draw_problem(ui, *open_problem_);
    draw_tools(ui);
    describe_cursor(ui, view->path);
    const float height = std::max(ImGui::GetContentRegionAvail().y, ui.px(160));
    grid_.draw(ui, *bytes_, marks(ui), height);
    if (grid_.has_moved()) fields_table_ = Table64();
    ImGui::SameLine(0, ui.px(8));
    // The bytes need all their columns; what they mean gets what is left, or is scrolled to.
    const float width = std::max(ui.px(260), ImGui::GetContentRegionAvail().x);
    ImGui::BeginChild("meaning", ImVec2(width, height));
    draw_meaning(ui);
    ImGui::EndChild();
  }
  void let_go(Jobs& /*jobs*/) override {}

  void show(const Thing& thing) override {
    const auto* place = std::get_if<ExtentThing>(&thing);
    if (place == nullptr) return;
    shown_ = place->extent;
    grid_.go(place->extent.offset_bytes);
  }
  [[nodiscard]] std::string view_state() const override {
    return std::to_string(grid_.first_line()) + " " + std::to_string(grid_.cursor());
  }
  void restore(std::string_view state) override {
    const auto blank = state.find(' ');
    if (blank == state.npos) return;
    grid_.go(model::parse_count(state.substr(blank + 1)).value_or(0));
    grid_.set_first_line(model::parse_count(state.substr(0, blank)).value_or(0));
  }
  [[nodiscard]] bool has_details() const override { return false; }
  bool export_to(Ui& ui, const std::string& path) override {
    return fields_table_.export_to(ui, path);
  }

 private:
  /// The findings of a job about a place.
  struct Description {
    std::uint64_t offset = 0;
    std::vector<FieldInfo> fields;
    std::shared_ptr<const model::TableSource> rows;
    std::optional<Error> problem;
  };

  void follow(Ui& ui, const model::FileView& view) {
    if (number_ == view.number) return;
    number_ = view.number;
    // Anew each time: the path may lead to another file by now.
    auto opened = model::FileBytes::open(view.path);
    open_problem_ = opened ? std::nullopt : std::optional(opened.error());
    bytes_ = opened ? *opened : nullptr;
    asked_for_.reset();
    ui.actions.redraw();
  }

  /// Asks what lies at the cursor; until that is known, what is known stays.
  void describe_cursor(Ui& ui, const std::string& path) {
    const std::uint64_t offset = grid_.cursor();
    if (asked_for_ == offset) return;
    asked_for_ = offset;
    ui.jobs.start("describe " + model::format_offset(offset), "hex fields",
                  [path, offset, box = described_](JobContext&) -> Jobs::Finish {
                    auto found = std::make_shared<Description>();
                    found->offset = offset;
                    auto fields = describe_at(path, offset);
                    if (fields) {
                      found->fields = std::move(*fields);
                      found->rows =
                          std::make_shared<model::TableRows>(model::field_tree(found->fields));
                    } else {
                      found->problem = fields.error();
                    }
                    return [box, found] { *box = found; };
                  });
  }

  /// The smallest field that holds the byte.
  [[nodiscard]] const FieldInfo* field_of(std::uint64_t offset) const {
    const FieldInfo* smallest = nullptr;
    if (*described_ == nullptr) return smallest;
    for (const FieldInfo& field : (*described_)->fields) {
      const Extent extent{field.offset_bytes, field.length_bytes};
      if (offset < extent.offset_bytes || offset >= extent.end_bytes()) continue;
      if (smallest == nullptr || field.length_bytes <= smallest->length_bytes) smallest = &field;
    }
    return smallest;
  }

  [[nodiscard]] std::vector<HexMark> marks(const Ui& ui) const {
    std::vector<HexMark> marks;
    if (*described_ != nullptr) {
      bool is_odd = false;
      for (const FieldInfo& field : (*described_)->fields) {
        if (field.type == "struct" || field.type == "list" || field.length_bytes == 0) continue;
        const Colour colour = !field.problem.empty() ? ui.palette.bad : ui.palette.accent;
        const std::uint32_t alpha = !field.problem.empty() ? 110 : is_odd ? 56 : 28;
        marks.push_back({{field.offset_bytes, field.length_bytes}, with_alpha(colour, alpha)});
        is_odd = !is_odd;
      }
    }
    if (shown_.length_bytes > 0) marks.push_back({shown_, ui.palette.warning, true});
    const auto offset = grid_.hovered();
    const FieldInfo* field = field_of(offset ? *offset : grid_.cursor());
    if (field != nullptr && field->length_bytes <= kFramedMax) {
      marks.push_back({{field->offset_bytes, field->length_bytes}, ui.palette.accent, true});
    }
    if (const auto& row = fields_table_.selected_row(); row && row->size() > 4) {
      const auto* at = std::get_if<std::uint64_t>(&(*row)[3]);
      const auto* length = std::get_if<std::uint64_t>(&(*row)[4]);
      if (at != nullptr && length != nullptr) {
        marks.push_back({{*at, *length}, ui.palette.good, true});
      }
    }
    return marks;
  }

  void draw_tools(Ui& ui) {
    ImGui::SetNextItemWidth(ui.px(150));
    if (draw_input(ui, "hex.goto", "go to 0x14000", goto_)) {
      if (const auto offset = model::parse_count(goto_)) {
        ui.actions.go({"hex", ExtentThing{{*offset, 0}}});
      } else {
        ui.actions.say(Severity::kWarning, "an offset is expected: 81920 or 0x14000");
      }
    }
    place_beside(ui.px(220));
    ImGui::SetNextItemWidth(ui.px(220));
    const bool is_entered = draw_input(ui, "hex.find", "find \"text\" or 89 43 52 57", find_);
    place_beside(button_width("Find next"));
    const bool is_asked = ui.focus.takes_row_step("hex.find") && !find_.empty();
    const bool is_clicked = draw_button(ui, "hex.next", "Find next", "F3: from the cursor on");
    if (is_clicked || is_entered || is_asked) find(ui);
    place_beside(button_width("Copy 256 bytes"));
    if (draw_button(ui, "hex.copy", "Copy 256 bytes", "as a hex dump, from the cursor on")) {
      if (const auto bytes = bytes_->read(grid_.cursor(), 256)) {
        ui.actions.copy(model::hex_dump(grid_.cursor(), *bytes), "hex dump");
      }
    }
    draw_problem_buttons(ui);
  }

  void find(Ui& ui) {
    const auto wanted = model::parse_byte_string(find_);
    if (!wanted) {
      ui.actions.say(Severity::kWarning, "find \"text\" in quotes, or pairs of hex digits");
      return;
    }
    const std::uint64_t from = grid_.cursor() + 1;
    const std::uint64_t size = bytes_->size().value_or(0);
    ui.jobs.start("find " + find_, "hex find",
                  [bytes = bytes_, wanted = *wanted, from, size,
                   &actions = ui.actions](JobContext& context) -> Jobs::Finish {
                    const Extent within{from, size - std::min(size, from)};
                    const auto found = bytes->find(wanted, within, [&](std::uint64_t at) {
                      return context.progress(at - from, size - from);
                    });
                    if (!found) return nullptr;
                    return [&actions, at = *found, length = wanted.size()] {
                      if (at) return actions.go({"hex", ExtentThing{{*at, length}}});
                      actions.say(Severity::kNote, "not found from the cursor to the end");
                    };
                  });
  }

  void draw_problem_buttons(Ui& ui) {
    if (ui.session.health.problems().empty()) return;
    std::vector<std::uint64_t> offsets;
    for (const Finding& finding : ui.session.health.problems()) {
      if (finding.error.offset != Error::kNoOffset) offsets.push_back(finding.error.offset);
    }
    std::ranges::sort(offsets);
    const auto after = std::ranges::upper_bound(offsets, grid_.cursor());
    const auto before = std::ranges::lower_bound(offsets, grid_.cursor());
    place_beside(button_width("Previous problem"));
    ImGui::BeginDisabled(before == offsets.begin());
    if (draw_button(ui, "hex.previous_problem", "Previous problem")) {
      ui.actions.go({"hex", ExtentThing{{*(before - 1), 0}}});
    }
    ImGui::EndDisabled();
    place_beside(button_width("Next problem"));
    ImGui::BeginDisabled(after == offsets.end());
    if (draw_button(ui, "hex.next_problem", "Next problem")) {
      ui.actions.go({"hex", ExtentThing{{*after, 0}}});
    }
    ImGui::EndDisabled();
  }

  void draw_meaning(Ui& ui) {
    if (const FieldInfo* field = field_of(grid_.hovered().value_or(grid_.cursor()))) {
      draw_text(ui, field->name, ui.palette.accent);
      const std::string value = field->type + "  " + shown_text(model::field_text(*field));
      place_beside(text_width(value));
      draw_paragraph(ui, value, ui.palette.text);
      if (!field->problem.empty()) draw_paragraph(ui, field->problem, ui.palette.bad);
    } else {
      draw_paragraph(ui, "nothing is known of this byte", ui.palette.faint);
    }
    const auto& known = *described_;
    if (known == nullptr) return;
    if (known->problem) return draw_problem(ui, *known->problem);
    const float room = ImGui::GetContentRegionAvail().y;
    const float values = std::min(ImGui::GetTextLineHeightWithSpacing() * 18, room * 0.55F);
    TableOptions options{.id = "fields"};
    options.height = ImGui::GetContentRegionAvail().y - values;
    options.has_filter = false;
    fields_table_.draw(ui, known->rows, options);
    draw_values(ui);
  }

  /// The bytes at the cursor, as whatever they could be.
  void draw_values(Ui& ui) const {
    const auto bytes = bytes_->read(grid_.cursor(), kValueBytes);
    if (!bytes) return;
    draw_heading(ui, "At " + model::format_offset(grid_.cursor()));
    for (const model::Field& field : model::byte_values(*bytes)) {
      draw_field(ui, field.name, model::format_cell(field.value, field.unit), {}, ui.px(90));
    }
  }

  std::uint64_t number_ = 0;
  std::shared_ptr<const model::FileBytes> bytes_;
  std::optional<Error> open_problem_;
  HexGrid grid_;
  Extent shown_;
  std::string goto_;
  std::string find_;
  std::optional<std::uint64_t> asked_for_;
  // Shared with the job that fills it, which may outlive the panel.
  std::shared_ptr<std::shared_ptr<const Description>> described_ =
      std::make_shared<std::shared_ptr<const Description>>();
  Table64 fields_table_;
};

}  // namespace

std::unique_ptr<Panel> make_hex_panel() {
  return std::make_unique<HexPanel>();
}

}  // namespace crawlstore::inspector
