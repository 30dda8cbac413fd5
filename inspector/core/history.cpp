// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/history.h"

#include <utility>

namespace crawlstore::inspector {

void History::go(const Location& location, std::string view_state) {
  if (!visits_.empty()) {
    visits_[at_].view_state = std::move(view_state);
    if (visits_[at_].location == location) return;
    visits_.resize(at_ + 1);
    if (visits_.size() == kVisitsMax) visits_.erase(visits_.begin());
  }
  visits_.push_back({location, {}});
  at_ = visits_.size() - 1;
}

const Visit* History::back(std::string view_state) {
  if (!can_go_back()) return nullptr;
  visits_[at_].view_state = std::move(view_state);
  return &visits_[--at_];
}

const Visit* History::forward(std::string view_state) {
  if (!can_go_forward()) return nullptr;
  visits_[at_].view_state = std::move(view_state);
  return &visits_[++at_];
}

}  // namespace crawlstore::inspector
