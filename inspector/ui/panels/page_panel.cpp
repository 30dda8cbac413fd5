// SPDX-License-Identifier: Apache-2.0
// One page: everything that is known of it, how it was found, who links to it, what it links to.
#include <algorithm>
#include <array>
#include <iterator>

#include <imgui.h>

#include "inspector/core/shown_text.h"
#include "inspector/ui/panels/page_groups.h"
#include "inspector/ui/panels/pages_choice.h"
#include "inspector/ui/panels/panels.h"
#include "inspector/ui/table64.h"
#include "model/format_text.h"
#include "model/page_detail.h"
#include "model/parse_text.h"
#include "model/queue_view.h"

namespace crawlstore::inspector {
namespace {

enum class PagePart : std::uint8_t { kPath, kOut, kIn, kCopies };
constexpr std::size_t kParts = 4;

class PagePanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    const auto view = ui.session.view();
    if (view == nullptr) return draw_no_file(ui);
    const PageView* pages = choice_.draw(ui, *view, "page");
    if (pages == nullptr) return let_go(ui.jobs);
    if (!index_) {
      draw_paragraph(ui, "No page is chosen: a double click on one in the table of pages does it.",
                     ui.palette.faint);
      return draw_link(ui, "page.pages", "Pages", {"pages", {}});
    }
    ask(ui, *pages, *view);
    const auto& found = *found_;
    if (found == nullptr) return draw_text(ui, "reading ...", ui.palette.faint);
    if (found->problem) return draw_problem(ui, *found->problem);
    for (const Error& problem : found->detail.problems) draw_problem(ui, problem);
    draw_tools(ui, *found);
    draw_fields(ui, *found);
    groups_.draw(ui, *view, {pages->info().name, found->index, host_of(*found)});
    draw_lists(ui, *found);
  }

  void let_go(Jobs& jobs) override {
    jobs.cancel_slot("page detail");
    groups_.let_go(jobs);
    *found_ = nullptr;
    asked_.reset();
  }
  void show(const Thing& thing) override {
    const auto* page = std::get_if<PageThing>(&thing);
    if (page == nullptr) return;
    choice_.choose(page->pages);
    if (index_ == page->index) return;
    index_ = page->index;
    tables_ = {};
  }
  [[nodiscard]] std::string view_state() const override {
    return std::to_string(static_cast<int>(part_)) + "\n" +
           tables_[static_cast<std::size_t>(part_)].view_state();
  }
  void restore(std::string_view state) override {
    const auto end = state.find('\n');
    if (end == state.npos) return;
    const auto part =
        std::min<std::uint64_t>(kParts - 1, model::parse_count(state.substr(0, end)).value_or(0));
    part_ = static_cast<PagePart>(part);
    tables_[part].restore(state.substr(end + 1));
  }
  bool export_to(Ui& ui, const std::string& path) override {
    return tables_[static_cast<std::size_t>(part_)].export_to(ui, path);
  }

 private:
  /// The findings of a job, shared with it.
  struct Found {
    std::uint64_t index = 0;
    model::PageDetail detail;
    std::array<std::shared_ptr<const model::TableSource>, kParts> lists;  // by PagePart
    std::optional<Error> problem;
  };

  /// The shown page stays until another answer is there, unless it is of another page.
  void ask(Ui& ui, const PageView& pages, const model::FileView& view) {
    const std::pair wanted{choice_.version(), *index_};
    if (asked_ == wanted) return;
    if (asked_ && asked_->second != *index_) *found_ = nullptr;
    asked_ = wanted;
    ui.jobs.start("read page " + std::to_string(*index_), "page detail",
                  [pages, index = *index_, snapshot = queues_of(view),
                   box = found_](JobContext&) -> Jobs::Finish {
                    auto found = std::make_shared<Found>();
                    found->index = index;
                    auto detail = model::page_detail(pages, index);
                    if (detail) {
                      const auto rows = [&pages](const model::PageList& list, const char* name) {
                        const auto none = std::make_shared<const std::vector<std::uint64_t>>();
                        return model::page_table(pages, list ? list : none, name);
                      };
                      found->lists = {
                          rows(detail->path, "path"), rows(detail->out_links, "out_links"),
                          rows(detail->in_links, "in_links"), rows(detail->copies, "copies")};
                      found->detail = std::move(*detail);
                      if (snapshot) {
                        std::ranges::move(model::queue_fields(*snapshot, index),
                                          std::back_inserter(found->detail.fields));
                      }
                    } else {
                      found->problem = detail.error();
                    }
                    return [box, found] { *box = found; };
                  });
  }

  /// If there are several databases, nobody knows to which one the pages of a queue belong.
  static std::optional<Snapshot> queues_of(const model::FileView& view) {
    return view.pages.size() == 1 ? view.snapshot : std::nullopt;
  }

  static std::string host_of(const Found& found) {
    const auto& fields = found.detail.fields;
    const auto host = std::ranges::find(fields, "host", &model::Field::name);
    const auto* text = host == fields.end() ? nullptr : std::get_if<std::string>(&host->value);
    return text == nullptr ? std::string() : *text;
  }

  void draw_tools(Ui& ui, const Found& found) {
    const PageInfo& page = found.detail.page;
    const std::string name = page.url.empty() ? "page " + std::to_string(page.index) : page.url;
    draw_paragraph(ui, fit_text(ui, shown_text(name), 3 * ImGui::GetContentRegionAvail().x),
                   ui.palette.accent);
    ImGui::BeginDisabled(page.url.empty());
    if (draw_button(ui, "page.copy_url", "Copy the URL")) ui.actions.copy(page.url, "URL");
    ImGui::EndDisabled();
    place_beside(button_width("Graph around it"));
    if (draw_button(ui, "page.graph", "Graph around it")) {
      ui.actions.go({"graph", PageThing{choice_.name(), found.index}});
    }
    place_beside(button_width("Show it in the table"));
    if (draw_button(ui, "page.table", "Show it in the table")) {
      ui.actions.go({"pages", PageThing{choice_.name(), found.index}});
    }
    if (ui.session.view()->queues.empty()) return;
    place_beside(button_width("Its place in the queue"));
    if (draw_button(ui, "page.queue", "Its place in the queue",
                    "whether it waits, and why it is not next")) {
      ui.actions.go({"queue", PageThing{choice_.name(), found.index}});
    }
  }

  [[nodiscard]] Thing thing_of_field(const model::Field& field) const {
    if (field.name == "host") return HostThing{choice_.name(), std::get<std::string>(field.value)};
    const auto* number = std::get_if<std::uint64_t>(&field.value);
    if (field.name == "linked_from" && number != nullptr) {
      return PageThing{choice_.name(), *number};
    }
    return {};
  }

  /// In two columns where there is room.
  void draw_fields(Ui& ui, const Found& found) const {
    const auto& fields = found.detail.fields;
    const float name_width = ui.px(130);
    const bool is_wide = ImGui::GetContentRegionAvail().x > ui.px(560);
    const std::size_t rows = is_wide ? (fields.size() + 1) / 2 : fields.size();
    const float half = ImGui::GetContentRegionAvail().x / (is_wide ? 2.0F : 1.0F);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    float bottom = at.y;
    for (std::size_t column = 0; column * rows < fields.size(); ++column) {
      ImGui::SetCursorScreenPos(ImVec2(at.x + half * static_cast<float>(column), at.y));
      ImGui::BeginGroup();
      for (std::size_t i = column * rows; i < std::min((column + 1) * rows, fields.size()); ++i) {
        const float room = half - name_width - ui.px(12);
        const float gap = name_width - draw_name(ui, fields[i].name);
        ImGui::SameLine(0, 0);
        ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(gap, ui.px(8)));
        draw_value(ui, fields[i], room);
      }
      ImGui::EndGroup();
      bottom = std::max(bottom, ImGui::GetCursorScreenPos().y);
    }
    ImGui::SetCursorScreenPos(ImVec2(at.x, bottom));
  }

  void draw_value(Ui& ui, const model::Field& field, float room) const {
    const std::string text = fit_text(ui, shown_text(field.value, field.unit), room);
    const Thing thing = thing_of_field(field);
    const std::string label = "page." + field.name;
    if (std::holds_alternative<std::monostate>(thing) || text.empty()) {
      draw_text(ui, text);
      ui.probe.note_item(label, text);
    } else {
      draw_link(ui, label, text, {{}, thing});
    }
  }

  void draw_lists(Ui& ui, const Found& found) {
    constexpr std::array<std::pair<PagePart, const char*>, kParts> kTitles{
        {{PagePart::kPath, "How it was found"},
         {PagePart::kOut, "What it links to"},
         {PagePart::kIn, "What links to it"},
         {PagePart::kCopies, "What has its content"}}};
    ImGui::Dummy(ImVec2(0, ui.px(4)));
    const bool has_copies = found.detail.copies != nullptr;  // there is an index of contents
    if (!has_copies && part_ == PagePart::kCopies) part_ = PagePart::kPath;
    for (const auto& [part, title] : kTitles) {
      if (!has_copies && part == PagePart::kCopies) continue;
      const auto& list = *found.lists[static_cast<std::size_t>(part)];
      const std::string text = std::string(title) + " " + model::format_count(list.row_count());
      if (part != PagePart::kPath) place_beside(choice_width(text));
      if (draw_choice(ui, std::string("page.") + list.name(), text, part_ == part)) part_ = part;
    }
    const auto at = static_cast<std::size_t>(part_);
    TableOptions options{.id = found.lists[at]->name()};
    options.pages = choice_.name();
    options.choose = [&ui, name = choice_.name()](const model::Row& row) {
      ui.actions.go({"page_detail", PageThing{name, std::get<std::uint64_t>(row.front())}});
    };
    tables_[at].draw(ui, found.lists[at], options);
  }

  PagesChoice choice_;
  std::optional<std::uint64_t> index_;
  PagePart part_ = PagePart::kPath;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> asked_;  // version, index
  std::shared_ptr<std::shared_ptr<const Found>> found_ =
      std::make_shared<std::shared_ptr<const Found>>();
  PageGroups groups_;
  std::array<Table64, kParts> tables_;  // by PagePart
};

}  // namespace

std::unique_ptr<Panel> make_page_panel() {
  return std::make_unique<PagePanel>();
}

}  // namespace crawlstore::inspector
