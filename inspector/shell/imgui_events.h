// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Events into Dear ImGui 1.86, which keeps only the state of one frame: a press and its release in
/// one frame would be lost. So they wait here, and what would hide another waits a frame longer.

#include <deque>

#include <imgui.h>

#include "inspector/core/events.h"

namespace crawlstore::inspector {

class EventQueue {
 public:
  void push(const Event& event) { events_.push_back(event); }
  [[nodiscard]] bool empty() const { return events_.empty(); }
  /// The next event; never call it on an empty queue.
  Event take();
  /// The next event can come in the same frame as what was fed since begin_frame().
  [[nodiscard]] bool fits() const;
  void begin_frame() { has_pressed_ = false; }
  /// Into ImGui's state of this frame.
  void feed(const Event& event);

 private:
  std::deque<Event> events_;
  bool has_pressed_ = false;  // a button or a key changed in this frame
};

/// Tells ImGui which of our codes are the keys that it knows by meaning. Once a context.
void name_keys(ImGuiIO& io);

}  // namespace crawlstore::inspector
