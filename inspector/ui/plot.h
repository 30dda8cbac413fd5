// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "inspector/ui/ui.h"

namespace crawlstore::inspector {

struct HistogramBar {
  std::string label;
  std::uint64_t count = 0;
};

/// Bars side by side, as high as their counts; the empty ones at both ends are left out. The bar
/// under the pointer says its numbers.
void draw_histogram(Ui& ui, std::string_view label, const std::vector<HistogramBar>& bars,
                    float height);

}  // namespace crawlstore::inspector
