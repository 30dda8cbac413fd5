// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/panels/queue_lookup.h"

#include <algorithm>
#include <utility>

#include <imgui.h>

#include "inspector/core/shown_text.h"
#include "model/format_text.h"
#include "model/parse_text.h"
#include "model/queue_pass.h"

namespace crawlstore::inspector {
namespace {

/// Up to so many pages a page is looked for again in each generation.
constexpr std::uint64_t kFollowedQueueMax = 200'000;
constexpr const char* kLookupSlot = "queue lookup";

/// "7", "#7", or a URL.
std::optional<std::uint64_t> parse_index(std::string_view text) {
  if (text.starts_with('#')) text.remove_prefix(1);
  return model::parse_count(text);
}

}  // namespace

void QueueLookup::look_for(std::uint64_t index) {
  set_text(std::to_string(index));
}

void QueueLookup::set_text(const std::string& text) {
  field_ = text;
  entered_ = text;
  asked_.reset();
}

void QueueLookup::let_go(Jobs& jobs) {
  jobs.cancel_slot(kLookupSlot);
  if (*answer_ == nullptr) asked_.reset();
}

void QueueLookup::draw(Ui& ui, const Place& place) {
  ImGui::AlignTextToFramePadding();
  draw_text(ui, "where does a page wait", ui.palette.faint);
  const float width = std::min(ui.px(300), ImGui::GetContentRegionAvail().x);
  place_beside(width);
  ImGui::SetNextItemWidth(width);
  if (draw_input(ui, "queue.lookup", "its URL or its index, then Enter", field_)) set_text(field_);
  if (entered_.empty()) return;
  if (place.view.snapshot) ask(ui, place);
  const auto& answer = *answer_;
  if (answer == nullptr) return draw_text(ui, "looking ...", ui.palette.faint);
  if (answer->page) {
    const std::string title = "page " + std::to_string(*answer->page);
    draw_link(ui, "queue.looked_up", title,
              {"page_detail", PageThing{place.pages_name, *answer->page}});
    ImGui::SameLine(0, ui.px(8));
  }
  std::string text = answer->text;
  if (answer->generation != place.view.info.generation) {
    text += " (in generation " + model::format_count(answer->generation.value) + ")";
  }
  draw_paragraph(ui, text, ui.palette.text);
}

/// The shown answer stays until another one is there, unless it is of another page or queue.
void QueueLookup::ask(Ui& ui, const Place& place) {
  const Asked wanted{place.queue.id.value, place.pages_name, entered_};
  const bool is_other = asked_ != wanted;
  const bool is_followed = place.queue.page_count <= kFollowedQueueMax;
  if (!is_other && (asked_number_ == place.view.number || !is_followed)) return;
  if (is_other) *answer_ = nullptr;
  asked_ = wanted;
  asked_number_ = place.view.number;
  ui.jobs.start("look for a page in " + shown_text(place.queue.name), kLookupSlot,
                [view = ui.session.view(), queue = place.queue,
                 pages = place.pages == nullptr ? std::nullopt : std::optional(*place.pages),
                 text = entered_, box = answer_](JobContext& context) -> Jobs::Finish {
                  const Place in{*view, queue, pages ? &*pages : nullptr, {}};
                  auto answer = std::make_shared<Answer>();
                  if (auto found = look(*view->snapshot, in, text, context)) {
                    *answer = std::move(*found);
                  } else if (found.error().code == Errc::kCancelled) {
                    answer->text = "The search was cancelled; Enter in the field begins it again.";
                  } else {
                    answer->text = describe(found.error());
                  }
                  answer->generation = view->info.generation;
                  return [box, answer] { *box = answer; };
                });
}

Result<QueueLookup::Answer> QueueLookup::look(const Snapshot& snapshot, const Place& place,
                                              const std::string& text, JobContext& context) {
  Answer answer;
  answer.page = parse_index(text);
  if (!answer.page) {
    if (place.pages == nullptr) {
      answer.text = "Without a page database only an index, such as 7, can be looked up.";
      return answer;
    }
    CRAWLSTORE_TRY(answer.page, place.pages->find(text));
    if (!answer.page) {
      answer.text = "No page has this URL.";
      return answer;
    }
  }
  CRAWLSTORE_TRY(const auto queue, QueueView::open(snapshot, place.queue.name));
  CRAWLSTORE_TRY(const auto found, model::find_place(queue, *answer.page, [&](auto... at) {
                   return context.progress(at...);
                 }));
  std::optional<PageInfo> page;
  if (place.pages != nullptr && *answer.page < place.pages->info().page_count) {
    CRAWLSTORE_TRY(page, place.pages->page(*answer.page));
  }
  answer.text = model::place_text(queue.info(), found, page);
  return answer;
}

}  // namespace crawlstore::inspector
