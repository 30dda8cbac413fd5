// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The times at which frames are drawn: some after a change, in which ImGui settles, and one at a
/// time that was asked for.

#include <algorithm>
#include <cstdint>

namespace crawlstore::inspector {

class Redraws {
 public:
  static constexpr int kSettlingFrames = 3;
  static constexpr std::int64_t kIdleAfterUs = 60'000'000;

  void want() { frames_wanted_ = kSettlingFrames; }
  void want_one() { frames_wanted_ = std::max(frames_wanted_, 1); }
  void want_at(std::int64_t time_us) { at_us_ = at_us_ == 0 ? time_us : std::min(at_us_, time_us); }
  [[nodiscard]] bool is_wanted() const { return frames_wanted_ > 0; }
  void note_drawn() {
    if (frames_wanted_ > 0) --frames_wanted_;
  }

  void note_input(std::int64_t now_us) { last_input_us_ = now_us; }
  /// Tells if nobody has touched the window for a minute.
  [[nodiscard]] bool is_idle(std::int64_t now_us) const {
    return now_us - last_input_us_ >= kIdleAfterUs;
  }
  /// Wants a frame if the time that was asked for has come, and somebody looks.
  void pass_time(std::int64_t now_us) {
    if (at_us_ == 0 || now_us < at_us_) return;
    at_us_ = 0;
    if (!is_idle(now_us)) want_one();
  }

 private:
  int frames_wanted_ = kSettlingFrames;
  std::int64_t last_input_us_ = 0;
  std::int64_t at_us_ = 0;  // 0 = nobody asked for it
};

}  // namespace crawlstore::inspector
