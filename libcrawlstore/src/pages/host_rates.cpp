// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <crawlstore/host_rates.h>

namespace crawlstore {

Result<HostRates> HostRates::make(std::size_t host_count, double window_s) {
  if (host_count == 0) return fail(Errc::kInvalidArgument, "no host is to be followed");
  if (!std::isfinite(window_s) || window_s <= 0) {
    return fail(Errc::kInvalidArgument, "the window of host rates is not finite and above 0");
  }
  return HostRates(host_count, window_s);
}

void HostRates::cool(double time_s) {
  const double passed_s = has_begun_ ? std::max(0.0, time_s - now_s_) : 0.0;
  now_s_ = has_begun_ ? now_s_ + passed_s : time_s;
  has_begun_ = true;
  const double factor = std::exp(-passed_s / window_s_);
  for (Slot& slot : slots_) slot.temperature *= factor;
}

void HostRates::add(std::uint64_t host, double time_s) {
  cool(time_s);
  const auto known = std::find_if(slots_.begin(), slots_.end(),
                                  [host](const Slot& slot) { return slot.host == host; });
  if (known != slots_.end()) {
    known->temperature += 1;
    return;
  }
  if (slots_.size() < slot_count_) {
    slots_.push_back({host, 1});
    return;
  }
  const auto coldest =
      std::min_element(slots_.begin(), slots_.end(),
                       [](const Slot& a, const Slot& b) { return a.temperature < b.temperature; });
  if (coldest->temperature < 1) *coldest = {host, 1};
}

double HostRates::temperature(std::uint64_t host) const {
  const auto known = std::find_if(slots_.begin(), slots_.end(),
                                  [host](const Slot& slot) { return slot.host == host; });
  return known == slots_.end() ? 0 : known->temperature;
}

}  // namespace crawlstore
