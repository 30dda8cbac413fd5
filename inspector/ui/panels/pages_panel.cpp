// SPDX-License-Identifier: Apache-2.0
// Pages as a table: all of them, those of a host, those with the best scores.
#include <algorithm>
#include <utility>

#include <imgui.h>

#include <crawlstore/page_key.h>
#include <crawlstore/scores.h>

#include "inspector/core/shown_text.h"
#include "inspector/ui/panels/choices.h"
#include "inspector/ui/panels/pages_choice.h"
#include "inspector/ui/panels/panels.h"
#include "inspector/ui/table64.h"
#include "model/format_text.h"
#include "model/host_name.h"
#include "model/host_rows.h"
#include "model/page_source.h"
#include "model/parse_text.h"
#include "model/scores_view.h"

namespace crawlstore::inspector {
namespace {

constexpr std::size_t kTopPages = 1000;

enum class PagesPart : std::uint8_t { kAll, kTop, kHost };

class PagesPanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    const auto view = ui.session.view();
    if (view == nullptr) return draw_no_file(ui);
    const PageView* pages = choice_.draw(ui, *view, "pages");
    if (pages == nullptr) return let_go(ui.jobs);
    // Not when its cross was clicked: going back brings the state of that frame, with the host.
    if (std::exchange(must_drop_host_, false)) {
      host_.clear();
      part_ = PagesPart::kAll;
    }
    draw_summary(ui, pages->info());
    if (pages->info().has_urls) draw_find(ui, *pages);
    look_for_scores(*pages);
    draw_parts(ui);
    follow(ui, *pages);
    if (*found_ && (*found_)->problem) return draw_problem(ui, *(*found_)->problem);
    if (part_ == PagesPart::kTop && scores_ == nullptr) draw_no_scores(ui);
    if (part_ == PagesPart::kTop && scores_problem_) draw_problem(ui, *scores_problem_);
    if (rows_ == nullptr) return draw_text(ui, "reading ...", ui.palette.faint);
    if (part_ == PagesPart::kHost && rows_->row_count() == 0) {
      return draw_paragraph(ui, "No page is of the host " + shown_text(host_) + ".",
                            ui.palette.faint);
    }
    if (wanted_row_) {
      table_.set_filter({});
      table_.select(*std::exchange(wanted_row_, std::nullopt));
    }
    TableOptions options{.id = "pages"};
    options.is_main = true;
    options.pages = choice_.name();
    options.choose = [&ui, name = choice_.name()](const model::Row& row) {
      ui.actions.go({"page_detail", PageThing{name, std::get<std::uint64_t>(row.front())}});
    };
    table_.draw(ui, rows_, options);
  }

  void let_go(Jobs& jobs) override {
    jobs.cancel_slot("pages");
    *found_ = nullptr;
    rows_.reset();
    rows_of_.clear();
    scores_version_ = 0;
  }
  void show(const Thing& thing) override {
    if (const auto* page = std::get_if<PageThing>(&thing)) {
      choice_.choose(page->pages);
      part_ = PagesPart::kAll;
      wanted_row_ = page->index;
    }
    if (const auto* row = std::get_if<RowThing>(&thing)) wanted_row_ = row->row;
    if (const auto* host = std::get_if<HostThing>(&thing)) {
      choice_.choose(host->pages);
      part_ = PagesPart::kHost;
      host_ = host->host;
    }
  }
  [[nodiscard]] std::string view_state() const override {
    return std::to_string(static_cast<int>(part_)) + "\n" + choice_.name() + "\n" + host_ + "\n" +
           find_ + "\n" + table_.view_state();
  }
  void restore(std::string_view state) override {
    const auto lines = take_lines<4>(state);
    if (!lines) return;
    part_ = static_cast<PagesPart>(
        std::min<std::uint64_t>(2, model::parse_count((*lines)[0]).value_or(0)));
    choice_.choose(std::string((*lines)[1]));
    host_ = (*lines)[2];
    find_ = (*lines)[3];
    wanted_row_.reset();
    table_.restore(state);
  }
  bool export_to(Ui& ui, const std::string& path) override { return table_.export_to(ui, path); }

 private:
  /// The findings of a job, shared with it.
  struct Found {
    std::shared_ptr<const model::TableSource> rows;
    std::optional<Error> problem;
  };

  /// Finds the array that the best pages go by, when there is another look at the file.
  void look_for_scores(const PageView& pages) {
    if (std::exchange(scores_version_, choice_.version()) == choice_.version()) return;
    auto [arrays, problem] = model::readable_scores(pages);
    const ScoresInfo* best = model::find_best_scores(arrays);
    scores_ = best == nullptr ? nullptr : std::make_unique<ScoresInfo>(*best);
    scores_problem_ = problem;
  }
  static void draw_no_scores(Ui& ui) {
    draw_paragraph(ui,
                   "There is no array of scores, so these are the scores that pages were added "
                   "with: `crawlstore rank FILE` computes PageRank.",
                   ui.palette.warning);
  }

  static void draw_summary(Ui& ui, const PagesInfo& info) {
    std::string text = model::format_counted(info.page_count, "page") + ", " +
                       model::format_count(info.crawled_count) + " crawled; " +
                       model::format_counted(info.link_count, "link") + "; " +
                       model::format_counted(info.superstep_count, "superstep");
    if (!info.has_urls) text += "; pages have no URLs here, only indexes";
    draw_paragraph(ui, text, ui.palette.text);
    if (info.event_count == 0) return;
    const std::string waiting = model::format_counted(info.event_count, "edit") + " waiting";
    draw_link(ui, "pages.events", waiting, {"events", {}});
  }

  void draw_find(Ui& ui, const PageView& pages) {
    const float buttons =
        button_width("Find the page") + button_width("Only its host") + 2 * ui.px(8);
    const float room = ImGui::GetContentRegionAvail().x;
    ImGui::SetNextItemWidth(
        std::min(ui.px(520), room - buttons < ui.px(160) ? room : room - buttons));
    const bool is_entered = draw_input(ui, "pages.find", "a URL; or a host", find_);
    place_beside(button_width("Find the page"));
    const bool is_clicked = draw_button(ui, "pages.find_page", "Find the page");
    place_beside(button_width("Only its host"));
    if (draw_button(ui, "pages.find_host", "Only its host") && !find_.empty()) {
      const std::string host = url_host(find_);
      ui.actions.go({"pages", HostThing{choice_.name(), host.empty() ? find_ : host}});
    }
    if ((!is_entered && !is_clicked) || find_.empty()) return;
    const auto index = pages.find(find_);
    if (!index) ui.actions.meet(index.error());
    if (!index) return ui.actions.say(Severity::kBad, describe(index.error()));
    if (!*index) return ui.actions.say(Severity::kWarning, "no page has this URL");
    ui.actions.go({"page_detail", PageThing{choice_.name(), **index}});
  }

  void draw_parts(Ui& ui) {
    if (draw_choice(ui, "pages.all", "all", part_ == PagesPart::kAll)) part_ = PagesPart::kAll;
    std::string top = "best " + model::format_count(kTopPages) + " by ";
    top += scores_ == nullptr ? "score" : fit_text(ui, shown_text(scores_->name), ui.px(200));
    if (scores_ != nullptr && scores_->is_stale) top += " (stale)";
    place_beside(choice_width(top));
    if (draw_choice(ui, "pages.top", top, part_ == PagesPart::kTop)) part_ = PagesPart::kTop;
    if (host_.empty() && part_ != PagesPart::kHost) return;
    draw_host(ui);
    if (part_ != PagesPart::kHost) return;
    place_beside(text_width("graph of hosts"));
    draw_link(ui, "pages.graph", "graph of hosts", {"graph", HostThing{choice_.name(), host_}});
  }

  /// The host as a chip: chosen by a click, and gone, with its choice, by the cross behind it.
  void draw_host(Ui& ui) {
    constexpr const char* kCross = "\xc3\x97";
    const std::string host = "host " + shown_text(model::both_host_names(host_));
    const std::string fitted = fit_middle(ui, host, ui.px(400));
    place_beside(choice_width(fitted) + button_width(kCross));
    if (draw_choice(ui, "pages.host", fitted, part_ == PagesPart::kHost)) part_ = PagesPart::kHost;
    place_beside(button_width(kCross), 0);
    if (!draw_button(ui, "pages.no_host", kCross)) return;
    must_drop_host_ = true;
    ui.actions.go({"pages", {}});
  }

  /// All pages are there at once; others are looked for by a job, and stay until it has found them.
  void follow(Ui& ui, const PageView& pages) {
    const std::string wanted = std::to_string(choice_.version()) + " " +
                               std::to_string(static_cast<int>(part_)) +
                               (part_ == PagesPart::kHost ? host_ : "");
    if (wanted == rows_of_) {
      if (*found_) rows_ = (*found_)->rows;
      return;
    }
    const bool is_other_part =
        rows_of_.substr(rows_of_.find(' ') + 1) != wanted.substr(wanted.find(' ') + 1);
    if (is_other_part && !rows_of_.empty()) table_.scroll_to_top(0);
    if (is_other_part) rows_.reset();
    rows_of_ = wanted;
    found_ = std::make_shared<std::shared_ptr<const Found>>();
    if (part_ == PagesPart::kAll) {
      ui.jobs.cancel_slot("pages");
      rows_ = model::page_table(pages);
      return;
    }
    if (part_ == PagesPart::kTop) {
      const std::string scores = scores_ == nullptr ? "" : scores_->name;
      ui.jobs.start("best pages by score", "pages",
                    [pages, scores, box = found_](JobContext& /*context*/) {
                      return take(box, best_rows(pages, scores));
                    });
      return;
    }
    ui.jobs.start("pages of " + shown_text(model::host_name(host_)), "pages",
                  [pages, host = host_, box = found_](JobContext& context) {
                    return take(box, rows_of_host(pages, host, context));
                  });
  }

  using Rows = std::shared_ptr<const model::TableSource>;
  /// By the array; without a name by the pages' own scores.
  static Result<Rows> best_rows(const PageView& pages, const std::string& name) {
    if (name.empty()) {
      CRAWLSTORE_TRY(auto list, model::top_pages(pages, kTopPages));
      return model::page_table(pages, std::move(list), "top_pages");
    }
    CRAWLSTORE_TRY(const auto scores, ScoreView::open(pages, name));
    CRAWLSTORE_TRY(auto list, model::top_pages(scores, kTopPages));
    return model::page_table(pages, std::move(list), "top_pages", scores);
  }
  static Result<Rows> rows_of_host(const PageView& pages, const std::string& host,
                                   JobContext& context) {
    const auto progress = [&context](auto... at) { return context.progress(at...); };
    CRAWLSTORE_TRY(auto list, model::pages_of_host(pages, host, progress));
    return model::page_table(pages, std::move(list), "pages_of_host");
  }
  static Jobs::Finish take(const std::shared_ptr<std::shared_ptr<const Found>>& box,
                           const Result<Rows>& rows) {
    auto found = std::make_shared<Found>();
    if (rows) {
      found->rows = *rows;
    } else if (rows.error().code == Errc::kCancelled) {
      return nullptr;
    } else {
      found->problem = rows.error();
    }
    return [box, found] { *box = found; };
  }

  PagesChoice choice_;
  PagesPart part_ = PagesPart::kAll;
  std::unique_ptr<const ScoresInfo> scores_;  // the best array; nullptr = none
  std::optional<Error> scores_problem_;       // why another one is not looked at
  std::uint64_t scores_version_ = 0;
  std::string host_;
  bool must_drop_host_ = false;
  std::string find_;
  std::shared_ptr<const model::TableSource> rows_;
  std::string rows_of_;  // what they were made for
  std::shared_ptr<std::shared_ptr<const Found>> found_ =
      std::make_shared<std::shared_ptr<const Found>>();
  std::optional<std::uint64_t> wanted_row_;
  Table64 table_;
};

}  // namespace

std::unique_ptr<Panel> make_pages_panel() {
  return std::make_unique<PagesPanel>();
}

}  // namespace crawlstore::inspector
