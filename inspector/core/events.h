// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The actions of a person on the window, as plain values: from GLFW, or from a script. Key codes
/// are GLFW's: printable keys are their upper-case ASCII.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace crawlstore::inspector {

enum KeyCode : int {
  kKeySpace = 32,
  kKeyEscape = 256,
  kKeyEnter = 257,
  kKeyTab = 258,
  kKeyBackspace = 259,
  kKeyInsert = 260,
  kKeyDelete = 261,
  kKeyRight = 262,
  kKeyLeft = 263,
  kKeyDown = 264,
  kKeyUp = 265,
  kKeyPageUp = 266,
  kKeyPageDown = 267,
  kKeyHome = 268,
  kKeyEnd = 269,
  kKeyF1 = 290,
  kKeyF12 = 301,
  kKeyPadEnter = 335,
  kKeyLeftShift = 340,
  kKeyLeftControl = 341,
  kKeyLeftAlt = 342,
  kKeyLeftSuper = 343,
  kKeyCount = 512,
};

/// A key with its modifiers.
struct KeyChord {
  int key = 0;
  bool control = false;
  bool shift = false;
  bool alt = false;
  bool operator==(const KeyChord&) const = default;
};

/// "Ctrl+Shift+P", "F5", "Alt+Left", "Ctrl++": in this case, modifiers in this order. nullopt = no
/// such key.
std::optional<KeyChord> parse_key_chord(std::string_view text);
/// The same text; empty = the key has no name there.
std::string format_key_chord(const KeyChord& chord);

struct Event {
  enum class Kind : std::uint8_t {
    kMouseMove,    ///< x, y in pixels from the top left
    kMouseButton,  ///< code 0 left, 1 right, 2 middle, 3 back, 4 forward; is_down
    kWheel,        ///< x, y in notches
    kKey,          ///< chord, is_down
    kText,         ///< a typed code point
    kDrop,         ///< paths
    kLeave,        ///< the pointer left the window, or the window lost the focus
  };
  Kind kind{};
  float x = 0;
  float y = 0;
  int code = 0;
  bool is_down = false;
  KeyChord chord{};
  char32_t text = 0;
  std::vector<std::string> paths{};
};

}  // namespace crawlstore::inspector
