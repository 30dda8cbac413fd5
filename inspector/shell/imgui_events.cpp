// SPDX-License-Identifier: Apache-2.0
#include "inspector/shell/imgui_events.h"

#include <array>
#include <limits>
#include <utility>

namespace crawlstore::inspector {

Event EventQueue::take() {
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

bool EventQueue::fits() const {
  return !events_.empty() && !has_pressed_;
}

void EventQueue::feed(const Event& event) {
  ImGuiIO& io = ImGui::GetIO();
  switch (event.kind) {
    case Event::Kind::kMouseMove:
      io.MousePos = ImVec2(event.x, event.y);
      break;
    case Event::Kind::kMouseButton:
      if (event.code >= 0 && event.code < 3) io.MouseDown[event.code] = event.is_down;
      has_pressed_ = true;
      break;
    case Event::Kind::kWheel:
      io.MouseWheelH += event.x;
      io.MouseWheel += event.y;
      break;
    case Event::Kind::kKey:
      if (event.chord.key < 0 || event.chord.key >= kKeyCount) break;
      io.KeysDown[event.chord.key] = event.is_down;
      io.KeyCtrl = event.chord.control;
      io.KeyShift = event.chord.shift;
      io.KeyAlt = event.chord.alt;
      has_pressed_ = true;
      break;
    case Event::Kind::kText:
      io.AddInputCharacter(event.text);
      break;
    case Event::Kind::kDrop:
      break;
    case Event::Kind::kLeave:
      io.MousePos = ImVec2(-std::numeric_limits<float>::max(), -std::numeric_limits<float>::max());
      break;
  }
}

void name_keys(ImGuiIO& io) {
  constexpr std::array kKeys{
      std::pair{ImGuiKey_Tab, kKeyTab},           std::pair{ImGuiKey_LeftArrow, kKeyLeft},
      std::pair{ImGuiKey_RightArrow, kKeyRight},  std::pair{ImGuiKey_UpArrow, kKeyUp},
      std::pair{ImGuiKey_DownArrow, kKeyDown},    std::pair{ImGuiKey_PageUp, kKeyPageUp},
      std::pair{ImGuiKey_PageDown, kKeyPageDown}, std::pair{ImGuiKey_Home, kKeyHome},
      std::pair{ImGuiKey_End, kKeyEnd},           std::pair{ImGuiKey_Insert, kKeyInsert},
      std::pair{ImGuiKey_Delete, kKeyDelete},     std::pair{ImGuiKey_Backspace, kKeyBackspace},
      std::pair{ImGuiKey_Space, kKeySpace},       std::pair{ImGuiKey_Enter, kKeyEnter},
      std::pair{ImGuiKey_Escape, kKeyEscape},     std::pair{ImGuiKey_KeyPadEnter, kKeyPadEnter},
  };
  for (const auto& [meaning, code] : kKeys) io.KeyMap[meaning] = code;
  constexpr std::array kLetters{
      std::pair{ImGuiKey_A, int{'A'}}, std::pair{ImGuiKey_C, int{'C'}},
      std::pair{ImGuiKey_V, int{'V'}}, std::pair{ImGuiKey_X, int{'X'}},
      std::pair{ImGuiKey_Y, int{'Y'}}, std::pair{ImGuiKey_Z, int{'Z'}},
  };
  for (const auto& [meaning, code] : kLetters) io.KeyMap[meaning] = code;
}

}  // namespace crawlstore::inspector
