// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The two fonts, with the letters that have been needed so far. An atlas of all that Unicode has
/// would cost every start 160 ms: so it begins with Latin, Greek, Cyrillic and signs, what is met
/// beyond is noted while drawing, and the atlas is made again between two frames.

#include <bitset>
#include <string_view>

#include <imgui.h>

namespace crawlstore::inspector {

class Fonts {
 public:
  /// Makes the atlas of ImGui's current context for `scale`. Without font files ImGui's built-in
  /// letters are used.
  void build(float scale);
  /// Notes the letters of text that will be drawn. Invalid UTF-8 is skipped.
  void want(std::string_view text);
  /// Letters are wanted that the atlas has not: build() again, and draw again.
  [[nodiscard]] bool is_stale() const { return is_stale_; }

  /// Whether letters come from font files; else they are ImGui's own, of Latin only.
  [[nodiscard]] bool has_files() const { return has_files_; }
  [[nodiscard]] ImFont* text() const { return text_; }
  [[nodiscard]] ImFont* mono() const { return mono_; }

 private:
  static constexpr std::size_t kBlocks = 256;  // of 256 code points; ImGui draws the first 65,536
  std::bitset<kBlocks> blocks_;                // wanted
  bool is_stale_ = false;
  bool has_files_ = false;
  ImFont* text_ = nullptr;
  ImFont* mono_ = nullptr;
};

}  // namespace crawlstore::inspector
