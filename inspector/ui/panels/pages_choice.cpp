// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/panels/pages_choice.h"

#include "inspector/core/shown_text.h"

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
  for (std::size_t i = 0; view.pages.size() > 1 && i < view.pages.size(); ++i) {
    const std::string text = fit_text(ui, shown_text(view.pages[i].name), ui.px(300));
    if (i > 0) place_beside(choice_width(text));
    if (draw_choice(ui, std::string(label) + ".database." + text, text, i == *shown)) {
      choose(view.pages[i].name);
    }
  }
  const PageView* open = model::open_pages(view, name_);
  if (open == nullptr) {
    draw_paragraph(ui, "Pages can be read again when the file is looked at again (F5).",
                   ui.palette.faint);
  }
  return open;
}

}  // namespace crawlstore::inspector
