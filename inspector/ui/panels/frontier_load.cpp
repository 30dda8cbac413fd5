// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/panels/frontier_load.h"

#include <algorithm>
#include <utility>

#include "inspector/core/shown_text.h"
#include "model/format_text.h"
#include "model/frontier_view.h"
#include "service/core/listing.h"

namespace crawlstore::inspector {
namespace {

constexpr const char* kSlot = "frontier";

Result<void> read_frontier(const Snapshot& snapshot, const std::string& name, LoadedFrontier& to) {
  CRAWLSTORE_TRY(auto view, FrontierView::open(snapshot, name));
  to.has_url_records = service::is_crawl(snapshot, view.info());
  const model::ItemRows rows{FrontierLoad::kItemsMax, false, to.has_url_records};
  CRAWLSTORE_TRY(auto look, model::look_at(view));
  CRAWLSTORE_TRY(auto leases, model::leases_table(view, rows));
  CRAWLSTORE_TRY(auto later, model::later_table(view, rows));
  to.look = std::make_shared<model::FrontierLook>(std::move(look));
  to.leases = std::make_shared<model::TableRows>(std::move(leases));
  later.name = "later";
  to.later = std::make_shared<model::TableRows>(std::move(later));
  to.view = std::move(view);
  return {};
}

}  // namespace

void FrontierLoad::ask(Ui& ui, const model::FileView& view, const FrontierInfo& info) {
  const auto segment = std::ranges::find(view.segments, info.id, &SegmentInfo::id);
  const bool has_run = segment != view.segments.end() && !segment->runs.empty();
  const Asked wanted{info.name, info.id.value, has_run ? segment->runs.front().run_id.value : 0};
  if (asked_ == wanted) return;
  const bool is_other = asked_ && std::get<std::string>(*asked_) != info.name;
  if (is_other) {
    box_->loaded = nullptr;
  } else if (is_reading(ui)) {
    return;  // the newest is read after it
  } else if (ui.now_us < rest_until_us_) {
    return ui.actions.redraw_at(rest_until_us_);
  }
  asked_ = wanted;
  start(ui, view, info);
}

bool FrontierLoad::is_reading(Ui& ui) {
  if (job_ == 0) return false;
  if (box_->answer_count >= answers_wanted_) {
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

void FrontierLoad::start(Ui& ui, const model::FileView& view, const FrontierInfo& info) {
  free_items();
  started_us_ = ui.now_us;
  answers_wanted_ = box_->answer_count + 1;
  job_ = ui.jobs.start("read the frontier " + shown_text(info.name), kSlot,
                       [snapshot = *view.snapshot, generation = view.info.generation,
                        name = info.name, box = box_](JobContext& /*context*/) -> Jobs::Finish {
                         auto loaded = std::make_shared<LoadedFrontier>();
                         loaded->generation = generation;
                         const auto read = read_frontier(snapshot, name, *loaded);
                         if (!read) loaded->problem = read.error();
                         return [box, loaded] {
                           box->loaded = loaded;
                           ++box->answer_count;
                         };
                       });
}

/// Two of a large frontier in memory would be one too many.
void FrontierLoad::free_items() {
  if (box_->loaded == nullptr || !box_->loaded->view) return;
  auto rest = std::make_shared<LoadedFrontier>(*box_->loaded);
  rest->view.reset();
  box_->loaded = std::move(rest);
}

void FrontierLoad::let_go(Jobs& jobs) {
  jobs.cancel_slot(kSlot);
  job_ = 0;
  asked_.reset();
  rest_until_us_ = 0;
  free_items();
}

void FrontierLoad::draw_state(Ui& ui) {
  const auto& loaded = box_->loaded;
  if (is_reading(ui)) {
    if (loaded == nullptr) draw_text(ui, "reading ...", ui.palette.faint);
    return;
  }
  if (loaded != nullptr || !asked_) return;
  draw_text(ui, "The reading was cancelled.", ui.palette.faint);
  place_beside(button_width("Read again"));
  if (draw_button(ui, "frontier.read", "Read again")) asked_.reset();
}

}  // namespace crawlstore::inspector
