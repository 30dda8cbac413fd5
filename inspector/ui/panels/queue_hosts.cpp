// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/panels/queue_hosts.h"

#include <algorithm>
#include <utility>

#include <imgui.h>

#include "inspector/core/shown_text.h"
#include "model/format_text.h"
#include "model/queue_pass.h"

namespace crawlstore::inspector {
namespace {

/// Up to so many pages hosts are counted again for each generation; above, when asked to.
constexpr std::uint64_t kRecountedPagesMax = 200'000;
constexpr const char* kHostsSlot = "queue hosts";

}  // namespace

void QueueHosts::let_go(Jobs& jobs) {
  jobs.cancel_slot(kHostsSlot);
  job_ = 0;
  if (*found_ == nullptr) counted_.clear();
}

std::string QueueHosts::count_text() const {
  const auto& found = *found_;
  if (found == nullptr || found->rows == nullptr) return {};
  return " " + model::format_count(found->rows->row_count());
}

void QueueHosts::draw(Ui& ui, const model::FileView& view, const QueueInfo& queue,
                      const PageView* pages, const std::string& pages_name) {
  const std::string wanted = queue.name + "\n" + pages_name;
  const bool is_other = counted_ != wanted;
  if (is_other) *found_ = nullptr;
  if (pages != nullptr && view.snapshot) {
    const bool is_small =
        std::max(queue.page_count, pages->info().page_count) <= kRecountedPagesMax;
    if (is_other || (is_small && view_number_ != view.number)) {
      counted_ = wanted;
      start(ui, view, queue, *pages);
    }
  } else if (pages == nullptr && view.pages.empty()) {
    return draw_paragraph(ui, "Without a page database pages have no hosts.", ui.palette.faint);
  }
  const auto& found = *found_;
  if (found == nullptr) return draw_progress(ui);
  if (found->problem && found->problem->code != Errc::kCancelled)
    return draw_problem(ui, *found->problem);
  const bool is_older = found->generation != view.info.generation;
  if ((found->problem || is_older) && pages != nullptr && view.snapshot) {
    const std::string text =
        found->problem ? "The count was cancelled."
                       : "as of generation " + model::format_count(found->generation.value);
    draw_text(ui, text, ui.palette.faint);
    place_beside(button_width("Count again"));
    if (draw_button(ui, "queue.count_hosts", "Count again")) start(ui, view, queue, *pages);
  }
  if (found->problem) return;
  if (found->unknown_count > 0) {
    draw_paragraph(ui,
                   model::format_counted(found->unknown_count, "page") +
                       " of the queue: not in the page database, so without a host",
                   ui.palette.faint);
  }
  TableOptions options{.id = "hosts"};
  options.is_main = true;
  options.pages = pages_name;
  options.bars = {"page_count"};
  options.choose = [&ui, &pages_name](const model::Row& row) {
    ui.actions.go({"pages", HostThing{pages_name, std::get<std::string>(row.front())}});
  };
  table_.draw(ui, found->rows, options);
}

void QueueHosts::draw_progress(Ui& ui) const {
  const auto jobs = ui.jobs.list();
  const auto job = std::ranges::find(jobs, job_, &JobInfo::id);
  std::string text = "counting the hosts of all pages that wait ...";
  if (job != jobs.end() && job->total > 0) {
    text += " " + model::format_count(100 * job->done / job->total) + " %";
  }
  ImGui::AlignTextToFramePadding();
  draw_text(ui, text, ui.palette.faint);
  place_beside(button_width("Cancel"));
  if (draw_button(ui, "queue.cancel_hosts", "Cancel", "Escape")) ui.jobs.cancel(job_);
}

/// The shown hosts stay until another count is there.
void QueueHosts::start(Ui& ui, const model::FileView& view, const QueueInfo& queue,
                       const PageView& pages) {
  view_number_ = view.number;
  job_ =
      ui.jobs.start("count the hosts of " + shown_text(queue.name), kHostsSlot,
                    [snapshot = *view.snapshot, generation = view.info.generation,
                     name = queue.name, pages, box = found_](JobContext& context) -> Jobs::Finish {
                      auto found = std::make_shared<Found>();
                      found->generation = generation;
                      const auto count = [&]() -> Result<model::WaitingHosts> {
                        CRAWLSTORE_TRY(const auto opened, QueueView::open(snapshot, name));
                        return model::waiting_hosts(
                            opened, pages, [&](auto... at) { return context.progress(at...); });
                      };
                      if (auto counted = count()) {
                        found->unknown_count = counted->unknown_count;
                        found->rows = std::make_shared<model::TableRows>(std::move(counted->table));
                      } else {
                        found->problem = counted.error();
                      }
                      return [box, found] { *box = found; };
                    });
}

}  // namespace crawlstore::inspector
