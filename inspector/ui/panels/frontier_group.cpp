// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/panels/frontier_group.h"

#include <utility>

#include <imgui.h>

#include "inspector/core/shown_text.h"
#include "model/format_text.h"
#include "model/frontier_rule.h"
#include "model/frontier_view.h"

namespace crawlstore::inspector {
namespace {

constexpr const char* kGroupSlot = "frontier group";
constexpr std::uint64_t kItemsTickMs = 1000;

}  // namespace

void FrontierGroupPart::let_go(Jobs& jobs) {
  jobs.cancel_slot(kGroupSlot);
  look_ = nullptr;
}

/// The items shown stay until others are there, unless they are of another group.
void FrontierGroupPart::ask(Ui& ui, const LoadedFrontier& loaded, const std::string& key) {
  if (look_ == loaded.look && key_ == key) return;
  if (key_ != key) *found_ = nullptr;
  state_ = loaded.look->find(key);
  key_ = key;
  // Freed items come back with the next look, for which this asks again.
  look_ = loaded.view || state_ == nullptr ? loaded.look : nullptr;
  if (!loaded.view || state_ == nullptr) return;
  ui.jobs.start("items of " + shown_text(key), kGroupSlot,
                [view = *loaded.view, has_url_records = loaded.has_url_records, key,
                 box = found_](JobContext& /*context*/) -> Jobs::Finish {
                  const model::ItemRows rows{FrontierLoad::kItemsMax, false, has_url_records};
                  auto waiting = model::waiting_items_table(view, key, rows);
                  auto leases = model::leases_table(view, rows, key);
                  auto found = std::make_shared<Found>();
                  if (!waiting || !leases) {
                    found->problem = waiting ? leases.error() : waiting.error();
                    return [box, found] { *box = found; };
                  }
                  waiting->name = "group_items";
                  leases->name = "group_leases";
                  found->waiting = std::make_shared<model::TableRows>(std::move(*waiting));
                  found->leases = std::make_shared<model::TableRows>(std::move(*leases));
                  return [box, found] { *box = found; };
                });
}

bool FrontierGroupPart::draw(Ui& ui, const LoadedFrontier& loaded, const std::string& key,
                             std::uint64_t now_ms) {
  ask(ui, loaded, key);
  const std::string title = "Group " + shown_text(key);
  const float room = ImGui::GetContentRegionAvail().x - button_width("Close") - ui.px(20);
  ImGui::AlignTextToFramePadding();
  draw_text(ui, fit_middle(ui, title, room), ui.palette.accent);
  place_beside(button_width("Close"), ui.px(12));
  const bool stays = !draw_button(ui, "frontier.close_group", "Close", "shows all groups alone");
  if (state_ == nullptr) {
    draw_paragraph(ui, "The frontier has no group of this key.", ui.palette.faint);
    return stays;
  }
  const FrontierRule& rule = loaded.look->info.default_rule;
  draw_paragraph(ui, model::describe_group(*state_, rule, now_ms), ui.palette.text);
  const std::string rule_text = state_->group.rule
                                    ? "rule of its own: " + model::format_rule(*state_->group.rule)
                                    : "the default rule: " + model::format_rule(rule);
  draw_paragraph(ui, rule_text, ui.palette.faint);
  const auto found = *found_;
  if (found == nullptr) {
    draw_text(ui, "reading ...", ui.palette.faint);
  } else if (found->problem) {
    draw_problem(ui, *found->problem);
  } else {
    draw_items(ui, *found, now_ms);
  }
  return stays;
}

void FrontierGroupPart::draw_items(Ui& ui, const Found& found, std::uint64_t now_ms) {
  const FrontierGroup& group = state_->group;
  const std::string waiting =
      "Waits " + model::format_count(group.waiting_count + group.later_count);
  const std::string leases = "Leased " + model::format_count(group.leased_count);
  if (draw_choice(ui, "frontier.group_waiting", waiting, !shows_leases_)) shows_leases_ = false;
  place_beside(choice_width(leases));
  if (draw_choice(ui, "frontier.group_leases", leases, shows_leases_)) shows_leases_ = true;
  if (shown_.get() != &found || now_ms >= shown_ms_ + kItemsTickMs) {
    shown_ = *found_;
    shown_ms_ = now_ms;
    waiting_rows_ =
        model::rows_from_now(found.waiting, {"not_before_us", "due_in_seconds"}, now_ms);
    lease_rows_ = model::rows_from_now(found.leases, {"until_us", "ends_in_seconds"}, now_ms);
  }
  const auto& rows = shows_leases_ ? lease_rows_ : waiting_rows_;
  const std::uint64_t count =
      shows_leases_ ? group.leased_count : group.waiting_count + group.later_count;
  if (count > rows->row_count()) {
    const std::string text = "the first " + model::format_count(rows->row_count());
    place_beside(text_width(text), ui.px(12));
    draw_text(ui, text, ui.palette.faint);
  }
  TableOptions options{.id = rows->name()};
  options.has_filter = false;
  (shows_leases_ ? leases_table_ : waiting_table_).draw(ui, rows, options);
}

}  // namespace crawlstore::inspector
