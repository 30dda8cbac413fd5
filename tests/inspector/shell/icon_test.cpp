// SPDX-License-Identifier: Apache-2.0
#include "inspector/shell/icon.h"

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "inspector/core/palette.h"

namespace crawlstore::inspector {
namespace {

std::string read_svg() {
  std::ifstream file(std::string(CRAWLSTORE_SOURCE_DIR) +
                     "/inspector/desktop/crawlstore-inspector.svg");
  return {std::istreambuf_iterator<char>(file), {}};
}

Colour hex_colour(const std::string& digits) {
  return rgb(static_cast<std::uint32_t>(std::stoul(digits, nullptr, 16)));
}

struct SvgBox {
  Colour colour = 0;
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;
};

/// Its lines of the form: <path fill="#1f6fb2" d="M4 4h32v12H4z"/>
std::vector<SvgBox> boxes_of(const std::string& svg) {
  constexpr std::string_view kMark = "<path fill=\"#";
  constexpr std::size_t kDigits = 6;
  std::vector<SvgBox> boxes;
  for (std::size_t at = svg.find(kMark); at != svg.npos; at = svg.find(kMark, at)) {
    at += kMark.size();
    SvgBox& box = boxes.emplace_back();
    box.colour = hex_colour(svg.substr(at, kDigits));
    std::istringstream path(svg.substr(svg.find('M', at) + 1));
    char command = 0;
    path >> box.left >> box.top >> command >> box.width >> command >> box.height;
  }
  return boxes;
}

TEST(Icon, HasTheBoxesOfTheSvg) {
  Picture icon = draw_icon(64);
  const std::vector<SvgBox> boxes = boxes_of(read_svg());
  EXPECT_EQ(boxes.size(), 8U);
  for (const SvgBox& box : boxes) {
    const int right = box.left + box.width;
    const int bottom = box.top + box.height;
    // The glass covers at most one end of a box.
    EXPECT_TRUE(icon.row(box.top)[box.left] == box.colour ||
                icon.row(box.top)[right - 1] == box.colour)
        << box.left << " " << box.top;
    const bool is_below_the_glass = right > 36 || bottom > 20;
    if (is_below_the_glass && box.left != 30) continue;
    EXPECT_EQ(icon.row(bottom - 1)[right - 1], box.colour) << right << " " << bottom;
    EXPECT_NE(icon.row(bottom)[right - 1], box.colour) << right << " " << bottom;
    EXPECT_NE(icon.row(bottom - 1)[right], box.colour) << right << " " << bottom;
  }
}

TEST(Icon, HasTheColoursOfTheSvgAndFewBetween) {
  std::set<Colour> wanted;
  const std::string svg = read_svg();
  for (std::size_t at = svg.find("\"#"); at != svg.npos; at = svg.find("\"#", at + 1)) {
    wanted.insert(hex_colour(svg.substr(at + 2, 6)));
  }
  const Picture icon = draw_icon(128);
  std::size_t plain_count = 0;
  std::set<Colour> found;
  for (const Colour pixel : icon.pixels) {
    if (!wanted.contains(pixel)) continue;
    found.insert(pixel);
    ++plain_count;
  }
  EXPECT_EQ(found, wanted);
  EXPECT_GT(plain_count, icon.pixels.size() * 3 / 5);
}

TEST(Icon, IsTransparentAroundItsShapesAtEverySize) {
  for (const int size : {16, 32, 48, 64}) {
    Picture icon = draw_icon(size);
    EXPECT_EQ(icon.row(0)[0], 0U) << size;
    EXPECT_EQ(icon.row(size - 1)[0], 0U) << size;
    EXPECT_EQ(icon.row(size * 10 / 64)[size * 20 / 64], rgb(0x1f6fb2)) << size;
  }
}

}  // namespace
}  // namespace crawlstore::inspector
