// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/probe.h"

#include "inspector/ui/internal.h"

namespace crawlstore::inspector {

void Probe::note(std::string_view label, std::string_view text, ImVec2 min, ImVec2 max) {
  if (!is_on_) return;
  const bool is_cut = scrolled_depth_ == 0 && is_clipped(min, max);
  items_.push_back({std::string(label), std::string(text), min, max, is_cut});
}

const ProbeItem* Probe::find(std::string_view label) const {
  for (const ProbeItem& item : items_) {
    if (item.label == label) return &item;
  }
  for (const ProbeItem& item : items_) {
    if (item.text == label) return &item;
  }
  return nullptr;
}

bool Probe::shows(std::string_view text) const {
  for (const ProbeItem& item : items_) {
    if (item.text.find(text) != std::string::npos) return true;
  }
  return false;
}

}  // namespace crawlstore::inspector
