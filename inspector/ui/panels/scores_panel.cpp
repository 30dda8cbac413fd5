// SPDX-License-Identifier: Apache-2.0
// A score array: how it was computed, how its scores spread, which pages are the best, of all or of
// those in a range of scores; and beside them how it converged, or another array against it.
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include <fmt/format.h>
#include <imgui.h>

#include <crawlstore/scores.h>

#include "inspector/core/shown_text.h"
#include "inspector/ui/panels/choices.h"
#include "inspector/ui/panels/pages_choice.h"
#include "inspector/ui/panels/panels.h"
#include "inspector/ui/panels/score_pairs_plot.h"
#include "inspector/ui/plot.h"
#include "inspector/ui/table64.h"
#include "model/format_text.h"
#include "model/label.h"
#include "model/parse_text.h"
#include "model/scores_view.h"

namespace crawlstore::inspector {
namespace {

constexpr std::size_t kTopScores = 10'000;

class ScoresPanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    const auto view = ui.session.view();
    if (view == nullptr) return draw_no_file(ui);
    const std::string database = choice_.name();
    const PageView* pages = choice_.draw(ui, *view, "scores");
    if (choice_.name() != database) clear_range();
    if (pages == nullptr) return let_go(ui.jobs);
    list_arrays(*pages);
    if (problem_) draw_problem(ui, *problem_);
    if (arrays_.empty()) {
      if (problem_) return;
      draw_paragraph(ui, "There are no scores: `crawlstore rank FILE` computes PageRank.",
                     ui.palette.faint);
      return draw_link(ui, "scores.pages", "Pages", {"pages", {}});
    }
    const ScoresInfo& info = draw_arrays(ui);
    draw_facts(ui, info);
    ask(ui, *pages, info);
    const auto& found = *found_;
    if (found == nullptr) return draw_text(ui, "reading ...", ui.palette.faint);
    if (found->problem) return draw_problem(ui, *found->problem);
    draw_plots(ui, *pages, info, *found);
    draw_quantiles(ui, *found);
    draw_range(ui);
    draw_known(ui, info);
    ask_best(ui, *pages, info);
    const auto& best = *best_;
    if (best == nullptr) return draw_text(ui, "reading ...", ui.palette.faint);
    if (best->problem) draw_problem(ui, *best->problem);
    if (best->rows == nullptr) return;
    draw_text(ui, best->title, ui.palette.faint);
    TableOptions options{.id = "top"};
    options.is_main = true;
    options.pages = choice_.name();
    options.choose = [&ui, name = choice_.name()](const model::Row& row) {
      ui.actions.go({"page_detail", PageThing{name, std::get<std::uint64_t>(row.front())}});
    };
    table_.draw(ui, best->rows, options);
  }

  void let_go(Jobs& jobs) override {
    jobs.cancel_slot("scores");
    jobs.cancel_slot("best scores");
    pairs_plot_.let_go(jobs);
    *found_ = nullptr;
    *best_ = nullptr;
    asked_.reset();
    best_asked_.reset();
    arrays_.clear();
    version_ = 0;
  }
  void show(const Thing& thing) override {
    const auto* scores = std::get_if<ScoresThing>(&thing);
    if (scores == nullptr) return;
    if (scores->pages != choice_.name() || scores->name != name_) clear_range();
    choice_.choose(scores->pages);
    name_ = scores->name;
  }
  [[nodiscard]] std::string view_state() const override {
    return choice_.name() + "\n" + name_ + "\n" + text_of(range_.low) + "\n" +
           text_of(range_.high) + "\n" + against_ + "\n" + (is_of_known_ ? "known" : "") + "\n" +
           table_.view_state();
  }
  void restore(std::string_view state) override {
    const auto lines = take_lines<6>(state);
    if (!lines) return;
    choice_.choose(std::string((*lines)[0]));
    name_ = (*lines)[1];
    from_ = (*lines)[2];
    to_ = (*lines)[3];
    against_ = (*lines)[4];
    is_of_known_ = !(*lines)[5].empty();
    range_ = range_of_fields().value_or(model::ScoreRange());
    table_.restore(state);
  }
  bool export_to(Ui& ui, const std::string& path) override { return table_.export_to(ui, path); }

 private:
  /// The findings of a job, shared with it.
  struct Found {
    model::ScoreHistogram histogram;
    std::optional<model::ScoreQuantiles> quantiles;
    std::vector<double> residuals;
    std::optional<Error> problem;
  };
  /// The best pages that were asked for, which another job finds.
  struct Best {
    std::string title;
    std::shared_ptr<const model::TableSource> rows;  // in memory: it holds no pin
    std::optional<Error> problem;                    // with rows: of single ones
  };
  /// The answer depends on these: database, segment, and the supersteps that have changed the pages
  /// since. Other commits do not begin the work again.
  using Asked = std::tuple<std::string, std::uint64_t, std::uint64_t>;

  void list_arrays(const PageView& pages) {
    if (version_ == choice_.version()) return;
    version_ = choice_.version();
    auto [arrays, problem] = model::readable_scores(pages);
    arrays_ = std::move(arrays);
    problem_ = problem;
  }

  /// Returns the array that is chosen.
  const ScoresInfo& draw_arrays(Ui& ui) {
    const ScoresInfo& chosen = draw_names(ui, "scores.array.", arrays_, name_);
    if (chosen.name != name_ && !name_.empty()) clear_range();  // scores of another size
    if (chosen.name == against_) against_ = name_;
    if (chosen.name != name_ && !name_.empty()) {
      ui.actions.go({"scores", ScoresThing{choice_.name(), chosen.name}});
    }
    name_ = chosen.name;
    return chosen;
  }

  static void draw_facts(Ui& ui, const ScoresInfo& info) {
    const auto score = [](double value) { return model::format_cell(value, model::Unit::kScore); };
    const auto exact = [](double value) { return model::format_cell(value, model::Unit::kExact); };
    std::string text = model::label_of(name_of(info.scorer)) + " of " +
                       model::format_counted(info.page_count, "page") + " and " +
                       model::format_counted(info.link_count, "link");
    if (info.is_content_weighted) text += ", by the pages' own scores";
    if (info.is_personalised) text += ", personalised";
    if (info.damping > 0) text += "; damping " + exact(info.damping);
    text += "; " + model::format_counted(info.iteration_count, "iteration");
    if (info.iteration_count > 0) text += ", residual " + score(info.residual);
    if (info.precision > 0) text += " of " + exact(info.precision) + " that was asked for";
    text += "; sum " + score(info.sum) +
            (info.has_doubles ? "; 8 bytes a score, " : "; 4 bytes a score, ") +
            model::format_bytes(info.allocated_bytes);
    draw_paragraph(ui, text, ui.palette.text);
    const std::string since =
        "computed from generation " + model::format_count(info.generation.value) + ", " +
        model::format_time(info.time_us) +
        (info.is_stale ? "; stale: pages or links have changed since" : "; up to date");
    draw_paragraph(ui, since, info.is_stale ? ui.palette.warning : ui.palette.faint);
    draw_link(ui, "scores.segment", "segment " + std::to_string(info.id.value),
              {{}, SegmentThing{info.id}});
  }

  /// The shown scores stay until another answer is there, unless it is of another array.
  void ask(Ui& ui, const PageView& pages, const ScoresInfo& info) {
    const Asked wanted{choice_.name(), info.id.value, pages.info().superstep_count};
    if (asked_ == wanted) return;
    if (asked_ && std::get<1>(*asked_) != info.id.value) {
      *found_ = nullptr;
      *best_ = nullptr;
    }
    asked_ = wanted;
    ui.jobs.start("scores " + shown_text(info.name), "scores",
                  [pages, name = info.name, box = found_](JobContext& context) -> Jobs::Finish {
                    auto found = std::make_shared<Found>();
                    const auto read = look(pages, name, *found, context);
                    if (!read) found->problem = read.error();
                    return [box, found] { *box = found; };
                  });
  }

  static Result<void> look(const PageView& pages, const std::string& name, Found& found,
                           JobContext& context) {
    CRAWLSTORE_TRY(const auto scores, ScoreView::open(pages, name));
    const auto progress = [&](auto... at) { return context.progress(at...); };
    CRAWLSTORE_TRY(found.histogram, model::score_histogram(scores, progress));
    CRAWLSTORE_TRY(found.quantiles, model::score_quantiles(scores, progress));
    CRAWLSTORE_TRY(found.residuals, scores.residuals());
    return {};
  }

  /// Asks for the table like ask(): another range does not count the scores again.
  void ask_best(Ui& ui, const PageView& pages, const ScoresInfo& info) {
    const model::TopQuestion question{range_, is_of_known(info), kTopScores};
    const std::pair wanted{*asked_, question};
    if (best_asked_ == wanted) return;
    best_asked_ = wanted;
    ui.jobs.start(
        "best pages of " + shown_text(info.name), "best scores",
        [pages, name = info.name, question, box = best_](JobContext& context) -> Jobs::Finish {
          auto best = std::make_shared<Best>();
          const auto read = look_for_best(pages, name, question, *best, context);
          if (!read) best->problem = read.error();
          return [box, best] { *box = best; };
        });
  }

  static Result<void> look_for_best(const PageView& pages, const std::string& name,
                                    const model::TopQuestion& question, Best& best,
                                    JobContext& context) {
    CRAWLSTORE_TRY(const auto scores, ScoreView::open(pages, name));
    const auto progress = [&](auto... at) { return context.progress(at...); };
    CRAWLSTORE_TRY(const auto top, model::top_in_range(pages, scores, question, progress));
    best.title = title_of(top, question, noun_of(scores.info()));
    best.problem = top.problem;
    best.rows =
        std::make_shared<model::TableRows>(model::top_table(top.pages, scores.info().subject));
    return {};
  }

  static const char* noun_of(const ScoresInfo& info) {
    if (info.subject == ScoreSubject::kPage) return "page";
    return info.subject == ScoreSubject::kHost ? "host" : "domain";
  }
  static std::string title_of(const model::RangeTop& top, const model::TopQuestion& question,
                              const char* noun) {
    const bool has_range = question.range != model::ScoreRange();
    const std::string count = model::format_count(top.pages.size());
    const std::string pages = model::format_counted(top.page_count, noun);
    if (!has_range && !question.is_of_known) {
      return "the best " + model::format_counted(top.pages.size(), noun);
    }
    std::string title = "the best " + count + " of " + pages;
    if (question.is_of_known) title += " not yet crawled";
    if (has_range) {
      title += " in the range; " + model::format_count(top.better_count) + " better";
    }
    return title;
  }

  static std::string text_of(double score) {
    const bool is_end = score == 0 || std::isinf(score);
    return is_end ? "" : fmt::format("{}", score);
  }
  /// Nothing when something else than scores stands there. An empty field is no limit.
  [[nodiscard]] std::optional<model::ScoreRange> range_of_fields() const {
    model::ScoreRange range;
    const auto low = from_.empty() ? std::optional(range.low) : model::parse_score(from_);
    const auto high = to_.empty() ? std::optional(range.high) : model::parse_score(to_);
    if (!low || !high) return std::nullopt;
    return model::ScoreRange{*low, *high};
  }
  void choose_range(const model::ScoreRange& range) {
    range_ = range;
    from_ = text_of(range.low);
    to_ = text_of(range.high);
    best_asked_.reset();  // also when it is the same: that may have been cancelled
    table_.scroll_to_top(0);
  }
  void clear_range() { choose_range({}); }

  /// Fields for the range, so that it can be exact and needs no mouse.
  void draw_range(Ui& ui) {
    const float width = ui.px(110);
    ImGui::AlignTextToFramePadding();
    draw_text(ui, "scores from", ui.palette.faint);
    place_beside(width);
    ImGui::SetNextItemWidth(width);
    bool is_entered = draw_input(ui, "scores.from", "0", from_);
    place_beside(text_width("to"));
    draw_text(ui, "to", ui.palette.faint);
    place_beside(width);
    ImGui::SetNextItemWidth(width);
    is_entered = draw_input(ui, "scores.to", "any", to_) || is_entered;
    if (is_entered) {
      const auto range = range_of_fields();
      if (range) {
        choose_range(*range);
      } else {
        ui.actions.say(Severity::kWarning, "scores are numbers from 0 on, such as 0.001 or 1e-7");
      }
    }
    if (range_ == model::ScoreRange()) return;
    const ImGuiIO& io = ImGui::GetIO();
    const bool is_escape = ui.focus.pane() == Pane::kPanel && !io.WantTextInput &&
                           ImGui::IsKeyPressed(kKeyEscape, false);
    place_beside(button_width("All scores"));
    if (draw_button(ui, "scores.all", "All scores", "ends the range (Escape, or a click above)") ||
        is_escape) {
      clear_range();
    }
  }

  /// Draws the quantiles; a click lists the pages from one of them on.
  void draw_quantiles(Ui& ui, const Found& found) {
    if (!found.quantiles) return;
    const auto [median, p90, p99] = *found.quantiles;
    const auto shown = [](double value) { return model::format_cell(value, model::Unit::kScore); };
    ImGui::AlignTextToFramePadding();
    draw_text(ui, "median " + shown(median) + ", p90 " + shown(p90) + ", p99 " + shown(p99),
              ui.palette.faint);
    const auto offer = [&](std::string_view label, std::string_view text, double low) {
      place_beside(button_width(text));
      if (low > 0 && draw_button(ui, label, text, "lists the pages from " + text_of(low) + " on")) {
        choose_range({.low = low});
      }
    };
    offer("scores.top_tenth", "top 10 %", p90);
    offer("scores.top_hundredth", "top 1 %", p99);
  }

  /// Hosts and domains have no state.
  [[nodiscard]] bool is_of_known(const ScoresInfo& info) const {
    return is_of_known_ && info.subject == ScoreSubject::kPage;
  }
  void draw_known(Ui& ui, const ScoresInfo& info) {
    if (info.subject != ScoreSubject::kPage) return;
    const bool before = is_of_known_;
    if (draw_choice(ui, "scores.all_states", "all pages", !is_of_known_)) is_of_known_ = false;
    place_beside(choice_width("not yet crawled"));
    if (draw_choice(ui, "scores.known", "not yet crawled", is_of_known_)) is_of_known_ = true;
    if (is_of_known_ == before) return;
    best_asked_.reset();
    table_.scroll_to_top(0);
  }

  /// Side by side where there is room.
  void draw_plots(Ui& ui, const PageView& pages, const ScoresInfo& info, const Found& found) {
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const bool is_wide = room.x > ui.px(560);
    const float gap = ui.px(24);
    const ImVec2 size(is_wide ? (room.x - gap) / 2 : room.x,
                      std::clamp(room.y * 0.36F, ui.px(90), ui.px(260)));
    std::string title = std::string(noun_of(info)) + "s by score";
    if (found.histogram.zero_count > 0) {
      title += "; " + model::format_count(found.histogram.zero_count) + " more have 0";
    }
    ImGui::BeginGroup();
    if (arrays_.size() > 1) ImGui::AlignTextToFramePadding();  // beside choices
    draw_text(ui, fit_text(ui, title, size.x), ui.palette.faint);
    const auto dragged = draw_scores(ui, "scores.bin", found.histogram.bins, range_, size);
    if (dragged) choose_range({three_digits(dragged->low), three_digits(dragged->high)});
    ImGui::EndGroup();
    if (is_wide) ImGui::SameLine(0, gap);
    ImGui::BeginGroup();
    if (const ScoresInfo* other = draw_against(ui, info, size.x)) {
      pairs_plot_.draw(ui, pages, {choice_.name(), info, *other}, size);
    } else {
      draw_residuals(ui, "scores.iteration", found.residuals, info.precision, size);
    }
    ImGui::EndGroup();
  }

  /// Whether the curve is shown, or an array against the chosen one, which is returned then. Only
  /// arrays by page have pages in common.
  const ScoresInfo* draw_against(Ui& ui, const ScoresInfo& info, float width) {
    std::vector<const ScoresInfo*> others;
    for (const ScoresInfo& array : arrays_) {
      const bool is_by_page =
          array.subject == ScoreSubject::kPage && info.subject == ScoreSubject::kPage;
      if (is_by_page && array.name != info.name) others.push_back(&array);
    }
    if (others.empty()) {
      const std::string_view curve =
          info.precision > 0 ? "residual by iteration; line: precision" : "residual by iteration";
      draw_text(ui, fit_text(ui, curve, width), ui.palette.faint);
      return nullptr;
    }
    const auto found = std::ranges::find(others, against_, &ScoresInfo::name);
    const ScoresInfo* against = found == others.end() ? nullptr : *found;
    if (draw_choice(ui, "scores.residuals", "residuals", against == nullptr)) against = nullptr;
    for (const ScoresInfo* other : others) {
      const std::string shown = shown_text(other->name);
      const std::string text = fit_text(ui, shown + " against it", ui.px(240));
      place_beside(choice_width(text));
      if (draw_choice(ui, "scores.against." + shown, text, other == against)) against = other;
    }
    against_ = against == nullptr ? "" : against->name;
    return against;
  }

  /// Rounds to the digits that a pointer can tell, so that the fields are short.
  static double three_digits(double score) {
    return model::parse_score(fmt::format("{:.3g}", score)).value_or(score);
  }

  PagesChoice choice_;
  std::string name_;  // of the array
  std::uint64_t version_ = 0;
  std::vector<ScoresInfo> arrays_;
  std::optional<Error> problem_;
  std::optional<Asked> asked_;
  std::shared_ptr<std::shared_ptr<const Found>> found_ =
      std::make_shared<std::shared_ptr<const Found>>();
  std::string against_;  // the other array; empty = none
  ScorePairsPlot pairs_plot_;
  model::ScoreRange range_;
  std::string from_;  // the fields
  std::string to_;
  bool is_of_known_ = false;
  std::optional<std::pair<Asked, model::TopQuestion>> best_asked_;
  std::shared_ptr<std::shared_ptr<const Best>> best_ =
      std::make_shared<std::shared_ptr<const Best>>();
  Table64 table_;
};

}  // namespace

std::unique_ptr<Panel> make_scores_panel() {
  return std::make_unique<ScoresPanel>();
}

}  // namespace crawlstore::inspector
