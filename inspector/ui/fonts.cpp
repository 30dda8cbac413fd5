// SPDX-License-Identifier: Apache-2.0
#include "inspector/ui/fonts.h"

#include <array>
#include <cmath>
#include <filesystem>
#include <vector>

#include <imgui_freetype.h>

#include "model/utf8.h"

namespace crawlstore::inspector {
namespace {

constexpr float kTextSize = 15;
constexpr float kMonoSize = 14;
constexpr const char* kTextFont = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";
constexpr const char* kMonoFont = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf";
// Fonts for letters that those two lack: the first one that has a letter is asked, in this order.
constexpr std::array kFallbackFonts{
    "/usr/share/fonts-droid-fallback/truetype/DroidSansFallback.ttf",
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf",
    "/usr/share/fonts/truetype/noto/NotoSansArabic-Regular.ttf",
    "/usr/share/fonts/truetype/noto/NotoSansHebrew-Regular.ttf",
    "/usr/share/fonts/truetype/noto/NotoSansDevanagari-Regular.ttf",
    "/usr/share/fonts/truetype/noto/NotoSansThai-Regular.ttf",
};
// Latin, IPA, Greek, Cyrillic, punctuation, arrows, mathematics, boxes, shapes.
constexpr std::array<std::size_t, 10> kFirstBlocks{0x00, 0x01, 0x02, 0x03, 0x04,
                                                   0x20, 0x21, 0x22, 0x25, 0x26};

bool exists(const char* path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

ImFont* add_font(const char* path, float size, const std::vector<ImWchar>& ranges) {
  ImGuiIO& io = ImGui::GetIO();
  if (!exists(path)) {
    ImFontConfig config;
    config.SizePixels = size;
    return io.Fonts->AddFontDefault(&config);
  }
  ImFont* font = io.Fonts->AddFontFromFileTTF(path, size, nullptr, ranges.data());
  return font;
}

}  // namespace

void Fonts::build(float scale) {
  for (const std::size_t block : kFirstBlocks) blocks_.set(block);
  std::vector<ImWchar> ranges;
  bool has_rare = false;
  for (std::size_t block = 0; block < kBlocks; ++block) {
    if (!blocks_.test(block)) continue;
    ranges.push_back(static_cast<ImWchar>(block == 0 ? 0x20 : block << 8U));
    ranges.push_back(static_cast<ImWchar>(block << 8U | 0xffU));
    has_rare = has_rare || block > 0x26 || (block > 0x04 && block < 0x20);
  }
  // A letter that no font has is drawn as this, not as "?", which may be meant.
  ranges.insert(ranges.end(), {0xfffd, 0xfffd, 0});

  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  atlas.Clear();
  atlas.FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
  atlas.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
  const float text_size = std::round(kTextSize * scale);
  has_files_ = exists(kTextFont) && exists(kMonoFont);
  text_ = add_font(kTextFont, text_size, ranges);
  const auto merge = [&] {
    ImFontConfig config;
    config.MergeMode = true;
    for (const char* path : kFallbackFonts) {
      if (has_rare && exists(path)) {
        atlas.AddFontFromFileTTF(path, text_size, &config, ranges.data());
      }
    }
  };
  merge();
  mono_ = add_font(kMonoFont, std::round(kMonoSize * scale), ranges);
  merge();
  atlas.Build();
  // The files, 10 MB with those of rare letters; they are read again when letters are missing.
  atlas.ClearInputData();
  is_stale_ = false;
}

void Fonts::want(std::string_view text) {
  while (!text.empty()) {
    // ASCII is always there.
    std::size_t plain = 0;
    while (plain < text.size() && static_cast<unsigned char>(text[plain]) < 0x80) ++plain;
    text.remove_prefix(plain);
    if (text.empty()) return;
    const std::size_t length = model::utf8_length(text);
    if (length != 0) {
      const std::size_t block = model::utf8_decode(text, length) >> 8U;
      if (block < kBlocks && !blocks_.test(block)) {
        blocks_.set(block);
        is_stale_ = true;
      }
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
}

}  // namespace crawlstore::inspector
