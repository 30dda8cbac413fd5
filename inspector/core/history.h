// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The visited places: back and forward, as in a browser. A place is remembered with what its panel
/// looked like (scroll, filter), so that going back shows the same picture.

#include <cstddef>
#include <string>
#include <vector>

#include "inspector/core/location.h"

namespace crawlstore::inspector {

struct Visit {
  Location location;
  std::string view_state;  ///< as the panel wrote it
};

class History {
 public:
  static constexpr std::size_t kVisitsMax = 1000;

  /// Leaves the current place, which looked like `view_state`, for `location`. Places that were
  /// forward are forgotten. Going where one is already adds and forgets nothing.
  void go(const Location& location, std::string view_state);
  /// The place before, or behind; nullptr = there is none. The place that is left is remembered
  /// with `view_state`. The pointer lasts until the next call.
  const Visit* back(std::string view_state);
  const Visit* forward(std::string view_state);

  [[nodiscard]] bool can_go_back() const { return at_ > 0; }
  [[nodiscard]] bool can_go_forward() const { return at_ + 1 < visits_.size(); }
  /// The current place; never call it before the first go().
  [[nodiscard]] const Visit& current() const { return visits_[at_]; }
  [[nodiscard]] bool empty() const { return visits_.empty(); }

 private:
  std::vector<Visit> visits_;
  std::size_t at_ = 0;
};

}  // namespace crawlstore::inspector
