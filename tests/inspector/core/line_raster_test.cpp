// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/line_raster.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "inspector/core/graph_export.h"
#include "support/random.h"
#include "support/temporary_folder.h"

namespace crawlstore::inspector {
namespace {

Mask drawn(const std::vector<Line>& lines, int width = 20, int height = 20) {
  Mask mask(width, height);
  draw_lines(mask, lines, 255, [] { return true; });
  return mask;
}

std::uint8_t at(const Mask& mask, int x, int y) {
  return mask.pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(mask.width) +
                     static_cast<std::size_t>(x)];
}

TEST(LineRaster, CoversThePixelsAlongALine) {
  const Mask flat = drawn({{2, 5, 12, 5}});
  for (int y = 0; y < 20; ++y) {
    for (int x = 0; x < 20; ++x) {
      EXPECT_EQ(at(flat, x, y), y == 5 && x >= 2 && x <= 12 ? 255 : 0) << x << ' ' << y;
    }
  }
}

/// Whatever the slope, across the longer way there is one pixel's worth of it.
TEST(LineRaster, CoversOnePixelAcrossALineOfAnySlope) {
  for (int i = 0; i <= 10; ++i) {
    const auto slope = static_cast<float>(i) / 10;
    const Mask mask = drawn({{2, 3, 14, 3 + 12 * slope}});
    const Mask turned = drawn({{3, 2, 3 + 12 * slope, 14}});
    for (int step = 3; step < 14; ++step) {
      int across = 0;
      int across_turned = 0;
      for (int other = 0; other < 20; ++other) {
        across += at(mask, step, other);
        across_turned += at(turned, other, step);
      }
      EXPECT_NEAR(across, 255, 2) << slope;
      EXPECT_EQ(across_turned, across) << slope;
    }
  }
}

TEST(LineRaster, DrawsTheSameFromBothEnds) {
  testing::Random random(3);
  for (int i = 0; i < 200; ++i) {
    const auto number = [&] { return static_cast<float>(random.below(800)) / 10 - 30; };
    const Line line{number(), number(), number(), number()};
    const Mask there = drawn({line});
    const Mask back = drawn({{line.x1, line.y1, line.x0, line.y0}});
    for (std::size_t p = 0; p < there.pixels.size(); ++p) {
      ASSERT_NEAR(there.pixels[p], back.pixels[p], 2);
    }
  }
}

TEST(LineRaster, KeepsInsideWhateverTheNumbers) {
  const float most = std::numeric_limits<float>::max();
  const float nothing = std::numeric_limits<float>::quiet_NaN();
  const Mask empty(20, 20);
  EXPECT_EQ(drawn({{nothing, 0, 5, 5}, {0, 0, most, INFINITY}}), empty);
  EXPECT_EQ(drawn({{-100, -5, 300, -5}, {25, 0, 25, 30}}), empty);
  EXPECT_NE(drawn({{-1e6F, -1e6F, 1e6F, 1e6F}}), empty);
  EXPECT_EQ(at(drawn({{7, 7, 7, 7}}), 7, 7), 255);
}

TEST(LineRaster, CoversMoreWhereLinesCross) {
  Mask mask(20, 20);
  draw_lines(mask, std::vector<Line>{{0, 5, 19, 5}, {5, 0, 5, 19}}, 100, [] { return true; });
  EXPECT_EQ(at(mask, 9, 5), 100);
  EXPECT_GT(at(mask, 5, 5), 150);
}

TEST(LineRaster, StopsWhenNobodyWantsItAnyMore) {
  Mask mask(20, 20);
  const std::vector<Line> lines(5000, Line{0, 5, 19, 5});
  int asked = 0;
  draw_lines(mask, lines, 1, [&] { return ++asked < 2; });
  EXPECT_EQ(asked, 2);
}

class GraphExport : public ::testing::Test {
 protected:
  GraphExport() {
    graph_.nodes.resize(2);
    graph_.edges.push_back({0, 1});
  }
  std::string write(const std::string& name) {
    return export_graph({graph_, std::nullopt, points_, looks_, labels_}, folder_ / name,
                        [this](const Picture& picture, const std::string&) {
                          picture_ = picture;
                          return std::string("said");
                        });
  }
  testing::TemporaryFolder folder_;
  model::EgoGraph graph_;
  std::vector<model::GraphPoint> points_{{-1, 0}, {1, 0}};
  std::vector<model::NodeLook> looks_{{0xff0000, 0.1F, true}, {0x0000ff, 0.1F, false}};
  std::vector<NodeLabel> labels_;
  Picture picture_;
};

TEST_F(GraphExport, DrawsNodesInTheirColoursAndEdgesBetweenThem) {
  EXPECT_EQ(write("a.png"), "said");
  ASSERT_EQ(picture_.width, kGraphPictureSide);
  EXPECT_EQ(picture_.row(40)[40], 0xff0000ffU) << "red is the lowest byte";
  EXPECT_EQ(picture_.row(40)[kGraphPictureSide - 40], 0xffff0000U);
  EXPECT_NE(picture_.row(40)[kGraphPictureSide / 2], 0xffffffffU);
  EXPECT_EQ(picture_.row(400)[400], 0xffffffffU);
}

TEST_F(GraphExport, DrawsLabelsBesideTheirNodesAndNoneOverAnother) {
  Mask text(100, 10);
  std::ranges::fill(text.pixels, 255);
  Mask other(60, 10);
  std::ranges::fill(other.pixels, 128);
  labels_ = {{1, text}, {0, text}, {0, other}};
  EXPECT_EQ(write("a.png"), "said");
  constexpr std::uint32_t kInk = 0xff202020;
  EXPECT_EQ(std::ranges::count(picture_.pixels, kInk), 2 * 1000);
  EXPECT_EQ(picture_.row(40)[40 + 16 + 4 + 5], kInk);
  EXPECT_EQ(picture_.row(40)[kGraphPictureSide - 40 - 16 - 4 - 5], kInk) << "no room at the right";
}

TEST_F(GraphExport, SaysWhatWentWrong) {
  EXPECT_EQ(write("a.svg"), "");
  EXPECT_EQ(write("a.dot"), "");
  EXPECT_NE(write("no/such/folder/a.dot"), "");
  EXPECT_NE(export_graph({graph_, std::nullopt, points_, looks_, labels_}, folder_ / "a.png", {}),
            "");
}

}  // namespace
}  // namespace crawlstore::inspector
