// SPDX-License-Identifier: Apache-2.0
#include "inspector/shell/soft_raster.h"

#include <gtest/gtest.h>

namespace crawlstore::testing {
namespace {

using inspector::AlphaTexture;
using inspector::Picture;

constexpr std::uint32_t kBlack = 0xff000000U;
constexpr std::uint32_t kHalfWhite = 0x80ffffffU;
constexpr std::uint32_t kWhite = 0xffffffffU;

/// A list of triangles over a picture of 16 x 16, with a texture whose right half is empty.
class SoftRasterTest : public ::testing::Test {
 protected:
  SoftRasterTest() {
    list_.CmdBuffer.push_back(ImDrawCmd());
    list_.CmdBuffer[0].ClipRect = ImVec4(0, 0, 16, 16);
    lists_[0] = &list_;
    data_.Valid = true;
    data_.CmdLists = lists_;
    data_.CmdListsCount = 1;
  }
  void add(float x, float y, std::uint32_t colour, ImVec2 uv = ImVec2(0.1F, 0.5F)) {
    list_.VtxBuffer.push_back({ImVec2(x, y), uv, colour});
  }
  void triangle(int a, int b, int c) {
    for (const int i : {a, b, c}) list_.IdxBuffer.push_back(static_cast<ImDrawIdx>(i));
  }
  Picture draw() {
    list_.CmdBuffer[0].ElemCount = static_cast<unsigned>(list_.IdxBuffer.Size);
    Picture picture(16, 16, kBlack);
    inspector::draw(data_, texture_, {}, picture);
    return picture;
  }
  static std::size_t count(const Picture& picture, std::uint32_t colour) {
    return static_cast<std::size_t>(
        std::count(picture.pixels.begin(), picture.pixels.end(), colour));
  }

  ImGuiContext* context_ = ImGui::CreateContext();
  ~SoftRasterTest() override { ImGui::DestroyContext(context_); }
  ImDrawListSharedData* shared_ = ImGui::GetDrawListSharedData();
  ImDrawList list_{shared_};
  ImDrawList* lists_[1]{};
  ImDrawData data_;
  std::vector<std::uint8_t> texels_{255, 255, 0, 0};
  AlphaTexture texture_{texels_.data(), 4, 1};
};

TEST_F(SoftRasterTest, FillsExactlyThePixelsWhoseMiddleARectangleHolds) {
  add(2, 3, kWhite);
  add(6.4F, 3, kWhite);
  add(6.4F, 5.6F, kWhite);
  add(2, 5.6F, kWhite);
  triangle(0, 1, 2);
  triangle(0, 2, 3);
  const Picture picture = draw();
  // Columns 2 to 5, rows 3 to 5: 6.4 does not reach the middle of column 6, 5.6 that of row 5.
  EXPECT_EQ(count(picture, kWhite), 4U * 3U);
  EXPECT_EQ(picture.pixels[3 * 16 + 2], kWhite);
  EXPECT_EQ(picture.pixels[5 * 16 + 5], kWhite);
}

TEST_F(SoftRasterTest, CoversEachPixelOfNeighbouringTrianglesOnce) {
  // A fan around an odd point: were an edge drawn twice, half-white over half-white would be
  // brighter.
  add(7.3F, 6.1F, kHalfWhite);
  add(0, 0, kHalfWhite);
  add(16, 0, kHalfWhite);
  add(16, 16, kHalfWhite);
  add(0, 16, kHalfWhite);
  triangle(0, 1, 2);
  triangle(0, 2, 3);
  triangle(0, 3, 4);
  triangle(0, 4, 1);
  const Picture picture = draw();
  EXPECT_EQ(count(picture, 0xff808080U), 256U);
}

TEST_F(SoftRasterTest, DrawsNothingOutsideTheClip) {
  list_.CmdBuffer[0].ClipRect = ImVec4(4, 4, 8, 8);
  add(-100, -100, kWhite);
  add(200, -100, kWhite);
  add(-100, 200, kWhite);
  triangle(0, 1, 2);
  const Picture picture = draw();
  EXPECT_EQ(count(picture, kWhite), 16U);
  EXPECT_EQ(picture.pixels[4 * 16 + 4], kWhite);
}

TEST_F(SoftRasterTest, TakesOpacityFromTheTexture) {
  add(0, 0, kWhite, ImVec2(0, 0));
  add(4, 0, kWhite, ImVec2(1, 0));
  add(4, 1, kWhite, ImVec2(1, 1));
  add(0, 1, kWhite, ImVec2(0, 1));
  triangle(0, 1, 2);
  triangle(0, 2, 3);
  const Picture picture = draw();
  EXPECT_EQ(count(picture, kWhite), 2U);
  EXPECT_EQ(picture.pixels[1], kWhite);
  EXPECT_EQ(picture.pixels[2], kBlack);
}

TEST_F(SoftRasterTest, BlendsColoursBetweenCorners) {
  add(0, 0, 0xff000000U);
  add(16, 0, 0xff0000ffU);
  add(16, 16, 0xff0000ffU);
  add(0, 16, 0xff000000U);
  triangle(0, 1, 2);
  triangle(0, 2, 3);
  const Picture picture = draw();
  EXPECT_EQ(picture.pixels[8 * 16 + 0] & 255U, 8U);     // 0.5 / 16 of 255
  EXPECT_EQ(picture.pixels[8 * 16 + 15] & 255U, 247U);  // 15.5 / 16 of 255
}

}  // namespace
}  // namespace crawlstore::testing
