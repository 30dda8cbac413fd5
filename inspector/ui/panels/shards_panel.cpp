// SPDX-License-Identifier: Apache-2.0
// Several files as the shards of one crawl. A job reads them all, and again when one has changed;
// the open file is told of by the app, the others are looked at while this panel is shown.
#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include <imgui.h>

#include "inspector/core/shown_text.h"
#include "inspector/ui/panels/choices.h"
#include "inspector/ui/panels/panels.h"
#include "inspector/ui/table64.h"
#include "model/format_text.h"
#include "model/shards_look.h"

namespace crawlstore::inspector {
namespace {

constexpr const char* kShardsSlot = "shards";
constexpr std::int64_t kLookEveryUs = 1'000'000;

class ShardsPanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    const auto view = ui.session.view();
    if (view == nullptr) return draw_no_file(ui);
    const auto& paths = ui.session.shard_paths;
    if (paths.empty()) {
      draw_paragraph(
          ui,
          "One file is open. Those of all shards of a crawl are shown here when they are "
          "given together: crawlstore inspect A B C.",
          ui.palette.faint);
      return draw_link(ui, "shards.file", "Overview of the file", {"overview", {}});
    }
    choose_database(ui, *view);
    follow(ui, *view);
    const auto look = answer_->look;
    if (look == nullptr) return draw_waiting(ui);
    draw_sums(ui, *look);
    draw_state(ui, *look);
    draw_shown(ui, *look);
    draw_files(ui, *look);
    draw_best(ui, *look);
  }
  void let_go(Jobs& jobs) override {
    jobs.cancel_slot(kShardsSlot);
    job_ = 0;
    asked_.reset();
    rest_until_us_ = 0;
  }
  [[nodiscard]] std::string view_state() const override {
    return database_ + "\n" + scores_ + "\n" + files_.view_state();
  }
  void restore(std::string_view state) override {
    const auto lines = take_lines<2>(state);
    if (!lines) return;
    database_ = (*lines)[0];
    scores_ = (*lines)[1];
    files_.restore(state);
  }
  bool export_to(Ui& ui, const std::string& path) override {
    return Table64::last_used({&files_, &best_}).export_to(ui, path);
  }

 private:
  /// The place where a job leaves its answer, on the thread that draws.
  struct Answer {
    std::shared_ptr<const model::ShardsLook> look;
    std::uint64_t count = 0;
  };
  /// Trace of the files, page database, array.
  using Asked = std::tuple<std::string, std::string, std::string>;

  void choose_database(Ui& ui, const model::FileView& view) {
    if (view.pages.size() > 1) {
      const auto usual = model::find_pages(view, database_);
      const std::string& name = usual ? view.pages[*usual].name : database_;
      database_ = draw_names(ui, "shards.pages.", view.pages, name).name;
    } else if (view.pages.size() == 1) {
      database_ = view.pages.front().name;
    }
  }

  void follow(Ui& ui, const model::FileView& view) {
    const auto& paths = ui.session.shard_paths;
    const bool is_other = std::exchange(number_, view.number) != view.number;
    if (is_other || (ui.session.is_following && ui.now_us >= look_at_us_)) {
      trace_ = model::shards_trace(paths);
      look_at_us_ = ui.now_us + kLookEveryUs;
    }
    if (ui.session.is_following) ui.actions.redraw_at(look_at_us_);
    const bool is_busy = is_reading(ui);  // in each frame, as it notes when a read has ended
    const Asked wanted{trace_, database_, scores_};
    if (asked_ == wanted) return;
    const bool is_choice = asked_ && std::get<0>(*asked_) == trace_;
    if (!is_choice && is_busy) return;  // the newest is read after it
    if (!is_choice && ui.now_us < rest_until_us_) return ui.actions.redraw_at(rest_until_us_);
    asked_ = wanted;
    start(ui);
  }

  bool is_reading(Ui& ui) {
    if (job_ == 0) return false;
    if (answer_->count >= answers_wanted_) {
      rest_until_us_ = ui.now_us + (ui.now_us - started_us_);
      job_ = 0;
      return false;
    }
    const auto jobs = ui.jobs.list();
    const auto job = std::ranges::find(jobs, job_, &JobInfo::id);
    const bool is_over =
        job == jobs.end() || job->state == JobState::kCancelled || job->state == JobState::kFailed;
    if (is_over) job_ = 0;
    return !is_over;
  }

  void start(Ui& ui) {
    model::ShardsQuestion question{.paths = ui.session.shard_paths, .scores = scores_};
    if (!database_.empty()) question.database = database_;
    started_us_ = ui.now_us;
    answers_wanted_ = answer_->count + 1;
    job_ = ui.jobs.start(
        "read all shards", kShardsSlot,
        [question = std::move(question), answer = answer_](JobContext& context) -> Jobs::Finish {
          auto look =
              model::look_at_shards(question, [&context](std::size_t done, std::size_t all) {
                return context.progress(done, all);
              });
          if (!look) return {};  // it was cancelled
          return [answer, look = std::make_shared<model::ShardsLook>(std::move(*look))] {
            answer->look = look;
            ++answer->count;
          };
        });
  }

  void draw_waiting(Ui& ui) {
    if (is_reading(ui)) return draw_text(ui, "reading ...", ui.palette.faint);
    draw_text(ui, "The reading was cancelled.", ui.palette.faint);
    place_beside(button_width("Read again"));
    if (draw_button(ui, "shards.read", "Read again")) asked_.reset();
  }

  static void draw_sums(Ui& ui, const model::ShardsLook& look) {
    const std::string text = model::format_counted(look.page_count, "page") + ", " +
                             model::format_count(look.crawled_count) + " crawled, " +
                             model::format_counted(look.link_count, "link") + " in " +
                             model::format_counted(look.names.size(), "file");
    draw_heading(ui, text);
    ui.probe.note_item("shards.sums", text);
  }

  static void draw_state(Ui& ui, const model::ShardsLook& look) {
    for (const std::string& text : look.unreadable) {
      draw_paragraph(ui, text, ui.palette.bad);
      ui.probe.note_item("shards.unreadable", text);
    }
    if (look.is_whole()) return draw_paragraph(ui, "All shards are there.", ui.palette.good);
    if (look.problem.empty()) return;
    draw_paragraph(ui, "No whole crawl: " + look.problem, ui.palette.bad);
    ui.probe.note_item("shards.problem", look.problem);
  }

  static void draw_shown(Ui& ui, const model::ShardsLook& look) {
    const auto shown = std::ranges::find(ui.session.shard_paths, ui.session.file->path());
    const auto index = static_cast<std::size_t>(shown - ui.session.shard_paths.begin());
    if (index >= look.names.size()) return;
    const std::string text = "The other panels show " + shown_text(look.names[index]) +
                             (look.shards[index].empty() ? "" : ", shard " + look.shards[index]) +
                             "; a click on a shard turns to its file.";
    draw_paragraph(ui, text, ui.palette.faint);
    ui.probe.note_item("shards.shown", text);
  }

  void draw_files(Ui& ui, const model::ShardsLook& look) {
    TableOptions options{.id = "shards"};
    options.height = ImGui::GetContentRegionAvail().y * 0.5F;
    options.fits_rows = true;
    options.has_filter = false;
    options.choose_column = "shard";
    options.bars = {"page_count"};
    options.choose = [&ui, &look](const model::Row& row) {
      const auto file = std::ranges::find(look.names, std::get<std::string>(row.front()));
      const auto index = static_cast<std::size_t>(file - look.names.begin());
      if (index < look.names.size()) turn_to(ui, index, {"shards", {}});
    };
    files_.draw(ui, look.rows, options);
  }

  /// Shows a place in a file of the set.
  static void turn_to(Ui& ui, std::size_t index, const Location& location) {
    const std::string& path = ui.session.shard_paths[index];
    if (path == ui.session.file->path()) return ui.actions.go(location);
    ui.actions.open_place({path, location});
  }

  void draw_best(Ui& ui, const model::ShardsLook& look) {
    draw_heading(ui, "Best pages of all shards");
    for (const std::string& name : look.arrays) {
      const std::string shown = shown_text(name);
      const std::string fitted = fit_text(ui, shown, ui.px(300));
      if (name != look.arrays.front()) place_beside(choice_width(fitted));
      if (draw_choice(ui, "shards.array." + shown, fitted, name == look.scores)) scores_ = name;
    }
    if (look.best == nullptr) {
      draw_paragraph(ui, look.best_problem, ui.palette.warning);
      ui.probe.note_item("shards.best_problem", look.best_problem);
      return;
    }
    TableOptions options{.id = "best"};
    options.choose_column = "index";
    const std::string pages = ui.session.view()->pages.size() > 1 ? database_ : "";
    options.choose = [&ui, &look, &pages](const model::Row& row) {
      const auto shard = std::ranges::find(look.shards, std::get<std::string>(row[0]));
      const auto index = static_cast<std::size_t>(shard - look.shards.begin());
      if (index >= look.shards.size()) return;
      turn_to(ui, index, {"page_detail", PageThing{pages, std::get<std::uint64_t>(row[1])}});
    };
    best_.draw(ui, look.best, options);
  }

  std::string database_;  // empty: the usual one
  std::string scores_;    // likewise
  std::string trace_;
  std::uint64_t number_ = 0;
  std::int64_t look_at_us_ = 0;
  std::shared_ptr<Answer> answer_ = std::make_shared<Answer>();
  std::optional<Asked> asked_;
  std::uint64_t job_ = 0;  // 0 = none
  std::uint64_t answers_wanted_ = 0;
  std::int64_t started_us_ = 0;
  std::int64_t rest_until_us_ = 0;
  Table64 files_;
  Table64 best_;
};

}  // namespace

std::unique_ptr<Panel> make_shards_panel() {
  return std::make_unique<ShardsPanel>();
}

}  // namespace crawlstore::inspector
