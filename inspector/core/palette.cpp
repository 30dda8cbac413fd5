// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/palette.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace crawlstore::inspector {
namespace {

// Okabe-Ito; the blue is lightened on dark ground.
constexpr std::array kHuesOnDark{rgb(0x9aa4b2), rgb(0xf0e442), rgb(0x56b4e9), rgb(0xe69f00),
                                 rgb(0xd55e00), rgb(0x009e73), rgb(0xcc79a7), rgb(0x4a9be0)};
constexpr std::array kHuesOnLight{rgb(0x6b7482), rgb(0xa89200), rgb(0x2f93cf), rgb(0xc98500),
                                  rgb(0xd55e00), rgb(0x009e73), rgb(0xb65b8d), rgb(0x0072b2)};

constexpr std::array kPalettes{
    Palette{"dark", rgb(0x15181d), rgb(0x1b1f26), rgb(0x262c36), rgb(0x323a47), rgb(0x26476b),
            rgb(0x353d4a), rgb(0xe4e8ee), rgb(0x9aa5b4), rgb(0x7fc0f5), rgb(0x4fa3e3),
            rgb(0x4cc38a), rgb(0xf0b429), rgb(0xff7a45), kHuesOnDark},
    Palette{"light", rgb(0xe9ecf0), rgb(0xffffff), rgb(0xdde2e9), rgb(0xcdd6e0), rgb(0xc3dcf5),
            rgb(0xb9c2cd), rgb(0x16191d), rgb(0x525c69), rgb(0x0b5cad), rgb(0x1769b5),
            rgb(0x0b7a4b), rgb(0x8a5a00), rgb(0xb33a00), kHuesOnLight},
    Palette{"contrast", rgb(0x000000), rgb(0x000000), rgb(0x1c1c1c), rgb(0x3a3a3a), rgb(0x004b8d),
            rgb(0xffffff), rgb(0xffffff), rgb(0xd8d8d8), rgb(0x8fd0ff), rgb(0xffd400),
            rgb(0x5cff9d), rgb(0xffd400), rgb(0xff9f70), kHuesOnDark},
};

/// The shades of each group. Found by simulated annealing over the distances of all pairs as people
/// with three kinds of cones and with two see them, which the test measures.
struct KindShades {
  std::array<Colour, 7> drum;
  std::array<Colour, 6> pages;
  std::array<Colour, 4> links;
  std::array<Colour, 3> scores;
  std::array<Colour, 6> queues;  ///< the last four of frontiers
  std::array<Colour, 5> file;    ///< superblocks, directory, held, identity, root
};

constexpr KindShades kKindsOnDark{
    {rgb(0x0b6bc9), rgb(0x16a4e8), rgb(0x7388f7), rgb(0x9cc0d6), rgb(0x0fccff), rgb(0x5d73bb),
     rgb(0x8f9bcd)},
    {rgb(0xd21e1a), rgb(0xfc8627), rgb(0xca8640), rgb(0xff9e8d), rgb(0xff2008), rgb(0xd6705a)},
    {rgb(0x58d59c), rgb(0x96f999), rgb(0x21fff6), rgb(0x37ff78)},
    {rgb(0xf4c203), rgb(0xd4ff00), rgb(0xe4ce4b)},
    {rgb(0xbd1aa8), rgb(0xed00d2), rgb(0xb771af), rgb(0xa711e7), rgb(0xbe91b4), rgb(0xa54591)},
    {rgb(0xddcdd0), rgb(0x9d9497), rgb(0x66727d), rgb(0xacb7ac), rgb(0x7f7169)}};
constexpr KindShades kKindsOnLight{
    {rgb(0x0d53c4), rgb(0x0294fe), rgb(0x156af8), rgb(0x676f92), rgb(0x08367f), rgb(0x373b64),
     rgb(0x03153d)},
    {rgb(0x961c00), rgb(0xfb3508), rgb(0xc27f64), rgb(0x9c6e63), rgb(0x661800), rgb(0x553a24)},
    {rgb(0x278917), rgb(0x1ea922), rgb(0x6f9883), rgb(0x305f5c)},
    {rgb(0xa28f4a), rgb(0x74753b), rgb(0x685932)},
    {rgb(0xc80283), rgb(0xe55dc5), rgb(0x830397), rgb(0xb911d3), rgb(0xfc3cde), rgb(0xc627b1)},
    {rgb(0x252934), rgb(0x423c36), rgb(0x95919c), rgb(0x000213), rgb(0x241714)}};

struct KindPlace {
  KindGroup group;
  std::size_t shade;
};

/// By number of the kind, as the registry of segment kinds counts; the last four are not given yet.
/// The four kinds of frontiers have the hue of queues, small values that of scores.
constexpr auto kKindPlaces = std::to_array<KindPlace>({
    {KindGroup::kFile, 0},   {KindGroup::kDrum, 0},   {KindGroup::kDrum, 1},
    {KindGroup::kDrum, 2},   {KindGroup::kDrum, 3},   {KindGroup::kDrum, 4},
    {KindGroup::kPages, 0},  {KindGroup::kPages, 1},  {KindGroup::kPages, 2},
    {KindGroup::kLinks, 0},  {KindGroup::kLinks, 1},  {KindGroup::kLinks, 2},
    {KindGroup::kPages, 3},  {KindGroup::kPages, 4},  {KindGroup::kScores, 0},
    {KindGroup::kQueues, 0}, {KindGroup::kQueues, 1}, {KindGroup::kQueues, 2},
    {KindGroup::kQueues, 4}, {KindGroup::kQueues, 5}, {KindGroup::kQueues, 3},
    {KindGroup::kScores, 2}, {KindGroup::kPages, 5},  {KindGroup::kDrum, 5},
    {KindGroup::kDrum, 6},   {KindGroup::kLinks, 3},  {KindGroup::kScores, 1},
});
static_assert(kKindPlaces.size() == kKindColoursMax + 1);

const KindPlace& place_of(unsigned kind) {
  return kKindPlaces[kind == 0 ? 0 : (kind - 1) % kKindColoursMax + 1];
}

Colour colour_at(const Palette& palette, KindPlace place) {
  const bool is_dark =
      contrast(palette.panel, rgb(0xffffff)) > contrast(palette.panel, rgb(0x000000));
  const KindShades& shades = is_dark ? kKindsOnDark : kKindsOnLight;
  switch (place.group) {
    case KindGroup::kDrum:
      return shades.drum[place.shade];
    case KindGroup::kPages:
      return shades.pages[place.shade];
    case KindGroup::kLinks:
      return shades.links[place.shade];
    case KindGroup::kScores:
      return shades.scores[place.shade];
    case KindGroup::kQueues:
      return shades.queues[place.shade];
    default:
      return shades.file[place.shade];
  }
}

double luminance(Colour colour) {
  double sum = 0;
  constexpr std::array kWeights{0.2126, 0.7152, 0.0722};
  for (unsigned i = 0; i < 3; ++i) {
    const double part = static_cast<double>(colour >> (8 * i) & 0xffU) / 255.0;
    sum += kWeights[i] * (part <= 0.03928 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4));
  }
  return sum;
}

}  // namespace

std::span<const Palette> palettes() {
  return kPalettes;
}

const Palette& find_palette(std::string_view name) {
  const auto* found = std::ranges::find(kPalettes, name, &Palette::name);
  return found == kPalettes.end() ? kPalettes.front() : *found;
}

KindGroup kind_group(unsigned kind) {
  return place_of(kind).group;
}

Colour kind_colour(const Palette& palette, unsigned kind) {
  return colour_at(palette, place_of(kind));
}

Colour space_colour(const Palette& palette, std::string_view name, unsigned kind) {
  if (kind != 0) return kind_colour(palette, kind);
  if (name == "free" || name == "zeros" || name == "behind") return palette.panel;
  constexpr std::size_t kDirectory = 1;
  constexpr auto kOwn = std::to_array<std::pair<std::string_view, std::size_t>>(
      {{"superblock", 0}, {"superblocks", 0}, {"held", 2}, {"identity", 3}, {"root", 4}});
  const auto own = std::ranges::find(kOwn, name, [](const auto& pair) { return pair.first; });
  return colour_at(palette, {KindGroup::kFile, own == kOwn.end() ? kDirectory : own->second});
}

double contrast(Colour a, Colour b) {
  const double first = luminance(a);
  const double second = luminance(b);
  return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

}  // namespace crawlstore::inspector
