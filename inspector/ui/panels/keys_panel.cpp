// SPDX-License-Identifier: Apache-2.0
// Colours, size, following; and every command with its keys.
#include "inspector/ui/panels/panels.h"
#include "inspector/ui/table64.h"
#include "model/format_text.h"

namespace crawlstore::inspector {
namespace {

class KeysPanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    draw_heading(ui, "Colours");
    for (const Palette& palette : palettes()) {
      const std::string name(palette.name);
      if (&palette != palettes().data()) place_beside(choice_width(name));
      if (draw_choice(ui, "settings.theme_" + name, name, ui.settings.theme == name)) {
        ui.actions.run("theme_" + name);
      }
    }
    draw_heading(ui, "Size");
    if (draw_button(ui, "settings.smaller", "-", "Ctrl+-")) ui.actions.run("smaller");
    ImGui::SameLine();
    draw_text(ui, model::format_count(static_cast<std::uint64_t>(100 * ui.settings.scale)) + " %");
    ImGui::SameLine();
    if (draw_button(ui, "settings.larger", "+", "Ctrl+=")) ui.actions.run("larger");
    draw_heading(ui, "Following");
    bool is_following = ui.session.is_following;
    const bool is_clicked =
        ImGui::Checkbox("show each new generation when it is committed (F6)", &is_following);
    ui.probe.note_item("settings.follow", "follow");
    if (take_stop(ui, "settings.follow") || is_clicked) ui.actions.run("follow");
    draw_heading(ui, "Commands");
    if (commands_ == nullptr) list_commands(ui);
    table_.draw(ui, commands_, {.id = "commands"});
  }
  void let_go(Jobs& /*jobs*/) override {}
  [[nodiscard]] std::string view_state() const override { return table_.view_state(); }
  void restore(std::string_view state) override { table_.restore(state); }
  bool export_to(Ui& ui, const std::string& path) override { return table_.export_to(ui, path); }

 private:
  void list_commands(const Ui& ui) {
    model::Table table{"commands",
                       {{"title", model::Unit::kText},
                        {"keys", model::Unit::kText},
                        {"id", model::Unit::kText},
                        {"what", model::Unit::kText}},
                       {}};
    for (const Command& command : ui.commands.all()) {
      table.rows.push_back({command.title, command.keys, command.id, command.help});
    }
    commands_ = std::make_shared<model::TableRows>(std::move(table));
  }

  std::shared_ptr<const model::TableSource> commands_;
  Table64 table_;
};

}  // namespace

std::unique_ptr<Panel> make_keys_panel() {
  return std::make_unique<KeysPanel>();
}

}  // namespace crawlstore::inspector
