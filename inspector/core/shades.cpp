// SPDX-License-Identifier: Apache-2.0
#include "inspector/core/shades.h"

namespace crawlstore::inspector {
namespace {

constexpr Shades kShadesOnDark{rgb(0x4a7fc8), rgb(0x3d97bd), rgb(0x3fada6), rgb(0x62bf85),
                               rgb(0x95cd62), rgb(0xc5d94a), rgb(0xf5e642)};
constexpr Shades kShadesOnLight{rgb(0xa89200), rgb(0x7a9022), rgb(0x458a4e), rgb(0x147d68),
                                rgb(0x0f6a78), rgb(0x1a5080), rgb(0x1b3578)};

}  // namespace

const Shades& shades(const Palette& palette) {
  const bool is_dark =
      contrast(palette.panel, rgb(0xffffff)) > contrast(palette.panel, rgb(0x000000));
  return is_dark ? kShadesOnDark : kShadesOnLight;
}

}  // namespace crawlstore::inspector
