// SPDX-License-Identifier: Apache-2.0
// A queue: how much waits in it and when it is empty, where a page waits, how priorities are spread
// and which runs have them, the pages that leave first, of all or of a range, and all hosts.
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include <imgui.h>

#include <crawlstore/queue.h>

#include "inspector/core/shown_text.h"
#include "inspector/ui/panels/choices.h"
#include "inspector/ui/panels/pages_choice.h"
#include "inspector/ui/panels/panels.h"
#include "inspector/ui/panels/queue_hosts.h"
#include "inspector/ui/panels/queue_lookup.h"
#include "inspector/ui/plot.h"
#include "inspector/ui/table64.h"
#include "model/format_text.h"
#include "model/parse_text.h"
#include "model/queue_pass.h"
#include "model/queue_view.h"

namespace crawlstore::inspector {
namespace {

constexpr std::array<std::uint64_t, 3> kFirstPages{10, 100, 1000};
constexpr std::size_t kBins = 100;
/// Up to so many pages each bar is counted; above, a bar is some blocks of entries, and known
/// about.
constexpr std::uint64_t kCountedPagesMax = 1'000'000;

enum class QueuePart : std::uint8_t { kFirst, kHosts, kRuns };
constexpr std::size_t kQueueParts = 3;

class QueuePanel final : public Panel {
 public:
  void draw(Ui& ui) override {
    const auto view = ui.session.view();
    if (view == nullptr) return draw_no_file(ui);
    if (!view->snapshot && view->problem) {
      let_go(ui.jobs);
      return draw_problem(ui, *view->problem);
    }
    if (view->queues_problem) draw_problem(ui, *view->queues_problem);
    if (view->queues.empty()) {
      if (view->queues_problem) return;
      draw_paragraph(ui, "There is no queue: `crawlstore queue FILE --fill-from SCORE` makes one.",
                     ui.palette.faint);
      return draw_link(ui, "queue.scores", "Scores", {"scores", {}});
    }
    // A queue needs no page database: without one its pages are numbers.
    const PageView* pages = view->pages.empty() ? nullptr : choice_.draw(ui, *view, "queue");
    const QueueInfo& info = draw_queues(ui, view->queues);
    draw_facts(ui, info);
    draw_paragraph(
        ui, describe(ui.session.queue_trends.of(info.name), ui.session.is_following, ui.now_us),
        ui.palette.faint);
    lookup_.draw(ui, {*view, info, pages, choice_.name()});
    if (view->snapshot) ask(ui, *view, pages, info);
    draw_found(ui, *view, pages, info);
  }

  void let_go(Jobs& jobs) override {
    jobs.cancel_slot("queue");
    jobs.cancel_slot("first of queue");
    lookup_.let_go(jobs);
    hosts_.let_go(jobs);
    asked_.reset();
    first_asked_.reset();
  }
  void show(const Thing& thing) override {
    if (const auto* queue = std::get_if<QueueThing>(&thing)) {
      if (queue->name != name_) clear_range();
      name_ = queue->name;
    }
    if (const auto* page = std::get_if<PageThing>(&thing)) {
      choice_.choose(page->pages);
      lookup_.set_text(std::to_string(page->index));
    }
  }
  [[nodiscard]] std::string view_state() const override {
    return choice_.name() + "\n" + name_ + "\n" + std::to_string(count_) + "\n" +
           std::to_string(static_cast<int>(part_)) + "\n" + model::format_priority(range_.first) +
           "\n" + model::format_priority(range_.last) + "\n" + lookup_.text() + "\n" +
           table().view_state();
  }
  void restore(std::string_view state) override {
    const auto lines = take_lines<7>(state);
    if (!lines) return;
    choice_.choose(std::string((*lines)[0]));
    name_ = (*lines)[1];
    const std::uint64_t count = model::parse_count((*lines)[2]).value_or(0);
    if (std::ranges::find(kFirstPages, count) != kFirstPages.end()) count_ = count;
    part_ = static_cast<QueuePart>(
        std::min<std::uint64_t>(kQueueParts - 1, model::parse_count((*lines)[3]).value_or(0)));
    from_ = (*lines)[4];
    to_ = (*lines)[5];
    range_ = range_of_fields().value_or(model::PriorityRange());
    if (lookup_.text() != (*lines)[6]) lookup_.set_text(std::string((*lines)[6]));
    table().restore(state);
  }
  bool export_to(Ui& ui, const std::string& path) override { return table().export_to(ui, path); }

 private:
  /// The findings of a job, shared with it. All in memory: it holds no pin.
  struct Found {
    std::vector<QueueBin> bins;
    bool is_counted = false;
    std::vector<QueueRunInfo> runs;
    std::shared_ptr<const model::TableSource> table;  // of the runs
    std::optional<Error> problem;
  };
  /// The first pages of a range, which another job finds.
  struct First {
    std::string title;
    std::shared_ptr<const model::TableSource> rows;
    std::optional<Error> problem;
  };
  /// The answer depends on these: database, its supersteps, queue, run of the queue's table.
  /// Commits that leave the queue as it is do not begin the work again.
  using Asked = std::tuple<std::string, std::uint64_t, std::uint64_t, std::uint64_t>;

  /// The largest one until another is chosen. Returns the one that is chosen.
  const QueueInfo& draw_queues(Ui& ui, const std::vector<QueueInfo>& queues) {
    if (std::ranges::find(queues, name_, &QueueInfo::name) == queues.end()) {
      name_ = std::ranges::max_element(queues, {}, &QueueInfo::page_count)->name;
    }
    const QueueInfo& chosen = draw_names(ui, "queue.name.", queues, name_);
    if (chosen.name != name_) {
      clear_range();  // priorities of another size
      ui.actions.go({"queue", QueueThing{chosen.name}});
    }
    name_ = chosen.name;
    if (shown_name_ != name_) {
      *found_ = nullptr;
      *first_ = nullptr;
    }
    shown_name_ = name_;
    return chosen;
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
    const std::string segment = "segment " + std::to_string(info.id.value);
    place_beside(text_width(segment), ui.px(16));
    draw_link(ui, "queue.segment", segment, {{}, SegmentThing{info.id}});
  }

  /// The shown queue stays until another answer is there, unless it is of another queue.
  void ask(Ui& ui, const model::FileView& view, const PageView* pages, const QueueInfo& info) {
    const auto segment = std::ranges::find(view.segments, info.id, &SegmentInfo::id);
    const Asked wanted{choice_.name(), pages == nullptr ? 0 : pages->info().superstep_count,
                       info.id.value,
                       segment == view.segments.end() ? 0 : segment->runs.front().run_id.value};
    if (asked_ != wanted) {
      asked_ = wanted;
      ui.jobs.start("queue " + shown_text(info.name), "queue",
                    [snapshot = *view.snapshot, segments = view.segments, info,
                     box = found_](JobContext& context) -> Jobs::Finish {
                      auto found = std::make_shared<Found>();
                      const auto read = look(snapshot, segments, info, context, *found);
                      if (!read) found->problem = read.error();
                      return [box, found] { *box = found; };
                    });
    }
    const std::tuple first_wanted{wanted, range_, count_};
    if (first_asked_ == first_wanted) return;
    first_asked_ = first_wanted;
    ui.jobs.start("first pages of " + shown_text(info.name), "first of queue",
                  [snapshot = *view.snapshot, name = info.name,
                   pages = pages == nullptr ? std::nullopt : std::optional(*pages), range = range_,
                   count = count_, box = first_](JobContext& context) -> Jobs::Finish {
                    auto first = std::make_shared<First>();
                    const auto progress = [&](auto... at) { return context.progress(at...); };
                    const auto find = [&]() -> Result<model::WaitingInRange> {
                      CRAWLSTORE_TRY(const auto queue, QueueView::open(snapshot, name));
                      return model::waiting_in_range(queue, pages ? &*pages : nullptr, range, count,
                                                     progress);
                    };
                    if (const auto waiting = find()) {
                      first->title = title_of(*waiting, range);
                      first->rows = std::make_shared<model::TableRows>(
                          model::first_table(waiting->pages, waiting->before_count));
                    } else {
                      first->problem = waiting.error();
                    }
                    return [box, first] { *box = first; };
                  });
  }

  /// The contents of indexes are there also when the first pages cannot be read.
  static Result<void> look(const Snapshot& snapshot, const std::vector<SegmentInfo>& segments,
                           const QueueInfo& info, JobContext& context, Found& found) {
    CRAWLSTORE_TRY(const auto queue, QueueView::open(snapshot, info.name));
    found.bins = queue.distribution(kBins);
    if (info.page_count <= kCountedPagesMax) {
      auto counted = model::counted_bins(queue, found.bins,
                                         [&](auto... at) { return context.progress(at...); });
      found.is_counted = counted.has_value();
      if (counted) found.bins = std::move(*counted);
    }
    found.runs = queue.runs();
    found.table =
        std::make_shared<model::TableRows>(model::queue_runs_table(info, found.runs, segments));
    return {};
  }

  static std::string title_of(const model::WaitingInRange& waiting,
                              const model::PriorityRange& range) {
    if (range == model::PriorityRange()) return {};
    return "the first " + model::format_count(waiting.pages.size()) + " of " +
           model::format_counted(waiting.page_count, "page") + " in the range; " +
           model::format_count(waiting.before_count) + " leave before";
  }

  template <class Self>
  static auto& table_of(Self& self) {
    if (self.part_ == QueuePart::kHosts) return self.hosts_.table();
    return self.part_ == QueuePart::kFirst ? self.first_table_ : self.runs_table_;
  }
  [[nodiscard]] const Table64& table() const { return table_of(*this); }
  Table64& table() { return table_of(*this); }

  void draw_found(Ui& ui, const model::FileView& view, const PageView* pages,
                  const QueueInfo& info) {
    const auto& found = *found_;
    if (found == nullptr) {
      if (view.snapshot) draw_text(ui, "reading ...", ui.palette.faint);
      return;
    }
    if (found->problem) return draw_problem(ui, *found->problem);
    if (!found->bins.empty()) {
      const ImVec2 room = ImGui::GetContentRegionAvail();
      const auto dragged = draw_queue(
          ui, "queue.bin", {found->bins, found->runs, info.page_count, range_, found->is_counted},
          ImVec2(room.x, std::clamp(room.y * 0.45F, ui.px(120), ui.px(320))));
      if (dragged) choose_range({five_digits(dragged->first), five_digits(dragged->last)});
    }
    draw_parts(ui, *found);
    if (part_ == QueuePart::kHosts) return hosts_.draw(ui, view, info, pages, choice_.name());
    if (part_ == QueuePart::kRuns)
      return runs_table_.draw(ui, found->table, {.id = "runs", .is_main = true});
    draw_first(ui);
  }

  void draw_parts(Ui& ui, const Found& found) {
    const auto& first = *first_;
    const auto count_of = [](const std::shared_ptr<const model::TableSource>& rows) {
      return rows == nullptr ? "" : " " + model::format_count(rows->row_count());
    };
    const std::array<std::tuple<QueuePart, const char*, std::string>, kQueueParts> titles{
        {{QueuePart::kFirst, "queue.first",
          "First pages" + (first == nullptr ? "" : count_of(first->rows))},
         {QueuePart::kHosts, "queue.hosts", "Hosts" + hosts_.count_text()},
         {QueuePart::kRuns, "queue.runs", "Runs" + count_of(found.table)}}};
    for (const auto& [part, label, text] : titles) {
      if (part != QueuePart::kFirst) place_beside(choice_width(text));
      if (draw_choice(ui, label, text, part_ == part)) part_ = part;
    }
    if (part_ != QueuePart::kFirst) return;
    for (const std::uint64_t count : kFirstPages) {
      const std::string text = model::format_count(count);
      place_beside(choice_width(text), ui.px(count == kFirstPages.front() ? 20 : 4));
      if (draw_choice(ui, "queue.count." + std::to_string(count), text, count == count_)) {
        count_ = count;
      }
    }
    draw_range(ui);
  }

  void draw_first(Ui& ui) {
    const auto& first = *first_;
    if (first == nullptr) return draw_text(ui, "reading ...", ui.palette.faint);
    if (first->problem) return draw_problem(ui, *first->problem);
    if (!first->title.empty()) draw_text(ui, first->title, ui.palette.faint);
    TableOptions options{.id = "first"};
    options.is_main = true;
    options.pages = choice_.name();
    options.choose = [this, &ui](const model::Row& row) {
      ui.actions.go(
          {"page_detail", PageThing{choice_.name(), std::get<std::uint64_t>(row.front())}});
    };
    first_table_.draw(ui, first->rows, options);
  }

  /// Rounds to the digits that a pointer can tell, so that the fields are short.
  static double five_digits(double priority) {
    const std::string text =
        std::isinf(priority) ? std::string() : model::format_cell(priority, model::Unit::kScore);
    return model::parse_priority(text, priority).value_or(priority);
  }
  /// Nothing when something else than priorities stands there.
  [[nodiscard]] std::optional<model::PriorityRange> range_of_fields() const {
    const auto first = model::parse_priority(from_, model::PriorityRange().first);
    const auto last = model::parse_priority(to_, model::PriorityRange().last);
    if (!first || !last) return std::nullopt;
    return model::PriorityRange{*first, *last};
  }
  void choose_range(const model::PriorityRange& range) {
    range_ = range;
    from_ = model::format_priority(range.first);
    to_ = model::format_priority(range.last);
    first_asked_.reset();  // also when it is the same: that may have been cancelled
    part_ = QueuePart::kFirst;
    first_table_.scroll_to_top(0);
  }
  void clear_range() {
    if (range_ != model::PriorityRange()) choose_range({});
  }

  /// Fields for the range, so that it can be exact and needs no mouse.
  void draw_range(Ui& ui) {
    const float width = ui.px(90);
    place_beside(text_width("priorities from to") + 2 * width + ui.px(24), ui.px(20));
    ImGui::AlignTextToFramePadding();
    draw_text(ui, "priorities from", ui.palette.faint);
    place_beside(width);
    ImGui::SetNextItemWidth(width);
    bool is_entered = draw_input(ui, "queue.from", "highest", from_);
    place_beside(text_width("to") + width);
    draw_text(ui, "to", ui.palette.faint);
    place_beside(width);
    ImGui::SetNextItemWidth(width);
    is_entered = draw_input(ui, "queue.to", "lowest", to_) || is_entered;
    if (is_entered) {
      if (const auto range = range_of_fields()) {
        choose_range(*range);
      } else {
        ui.actions.say(Severity::kWarning, "priorities are numbers, such as 0.5, 1e-7 or -3");
      }
    }
    if (range_ == model::PriorityRange()) return;
    const bool is_escape = ui.focus.pane() == Pane::kPanel && !ImGui::GetIO().WantTextInput &&
                           ImGui::IsKeyPressed(kKeyEscape, false);
    place_beside(button_width("All priorities"));
    if (draw_button(ui, "queue.all", "All priorities",
                    "ends the range (Escape, or a click above)") ||
        is_escape) {
      clear_range();
    }
  }

  PagesChoice choice_;
  std::string name_;        // of the queue
  std::string shown_name_;  // of the queue that found_ and first_ are of
  QueueLookup lookup_;
  std::uint64_t count_ = kFirstPages[1];
  model::PriorityRange range_;
  std::string from_;  // the fields
  std::string to_;
  QueuePart part_ = QueuePart::kFirst;
  std::optional<Asked> asked_;
  std::shared_ptr<std::shared_ptr<const Found>> found_ =
      std::make_shared<std::shared_ptr<const Found>>();
  std::optional<std::tuple<Asked, model::PriorityRange, std::uint64_t>> first_asked_;
  std::shared_ptr<std::shared_ptr<const First>> first_ =
      std::make_shared<std::shared_ptr<const First>>();
  QueueHosts hosts_;
  Table64 first_table_;
  Table64 runs_table_;
};

}  // namespace

std::unique_ptr<Panel> make_queue_panel() {
  return std::make_unique<QueuePanel>();
}

}  // namespace crawlstore::inspector
