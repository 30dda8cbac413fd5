// SPDX-License-Identifier: Apache-2.0
#pragma once

/// An axis of powers of ten in a plot.

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace crawlstore::inspector {

/// 2 -> "100", -5 -> "1e-5".
inline std::string power_text(int exponent) {
  constexpr std::array kPlain{"1", "10", "100"};
  if (exponent >= 0 && exponent < static_cast<int>(kPlain.size())) {
    return kPlain[static_cast<std::size_t>(exponent)];
  }
  return "1e" + std::to_string(exponent);
}

/// An axis of powers of ten, from one pixel to another.
class LogAxis {
 public:
  LogAxis(double low, double high, float from, float to)
      : low_(std::log10(low)), high_(std::max(std::log10(high), low_ + 1)), from_(from), to_(to) {}

  [[nodiscard]] float place(double value) const {
    return from_ + (to_ - from_) * static_cast<float>((std::log10(value) - low_) / (high_ - low_));
  }
  [[nodiscard]] double value_at(float place) const {
    const double part = static_cast<double>(place - from_) / static_cast<double>(to_ - from_);
    return std::pow(10, low_ + (high_ - low_) * std::clamp(part, 0.0, 1.0));
  }
  /// Calls `draw` with each power of ten that has so many pixels to the next one.
  template <class Draw>
  void for_each_tick(float distance_min, const Draw& draw) const {
    const float a_power = std::abs(to_ - from_) / static_cast<float>(high_ - low_);
    const int step = std::max(1, static_cast<int>(std::ceil(distance_min / a_power)));
    int exponent = static_cast<int>(std::ceil(low_));
    for (; exponent % step != 0; ++exponent) {
    }
    for (; exponent <= high_; exponent += step) {
      draw(from_ + a_power * static_cast<float>(exponent - low_) * (to_ > from_ ? 1.0F : -1.0F),
           power_text(exponent));
    }
  }

 private:
  double low_ = 0;
  double high_ = 1;
  float from_ = 0;
  float to_ = 0;
};

}  // namespace crawlstore::inspector
