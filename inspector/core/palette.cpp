// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/palette.h"

#include <algorithm>
#include <cmath>

namespace crawlstore::inspector {
namespace {

// Okabe-Ito; the blue is lightened on dark ground.
constexpr std::array kKindsOnDark{rgb(0x9aa4b2), rgb(0xf0e442), rgb(0x56b4e9), rgb(0xe69f00),
                                  rgb(0xd55e00), rgb(0x009e73), rgb(0xcc79a7), rgb(0x4a9be0)};
constexpr std::array kKindsOnLight{rgb(0x6b7482), rgb(0xa89200), rgb(0x2f93cf), rgb(0xc98500),
                                   rgb(0xd55e00), rgb(0x009e73), rgb(0xb65b8d), rgb(0x0072b2)};

constexpr std::array kPalettes{
    Palette{"dark", rgb(0x15181d), rgb(0x1b1f26), rgb(0x262c36), rgb(0x323a47), rgb(0x26476b),
            rgb(0x353d4a), rgb(0xe4e8ee), rgb(0x9aa5b4), rgb(0x7fc0f5), rgb(0x4fa3e3),
            rgb(0x4cc38a), rgb(0xf0b429), rgb(0xff7a45), kKindsOnDark},
    Palette{"light", rgb(0xe9ecf0), rgb(0xffffff), rgb(0xdde2e9), rgb(0xcdd6e0), rgb(0xc3dcf5),
            rgb(0xb9c2cd), rgb(0x16191d), rgb(0x525c69), rgb(0x0b5cad), rgb(0x1769b5),
            rgb(0x0b7a4b), rgb(0x8a5a00), rgb(0xb33a00), kKindsOnLight},
    Palette{"contrast", rgb(0x000000), rgb(0x000000), rgb(0x1c1c1c), rgb(0x3a3a3a), rgb(0x004b8d),
            rgb(0xffffff), rgb(0xffffff), rgb(0xd8d8d8), rgb(0x8fd0ff), rgb(0xffd400),
            rgb(0x5cff9d), rgb(0xffd400), rgb(0xff9f70), kKindsOnDark},
};

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

Colour kind_colour(const Palette& palette, unsigned kind) {
  return palette.kinds[kind % palette.kinds.size()];
}

Colour space_colour(const Palette& palette, std::string_view name, unsigned kind) {
  if (kind != 0) return kind_colour(palette, kind);
  if (name == "free") return palette.panel;
  if (name == "held") return palette.faint;
  constexpr unsigned kDirectory = 7;
  return kind_colour(palette, name == "superblocks" ? 0 : kDirectory);
}

double contrast(Colour a, Colour b) {
  const double first = luminance(a);
  const double second = luminance(b);
  return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

}  // namespace crawlstore::inspector
