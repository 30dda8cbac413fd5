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

std::string key_of(const model::FileView& view, const PageGroups::Page& page) {
  std::string key = page.database + "\n" + std::to_string(page.index);
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

void PageGroups::ask(Ui& ui, const model::FileView& view, const Page& page) {
  const std::string wanted = key_of(view, page);
  if (asked_ == wanted) return;
  asked_ = wanted;
  if (page_ != page) *found_ = nullptr;
  page_ = page;
  ui.jobs.start("groups of " + shown_text(page.host), kGroupsSlot,
                [snapshot = *view.snapshot, infos = view.frontiers, page,
                 box = found_](JobContext& /*context*/) -> Jobs::Finish {
                  auto all = std::make_shared<std::vector<Found>>();
                  for (const FrontierInfo& info : infos) {
                    if (is_small(info)) all->push_back(look_up(snapshot, info, page));
                  }
                  return [box, all] { *box = all; };
                });
}

PageGroups::Found PageGroups::look_up(const Snapshot& snapshot, const FrontierInfo& info,
                                      const Page& page) {
  Found found{info, {}, {}, {}};
  const auto frontier = FrontierView::open(snapshot, info.name);
  if (!frontier) {
    found.problem = frontier.error();
    return found;
  }
  found.frontier = frontier->info();
  auto state = model::group_state(*frontier, page.host);
  if (!state) found.problem = state.error();
  if (state) found.state = std::move(*state);
  if (!found.state || info.pages != page.database) return found;
  const auto visit = model::page_visit(*frontier, page.host, page.index);
  if (!visit) found.problem = visit.error();
  if (visit) found.visit = *visit;
  return found;
}

void PageGroups::draw(Ui& ui, const model::FileView& view, const Page& page) {
  if (view.frontiers.empty() || page.host.empty()) return;
  if (view.snapshot) ask(ui, view, page);
  for (const FrontierInfo& info : view.frontiers) {
    if (is_small(info)) continue;
    draw_text(ui, "group in " + shown_text(info.name) + ", which is large:", ui.palette.faint);
    const std::string text = "look for " + shown_text(page.host);
    place_beside(text_width(text), ui.px(8));
    draw_link(ui, "page.look_for_group." + shown_text(info.name), text,
              {"frontier", FrontierThing{info.name, page.host}});
  }
  if (*found_ != nullptr && page_ == page) draw_found(ui);
}

void PageGroups::draw_found(Ui& ui) const {
  const std::string& host = page_.host;
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
    const std::uint64_t now_ms = found.frontier.time_at_ms(ui.now_us);
    const std::string text =
        model::describe_group(*found.state, found.frontier.default_rule, now_ms);
    place_beside(text_width(text), ui.px(8));
    draw_paragraph(ui, text, ui.palette.text);
    if (found.frontier.pages == page_.database) {
      draw_paragraph(ui,
                     "next visit: " + (found.visit ? model::describe_visit(*found.visit, now_ms)
                                                   : "none, the frontier does not hold the page"),
                     ui.palette.text);
    }
    ui.actions.redraw_at(ui.now_us + 1'000'000);
  }
}

}  // namespace crawlstore::inspector
