// SPDX-License-Identifier: Apache-2.0
// The panels about the inspector itself: jobs and log.
#include "inspector/core/shown_text.h"
#include "inspector/ui/panels/panels.h"
#include "inspector/ui/table64.h"
#include "model/format_text.h"

namespace crawlstore::inspector {
namespace {

class JobsPanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    const auto jobs = ui.jobs.list();
    if (jobs.empty()) draw_text(ui, "Nothing has run yet.", ui.palette.faint);
    for (const JobInfo& job : jobs) draw_job(ui, job);
    // ImGui decides on a vertical scrollbar without the room that a horizontal one takes.
    ImGui::Dummy(ImVec2(0, ImGui::GetStyle().ScrollbarSize));
  }
  void let_go(Jobs& /*jobs*/) override {}

 private:
  static void draw_job(Ui& ui, const JobInfo& job) {
    ImGui::PushID(static_cast<int>(job.id));
    const bool is_live = job.state == JobState::kRunning || job.state == JobState::kWaiting;
    const Colour colour = job.state == JobState::kFailed      ? ui.palette.bad
                          : job.state == JobState::kCancelled ? ui.palette.warning
                          : is_live                           ? ui.palette.accent
                                                              : ui.palette.faint;
    draw_text(ui, std::string(name_of(job.state)), colour);
    ImGui::SameLine(ui.px(90));
    draw_text(ui, fit_text(ui, shown_text(job.title), ImGui::GetContentRegionAvail().x * 0.7F));
    if (!job.problem.empty()) {
      ImGui::SameLine();
      draw_text(ui, job.problem, ui.palette.bad);
    }
    if (is_live) {
      const double seconds = static_cast<double>(ui.now_us - job.started_us) / 1e6;
      const float share =
          job.total == 0 ? 0.0F : static_cast<float>(job.done) / static_cast<float>(job.total);
      std::string left;
      if (share > 0 && seconds > 0.5) {
        left = model::format_duration(seconds * (1 - static_cast<double>(share)) /
                                      static_cast<double>(share)) +
               " left";
      }
      ImGui::ProgressBar(share, ImVec2(ui.px(360), 0), left.c_str());
      ImGui::SameLine();
      if (draw_button(ui, "job.cancel", "cancel")) ui.jobs.cancel(job.id);
    } else {
      ImGui::SameLine();
      draw_text(ui,
                model::format_duration(static_cast<double>(job.ended_us - job.started_us) / 1e6),
                ui.palette.faint);
    }
    ImGui::PopID();
  }
};

class LogPanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    if (entries_ == nullptr || count_ != ui.session.log_count) {
      count_ = ui.session.log_count;
      model::Table table{"log",
                         {{"time_us", model::Unit::kTimeUs},
                          {"severity", model::Unit::kText},
                          {"text", model::Unit::kText}},
                         {}};
      constexpr std::string_view kNames[] = {"note", "warning", "bad"};
      for (auto entry = ui.session.log.rbegin(); entry != ui.session.log.rend(); ++entry) {
        table.rows.push_back({entry->time_us,
                              std::string(kNames[static_cast<std::size_t>(entry->severity)]),
                              entry->text});
      }
      entries_ = std::make_shared<model::TableRows>(std::move(table));
    }
    table_.draw(ui, entries_, {.id = "log", .is_main = true});
  }
  void let_go(Jobs& /*jobs*/) override {}
  [[nodiscard]] std::string view_state() const override { return table_.view_state(); }
  void restore(std::string_view state) override { table_.restore(state); }
  bool export_to(Ui& ui, const std::string& path) override { return table_.export_to(ui, path); }

 private:
  std::uint64_t count_ = 0;
  std::shared_ptr<const model::TableSource> entries_;
  Table64 table_;
};

}  // namespace

std::unique_ptr<Panel> make_jobs_panel() {
  return std::make_unique<JobsPanel>();
}
std::unique_ptr<Panel> make_log_panel() {
  return std::make_unique<LogPanel>();
}

}  // namespace crawlstore::inspector
