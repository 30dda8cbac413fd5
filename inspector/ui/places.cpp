// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/places.h"

#include <algorithm>
#include <utility>

#include "inspector/core/absent.h"
#include "model/parse_text.h"

namespace crawlstore::inspector {
namespace {

std::string_view home_of(const Thing& thing) {
  for (const PanelKind& kind : panel_kinds()) {
    if (kind.is_home(thing)) return kind.id;
  }
  return "overview";
}

}  // namespace

Places::Places(AppState& state, Tabs& tabs, DetailsPane& details)
    : state_(state), tabs_(tabs), details_(details) {
  tabs_.open("start");
  history_.go({"start", {}}, {});
}

void Places::go(const Location& location) {
  Location to = location;
  if (to.panel.empty()) to.panel = home_of(to.thing);
  if (std::ranges::find(panel_kinds(), to.panel, &PanelKind::id) == panel_kinds().end()) {
    return state_.say(Severity::kWarning, "there is no panel \"" + to.panel + "\"");
  }
  wanted_ = std::move(to);
  state_.redraws.want();
}

std::string Places::go_to(const std::string& to) {
  if (to.starts_with('#')) {
    const auto index = model::parse_count(std::string_view(to).substr(1));
    if (!index) return "no index of a page";
    go({"page_detail", PageThing{{}, *index}});
    return {};
  }
  if (is_url(to)) return go_to_url(to);
  if (const auto offset = model::parse_count(to)) {
    go({"hex", ExtentThing{{*offset, 0}}});
    return {};
  }
  const auto location = parse_location(to);
  if (!location) return "no such location: an offset, segment/12, hex, #7, a URL ...";
  go(*location);
  return {};
}

std::string Places::go_to_url(const std::string& url) {
  const auto view = state_.session.view();
  const PageView* pages = view == nullptr ? nullptr : model::open_pages(*view, {});
  if (pages == nullptr) return "there are no pages that can be read";
  const auto index = pages->find(url);
  if (!index) return describe(index.error());
  if (!*index) return "no page has this URL";
  go({"page_detail", PageThing{{}, **index}});
  return {};
}

void Places::want_layout(const PaneLayout& layout) {
  wanted_layout_ = layout;
  state_.redraws.want();
}

void Places::leave_file() {
  wanted_layout_.reset();
  details_.clear();
  absent_.clear();
}

void Places::settle() {
  if (wanted_) leave_for(*std::exchange(wanted_, std::nullopt), tabs_.current().view_state());
  if (wanted_layout_) {
    const std::string state = tabs_.current().view_state();
    state_.settings.layout = *std::exchange(wanted_layout_, std::nullopt);
    tabs_.open_layout();
    leave_for({tabs_.front(), {}}, state);
    tabs_.save();
  }
}

void Places::go_back() {
  if (const Visit* visit = history_.back(tabs_.current().view_state())) arrive(*visit);
}

void Places::go_forward() {
  if (const Visit* visit = history_.forward(tabs_.current().view_state())) arrive(*visit);
}

void Places::close_tab(const std::string& id) {
  const bool is_front = tabs_.front() == id;
  const std::string state = is_front ? tabs_.current().view_state() : "";
  const std::string_view next = tabs_.close(id);
  if (is_front) leave_for({std::string(next), {}}, state);
}

void Places::look_again() {
  if (!absent_.empty()) show_thing();
}

void Places::leave_for(const Location& location, std::string view_state) {
  history_.go(location, std::move(view_state));
  arrive(history_.current());
}

void Places::arrive(const Visit& visit) {
  Panel& panel = tabs_.open(visit.location.panel);
  // The panel in front when somebody goes to the start panel is that of the next file, too.
  tabs_.note_layout();
  tabs_.bring_to_front(visit.location.panel);
  details_.clear();
  state_.focus.enter_new_panel();
  show_thing();
  if (!visit.view_state.empty()) panel.restore(visit.view_state);
  state_.redraws.want();
}

void Places::show_thing() {
  const auto view = state_.session.view();
  absent_ = view == nullptr ? "" : why_absent(*view, location());
  if (absent_.empty()) tabs_.current().show(location().thing);
}

}  // namespace crawlstore::inspector
