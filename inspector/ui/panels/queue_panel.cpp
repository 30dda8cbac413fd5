// SPDX-License-Identifier: Apache-2.0
// A queue: how much waits in it, how priorities are spread and which runs have them, the pages that
// leave first, and their hosts.
#include <algorithm>
#include <array>
#include <tuple>

#include <imgui.h>

#include <crawlstore/queue.h>

#include "inspector/core/shown_text.h"
#include "inspector/ui/panels/choices.h"
#include "inspector/ui/panels/pages_choice.h"
#include "inspector/ui/panels/panels.h"
#include "inspector/ui/plot.h"
#include "inspector/ui/table64.h"
#include "model/format_text.h"
#include "model/parse_text.h"
#include "model/queue_view.h"

namespace crawlstore::inspector {
namespace {

constexpr std::array<std::uint64_t, 3> kFirstPages{10, 100, 1000};
constexpr std::size_t kBins = 100;

enum class Part : std::uint8_t { kFirst, kHosts, kRuns };
constexpr std::size_t kParts = 3;

class QueuePanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    const auto view = ui.session.view();
    if (view == nullptr) return draw_no_file(ui);
    if (!view->snapshot) {
      let_go(ui.jobs);
      if (view->problem) return draw_problem(ui, *view->problem);
      return draw_paragraph(ui, "Queues can be read again when the file is looked at again (F5).",
                            ui.palette.faint);
    }
    list_queues(*view);
    if (problem_) draw_problem(ui, *problem_);
    if (queues_.empty()) {
      if (problem_) return;
      draw_paragraph(ui, "There is no queue: `crawlstore queue FILE --fill-from SCORE` makes one.",
                     ui.palette.faint);
      return draw_link(ui, "queue.scores", "Scores", {"scores", {}});
    }
    // A queue needs no page database: without one its pages are numbers.
    const PageView* pages = view->pages.empty() ? nullptr : choice_.draw(ui, *view, "queue");
    const QueueInfo& info = draw_names(ui, "queue.name.", queues_, name_);
    name_ = info.name;
    draw_facts(ui, info);
    ask(ui, *view, pages, info);
    const auto& found = *found_;
    if (found == nullptr) return draw_text(ui, "reading ...", ui.palette.faint);
    if (found->problem) return draw_problem(ui, *found->problem);
    if (!found->bins.empty()) {
      const ImVec2 room = ImGui::GetContentRegionAvail();
      draw_queue(ui, "queue.bin", found->bins, found->runs,
                 ImVec2(room.x, std::clamp(room.y * 0.45F, ui.px(110), ui.px(320))));
    }
    draw_parts(ui, *found);
  }

  void let_go(Jobs& jobs) override {
    jobs.cancel_slot("queue");
    *found_ = nullptr;
    asked_.reset();
    queues_.clear();
    number_ = 0;
  }
  [[nodiscard]] std::string view_state() const override {
    return choice_.name() + "\n" + name_ + "\n" + std::to_string(count_) + "\n" +
           std::to_string(static_cast<int>(part_)) + "\n" + table().view_state();
  }
  void restore(std::string_view state) override {
    const auto lines = take_lines<4>(state);
    if (!lines) return;
    choice_.choose(std::string((*lines)[0]));
    name_ = (*lines)[1];
    const std::uint64_t count = model::parse_count((*lines)[2]).value_or(0);
    if (std::ranges::find(kFirstPages, count) != kFirstPages.end()) count_ = count;
    part_ = static_cast<Part>(
        std::min<std::uint64_t>(kParts - 1, model::parse_count((*lines)[3]).value_or(0)));
    table().restore(state);
  }
  bool export_to(Ui& ui, const std::string& path) override { return table().export_to(ui, path); }

 private:
  /// What a job finds out, shared with it. All in memory: it holds no pin.
  struct Found {
    std::vector<QueueBin> bins;
    std::vector<QueueRunInfo> runs;
    std::array<std::shared_ptr<const model::RowSource>, kParts> tables;  // by Part
    std::optional<Error> first_problem;                                  // no first pages
    std::optional<Error> problem;                                        // nothing of all
  };
  /// What it depends on: database, its supersteps, queue, run of the queue's table, how many pages.
  /// Commits that leave the queue as it is do not begin the work again.
  using Asked = std::tuple<std::string, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;

  void list_queues(const model::FileView& view) {
    if (number_ == view.number) return;
    number_ = view.number;
    auto [queues, problem] = model::readable_queues(*view.snapshot);
    queues_ = std::move(queues);
    problem_ = problem;
  }

  static void draw_facts(Ui& ui, const QueueInfo& info) {
    std::string text = model::format_counted(info.page_count, "page") + " in " +
                       model::format_counted(info.run_count, "run") + ", " +
                       model::format_bytes(info.allocated_bytes);
    if (info.page_count > 0) {
      text += ", " +
              model::format_cell(
                  static_cast<double>(info.allocated_bytes) / static_cast<double>(info.page_count),
                  model::Unit::kRatio) +
              " bytes a page";
    }
    text += "; stale entries: " + model::format_count(info.stale_count);
    draw_paragraph(ui, text, ui.palette.text);
    draw_link(ui, "queue.segment", "segment " + std::to_string(info.id.value),
              {{}, SegmentThing{info.id}});
  }

  /// What is shown stays until another answer is there, unless it is of another queue.
  void ask(Ui& ui, const model::FileView& view, const PageView* pages, const QueueInfo& info) {
    const auto segment = std::ranges::find(view.segments, info.id, &SegmentInfo::id);
    const Asked wanted{
        choice_.name(), pages == nullptr ? 0 : pages->info().superstep_count, info.id.value,
        segment == view.segments.end() ? 0 : segment->runs.front().run_id.value, count_};
    if (asked_ == wanted) return;
    if (asked_ && std::get<2>(*asked_) != info.id.value) *found_ = nullptr;
    asked_ = wanted;
    ui.jobs.start("queue " + shown_text(info.name), "queue",
                  [snapshot = *view.snapshot, segments = view.segments,
                   pages = pages == nullptr ? std::nullopt : std::optional(*pages), info,
                   count = count_, box = found_](JobContext& /*context*/) -> Jobs::Finish {
                    auto found = std::make_shared<Found>();
                    auto read = look(snapshot, segments, pages ? &*pages : nullptr, info, count);
                    if (read) {
                      *found = std::move(*read);
                    } else {
                      found->problem = read.error();
                    }
                    return [box, found] { *box = found; };
                  });
  }

  /// What indexes say is there also when the first pages cannot be read.
  static Result<Found> look(const Snapshot& snapshot, const std::vector<SegmentInfo>& segments,
                            const PageView* pages, const QueueInfo& info, std::uint64_t count) {
    Found found;
    const auto rows = [](model::Table table) {
      return std::make_shared<const model::TableRows>(std::move(table));
    };
    CRAWLSTORE_TRY(const auto queue, QueueView::open(snapshot, info.name));
    found.bins = queue.distribution(kBins);
    found.runs = queue.runs();
    const auto first = model::waiting_pages(queue, pages, count);
    if (!first) found.first_problem = first.error();
    const auto waiting = first ? std::span(*first) : std::span<const model::WaitingPage>();
    found.tables = {rows(model::first_table(waiting)), rows(model::waiting_hosts_table(waiting)),
                    rows(model::queue_runs_table(info, found.runs, segments))};
    return found;
  }

  [[nodiscard]] const Table64& table() const { return tables_[static_cast<std::size_t>(part_)]; }
  Table64& table() { return tables_[static_cast<std::size_t>(part_)]; }

  void draw_parts(Ui& ui, const Found& found) {
    constexpr std::array<std::pair<Part, const char*>, kParts> kTitles{
        {{Part::kFirst, "First pages"}, {Part::kHosts, "Their hosts"}, {Part::kRuns, "Runs"}}};
    for (const auto& [part, title] : kTitles) {
      const auto& rows = *found.tables[static_cast<std::size_t>(part)];
      const std::string text = std::string(title) + " " + model::format_count(rows.row_count());
      if (part != Part::kFirst) place_beside(choice_width(text));
      if (draw_choice(ui, "queue." + rows.name(), text, part_ == part)) part_ = part;
    }
    for (const std::uint64_t count : kFirstPages) {
      const std::string text = model::format_count(count);
      place_beside(choice_width(text), ui.px(count == kFirstPages.front() ? 20 : 4));
      if (draw_choice(ui, "queue.count." + std::to_string(count), text, count == count_)) {
        count_ = count;
      }
    }
    if (part_ != Part::kRuns && found.first_problem) return draw_problem(ui, *found.first_problem);
    const auto& rows = found.tables[static_cast<std::size_t>(part_)];
    TableOptions options{.id = rows->name()};
    options.pages = choice_.name();
    if (part_ == Part::kHosts) options.bars = {"page_count"};
    options.choose = [this, &ui](const model::Row& row) {
      if (part_ == Part::kFirst) {
        const auto index = std::get<std::uint64_t>(row.front());
        ui.actions.go({"page_detail", PageThing{choice_.name(), index}});
      } else if (part_ == Part::kHosts) {
        ui.actions.go({"pages", HostThing{choice_.name(), std::get<std::string>(row.front())}});
      }
    };
    table().draw(ui, rows, options);
  }

  PagesChoice choice_;
  std::uint64_t number_ = 0;
  std::vector<QueueInfo> queues_;
  std::optional<Error> problem_;
  std::string name_;  // of the queue
  std::uint64_t count_ = kFirstPages[1];
  Part part_ = Part::kFirst;
  std::optional<Asked> asked_;
  std::shared_ptr<std::shared_ptr<const Found>> found_ =
      std::make_shared<std::shared_ptr<const Found>>();
  std::array<Table64, kParts> tables_;  // by Part
};

}  // namespace

std::unique_ptr<Panel> make_queue_panel() {
  return std::make_unique<QueuePanel>();
}

}  // namespace crawlstore::inspector
