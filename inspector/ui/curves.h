// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Numbers over time as lines: small, for a glance.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inspector/ui/ui.h"

namespace crawlstore::inspector {

struct CurvePoint {
  std::int64_t time_us = 0;
  std::uint64_t count = 0;
};

struct Curve {
  std::string name;
  Colour colour = 0;
  std::vector<CurvePoint> points;  ///< by time
};

/// From 0 to the largest count, which stands above, on one scale for all; the times of both ends
/// stand below. The point
/// nearest to the pointer says its number.
void draw_curves(Ui& ui, std::string_view label, std::span<const Curve> curves, ImVec2 size);

}  // namespace crawlstore::inspector
