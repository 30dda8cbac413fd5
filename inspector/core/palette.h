// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The colours of the inspector, as data. No meaning is carried by colour alone.
/// Texts, links and findings keep a contrast of 4.5 on window and panel, hues and kinds 3 on the
/// panel. Kinds of segments have a hue a group and a shade a kind; any two are at least 11 apart in
/// CIELAB, also for people who lack one kind of cones.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace crawlstore::inspector {

/// 0xAABBGGRR, as Dear ImGui and OpenGL take it.
using Colour = std::uint32_t;

/// From 0xRRGGBB, as people write colours; opaque.
constexpr Colour rgb(std::uint32_t hex) {
  return 0xff000000U | (hex & 0xffU) << 16U | (hex & 0xff00U) | hex >> 16U;
}
/// The same colour, less opaque.
constexpr Colour with_alpha(Colour colour, std::uint32_t alpha) {
  return (colour & 0x00ffffffU) | alpha << 24U;
}

struct Palette {
  std::string_view name;
  Colour window = 0;  ///< behind everything
  Colour panel = 0;   ///< behind tables and text
  Colour raised = 0;  ///< buttons, headers, bars
  Colour hovered = 0;
  Colour selected = 0;
  Colour border = 0;
  Colour text = 0;
  Colour faint = 0;  ///< text that matters less
  Colour link = 0;
  Colour accent = 0;  ///< what is active
  Colour good = 0;
  Colour warning = 0;
  Colour bad = 0;
  std::array<Colour, 8> hues{};  ///< Okabe and Ito's, for hosts and states; 0 = all others
};

/// Segment kinds with a colour of their own: those that exist, and room for more.
inline constexpr unsigned kKindColoursMax = 26;

/// Groups of marks on the map; a hue each.
enum class KindGroup : std::uint8_t { kDrum, kPages, kLinks, kScores, kQueues, kFile };

/// "dark", "light", "contrast".
std::span<const Palette> palettes();
/// The first one when there is none of that name.
const Palette& find_palette(std::string_view name);
/// The group of a segment kind; kFile for 0. Kinds that this version does not know have a place in
/// one of the groups too.
KindGroup kind_group(unsigned kind);
/// Colour of a segment kind or, for 0, of superblocks. Kinds 1 to kKindColoursMax have one each,
/// others share these.
Colour kind_colour(const Palette& palette, unsigned kind);

/// The colour of a row of model::space_shares() and of the map: kinds of segments by their number,
/// the file's own structures by name. Tables of the directory share a colour, and so does what
/// nobody uses.
Colour space_colour(const Palette& palette, std::string_view name, unsigned kind);

/// WCAG 2 contrast of two opaque colours: 1 to 21.
double contrast(Colour a, Colour b);

}  // namespace crawlstore::inspector
