// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/probe.h"

namespace crawlstore::inspector {

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
