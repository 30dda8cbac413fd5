// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/events.h"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/seeded.h"

namespace crawlstore::inspector {
namespace {

/// The keys with a name, all printable ASCII among them.
std::vector<int> named_keys() {
  std::vector<int> keys = {kKeyEscape, kKeyEnter, kKeyTab,      kKeyBackspace, kKeyInsert,
                           kKeyDelete, kKeyRight, kKeyLeft,     kKeyDown,      kKeyUp,
                           kKeyPageUp, kKeyHome,  kKeyPageDown, kKeyEnd};
  for (int key = kKeySpace; key < 127; ++key) {
    if (key < 'a' || key > 'z') keys.push_back(key);
  }
  for (int key = kKeyF1; key <= kKeyF12; ++key) keys.push_back(key);
  return keys;
}

TEST(KeyChord, ReadsTheFormsOfItsHeader) {
  EXPECT_EQ(parse_key_chord("Ctrl+Shift+P"), (KeyChord{'P', true, true, false}));
  EXPECT_EQ(parse_key_chord("F5"), (KeyChord{kKeyF1 + 4, false, false, false}));
  EXPECT_EQ(parse_key_chord("F12"), (KeyChord{kKeyF12, false, false, false}));
  EXPECT_EQ(parse_key_chord("Alt+Left"), (KeyChord{kKeyLeft, false, false, true}));
  EXPECT_EQ(parse_key_chord("Ctrl++"), (KeyChord{'+', true, false, false}));
  EXPECT_EQ(parse_key_chord("+"), (KeyChord{'+', false, false, false}));
}

TEST(KeyChord, ComesBackFromItsText) {
  std::set<std::string> texts;
  for (const int key : named_keys()) {
    for (unsigned modifiers = 0; modifiers < 8; ++modifiers) {
      const KeyChord chord{key, (modifiers & 1U) != 0, (modifiers & 2U) != 0,
                           (modifiers & 4U) != 0};
      const std::string text = format_key_chord(chord);
      EXPECT_TRUE(texts.insert(text).second) << text;
      EXPECT_EQ(parse_key_chord(text), chord) << text;
    }
  }
}

TEST(KeyChord, RefusesWhatIsNoKey) {
  for (const char* text :
       {"", "Ctrl+", "Ctrl", "Nokey", "Ctrl+Ctrl", "F0", "F13", "F1x", "PP", "p", "Shift+Ctrl+P",
        "ctrl+P", "Ctrl+Shift", "+P", "Hyper+P", "Ctrl P", "\xc3\xa9", "\x01"}) {
    EXPECT_EQ(parse_key_chord(text), std::nullopt) << text;
  }
}

TEST(KeyChord, HasNoTextWithoutAName) {
  for (const int key : {0, -1, int{97}, 127, 200, int{kKeyPadEnter}, int{kKeyLeftShift}, 100'000}) {
    EXPECT_EQ(format_key_chord(KeyChord{key, true, false, false}), "") << key;
  }
}

TEST(KeyChord, TakesAnyTextWithoutHarm) {
  testing::SeededRandom random;
  int taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto chord = parse_key_chord((random.one_in(2) ? "Ctrl+" : "") + random.hostile_text(2));
    if (!chord) continue;
    ++taken;
    EXPECT_EQ(parse_key_chord(format_key_chord(*chord)), chord);
  }
  EXPECT_GT(taken, 100);
}

}  // namespace
}  // namespace crawlstore::inspector
