// SPDX-License-Identifier: Apache-2.0
// Letters lie on whole pixels, as on the screen (decision 0008): so they are copied, not drawn.
#include "inspector/ui/text_mask.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/utf8.h"

namespace crawlstore::inspector {
namespace {

std::vector<const ImFontGlyph*> glyphs_of(const ImFont& font, std::string_view text) {
  std::vector<const ImFontGlyph*> glyphs;
  while (!text.empty()) {
    const std::size_t length = model::utf8_length(text);
    const char32_t letter = length == 0 ? 0xfffd : model::utf8_decode(text, length);
    const bool is_known = letter <= IM_UNICODE_CODEPOINT_MAX;
    glyphs.push_back(font.FindGlyph(is_known ? static_cast<ImWchar>(letter) : ImWchar{0xfffd}));
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return glyphs;
}

struct Atlas {
  unsigned char* pixels = nullptr;
  int width = 0;
  int height = 0;
};

void copy_glyph(const Atlas& atlas, const ImFontGlyph& glyph, int left, Mask& mask) {
  const int from_x = static_cast<int>(std::lround(glyph.U0 * static_cast<float>(atlas.width)));
  const int from_y = static_cast<int>(std::lround(glyph.V0 * static_cast<float>(atlas.height)));
  const int to_x = left + static_cast<int>(std::lround(glyph.X0));
  const int to_y = static_cast<int>(std::lround(glyph.Y0));
  const int width = static_cast<int>(std::lround(glyph.X1 - glyph.X0));
  const int height = static_cast<int>(std::lround(glyph.Y1 - glyph.Y0));
  for (int y = std::max(0, -to_y); y < std::min(height, mask.height - to_y); ++y) {
    for (int x = std::max(0, -to_x); x < std::min(width, mask.width - to_x); ++x) {
      const auto at = static_cast<std::size_t>(to_y + y) * static_cast<std::size_t>(mask.width) +
                      static_cast<std::size_t>(to_x + x);
      const std::uint8_t cover = atlas.pixels[(from_y + y) * atlas.width + from_x + x];
      mask.pixels[at] = std::max(mask.pixels[at], cover);
    }
  }
}

}  // namespace

Mask text_mask(const ImFont& font, std::string_view text) {
  const auto glyphs = glyphs_of(font, text);
  float width = 0;
  for (const ImFontGlyph* glyph : glyphs) width += glyph->AdvanceX;
  Mask mask(static_cast<int>(std::ceil(width)), static_cast<int>(std::ceil(font.FontSize)));
  Atlas atlas;
  font.ContainerAtlas->GetTexDataAsAlpha8(&atlas.pixels, &atlas.width, &atlas.height);
  float left = 0;
  for (const ImFontGlyph* glyph : glyphs) {
    if (glyph->Visible != 0) copy_glyph(atlas, *glyph, static_cast<int>(left), mask);
    left += glyph->AdvanceX;
  }
  return mask;
}

}  // namespace crawlstore::inspector
