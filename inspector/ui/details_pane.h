// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The selection of the panel in front, as the panel tells of it. The pane comes with the first
/// selection and stays while that panel is in front: what is clicked must not move at each click,
/// nor between those of a double click. Another panel begins without it, unless something is
/// selected.

#include <string>
#include <vector>

#include "inspector/ui/ui.h"

namespace crawlstore::inspector {

class DetailsPane {
 public:
  [[nodiscard]] bool is_open() const { return is_open_; }
  [[nodiscard]] const std::vector<DetailLine>& lines() const { return details_.lines; }
  void clear() { details_ = {}; }
  /// Takes what the panel told in this frame; `is_new` = another panel is in front.
  void take(Ui& ui, bool is_new);
  void draw(Ui& ui);

 private:
  Details details_;
  bool is_open_ = false;
};

}  // namespace crawlstore::inspector
