// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/panels/pages_choice.h"

#include "inspector/core/shown_text.h"
#include "inspector/ui/panels/choices.h"

namespace crawlstore::inspector {

void PagesChoice::choose(const std::string& name) {
  if (name_ == name) return;
  name_ = name;
  ++version_;
}

const PageView* PagesChoice::draw(Ui& ui, const model::FileView& view, std::string_view label) {
  if (number_ != view.number) {
    number_ = view.number;
    ++version_;
  }
  if (view.pages_problem) draw_problem(ui, *view.pages_problem);
  const auto shown = model::find_pages(view, name_);
  if (!shown) {
    draw_paragraph(ui,
                   name_.empty()
                       ? "This generation has no page database, or none that can be read."
                       : "This generation has no page database " + shown_text(name_) + ".",
                   ui.palette.faint);
    if (!name_.empty() && !view.pages.empty()) choose({});
    return nullptr;
  }
  if (view.pages.size() > 1) {
    const std::string& before = view.pages[*shown].name;
    const auto& chosen = draw_names(ui, std::string(label) + ".database.", view.pages, before);
    if (chosen.name != before) choose(chosen.name);
  }
  return model::open_pages(view, name_);
}

}  // namespace crawlstore::inspector
