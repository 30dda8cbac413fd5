// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/events.h"

#include <array>

namespace crawlstore::inspector {
namespace {

struct NamedKey {
  std::string_view name;
  int key;
};
constexpr std::array kNamedKeys{
    NamedKey{"Space", kKeySpace},
    NamedKey{"Escape", kKeyEscape},
    NamedKey{"Enter", kKeyEnter},
    NamedKey{"Tab", kKeyTab},
    NamedKey{"Backspace", kKeyBackspace},
    NamedKey{"Insert", kKeyInsert},
    NamedKey{"Delete", kKeyDelete},
    NamedKey{"Right", kKeyRight},
    NamedKey{"Left", kKeyLeft},
    NamedKey{"Down", kKeyDown},
    NamedKey{"Up", kKeyUp},
    NamedKey{"PageUp", kKeyPageUp},
    NamedKey{"PageDown", kKeyPageDown},
    NamedKey{"Home", kKeyHome},
    NamedKey{"End", kKeyEnd},
};

bool take_prefix(std::string_view& text, std::string_view prefix) {
  // "Ctrl+" alone would be the key "" with Control.
  if (!text.starts_with(prefix) || text.size() == prefix.size()) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<int> parse_key(std::string_view name) {
  for (const NamedKey& known : kNamedKeys) {
    if (known.name == name) return known.key;
  }
  if (name.size() == 1 && name[0] > ' ' && name[0] < '\x7f' &&
      !(name[0] >= 'a' && name[0] <= 'z')) {
    return name[0];
  }
  if (name.size() < 2 || name.size() > 3 || name[0] != 'F') return std::nullopt;
  int number = 0;
  for (const char digit : name.substr(1)) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = 10 * number + (digit - '0');
  }
  if (number < 1 || number > 12) return std::nullopt;
  return kKeyF1 + number - 1;
}

std::string format_key(int key) {
  for (const NamedKey& known : kNamedKeys) {
    if (known.key == key) return std::string(known.name);
  }
  if (key >= kKeyF1 && key <= kKeyF12) return "F" + std::to_string(key - kKeyF1 + 1);
  const bool is_printable = key > ' ' && key < '\x7f' && !(key >= 'a' && key <= 'z');
  return is_printable ? std::string(1, static_cast<char>(key)) : std::string();
}

}  // namespace

std::optional<KeyChord> parse_key_chord(std::string_view text) {
  KeyChord chord;
  chord.control = take_prefix(text, "Ctrl+");
  chord.shift = take_prefix(text, "Shift+");
  chord.alt = take_prefix(text, "Alt+");
  const auto key = parse_key(text);
  if (!key) return std::nullopt;
  chord.key = *key;
  return chord;
}

std::string format_key_chord(const KeyChord& chord) {
  const std::string key = format_key(chord.key);
  if (key.empty()) return {};
  std::string text;
  if (chord.control) text += "Ctrl+";
  if (chord.shift) text += "Shift+";
  if (chord.alt) text += "Alt+";
  return text + key;
}

}  // namespace crawlstore::inspector
