// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/panels/page_groups.h"

#include <algorithm>

#include "inspector/core/shown_text.h"
#include "model/format_text.h"
#include "model/frontier_look.h"

namespace crawlstore::inspector {
namespace {

/// Items up to which a frontier is read for the group of a page.
constexpr std::uint64_t kReadItemsMax = 200'000;
constexpr const char* kGroupsSlot = "page groups";

bool is_small(const FrontierInfo& info) {
  return info.waiting_count + info.leased_count <= kReadItemsMax;
}

std::string key_of(const model::FileView& view, const std::string& host) {
  std::string key = host;
  for (const FrontierInfo& info : view.frontiers) {
    const auto segment = std::ranges::find(view.segments, info.id, &SegmentInfo::id);
    const bool has_run = segment != view.segments.end() && !segment->runs.empty();
    key += "\n" + std::to_string(info.id.value) + " " +
           std::to_string(has_run ? segment->runs.front().run_id.value : 0);
  }
  return key;
}

}  // namespace

void PageGroups::let_go(Jobs& jobs) {
  jobs.cancel_slot(kGroupsSlot);
  asked_.clear();
}

void PageGroups::ask(Ui& ui, const model::FileView& view, const std::string& host) {
  const std::string wanted = key_of(view, host);
  if (asked_ == wanted) return;
  asked_ = wanted;
  if (host_ != host) *found_ = nullptr;
  host_ = host;
  ui.jobs.start("groups of " + shown_text(host), kGroupsSlot,
                [snapshot = *view.snapshot, infos = view.frontiers, host,
                 box = found_](JobContext& /*context*/) -> Jobs::Finish {
                  auto all = std::make_shared<std::vector<Found>>();
                  for (const FrontierInfo& info : infos) {
                    if (!is_small(info)) continue;
                    Found found{info, {}, {}};
                    const auto frontier = FrontierView::open(snapshot, info.name);
                    if (frontier) {
                      found.frontier = frontier->info();
                      auto state = model::group_state(*frontier, host);
                      if (state) found.state = std::move(*state);
                      if (!state) found.problem = state.error();
                    } else {
                      found.problem = frontier.error();
                    }
                    all->push_back(std::move(found));
                  }
                  return [box, all] { *box = all; };
                });
}

void PageGroups::draw(Ui& ui, const model::FileView& view, const std::string& host) {
  if (view.frontiers.empty() || host.empty()) return;
  if (view.snapshot) ask(ui, view, host);
  for (const FrontierInfo& info : view.frontiers) {
    if (is_small(info)) continue;
    draw_text(ui, "group in " + shown_text(info.name) + ", which is large:", ui.palette.faint);
    const std::string text = "look for " + shown_text(host);
    place_beside(text_width(text), ui.px(8));
    draw_link(ui, "page.look_for_group." + shown_text(info.name), text,
              {"frontier", FrontierThing{info.name, host}});
  }
  if (*found_ != nullptr && host_ == host) draw_found(ui, host);
}

void PageGroups::draw_found(Ui& ui, const std::string& host) const {
  for (const Found& found : **found_) {
    const std::string name = shown_text(found.frontier.name);
    if (found.problem) {
      draw_problem(ui, *found.problem);
      continue;
    }
    if (!found.state) {
      draw_paragraph(ui, "The frontier " + name + " has no group " + shown_text(host) + ".",
                     ui.palette.faint);
      continue;
    }
    draw_text(ui, "group in " + name, ui.palette.faint);
    const std::string title = shown_text(host);
    place_beside(text_width(title), ui.px(8));
    draw_link(ui, "page.group." + name, title,
              {"frontier", FrontierThing{found.frontier.name, host}});
    const std::string text = model::describe_group(*found.state, found.frontier.default_rule,
                                                   found.frontier.time_at_ms(ui.now_us));
    place_beside(text_width(text), ui.px(8));
    draw_paragraph(ui, text, ui.palette.text);
    ui.actions.redraw_at(ui.now_us + 1'000'000);
  }
}

}  // namespace crawlstore::inspector
